package rfb

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/auth"
	"deskvnc/viewer/trust"
)

// memory is a connection that brings bytes and ends; what is written to it is
// gone.
type memory struct {
	net.Conn
	b []byte
}

func (m *memory) Read(p []byte) (int, error) {
	if len(m.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.b)
	m.b = m.b[n:]
	return n, nil
}

func (m *memory) Write(p []byte) (int, error)      { return len(p), nil }
func (m *memory) Close() error                     { return nil }
func (m *memory) SetReadDeadline(time.Time) error  { return nil }
func (m *memory) SetWriteDeadline(time.Time) error { return nil }

// kinded fails the test unless err says what sort of failure it is.
func kinded(t *testing.T, err error) {
	t.Helper()
	var own *viewer.Error
	if err == nil || !errors.As(err, &own) || own.Err == nil {
		t.Fatalf("got the error %v, want one with a kind and a cause", err)
	}
}

// FuzzMessages reads server messages from bytes until one is at fault, or
// they end.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		"\x02\x03\x00\x00\x00\x00\x00\x00\x03abc\x01\x00\x00\x01\x00\x02123456123456",
		"\x00\x00\x00\x01\x00\x01\x00\x01\x00\x02\x00\x01\x00\x00\x00\x0012345678",
		"\x00\x00\x00\x01\x00\x01\x00\x01\x00\x02\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00",
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x02\x00\x02\xff\xff\xff\x111111222233334444\x80\x80", // cursor
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x20\x00\x20\xff\xff\xff\x21",                         // size
		"\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\x20",                         // last rectangle
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xfe\xcd\x00\x00\x00\x03abc",      // name
		"\x00\x00\x00\x01\x00\x01\x00\x00\x00\x40\x00\x40\xff\xff\xfe\xcc\x01\x00\x00\x00" + // layout
			"\x00\x00\x00\x07\x00\x00\x00\x00\x00\x40\x00\x40\x00\x00\x00\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		events := 0
		s := newSession(conn.New(&memory{b: b}), viewer.Env{Frame: frame.New(), Emit: func(e viewer.Event) {
			if n, ok := e.(viewer.Named); ok && len(n.Name) > maxTitleBytes {
				t.Fatalf("a name of %d bytes", len(n.Name))
			}
			events++
		}})
		readers := map[uint8]vnc.ServerMessage{}
		for _, m := range s.messages(func(err error) error { return wireError(err, "", 0) }) {
			readers[m.Type()] = m
		}
		if err := s.frame.Reset(64, 48, frame.BGRX); err != nil {
			t.Fatal(err)
		}
		s.order, s.canvas.Order = frame.BGRX, frame.BGRX
		s.setSize(64, 48)
		for {
			head, err := s.conn.Peek(1)
			if err != nil || readers[head[0]] == nil {
				return
			}
			kind := head[0]
			_ = s.conn.Discard(1)
			if _, err := readers[kind].Read(nil, s.conn); err != nil {
				kinded(t, err)
				return
			}
			w, h := s.frame.Size()
			if w != s.canvas.Width || h != s.canvas.Height {
				t.Fatalf("the frame is %d x %d, the canvas %d x %d", w, h, s.canvas.Width, s.canvas.Height)
			}
			if w*h > 1<<22 {
				return // slow, and nothing new
			}
		}
	})
}

// FuzzHandshake logs in to what bytes say.
func FuzzHandshake(f *testing.F) {
	init := "\x00\x20\x00\x10\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00\x00\x00\x00\x01t"
	f.Add([]byte("RFB 003.008\n\x01\x01\x00\x00\x00\x00" + init))
	f.Add([]byte("RFB 003.007\n\x02\x01\x02" + init))
	f.Add([]byte("RFB 003.003\n\x00\x00\x00\x020123456789abcdef\x00\x00\x00\x00" + init))
	f.Add([]byte("RFB 003.008\n\x01\x02" + "0123456789abcdef\x00\x00\x00\x01\x00\x00\x00\x02no"))
	f.Add([]byte("RFB 003.008\n\x01\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + init + "\x00\x01\x00\x00\x00\x00\x00\x000123456789abcdef"))
	f.Add([]byte("RFB 003.008\n\x01\x13\x00\x02\x00\x01\x00\x00\x01\x00\x00\x00\x00\x00" + init))
	f.Add([]byte("RFB 003.889\n\x00\x00\x00\x00\x02no"))
	f.Fuzz(func(t *testing.T, b []byte) {
		started := false
		tr := &translator{
			Conn: conn.New(&memory{b: b}), timeout: time.Second,
			chosen: func(auth.Method) {},
			started: func(i serverInit) {
				started = true
				if err := frame.CheckSize(i.width, i.height); err != nil || len(i.name) > keptBytes {
					t.Fatalf("%v, a name of %d bytes", err, len(i.name))
				}
			},
			known: func(uint8) bool { return false },
			ready: make(chan struct{}), ended: make(chan struct{}),
		}
		ask := viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
			return viewer.Answer{User: "u", Secret: viewer.SecretString("x"), Accept: true}, nil
		})
		tr.login = auth.NewLogin(t.Context(), viewer.Target{Address: "fuzz", User: "u"}, viewer.Env{Ask: ask, Emit: func(viewer.Event) {}}, &trust.Judge{}, tr.pause)
		cfg := &vnc.ClientConfig{}
		for _, m := range auth.Methods(tr.login) {
			if name := auth.Name(m.Type()); !strings.HasPrefix(name, "RA2") { // a key for each input costs too much
				tr.methods = append(tr.methods, m)
				cfg.Auth = append(cfg.Auth, step{tr, m})
			}
		}
		_, err := vnc.Client(tr, cfg)
		if (err == nil) != started {
			t.Fatalf("got %v, started %v", err, started)
		}
		close(tr.ready)
		<-tr.ended
		kinded(t, tr.err) // at the latest, the end of the bytes
	})
}

func FuzzText(f *testing.F) {
	f.Add([]byte("abc\xff\n\x1b[1m"), 10)
	f.Add([]byte("é\u202e東京"), 4)
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		limit = min(max(limit, 0), 1000)
		s := cleanText(b, limit)
		if len(s) > limit {
			t.Fatalf("%d bytes of at most %d", len(s), limit)
		}
		for _, r := range s {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == 0xfffd && string(b) == s {
				t.Fatalf("%q is left in %q", r, s)
			}
		}
		text, lost := toLatin1(s)
		if lost == 0 && fromLatin1(text) != s {
			t.Fatalf("got %q back of %q", fromLatin1(text), s)
		}
	})
}
