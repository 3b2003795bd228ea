package rfb_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// stamped is a connection that tells when a key has been written to it.
type stamped struct {
	net.Conn
	written chan time.Time
}

func (s *stamped) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	if p[0] == rfbtest.KeyEvent {
		s.written <- time.Now()
	}
	return n, err
}

// BenchmarkInput is the time from a call of Post to the bytes being on a socket
// of the loopback interface.
func BenchmarkInput(b *testing.B) {
	s, err := rfbtest.Serve(func(c *rfbtest.Conn) error {
		if err := c.Hello(rfbtest.Init{Width: 64, Height: 64}); err != nil {
			return err
		}
		return c.Drain()
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var wire *stamped
	l, err := viewertest.TryOpen(b, rfb.New(rfb.Options{}), s.Target(), nil, func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		wire = &stamped{c, make(chan time.Time, 1000)}
		return wire, err
	})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	post := l.Session.(viewer.Inputter)
	flush := func() {
		if err := post.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
		for len(wire.written) > 0 {
			<-wire.written
		}
	}
	if err := post.Post(viewer.Pointer{X: 1, Y: 1}); err != nil { // with what comes before all
		b.Fatal(err)
	}
	flush()
	var times []time.Duration
	for down := true; b.Loop(); down = !down {
		start := time.Now()
		if err := post.Post(viewer.Key{Sym: 'a', Down: down}); err != nil {
			b.Fatal(err)
		}
		took := (<-wire.written).Sub(start)
		if took <= 0 {
			b.Fatal("a key was written before it was posted")
		}
		times = append(times, took)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "median-µs")
	b.ReportMetric(float64(times[len(times)*95/100].Nanoseconds())/1e3, "p95-µs")
	flush()
}
