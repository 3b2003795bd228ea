package library

import (
	"context"
	"fmt"
	"testing"

	"fyne.io/fyne/v2"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// BenchmarkManyMachines is a window with ten thousand machines: from a letter
// typed to what is found being shown, all of them shown again, and one page of
// them.
func BenchmarkManyMachines(b *testing.B) {
	l := newLab(b, thousands(b, 10000))
	l.until("all machines", func() bool { return len(l.s.shelf.entries) == 10000 })
	search := func(b *testing.B, text string) {
		b.Helper()
		l.s.search.SetText(text)
		l.until("what was found", func() bool { return l.s.view.query == text })
	}
	b.Run("search", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			search(b, []string{"machine-05", "rack7", "10.0.39"}[i%3])
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			search(b, "machine-00001")
			b.StartTimer()
			search(b, "")
		}
	})
	b.Run("page", func(b *testing.B) {
		search(b, "")
		l.win.Canvas().Focus(l.s.shelf)
		for i := 0; b.Loop(); i++ {
			if i%200 == 0 {
				l.key(fyne.KeyHome)
			}
			l.key(fyne.KeyPageDown)
		}
	})
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
