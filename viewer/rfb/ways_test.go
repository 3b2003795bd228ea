package rfb_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// A machine calls the viewer; when its connection was used it has to call
// again.
func TestListen(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	l, err := rfb.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	config := need(t, "tigervncconfig")
	for range 2 {
		out, err := exec.Command(config, "-display", s.display, "-connect", strings.Replace(l.Addr().String(), ":", "::", 1)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		call, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		target := call.Target()
		if target.Address != "127.0.0.1" || target.Port != rfb.ListenPort {
			t.Errorf("got %+v", target)
		}
		live, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, call.Dial)
		if err != nil {
			t.Fatal(err)
		}
		draw(t, s, live)
		live.Close()
		if _, err := call.Dial(t.Context(), "tcp", "x"); viewer.KindOf(err) != viewer.Invalid {
			t.Errorf("a second use of a call: %v", err)
		}
		if err := call.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestListenEnds(t *testing.T) {
	l, err := rfb.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rfb.Listen(t.Context(), l.Addr().String()); viewer.KindOf(err) != viewer.Unreachable {
		t.Errorf("a port in use: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := l.Accept(ctx)
		done <- err
	}()
	cancel()
	if err := <-done; viewer.KindOf(err) != viewer.Cancelled {
		t.Errorf("got %v", err)
	}
	if _, err := l.Accept(t.Context()); viewer.KindOf(err) != viewer.Closed {
		t.Errorf("got %v", err)
	}
	// Somebody who calls and says nothing is hung up on.
	l, err = rfb.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call, err := l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	call.Close()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v", err)
	}
}

// repeater is a script of a repeater: it takes a name, and joins the caller
// to a machine.
func repeater(name, machine string) func(*rfbtest.Conn) error {
	return func(c *rfbtest.Conn) error {
		want := append([]byte(name), make([]byte, 250-len(name))...)
		if err := say("RFB 000.000\n", expect(want))(c); err != nil {
			return err
		}
		return join(c, machine)
	}
}

// join carries everything between a client and a machine.
func join(c *rfbtest.Conn, machine string) error {
	m, err := net.Dial("tcp", machine)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			b, err := c.Some()
			if err != nil {
				break
			}
			if _, err := m.Write(b); err != nil {
				break
			}
		}
		m.Close()
	}()
	_, _ = io.Copy(c.Conn, m) // how it ends does not matter
	c.Close()
	<-done
	return nil
}

func TestRepeater(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	for id, name := range map[string]string{"1234": "ID:1234", "ID:77": "ID:77", "lab01::5901": "lab01::5901"} {
		t.Run(id, func(t *testing.T) {
			r := serve(t, repeater(name, s.target().HostPort()))
			target := r.Target()
			target.RepeaterID = id
			draw(t, s, viewertest.Open(t, rfb.New(rfb.Options{}), target, nil))
		})
	}
}

func TestRepeaterRefusals(t *testing.T) {
	for id, want := range map[string]string{
		"abc": "neither a number", "ID:": "neither a number", "ID:12x": "neither a number",
		"a b:1": "characters", strings.Repeat("x", 250) + ":1": "too long",
	} {
		s := serve(t, say("RFB 000.000\n", live))
		target := s.Target()
		target.RepeaterID = id
		if _, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, nil); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", id, err, want)
		}
	}
	s := serve(t, say("RFB 003.008\n", live))
	target := s.Target()
	target.RepeaterID = "1"
	if _, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, nil); viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), "no VNC repeater") {
		t.Errorf("a machine: got %v", err)
	}
}

// A machine is reached by a socket of this computer, and its errors name it.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Vnc")
	s := startTiger(t, "-SecurityTypes", "None", "-rfbunixpath", path)
	target, err := viewer.ParseTarget("unix:"+path, viewer.VNC)
	if err != nil {
		t.Fatal(err)
	}
	draw(t, s, viewertest.Open(t, rfb.New(rfb.Options{}), target, nil))
	target.Address += "-none"
	if _, err := rfb.New(rfb.Options{}).Open(t.Context(), target, viewer.Env{Frame: frame.New(), Emit: func(viewer.Event) {}}); viewer.KindOf(err) != viewer.Unreachable || !strings.Contains(err.Error(), target.Address) {
		t.Errorf("got %v", err)
	}
}

// By way of a proxy, all the way to the picture.
func TestProxies(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	to := s.target()
	proxies := map[string]func(*rfbtest.Conn) error{
		"socks5": func(c *rfbtest.Conn) error {
			port := []byte{byte(to.Port >> 8), byte(to.Port)}
			if err := say(expect("\x05\x01\x00"), "\x05\x00", expect(append([]byte{5, 1, 0, 1, 127, 0, 0, 1}, port...)),
				"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")(c); err != nil {
				return err
			}
			return join(c, to.HostPort())
		},
		"http": func(c *rfbtest.Conn) error {
			head := fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to.HostPort(), to.HostPort())
			if err := say(expect(head), "HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\n")(c); err != nil {
				return err
			}
			return join(c, to.HostPort())
		},
	}
	for kind, script := range proxies {
		t.Run(kind, func(t *testing.T) {
			p := serve(t, script)
			target := to
			target.Proxy = kind + "://" + p.Target().HostPort()
			draw(t, s, viewertest.Open(t, rfb.New(rfb.Options{}), target, nil))
			if n := p.Connections(); n != 1 {
				t.Errorf("%d connections went by the proxy", n)
			}
		})
	}
}
