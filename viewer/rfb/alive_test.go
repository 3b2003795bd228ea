package rfb_test

import (
	"context"
	"image"
	"image/color"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// A pulled link is a connection through something that goes on answering after
// the machine behind it has gone: nothing comes, and nothing that is sent
// arrives.
type pulled struct {
	net.Conn
	mu  sync.Mutex // guards below
	cut bool
}

func (p *pulled) pull() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
}

func (p *pulled) isCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

func (p *pulled) Read(b []byte) (int, error) {
	for {
		n, err := p.Conn.Read(b)
		if err != nil || !p.isCut() {
			return n, err
		}
	}
}

func (p *pulled) Write(b []byte) (int, error) {
	if p.isCut() {
		return len(b), nil
	}
	return p.Conn.Write(b)
}

// silence is short here: a machine is asked after it, and given up after three
// times as long.
const silence = 400 * time.Millisecond

// openPulled opens a session over a link that can be pulled.
func openPulled(t *testing.T, target viewer.Target) (*viewertest.Live, *pulled) {
	t.Helper()
	var link *pulled
	l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{Silence: silence}), target, nil, func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		link = &pulled{Conn: c}
		return link, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, link
}

// A machine that has nothing to say stays connected, whether somebody looks or
// not; a link that leads nowhere any more ends, without an input and without a
// look (C125).
func TestDeadLinkIsNoticed(t *testing.T) {
	for _, m := range []struct {
		name  string
		start func(testing.TB) *xServer
	}{
		{"TigerVNC, which knows fences", func(t testing.TB) *xServer { return startTiger(t, "-SecurityTypes", "None") }},
		{"x11vnc", startX11VNC},
		{"TightVNC", startTight},
	} {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			for _, look := range []bool{false, true} {
				l, link := openPulled(t, s.target())
				if look {
					l.Look(t)
				}
				select { // this long nothing happens on the screen
				case <-time.After(8 * silence):
				case <-l.Done():
					t.Fatalf("a machine at rest (looked at: %v): %v", look, l.Err())
				}
				if !look {
					l.Look(t)
				}
				s.fill(t, image.Rect(0, 0, 50, 50), color.RGBA{1, 2, 3, 0xff})
				l.Until(t, "a change after the rest", func() bool { return l.At(9, 9) == color.RGBA{1, 2, 3, 0xff} })
				s.fill(t, image.Rect(0, 0, 50, 50), color.RGBA{9, 2, 3, 0xff})
				if !look {
					l.Session.(viewer.Desktop).Demand(false)
				}
				link.pull()
				l.Wait(t)
				if viewer.KindOf(l.Err()) != viewer.Timeout || !strings.Contains(l.Err().Error(), "no longer answers") {
					t.Errorf("looked at: %v: got %v", look, l.Err())
				}
			}
		})
	}
}

// A reader that has other work for long is no sign of a dead machine.
func TestBusyReader(t *testing.T) {
	for _, m := range []func(testing.TB) *xServer{func(t testing.TB) *xServer { return startTiger(t, "-SecurityTypes", "None") }, startTight} {
		s := m(t)
		l, _ := openPulled(t, s.target())
		l.Look(t)
		l.Frame.Lock()
		scribble(t, s, 1)
		select {
		case <-time.After(6 * silence):
		case <-l.Done():
			l.Frame.Unlock()
			t.Fatalf("got %v", l.Err())
		}
		l.Frame.Unlock()
		want := s.picture(t)
		l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
	}
}

// thin is a connection that takes its time for each 16 KiB that are written.
type thin struct {
	net.Conn
	each time.Duration
}

func (c *thin) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		const piece = 16 << 10
		if len(b) >= piece {
			<-time.After(c.each)
		}
		n, err := c.Conn.Write(b[done:min(len(b), done+piece)])
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}

// A text that takes longer to send than a machine may be silent arrives, and the
// session goes on.
func TestLongTextOverASlowConnection(t *testing.T) {
	xclip := need(t, "xclip")
	s := startTiger(t, "-SecurityTypes", "None", "-MaxCutText", strconv.Itoa(16<<20))
	l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{Silence: silence}), s.target(), nil, func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		return &thin{c, silence / 16}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Look(t)
	text := long(3<<20, 9)
	setClipboard(t, l, text)
	out, err := exec.Command(xclip, "-display", s.display, "-selection", "clipboard", "-o", "-t", "UTF8_STRING").Output()
	if err != nil || string(out) != text {
		t.Errorf("pasted %d bytes, %v, want %d", len(out), err, len(text))
	}
	s.fill(t, image.Rect(0, 0, 50, 50), color.RGBA{1, 2, 3, 0xff})
	l.Until(t, "a change", func() bool { return l.At(9, 9) == color.RGBA{1, 2, 3, 0xff} })
}

// A machine of which nothing can be asked is not given up.
func TestNothingToAsk(t *testing.T) {
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(rfbtest.Init{}); err != nil {
			return err
		}
		return c.Drain()
	})
	l, _ := openPulled(t, s.Target())
	select {
	case <-time.After(5 * silence):
	case <-l.Done():
		t.Errorf("got %v", l.Err())
	}
}
