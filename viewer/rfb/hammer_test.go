package rfb_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// hammerTime is how long a session is hammered.
func hammerTime() time.Duration {
	if os.Getenv("DESKVNC_EXHAUSTIVE") != "" {
		return time.Minute
	}
	return 3 * time.Second
}

// hammers are what callers do to a session, in any order and at once.
var hammers = map[string]func(ctx context.Context, l *viewertest.Live, r *rand.Rand){
	"tune": func(_ context.Context, l *viewertest.Live, r *rand.Rand) {
		_ = l.Session.(viewer.Tuner).Tune(viewer.Picture{ // the session may have ended
			Quality:   viewer.Qualities[r.IntN(len(viewer.Qualities))],
			Colors:    viewer.AllColors[r.IntN(len(viewer.AllColors))],
			Encodings: []string{"", "tight", "zrle", "hextile,raw", "zlib", "rre,zrle"}[r.IntN(6)],
		})
	},
	"resize": func(ctx context.Context, l *viewertest.Live, r *rand.Rand) {
		// Each is answered, however many there are: 60 a second are as many as
		// both sides keep up with under the race detector.
		if r.IntN(8) > 0 {
			return
		}
		_ = l.Session.(viewer.Resizer).Resize(ctx, 1+r.IntN(1200), 1+r.IntN(900))
	},
	"demand": func(_ context.Context, l *viewertest.Live, r *rand.Rand) {
		l.Session.(viewer.Desktop).Demand(r.IntN(3) > 0)
	},
	"spare": func(_ context.Context, l *viewertest.Live, r *rand.Rand) {
		l.Session.(viewer.Sparer).Spare(r.IntN(4) == 0)
	},
	"refresh": func(_ context.Context, l *viewertest.Live, r *rand.Rand) { l.Session.(viewer.Desktop).Refresh() },
	"input": func(ctx context.Context, l *viewertest.Live, r *rand.Rand) {
		in := l.Session.(viewer.Inputter)
		_ = in.Post(viewer.Key{Sym: uint32('a' + r.IntN(26)), Down: r.IntN(2) == 0},
			viewer.Pointer{X: r.IntN(640), Y: r.IntN(480), Buttons: viewer.Buttons(r.IntN(8))})
		if r.IntN(4) == 0 {
			_ = l.Session.(viewer.Releaser).ReleaseAll(ctx)
		}
	},
	"text": func(ctx context.Context, l *viewertest.Live, r *rand.Rand) {
		_, _ = l.Session.(viewer.Clipboard).SetClipboard(ctx, fmt.Sprint("text € ", r.IntN(1000)))
	},
	"look": func(_ context.Context, l *viewertest.Live, r *rand.Rand) {
		l.Frame.Snapshot(image.Rectangle{}, nil)
		l.Session.(viewer.Signaller).Signals()
		l.Session.(viewer.Measured).Figures()
		l.Session.(*rfb.Session).Stats()
	},
}

// hammer starts all of it at once; what it returns ends it and waits.
func hammer(ctx context.Context, l *viewertest.Live) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	seed := uint64(0)
	for _, do := range hammers {
		seed++
		r := rand.New(rand.NewPCG(seed, 11))
		all.Go(func() {
			pace := time.NewTicker(2 * time.Millisecond) // a machine has a queue for what it is told
			defer pace.Stop()
			for ctx.Err() == nil {
				do(ctx, l, r)
				select {
				case <-pace.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// fewGoroutines waits until no more goroutines are left than there were.
func fewGoroutines(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(viewertest.Patience); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			b := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
		}
	}
}

// All that callers may do to a session, from many goroutines at once while the
// picture moves, leaves it with the exact picture, and nothing behind.
func TestHammer(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	before := runtime.NumGoroutine()
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	stop := hammer(t.Context(), l)
	r := rand.New(rand.NewPCG(1, 12))
	for end := time.Now().Add(hammerTime()); time.Now().Before(end); {
		x, y := r.IntN(500), r.IntN(400)
		s.fill(t, image.Rect(x, y, x+1+r.IntN(300), y+1+r.IntN(200)), color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), 7, 0xff})
		if r.IntN(4) == 0 {
			s.move(t, image.Rect(0, 0, 200, 200), image.Pt(x, y))
		}
	}
	stop()
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	l.Session.(viewer.Sparer).Spare(false)
	l.Session.(viewer.Desktop).Demand(true)
	tune(t, l, viewer.Picture{Quality: viewer.QualityLossless})
	if err := l.Session.(viewer.Resizer).Resize(t.Context(), 640, 480); err != nil {
		t.Fatal(err)
	}
	l.Until(t, "the size", func() bool { w, h := l.Frame.Size(); return w == 640 && h == 480 })
	draw(t, s, l)
	if n := l.Session.(viewer.Inputter).Queued(); n > 0 {
		t.Errorf("%d inputs wait", n)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { l.Close() })
	}
	all.Wait()
	fewGoroutines(t, before)
}

// A session whose connection breaks, or which is closed, at any moment of all
// that ends, says why, and leaves nothing behind.
func TestHammerKilled(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	before := runtime.NumGoroutine()
	r := rand.New(rand.NewPCG(2, 12))
	for i, end := 0, time.Now().Add(hammerTime()); i < 10 || time.Now().Before(end); i++ {
		var wire net.Conn
		l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), s.target(), nil, func(ctx context.Context, network, address string) (net.Conn, error) {
			var d net.Dialer
			c, err := d.DialContext(ctx, network, address)
			wire = c
			return c, err
		})
		if err != nil {
			t.Fatal(err)
		}
		l.Session.(viewer.Desktop).Demand(true)
		stop := hammer(t.Context(), l)
		for range r.IntN(60) {
			x, y := r.IntN(500), r.IntN(400)
			s.fill(t, image.Rect(x, y, x+1+r.IntN(300), y+1+r.IntN(200)), color.RGBA{uint8(r.Uint32()), uint8(i), 7, 0xff})
		}
		if i%2 == 0 {
			wire.Close()
			l.Wait(t)
			if l.Err() == nil {
				t.Error("a broken connection is no error")
			}
		} else {
			l.Close()
			if err := l.Err(); err != nil {
				t.Errorf("after Close: %v", err)
			}
		}
		stop()
	}
	fewGoroutines(t, before)
}
