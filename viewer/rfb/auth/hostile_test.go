package auth

import (
	"bytes"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
)

// wiretap keeps what a machine sends.
type wiretap struct {
	net.Conn
	mu   sync.Mutex // guards below
	sent bytes.Buffer
}

func (w *wiretap) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.sent.Write(p)
	w.mu.Unlock()
	return w.Conn.Write(p)
}

// deaf is a connection that brings bytes and ends, whatever is written to it.
type deaf struct {
	net.Conn
	r *bytes.Reader
}

func (d *deaf) Read(p []byte) (int, error) {
	return d.r.Read(p)
}

func (d *deaf) Write(p []byte) (int, error)      { return len(p), nil }
func (d *deaf) Close() error                     { return nil }
func (d *deaf) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (d *deaf) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (d *deaf) SetDeadline(time.Time) error      { return nil }
func (d *deaf) SetReadDeadline(time.Time) error  { return nil }
func (d *deaf) SetWriteDeadline(time.Time) error { return nil }

// Every login that is cut after each of its bytes, or goes on with garbage
// there, or has one wrong byte, fails in a tidy way, and the password is in no
// error.
func TestLoginsCutAtEveryByte(t *testing.T) {
	ok := func(string, string) error { return nil }
	for _, c := range []struct {
		typ    uint8
		login  func(*machine) error
		target viewer.Target
	}{
		{TypeNone, func(*machine) error { return nil }, desk},
		{TypeVNC, vncServer("pässword"), desk},
		{TypeRA2x256, (&ra2Server{typ: TypeRA2x256, key: key(t), kind: wantsUser}).login, desk},
		{TypeRA2ne, (&ra2Server{typ: TypeRA2ne, key: key(t), kind: wantsPassword}).login, desk},
		{TypeAppleDH, appleDHServer(128, ok), desk},
		{TypeMSLogonII, msLogonServer(ok), desk},
		{TypeAppleRSA, (&mac{key: key(t), user: "jürgen", password: "pässword"}).login, desk},
		{TypeAppleSRP, (&mac{user: "jürgen", password: "pässword"}).login, desk},
		{TypeVeNCrypt, func(m *machine) error {
			m.give([]byte{0, 2})
			m.take(2)
			m.give([]byte{0, 2}, u32(999), u32(2))
			m.take(4)
			return vncServer("pässword")(m)
		}, desk},
		{TypeTight, func(m *machine) error {
			m.give(u32(0), u32(1), u32(2), []byte("STDVVNCAUTH_"))
			m.take(4)
			return vncServer("pässword")(m)
		}, desk},
	} {
		t.Run(Name(c.typ), func(t *testing.T) {
			cl := newClient("pässword")
			cl.user = "jürgen"
			near, far := loopback(t)
			tap := &wiretap{Conn: far}
			m := &machine{types: []byte{c.typ}, login: c.login, Conn: tap}
			if c.typ == TypeTight {
				m.abilities = make([]byte, 8)
			}
			done := make(chan error, 1)
			go func() {
				defer far.Close()
				done <- m.serve()
			}()
			if err := cl.over(near, c.target); err != nil {
				t.Fatalf("the whole login: %v, the machine: %v", err, <-done)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			data := tap.sent.Bytes()
			end := min(len(data), 700)
			r := rand.New(rand.NewPCG(5, 6))
			before := runtime.NumGoroutine()
			try := func(b []byte) {
				t.Helper()
				cl := newClient("pässword")
				cl.user = "jürgen"
				err := cl.over(&deaf{r: bytes.NewReader(b)}, c.target)
				if err != nil && strings.Contains(err.Error(), "pässword") {
					t.Fatalf("the password is in the error %v", err)
				}
			}
			// A key for each login, and a long stretching of the password, cost
			// more than the rest together.
			step := 1
			switch c.typ {
			case TypeRA2x256, TypeRA2ne:
				step = 97
			case TypeAppleDH:
				step = 5
			case TypeAppleRSA, TypeAppleSRP:
				step = 61
			}
			for at := 0; at < end; at += step {
				try(data[:at])
				garbage := make([]byte, 200)
				for i := range garbage {
					garbage[i] = byte(r.Uint32())
				}
				try(append(data[:at:at], garbage...))
				wrong := bytes.Clone(data)
				wrong[at] ^= byte(1 + r.IntN(255))
				try(wrong)
			}
			for deadline := time.Now().Add(hang); runtime.NumGoroutine() > before; runtime.Gosched() {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines are left, %d were there before", runtime.NumGoroutine(), before)
				}
			}
		})
	}
}
