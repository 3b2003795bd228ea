package rfb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// tape is a connection that brings bytes, whatever is written to it, and ends.
type tape struct {
	rest   []byte
	once   sync.Once
	closed chan struct{}
}

func newTape(b []byte) *tape { return &tape{rest: b, closed: make(chan struct{})} }

func (c *tape) Read(p []byte) (int, error) {
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	default:
	}
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *tape) Write(p []byte) (int, error)      { return len(p), nil }
func (c *tape) Close() error                     { c.once.Do(func() { close(c.closed) }); return nil }
func (c *tape) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *tape) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *tape) SetDeadline(time.Time) error      { return nil }
func (c *tape) SetReadDeadline(time.Time) error  { return nil }
func (c *tape) SetWriteDeadline(time.Time) error { return nil }

// play opens a session on bytes, looks at it until it ends, and returns why it
// has.
func play(t *testing.T, d *rfb.Driver, b []byte) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), viewertest.Patience)
	defer cancel()
	s, err := d.Open(ctx, viewer.Target{Protocol: viewer.VNC, Address: "desk", Port: 5900, User: "u"}, viewer.Env{
		Frame: frame.New(), Emit: func(viewer.Event) {},
		Ask: viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
			return viewer.Answer{User: "u", Secret: viewer.SecretString("secretword"), Accept: true}, nil
		}),
		Dial: func(context.Context, string, string) (net.Conn, error) { return newTape(b), nil },
	})
	if err != nil {
		return err
	}
	s.(viewer.Desktop).Demand(true)
	select {
	case <-s.Done():
	case <-ctx.Done():
		t.Fatal("the session does not end")
	}
	err = s.Err()
	if cerr := s.Close(); cerr != nil {
		t.Errorf("close: %v", cerr)
	}
	return err
}

// tidy fails the test unless err is one that a person is told, with a kind and
// a reason, and without the password.
func tidy(t *testing.T, what string, at int, err error) {
	t.Helper()
	var own *viewer.Error
	if !errors.As(err, &own) || own.Err == nil || viewer.Reason(err) == "" || bytes.Contains([]byte(err.Error()), []byte("secretword")) {
		t.Fatalf("%s %d: got the error %v, want one with a kind and a reason", what, at, err)
	}
}

// goroutinesRest waits until no more goroutines run than before.
func goroutinesRest(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(viewertest.Patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left, %d were there before", runtime.NumGoroutine(), before)
		}
	}
}

// A session that is cut after each of its first bytes, and at places further
// on, ends in a tidy way; so does one that goes on with garbage there (C037).
func TestSessionCutAtEveryByte(t *testing.T) {
	for _, s := range streams(t)[:len(pictureEncodings)] {
		t.Run(s.name, func(t *testing.T) {
			data, err := rfbtest.Load(s.file)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			d := rfb.New(rfb.Options{Encodings: []int32{s.encoding, rect.TypeCopyRect}})
			places, first := []int{}, 2<<10
			if testing.Short() {
				first = 200
			}
			for at := range first {
				places = append(places, at)
			}
			for range 40 {
				places = append(places, first+r.IntN(len(data)-first))
			}
			before := runtime.NumGoroutine()
			for _, at := range places {
				err := play(t, d, data[:at:at])
				tidy(t, "cut at", at, err)
				if viewer.KindOf(err) != viewer.Closed {
					t.Fatalf("cut at %d: got %v, want the kind %q", at, err, viewer.Closed)
				}
				if at > 600 && at%16 != 0 {
					continue
				}
				garbage := make([]byte, 300)
				for i := range garbage {
					garbage[i] = byte(r.Uint32())
				}
				tidy(t, "garbage at", at, play(t, d, append(data[:at:at], garbage...)))
			}
			goroutinesRest(t, before)
		})
	}
}

// A good session of which one byte is another one ends in a tidy way, or goes
// on to the end.
func TestSessionWithAWrongByte(t *testing.T) {
	for _, s := range streams(t)[:len(pictureEncodings)] {
		data, err := rfbtest.Load(s.file)
		if err != nil {
			t.Fatal(err)
		}
		d := rfb.New(rfb.Options{Encodings: []int32{s.encoding, rect.TypeCopyRect}})
		before := runtime.NumGoroutine()
		r := rand.New(rand.NewPCG(3, 4))
		head := bytes.Clone(data[:min(len(data), 30<<10)])
		n := 300
		if testing.Short() {
			n = 60
		}
		for i := range n {
			at := i // each byte of the handshake, and then any
			if at >= 60 {
				at = r.IntN(len(head))
			}
			was := head[at]
			head[at] ^= byte(1 + r.IntN(255))
			tidy(t, s.name+": a wrong byte at", at, play(t, d, head))
			head[at] = was
		}
		goroutinesRest(t, before)
	}
}
