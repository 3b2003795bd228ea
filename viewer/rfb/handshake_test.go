package rfb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// serve runs a script for the test, and fails the test with its error.
func serve(t testing.TB, script func(*rfbtest.Conn) error) *rfbtest.Server {
	t.Helper()
	s, err := rfbtest.Serve(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("the machine's side: %v", err)
		}
	})
	return s
}

// say makes a script of pieces: a string or bytes are sent, a number is how
// many bytes to read, and a byte list in an expect is compared.
func say(pieces ...any) func(*rfbtest.Conn) error {
	return func(c *rfbtest.Conn) error {
		for i, p := range pieces {
			var err error
			switch p := p.(type) {
			case string:
				err = c.Send([]byte(p))
			case []byte:
				err = c.Send(p)
			case int:
				_, err = c.Expect(p)
			case expect:
				err = c.ExpectBytes([]byte(p))
			case func(*rfbtest.Conn) error:
				err = p(c)
			}
			if err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
		return nil
	}
}

type expect string

// live is the rest of a connection: the client does what it likes.
var live = func(c *rfbtest.Conn) error { return c.Drain() }

var smallInit = rfbtest.Init{Width: 100, Height: 100, Name: "t"}

// challenge is answered by the password "abcdefgh" with response.
var (
	challenge = string([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	response  = expect("\xea\xe3\xa1\xcb\x74\xca\x6d\xaa\xc1\x83\xf6\x64\x60\x19\x0b\xb5")
)

func TestHandshakeOpens(t *testing.T) {
	v8 := expect("RFB 003.008\n")
	init := smallInit.Bytes()
	for _, c := range []struct {
		name   string
		script []any
	}{
		{"3.8 without a password", []any{"RFB 003.008\n", v8, "\x01\x01", expect("\x01"), "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"3.8 with a password", []any{"RFB 003.008\n", v8, "\x01\x02", expect("\x02"), challenge, response, "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"3.7 without a password has no result", []any{"RFB 003.007\n", expect("RFB 003.007\n"), "\x01\x01", expect("\x01\x01"), init, live}},
		{"3.7 with a password has one", []any{"RFB 003.007\n", expect("RFB 003.007\n"), "\x02\x10\x02", expect("\x02"), challenge, response, "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"3.3 without a password has no result", []any{"RFB 003.003\n", expect("RFB 003.003\n"), "\x00\x00\x00\x01", expect("\x01"), init, live}},
		{"3.3 with a password has one", []any{"RFB 003.003\n", expect("RFB 003.003\n"), "\x00\x00\x00\x02" + challenge, response, "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"an odd minor means 3.3", []any{"RFB 003.006\n", expect("RFB 003.003\n"), "\x00\x00\x00\x02" + challenge, response, "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"a Mac's 3.889", []any{"RFB 003.889\n", v8, "\x04\x1e\x21\x24\x02", expect("\x02"), challenge, response, "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"4.0", []any{"RFB 004.000\n", v8, "\x01\x01", expect("\x01"), "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"4.1", []any{"RFB 004.001\n", v8, "\x01\x01", expect("\x01"), "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"5.0", []any{"RFB 005.000\n", v8, "\x01\x01", expect("\x01"), "\x00\x00\x00\x00", expect("\x01"), init, live}},
		{"None is taken where a password is offered too", []any{"RFB 003.008\n", v8, "\x02\x02\x01", expect("\x01"), "\x00\x00\x00\x00", expect("\x01"), init, live}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, say(c.script...))
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), answer(t, "abcdefgh"))
			if w, h := l.Frame.Size(); w != 100 || h != 100 {
				t.Errorf("got %d x %d", w, h)
			}
		})
	}
}

func TestHandshakeExclusive(t *testing.T) {
	s := serve(t, say("RFB 003.008\n", 12, "\x01\x01", 1, "\x00\x00\x00\x00", expect("\x00"), smallInit.Bytes(), live))
	target := s.Target()
	target.Exclusive = true
	viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
}

func TestHandshakeRefusals(t *testing.T) {
	reason := func(s string) string { return string([]byte{0, 0, 0, byte(len(s))}) + s }
	hello := func(rest ...any) []any {
		return append([]any{"RFB 003.008\n", 12, "\x01\x01", 1, "\x00\x00\x00\x00", 1}, rest...)
	}
	long := func(n uint32) []byte {
		b := rfbtest.Init{Width: 10, Height: 10}.Bytes()
		return append(b[:20], byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	for _, c := range []struct {
		name   string
		script []any
		kind   viewer.Kind
		reason string // what the reason must contain
		never  string // what it must not
	}{
		{"no VNC server", []any{"SSH-2.0-OpenSSH_9.2\r\n", live}, viewer.Malformed, `not a VNC server: it greets with "SSH-2.0-Open"`, ""},
		{"a repeater", []any{"RFB 000.000\n", live}, viewer.Unsupported, "repeater", ""},
		{"closed at once", []any{}, viewer.Closed, "before it sent its greeting", ""},
		{"no types and a reason", []any{"RFB 003.008\n", 12, "\x00" + reason("Too many security failures")}, viewer.Closed, `the machine says: "Too many security failures"`, "password"},
		{"no types and a reason in 3.3", []any{"RFB 003.003\n", 12, "\x00\x00\x00\x00" + reason("Too many security failures")}, viewer.Closed, `the machine says: "Too many security failures"`, "password"},
		{"no types and half a reason", []any{"RFB 003.008\n", 12, "\x00\x00\x00\x00\x20go away"}, viewer.Closed, `the machine says: "go away"`, ""},
		{"a reason that pretends to be more", []any{"RFB 003.008\n", 12, "\x00" + reason("x\"\n\x1b[2Jpress \u202eOK")}, viewer.Closed, `the machine says: "x' [2Jpress OK"`, ""},
		{"a reason of 4 GiB", []any{"RFB 003.008\n", 12, "\x00\xff\xff\xff\xffslow", live}, viewer.Limit, "4294967295 bytes", ""},
		{"types this viewer cannot do are named", []any{"RFB 003.008\n", 12, "\x02\x23\x14", live}, viewer.Unsupported, "Apple Kerberos, SASL", "password is"},
		{"an odd minor with an unknown scheme", []any{"RFB 003.006\n", 12, "\xff\xff\xff\xfa", live}, viewer.Unsupported, "unsupported scheme", ""},
		{"a wrong password, with the machine's words", []any{"RFB 003.008\n", 12, "\x01\x02", 1, challenge, 16, "\x00\x00\x00\x01" + reason("Ohne Passwort kein Zutritt")}, viewer.Denied, `the machine says: "Ohne Passwort kein Zutritt"`, ""},
		{"a result that is neither 0 nor 1", []any{"RFB 003.008\n", 12, "\x01\x02", 1, challenge, 16, "\x00\x00\x00\x02"}, viewer.Denied, "too many failed logins", ""},
		{"a wrong password in 3.3", []any{"RFB 003.003\n", 12, "\x00\x00\x00\x02" + challenge, 16, "\x00\x00\x00\x01"}, viewer.Denied, "refused the login", ""},
		{"a reason in the place of a result", []any{"RFB 003.008\n", 12, "\x01\x02", 1, challenge, 16, "\x00" + reason("Invalid username or password"), live}, viewer.Denied, `the machine says: "Invalid username or password"`, ""},
		{"a result's place with nothing in its reason", []any{"RFB 003.008\n", 12, "\x01\x02", 1, challenge, 16, "\x00" + reason(strings.Repeat("\x7f\x00", 14)), live}, viewer.Denied, "refused the login", ""},
		{"refused without a password is not blamed on one", []any{"RFB 003.008\n", 12, "\x01\x01", 1, "\x00\x00\x00\x01" + reason("Connection rejected")}, viewer.Closed, `the machine says: "Connection rejected"`, "password"},
		{"ServerInit stops before the name's length", []any{"RFB 003.008\n", 12, "\x01\x01", 1, "\x00\x00\x00\x00", 1, smallInit.Bytes()[:20], live}, viewer.Timeout, "size and pixel format", ""},
		{"ServerInit stops in the name", hello(append(long(5), 'a'), live), viewer.Timeout, "desktop name", ""},
		{"a name of 4 GiB", hello(long(0xffffffff), live), viewer.Limit, "name of 4294967295 bytes", ""},
		{"a screen of 65535 x 65535", hello(rfbtest.Init{Width: 65535, Height: 65535}.Bytes(), live), viewer.Limit, "65535 x 65535", ""},
		{"silence", []any{live}, viewer.Timeout, "greeting within", ""},
		{"silence after the version", []any{"RFB 003.008\n", live}, viewer.Timeout, "security types", ""},
		{"silence after the choice", []any{"RFB 003.008\n", 12, "\x01\x01", live}, viewer.Timeout, "answer to the login", ""},
		{"silence in the login", []any{"RFB 003.008\n", 12, "\x01\x02", live}, viewer.Timeout, "part of the login", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, say(c.script...))
			_, err := viewertest.TryOpen(t, rfb.New(rfb.Options{StageTimeout: 200 * time.Millisecond}), s.Target(), answer(t, "guess"), nil)
			if got := viewer.KindOf(err); err == nil || got != c.kind {
				t.Fatalf("got %q: %v, want the kind %q", got, err, c.kind)
			}
			got := viewer.Reason(err)
			if !strings.Contains(got, c.reason) || c.never != "" && strings.Contains(got, c.never) {
				t.Errorf("got the reason %q, want one with %q and without %q", got, c.reason, c.never)
			}
			if strings.Contains(err.Error(), "guess") {
				t.Errorf("the password is in the error: %v", err)
			}
		})
	}
}

// Cancel works while the machine is waited for, and while a person is.
func TestOpenIsCancelled(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []any
	}{
		{"while ServerInit is late", []any{"RFB 003.008\n", 12, "\x01\x01", 1, "\x00\x00\x00\x00", 1, smallInit.Bytes()[:20]}},
		{"while a person is asked", []any{"RFB 003.008\n", 12, "\x01\x02", 1, challenge}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			s := serve(t, say(append(c.script, func(c *rfbtest.Conn) error {
				cancel()
				return c.Drain()
			})...))
			_, err := rfb.New(rfb.Options{}).Open(ctx, s.Target(), viewer.Env{
				Frame: frame.New(), Emit: func(viewer.Event) {},
				Ask: viewer.AskFunc(func(ctx context.Context, _ viewer.Question) (viewer.Answer, error) {
					<-ctx.Done()
					return viewer.Answer{}, ctx.Err()
				}),
			})
			if got := viewer.KindOf(err); err == nil || got != viewer.Cancelled {
				t.Errorf("got %q: %v, want %q", got, err, viewer.Cancelled)
			}
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	s := serve(t, say("RFB 003.008\n", 12, "\x01\x02", 1, challenge, live))
	nobody := errors.New("a password is needed")
	_, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), s.Target(),
		viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
			return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: nobody}
		}), nil)
	if viewer.KindOf(err) != viewer.Credentials || !errors.Is(err, nobody) {
		t.Errorf("got %v", err)
	}
}

func TestNameIsCleaned(t *testing.T) {
	for _, c := range []struct{ name, wire, want string }{
		{"plain", "lab 01", "lab 01"},
		{"UTF-8", "Büro 東京", "Büro 東京"},
		{"Latin-1, a new line and an escape", "\x41\xff\xfe\x0a\x1b\x5b\x31\x6d", "Aÿþ [1m"},
		{"a right-to-left override", "abc\u202egpj.exe", "abcgpj.exe"},
		{"a megabyte", strings.Repeat("A", 1<<20), strings.Repeat("A", 128)},
		{"cut in a letter", strings.Repeat("é", 100), strings.Repeat("é", 64)},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(conn *rfbtest.Conn) error {
				if err := conn.Hello(rfbtest.Init{Width: 9, Height: 9, Name: c.wire}); err != nil {
					return err
				}
				return conn.Drain()
			})
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			e := l.Event(t, "the name", func(e viewer.Event) bool { _, ok := e.(viewer.Named); return ok })
			if got := e.(viewer.Named).Name; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The formats that the frame cannot hold as they are get one request for
// another, with a true-colour flag of exactly 1; the others get none.
func TestPixelFormat(t *testing.T) {
	format := func(b ...byte) []byte { return append(b, 0, 0, 0) }
	for _, c := range []struct {
		name   string
		format []byte
		asked  bool
	}{
		{"BGRX", rfbtest.BGRX, false},
		{"RGBX", format(32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16), false},
		{"a true-colour flag of 255", format(32, 24, 0, 255, 0, 255, 0, 255, 0, 255, 16, 8, 0), false},
		{"colours in the high bytes", format(32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 24, 16, 8), true},
		{"depth 32", format(32, 32, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0), true},
		{"two colours in one place", format(32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 8), true},
		{"big-endian", format(32, 24, 1, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0), true},
		{"24 bits", format(24, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0), true},
		{"16 bits", format(16, 16, 0, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0), true},
		{"10 bits a colour", format(32, 30, 0, 1, 3, 255, 3, 255, 3, 255, 20, 10, 0), true},
		{"a colour map of 8 bits", format(8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := make(chan rfbtest.Message, 1)
			s := serve(t, func(conn *rfbtest.Conn) error {
				if err := conn.Hello(rfbtest.Init{Width: 9, Height: 9, Format: c.format}); err != nil {
					return err
				}
				// Two maps of colours in mid-session do no harm.
				if err := conn.Send([]byte{1, 0, 0, 200, 0, 100}, make([]byte, 600), []byte{1, 0, 0, 0, 0, 0}, []byte{2}); err != nil {
					return err
				}
				m, err := conn.Next()
				if err != nil {
					return err
				}
				first <- m
				return conn.Drain()
			})
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			l.Event(t, "the bell behind the maps", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
			want := []byte{0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}
			if m := <-first; c.asked != (m.Type == rfbtest.SetPixelFormat && bytes.Equal(m.Body, want)) {
				t.Errorf("got %v", m)
			}
		})
	}
}

// A dial that is injected is used, and its connection closed.
func TestDialIsInjected(t *testing.T) {
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(smallInit); err != nil {
			return err
		}
		return c.Drain()
	})
	var address string
	l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), viewer.Target{Address: "fe80::1%eth0", Port: 5901}, nil,
		func(ctx context.Context, network, to string) (net.Conn, error) {
			address = to
			var d net.Dialer
			return d.DialContext(ctx, network, s.Target().HostPort())
		})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if address != "[fe80::1%eth0]:5901" {
		t.Errorf("dialled %q", address)
	}
}
