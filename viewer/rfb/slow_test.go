package rfb_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// slow is a connection of a given speed, which keeps what is written to it.
type slow struct {
	net.Conn
	rate int // bytes a second; 0 for as fast as it goes

	mu   sync.Mutex // guards below
	sent []byte
}

func (s *slow) Read(p []byte) (int, error) {
	if s.rate == 0 {
		return s.Conn.Read(p)
	}
	const tick = 10 * time.Millisecond
	n, err := s.Conn.Read(p[:min(len(p), s.rate/int(time.Second/tick))])
	<-time.After(tick) // the network's own time
	return n, err
}

func (s *slow) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.sent = append(s.sent, p...)
	s.mu.Unlock()
	return s.Conn.Write(p)
}

// qualities are the levels of JPEG that were asked for.
func (s *slow) qualities() (list []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := 1; q <= 9; q++ {
		if bytes.Contains(s.sent, []byte{0xff, 0xff, 0xff, byte(0xe0 + q)}) {
			list = append(list, q)
		}
	}
	return list
}

// Over a slow connection the picture loses quality, and gets it back once it
// stands still. Over a fast one it may too, where both sides have little time;
// what is asked for at which speed, see TestPaceFollowsTheSpeed. While somebody
// acts by what is seen it never does.
func TestTigerVNCAutoQuality(t *testing.T) {
	for name, rate := range map[string]int{"slow": 400 << 10, "steady": 400 << 10, "fast": 0} {
		t.Run(name, func(t *testing.T) {
			s := startTiger(t, "-SecurityTypes", "None")
			target := s.target()
			var wire *slow
			l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, func(ctx context.Context, network, address string) (net.Conn, error) {
				var d net.Dialer
				c, err := d.DialContext(ctx, network, address)
				wire = &slow{Conn: c, rate: rate}
				return wire, err
			})
			if err != nil {
				t.Fatal(err)
			}
			steady := name == "steady"
			l.Session.(viewer.Steadier).Steady(steady)
			l.Look(t)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 3 {
				pix := make([]byte, 400*300*4)
				for j := range pix {
					pix[j] = byte(r.Uint32())
				}
				for y := 0; y < 300; y += 50 { // an X request has a size
					s.put(t, 100, 100+y, 400, 50, pix[y*1600:(y+50)*1600])
				}
				mark := color.RGBA{uint8(50 * i), 99, 1, 0xff}
				s.fill(t, image.Rect(0, 0, 64, 64), mark)
				l.Until(t, "the mark", func() bool { return l.At(1, 1) == mark })
			}
			want := s.picture(t)
			l.Until(t, "a picture without losses", func() bool { return same(l, want) })
			got := wire.qualities()
			if rate > 0 && (len(got) == 0) != steady {
				t.Errorf("asked for the qualities %v", got)
			}
			if l.Err() != nil || l.Session.(viewer.Inputter).Queued() != 0 {
				t.Error(l.Err())
			}
		})
	}
}
