package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deskvnc/control"
	"deskvnc/control/socket"
)

// A script is what the peer does on one connection: it answers hello by
// itself, then does one step for each request it reads.
type script []step

// A step is done for one request; it reports whether the connection goes on.
type step func(p *end, req control.Request) bool

// An end is the peer's end of one connection.
type end struct {
	net.Conn
	r *bufio.Reader
}

// A peer is a scripted window on loopback. It counts what it is asked.
type peer struct {
	t        *testing.T
	l        net.Listener
	conns    atomic.Int32
	hellos   atomic.Int32
	requests atomic.Int32
	ids      sync.Map // request ids, to find one used twice
	wg       sync.WaitGroup
	refuse   atomic.Bool // nobody listens

	mu      sync.Mutex
	scripts []script // of the connections to come; none left: echo for ever
	open    []net.Conn
	banner  []string
	keys    []string // wanted by the connections to come
}

func newPeer(t *testing.T, scripts ...script) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, l: l, scripts: scripts}
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for _, c := range p.open {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.wg.Wait()
	})
	return p
}

// dial connects and waits until the peer has accepted and said what it says
// unasked, so that no test depends on who is quicker.
func (p *peer) dial(context.Context) (net.Conn, string, error) {
	if p.refuse.Load() {
		return nil, "", &socket.Unreachable{Address: socket.Address{Host: "127.0.0.1", Port: 7990}, Err: syscall.ECONNREFUSED}
	}
	c, err := net.Dial("tcp", p.l.Addr().String())
	if err != nil {
		return nil, "", err
	}
	s, err := p.l.Accept()
	if err != nil {
		return nil, "", err
	}
	p.conns.Add(1)
	p.mu.Lock()
	var sc script
	if len(p.scripts) > 0 {
		sc, p.scripts = p.scripts[0], p.scripts[1:]
	}
	var banner, key string
	if len(p.banner) > 0 {
		banner, p.banner = p.banner[0], p.banner[1:]
	}
	if len(p.keys) > 0 {
		key, p.keys = p.keys[0], p.keys[1:]
	}
	p.open = append(p.open, s)
	p.mu.Unlock()
	if banner != "" {
		// It has arrived once one byte of it can be peeked.
		_, _ = s.Write([]byte(banner))
		for end := time.Now().Add(time.Minute); silent(c) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		defer s.Close()
		p.serve(&end{s, bufio.NewReader(s)}, sc, key)
	}()
	return c, "key-in-hand", nil
}

func (p *peer) serve(e *end, sc script, key string) {
	for {
		line, err := e.r.ReadBytes('\n')
		if err != nil {
			return
		}
		var req control.Request
		if err := json.Unmarshal(line, &req); err != nil {
			p.t.Errorf("the client sent %.100q: %v", line, err)
			return
		}
		if _, twice := p.ids.LoadOrStore(string(req.ID), true); twice {
			p.t.Errorf("id %s was used twice", req.ID)
		}
		if req.Method == control.MethodHello {
			p.hellos.Add(1)
			if key != "" && req.Key != key {
				fmt.Fprintf(e, `{"id":%s,"ok":false,"error":"unauthorized"}`+"\n", req.ID)
				return
			}
			fmt.Fprintf(e, `{"id":%s,"ok":true,"result":{"protocol":1,"version":"t","attachment":"att_1","secret":"s"}}`+"\n", req.ID)
			continue
		}
		p.requests.Add(1)
		if len(sc) == 0 {
			if sc != nil {
				return
			}
			fmt.Fprintf(e, `{"id":%s,"ok":true,"result":{"content":[]}}`+"\n", req.ID)
			continue
		}
		if !sc[0](e, req) {
			return
		}
		sc = sc[1:]
	}
}

// say writes a text in which ID stands for the request's id, and goes on.
func say(text string) step {
	return func(e *end, req control.Request) bool {
		_, _ = e.Write([]byte(strings.ReplaceAll(text, "ID", string(req.ID))))
		return true
	}
}

// sayAndClose writes a text and closes.
func sayAndClose(text string) step {
	return func(e *end, req control.Request) bool {
		say(text)(e, req)
		return false
	}
}

// A clock calls nothing by itself; tests fire what they want to pass.
type clock struct {
	mu     sync.Mutex
	timers []*timer
	added  chan time.Duration
}

type timer struct {
	d    time.Duration
	fn   func()
	gone bool
}

func newClock() *clock { return &clock{added: make(chan time.Duration, 100)} }

func (c *clock) after(d time.Duration, fn func()) func() {
	t := &timer{d: d, fn: fn}
	c.mu.Lock()
	c.timers = append(c.timers, t)
	c.mu.Unlock()
	c.added <- d
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.gone = true
	}
}

// fire lets every timer of d that was not stopped run out.
func (c *clock) fire(d time.Duration) {
	c.mu.Lock()
	var due []func()
	for _, t := range c.timers {
		if t.d == d && !t.gone {
			t.gone = true
			due = append(due, t.fn)
		}
	}
	c.mu.Unlock()
	for _, fn := range due {
		fn()
	}
}

func newClient(t *testing.T, p *peer, cl *clock) *Client {
	t.Helper()
	config := Config{Address: socket.Address{Host: "127.0.0.1", Port: 7990}, Name: "a test", Dial: p.dial}
	if cl != nil {
		config.After = cl.after
	}
	c := New(config)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// call makes one harmless call.
func call(c *Client) ([]byte, error) {
	return c.Call(context.Background(), "dvv_limbs", json.RawMessage("{}"))
}

// refusedAs fails unless err is a refusal with a code whose text holds every
// part.
func refusedAs(t *testing.T, err error, code control.Code, parts ...string) {
	t.Helper()
	var r *control.Refused
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if r.Code != code {
		t.Errorf("got %s, want %s", r, code)
	}
	for _, p := range parts {
		if !strings.Contains(r.Message+" "+r.Hint, p) {
			t.Errorf("%q is not said in: %s %s", p, r.Message, r.Hint)
		}
	}
}
