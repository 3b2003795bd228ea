package rfb_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// resident is the memory that this process has, in bytes; 0 where it is not
// told.
func resident(t testing.TB) int64 {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// 100 sizes at random, while the machine draws, end in the exact picture, and
// memory comes back to what it was (C076, C078).
func TestTigerVNCResizeStorm(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	l.Event(t, "the first layout", func(viewer.Event) bool {
		return l.Session.(viewer.Signaller).Signals()[viewer.SignalResize].Availability == viewer.Live
	})
	before := resident(t)
	r := rand.New(rand.NewPCG(7, 8))
	resize := func(w, h int) {
		t.Helper()
		if err := l.Session.(viewer.Resizer).Resize(context.Background(), w, h); err != nil {
			t.Fatal(err)
		}
		l.Until(t, fmt.Sprintf("a screen of %d x %d", w, h), func() bool {
			gotW, gotH := l.Frame.Size()
			return gotW == w && gotH == h
		})
	}
	for i := range 100 {
		resize(320+r.IntN(1600), 200+r.IntN(1000))
		for range 5 {
			x, y := r.IntN(300), r.IntN(180)
			s.fill(t, image.Rect(x, y, x+100, y+100), color.RGBA{uint8(i), uint8(r.Uint32()), 9, 0xff})
		}
	}
	resize(640, 480)
	scribble(t, s, 5)
	want := s.picture(t)
	l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
	// A frame of the largest size has 9 MiB; a leak would keep a hundred.
	if after := resident(t); before > 0 && after > before+64<<20 {
		t.Errorf("%d MiB are used after all of it, %d before", after>>20, before>>20)
	}
	if err := l.Err(); err != nil {
		t.Error(err)
	}
}
