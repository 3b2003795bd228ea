package rfb

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
		"\xf8\x00\x00\x00\x80\x00\x00\x03\x04abcd\x96\x96",                                                                         // fence, end of continuous updates
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x02\x00\x01\xff\xff\xff\x10\x01\x02\x03\x04\x05\x06\x80\xc0",                         // two colours
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x01\xff\xff\xfe\xc6\x00\x00\x00\x00\x01\x02\x03\x04",                         // alpha
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x01WMVd\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08",                             // VMware's masks
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x01WMVd\x01\x00\x01\x02\x03\x04",                                             // VMware's alpha
		"\x00\x00\x00\x02\x00\x07\x00\x08\x00\x00\x00\x00WMVf\x00\x09\x00\x09\x00\x00\x00\x00\xff\xff\xff\x18",                     // places
		"\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xfe\xfb\x05\x00\x00\x00\x00\x00\x00\x00\x00WMVh\x00\x00\x00\x07", // lock keys
		"\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xfe\xfe\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xfe\xff\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xfe\xc4",
		"\x03\x00\x00\x00\xff\xff\xff\xf8\x1f\x00\x00\x01\x00\x00\x00\x0a\x03\x00\x00\x00\xff\xff\xff\xfc\x02\x00\x00\x01", // caps, request
		"\x03\x00\x00\x00\xff\xff\xff\xfc\x08\x00\x00\x01\x03\x00\x00\x00\xff\xff\xff\xfc\x04\x00\x00\x00",                 // notify, peek
		"\x03\x00\x00\x00" + string(binary.BigEndian.AppendUint32(nil, ^uint32(3+len(provide("abc"))-8))) + string(provide("abc")[8:]),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		events := 0
		s := newSession(conn.New(&memory{b: b}), viewer.Env{Frame: frame.New(), Emit: func(e viewer.Event) {
			if c, ok := e.(viewer.CutText); ok && (len(c.Text) > 3*maxTextBytes || c.Text == "" || !utf8.ValidString(c.Text)) {
				t.Fatalf("a text of %d bytes", len(c.Text))
			}
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
			s.out.take(time.Unix(0, 0)) // answers are written
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

// FuzzNative reads messages in a pixel format that comes first.
func FuzzNative(f *testing.F) {
	format := string(fullColours.appendSet(nil)[4:])
	map8 := "\x08\x08\x00\x00\x00\xff\x00\xff\x00\xff\x00\x00\x00\x00\x00\x00"
	thirty := "\x20\x1e\x01\x01\x03\xff\x03\xff\x03\xff\x14\x0a\x00\x00\x00\x00"
	for _, s := range []string{
		format + "\x00\x00\x00\x01\x00\x01\x00\x01\x00\x02\x00\x01\x00\x00\x00\x0012345678",
		map8 + "\x01\x00\x00\x05\x00\x02123456123456\x00\x00\x00\x01\x00\x01\x00\x01\x00\x02\x00\x01\x00\x00\x00\x0012",
		map8 + "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x11\x00\x02\x00\x00\x00\x05\x1f\x01\x02\x01\x03\x00\x00\x01\x1234",
		thirty + "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x02\x00\x02\x00\x00\x00\x10\x00\x00\x00\x0f\x78\x9c\x62\x64\x60\x60\x60\x00\x00\x00\x00\xff\xff\x00",
		thirty + "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x02\x00\x01\xff\xff\xff\x11\x111111222233334444\x80\x80",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 16 {
			return
		}
		s := newSession(conn.New(&memory{b: b[16:]}), viewer.Env{Frame: frame.New(), Emit: func(viewer.Event) {}})
		readers := map[uint8]vnc.ServerMessage{}
		for _, m := range s.messages(func(err error) error { return wireError(err, "", 0) }) {
			readers[m.Type()] = m
		}
		s.order, s.canvas.Order = frame.BGRX, frame.BGRX
		s.out.full, s.out.own = fullColours, parseFormat(b[:16])
		s.out.wires.now.format = s.out.own
		if err := s.useWire(s.out.wires.now); err != nil {
			kinded(t, err)
			return
		}
		if err := s.frame.Reset(64, 48, frame.BGRX); err != nil {
			t.Fatal(err)
		}
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
			if w, h := s.frame.Size(); w*h > 1<<22 {
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
