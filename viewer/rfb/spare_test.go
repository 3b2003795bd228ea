package rfb_test

import (
	"image"
	"image/color"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// A session that is looked at now and then gets next to nothing of a moving
// picture, and the whole of it once somebody watches (C139).
func TestSparedSessionIsNearlyIdle(t *testing.T) {
	for _, m := range tunable {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
			l.Session.(viewer.Sparer).Spare(true)
			l.Look(t)
			stats := l.Session.(*rfb.Session).Stats
			begun, before := time.Now(), stats().Updates
			for i := range 300 {
				s.fill(t, image.Rect(i, i, i+100, i+100), color.RGBA{uint8(i), 1, uint8(i >> 3), 0xff})
			}
			// One may have been asked for before, and one every five seconds.
			most := 3 + uint64(time.Since(begun)/(5*time.Second))
			if got := stats().Updates - before; got > most {
				t.Errorf("%d updates of 300 changes, want at most %d", got, most)
			}
			l.Session.(viewer.Sparer).Spare(false)
			want := s.picture(t)
			l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
		})
	}
}
