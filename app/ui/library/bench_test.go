package library

import (
	"context"
	"fmt"
	"testing"

	"fyne.io/fyne/v2"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// BenchmarkSearch is the time from a letter typed to the machines on the
// screen, with ten thousand of them.
func BenchmarkSearch(b *testing.B) {
	l := newLab(b, thousands(b, 10000))
	l.until("all machines", func() bool { return len(l.s.shelf.entries) == 10000 })
	for i := 0; b.Loop(); i++ {
		text := []string{"machine-05", "rack7", "10.0.39", ""}[i%4]
		l.s.search.SetText(text)
		l.until("what was found", func() bool { return l.s.view.query == text })
	}
}

// BenchmarkScroll is one page of ten thousand machines.
func BenchmarkScroll(b *testing.B) {
	l := newLab(b, thousands(b, 10000))
	l.until("all machines", func() bool { return len(l.s.shelf.entries) == 10000 })
	l.win.Canvas().Focus(l.s.shelf)
	for i := 0; b.Loop(); i++ {
		if i%200 == 0 {
			l.key(fyne.KeyHome)
		}
		l.key(fyne.KeyPageDown)
	}
}

// BenchmarkSave is one machine, on the disk.
func BenchmarkSave(b *testing.B) {
	s := newStore(b)
	for i := 0; b.Loop(); i++ {
		if _, err := s.Add(context.Background(), keychain.Host{Name: fmt.Sprint("m", i), Protocol: viewer.VNC, Address: "10.0.0.1"}); err != nil {
			b.Fatal(err)
		}
	}
}
