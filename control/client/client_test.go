package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"deskvnc/control"
	"deskvnc/control/socket"
)

const good = `{"id":ID,"ok":true,"result":{"content":[]}}` + "\n"

// The rows about one reply. After every bad one the next call works over a
// fresh connection, and the peer has seen the first request once.
func TestReplies(t *testing.T) {
	const lost = "may or may not have run"
	for _, c := range []struct {
		name, reply string
		close       bool   // after the reply
		want        string // the result, or what the error says
		code        control.Code
		kept        bool // the connection
	}{
		{"C1 a good line", good, false, `{"content":[]}`, "", true},
		{"C2 with CRLF", `{"id":ID,"ok":true,"result":5}` + "\r\n", false, `5`, "", true},
		{"C3 an error of the window", `{"id":ID,"ok":false,"error":"tool.call: say hello first"}` + "\n", false, "tool.call: say hello first", control.Internal, false},
		{"C4 a null result", `{"id":ID,"ok":true,"result":null}` + "\n", false, `null`, "", true},
		{"other keys are ignored", `{"x":1,"id":ID,"ok":true,"y":{"id":5},"result":1}` + "\n", false, `1`, "", true},
		{"C5 no result", `{"id":ID,"ok":true}` + "\n", false, lost, control.LimbGone, false},
		{"C6 no error", `{"id":ID,"ok":false}` + "\n", false, lost, control.LimbGone, false},
		{"C6 error an object", `{"id":ID,"ok":false,"error":{"message":"x"}}` + "\n", false, lost, control.LimbGone, false},
		{"C6 error null", `{"id":ID,"ok":false,"error":null}` + "\n", false, lost, control.LimbGone, false},
		{"C6 error a number", `{"id":ID,"ok":false,"error":1}` + "\n", false, lost, control.LimbGone, false},
		{"C7 ok missing", `{"id":ID,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C7 ok a string", `{"id":ID,"ok":"true","result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C7 ok a number", `{"id":ID,"ok":1,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C8 an earlier id", `{"id":0,"ok":true,"result":1}` + "\n" + good, false, lost, control.LimbGone, false},
		{"C9 id a string", `{"id":"ID","ok":true,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C10 id null", `{"id":null,"ok":true,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C10 id missing", `{"ok":true,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C11 id with a point", `{"id":ID.0,"ok":true,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C12 array", `[]` + "\n", false, lost, control.LimbGone, false},
		{"C12 string", `"x"` + "\n", false, lost, control.LimbGone, false},
		{"C12 number", `7` + "\n", false, lost, control.LimbGone, false},
		{"C12 null", `null` + "\n", false, lost, control.LimbGone, false},
		{"C13 empty line", "\n", false, lost, control.LimbGone, false},
		{"C13 spaces", "   \n", false, lost, control.LimbGone, false},
		{"C14 not JSON", "nonsense\n", false, lost, control.LimbGone, false},
		{"C15 something after", `{"id":ID,"ok":true,"result":1} x` + "\n", false, lost, control.LimbGone, false},
		{"C16 not UTF-8", `{"id":ID,"ok":true,"result":"` + "\xff" + `"}` + "\n", false, lost, control.LimbGone, false},
		{"C17 no newline", `{"id":ID,"ok":true,"result":1}`, true, lost, control.LimbGone, false},
		{"C18 half an object", `{"id":ID,"ok":tr`, true, lost, control.LimbGone, false},
		{"C19 nothing", ``, true, lost, control.LimbGone, false},
		{"C32 id twice", `{"id":ID,"id":ID,"ok":true,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C32 ok twice", `{"id":ID,"ok":false,"ok":true,"result":1}` + "\n", false, lost, control.LimbGone, false},
		{"C32 twice by an escape", `{"id":ID,"\u0069d":ID,"ok":true,"result":1}` + "\n", false, lost, control.LimbGone, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := say(c.reply)
			if c.close {
				first = sayAndClose(c.reply)
			}
			p := newPeer(t, script{first, say(good)})
			cl := newClient(t, p, nil)
			got, err := call(cl)
			if c.code == "" {
				if err != nil || string(got) != c.want {
					t.Fatalf("got %s %v, want %s", got, err, c.want)
				}
			} else {
				refusedAs(t, err, c.code, c.want)
				if c.want == lost {
					refusedAs(t, err, c.code, "127.0.0.1:7990", "dvv_limbs", "Look before you repeat it")
				} else if strings.Contains(err.Error(), lost) {
					t.Errorf("an answer is called lost: %v", err)
				}
			}
			if n := p.requests.Load(); n != 1 {
				t.Errorf("the peer saw the request %d times", n)
			}
			if got, err := call(cl); err != nil || string(got) != `{"content":[]}` {
				t.Errorf("the next call: got %s %v", got, err)
			}
			want := int32(2)
			if c.kept {
				want = 1
			}
			if n := p.conns.Load(); n != want {
				t.Errorf("%d connections were used, want %d", n, want)
			}
			if n := p.requests.Load(); n != 2 {
				t.Errorf("the peer saw %d requests, want 2", n)
			}
		})
	}
}

// C20 and C21: the largest reply, and one byte more. C22: no end at all.
func TestLargeReplies(t *testing.T) {
	fill := func(total int) step {
		return func(e *end, req control.Request) bool {
			head := fmt.Sprintf(`{"id":%s,"ok":true,"result":"`, req.ID)
			_, _ = e.Write([]byte(head))
			_, _ = e.Write(bytes.Repeat([]byte("x"), total-len(head)-3))
			_, _ = e.Write([]byte("\"}\n"))
			return true
		}
	}
	t.Run("C20", func(t *testing.T) {
		p := newPeer(t, script{fill(control.MaxMessage)})
		got, err := call(newClient(t, p, nil))
		if err != nil || len(got) < control.MaxMessage-100 {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
	t.Run("C21", func(t *testing.T) {
		p := newPeer(t, script{fill(control.MaxMessage + 1)})
		c := newClient(t, p, nil)
		_, err := call(c)
		refusedAs(t, err, control.LimbGone, "may or may not have run", "larger than 16 MiB", "smaller scale")
		if _, err := call(c); err != nil {
			t.Errorf("the next call: %v", err)
		}
	})
	t.Run("C22", func(t *testing.T) {
		p := newPeer(t, script{func(e *end, _ control.Request) bool {
			b := bytes.Repeat([]byte("x"), 1<<20)
			for {
				if _, err := e.Write(b); err != nil {
					return false
				}
			}
		}})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := call(newClient(t, p, nil))
		runtime.ReadMemStats(&after)
		refusedAs(t, err, control.LimbGone, "may or may not have run", "larger than 16 MiB")
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*control.MaxMessage {
			t.Errorf("%d bytes were allocated for a reply that never ends", used)
		}
	})
}

// C23: no byte within the tool's own limit.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		limit      time.Duration
	}{
		{"dvv_limbs", `{}`, 90 * time.Second},
		{"dvv_wait", `{"until":"idle","timeoutMs":7000}`, 37 * time.Second},
		{"dvv_type", `{"text":"x"}`, 0},
	} {
		t.Run(c.tool, func(t *testing.T) {
			asked, let := make(chan struct{}), make(chan struct{})
			p := newPeer(t, script{func(e *end, req control.Request) bool {
				close(asked)
				<-let
				say(good)(e, req)
				return true
			}})
			clock := newClock()
			cl := newClient(t, p, clock)
			done := make(chan error, 1)
			go func() {
				_, err := cl.Call(context.Background(), c.tool, json.RawMessage(c.args))
				done <- err
			}()
			<-asked
			if d := <-clock.added; d != helloTime {
				t.Errorf("hello has a limit of %v, want %v", d, helloTime)
			}
			if c.limit == 0 {
				select {
				case d := <-clock.added:
					t.Errorf("got a limit of %v, want none", d)
				default:
				}
				close(let)
				if err := <-done; err != nil {
					t.Error(err)
				}
				return
			}
			defer close(let)
			if d := <-clock.added; d != c.limit {
				t.Errorf("got a limit of %v, want %v", d, c.limit)
			}
			clock.fire(c.limit)
			refusedAs(t, <-done, control.LimbGone, "timed out after "+c.limit.String(), "may or may not have run", c.tool)
		})
	}
}

// C24, C25, C26: what the peer does while nobody asks it anything. The next
// request goes over a fresh connection, once.
func TestUnasked(t *testing.T) {
	t.Run("C24 a second line at once", func(t *testing.T) {
		p := newPeer(t, script{say(good + good)})
		c := newClient(t, p, nil)
		for i := range 2 {
			if got, err := call(c); err != nil || string(got) != `{"content":[]}` {
				t.Errorf("call %d: got %s %v", i+1, got, err)
			}
		}
		if p.conns.Load() != 2 || p.requests.Load() != 2 {
			t.Errorf("got %d connections and %d requests, want 2 and 2", p.conns.Load(), p.requests.Load())
		}
	})
	for name, do := range map[string]func(*end){
		"C25 bytes later":    func(e *end) { _, _ = e.Write([]byte("x")) },
		"C25 a good line":    func(e *end) { _, _ = e.Write([]byte(`{"id":2,"ok":true,"result":"stale"}` + "\n")) },
		"C26 the end, later": func(e *end) { _ = e.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			first := make(chan *end, 1)
			p := newPeer(t, script{func(e *end, req control.Request) bool {
				say(good)(e, req)
				first <- e
				return true
			}})
			c := newClient(t, p, nil)
			if _, err := call(c); err != nil {
				t.Fatal(err)
			}
			c.mu.Lock()
			w := c.idle[0]
			c.mu.Unlock()
			do(<-first)
			for end := time.Now().Add(time.Minute); w.quiet() && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // until it has arrived
			}
			if got, err := call(c); err != nil || string(got) != `{"content":[]}` {
				t.Errorf("got %s %v", got, err)
			}
			if p.conns.Load() != 2 || p.requests.Load() != 2 {
				t.Errorf("got %d connections and %d requests, want 2 and 2", p.conns.Load(), p.requests.Load())
			}
		})
	}
}

// C27: a peer that speaks first is none of ours; once may be left over.
func TestBanner(t *testing.T) {
	p := newPeer(t)
	p.banner = []string{"220 mail ready\r\n"}
	if _, err := call(newClient(t, p, nil)); err != nil || p.conns.Load() != 2 {
		t.Errorf("got %v over %d connections, want a fresh one to do", err, p.conns.Load())
	}
	p = newPeer(t)
	p.banner = []string{"220 mail ready\r\n", "220 mail ready\r\n"}
	_, err := call(newClient(t, p, nil))
	refusedAs(t, err, control.NotImplemented, "speaks before it is spoken to", "nothing was sent")
	if p.requests.Load() != 0 || p.hellos.Load() != 0 || p.conns.Load() != 2 {
		t.Errorf("got %d requests, %d hellos, %d connections", p.requests.Load(), p.hellos.Load(), p.conns.Load())
	}
}

// C28: a write that fails proves nothing.
func TestResetWhileWriting(t *testing.T) {
	p := newPeer(t, script{say(good)})
	c := newClient(t, p, nil)
	if _, err := call(c); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	w := c.idle[0]
	c.mu.Unlock()
	w.nc = &brokenPipe{Conn: w.nc}
	_, err := call(c)
	refusedAs(t, err, control.LimbGone, "may or may not have run")
	if n := p.requests.Load(); n != 1 {
		t.Errorf("the peer saw %d requests, want the first alone", n)
	}
	if _, err := call(c); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// brokenPipe fails to write, and looks well before.
type brokenPipe struct{ net.Conn }

func (b *brokenPipe) Write([]byte) (int, error) { return 0, net.ErrClosed }

// C29 and C30: no window, then a window, then another one with another key.
func TestWindowComesAndGoes(t *testing.T) {
	p := newPeer(t)
	p.refuse.Store(true)
	c := newClient(t, p, nil)
	for range 7 {
		_, err := call(c)
		refusedAs(t, err, control.NotImplemented, "no DeskVNC window answers at 127.0.0.1:7990", "deskvnc --control 7990", "nothing was sent")
		if strings.Contains(err.Error(), "may or may not") {
			t.Errorf("nothing was sent, and it says %v", err)
		}
	}
	p.refuse.Store(false)
	if _, err := call(c); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	for _, o := range p.open {
		_ = o.Close()
	}
	p.open = nil
	p.mu.Unlock()
	p.wg.Wait()
	p.refuse.Store(true)
	_, err := call(c)
	refusedAs(t, err, control.NotImplemented, "nothing was sent")
	p.refuse.Store(false)
	if _, err := call(c); err != nil {
		t.Errorf("the window came back: %v", err)
	}
}

func TestKey(t *testing.T) {
	// The first connection meets a window whose key has just changed.
	p := newPeer(t)
	p.keys = []string{"another", "key-in-hand"}
	if _, err := call(newClient(t, p, nil)); err != nil || p.hellos.Load() != 2 {
		t.Errorf("got %v after %d hellos, want the fresh key to do", err, p.hellos.Load())
	}
	p = newPeer(t)
	p.keys = []string{"another", "another", "another"}
	_, err := call(newClient(t, p, nil))
	refusedAs(t, err, control.PolicyDenied, "did not accept the control key", socket.KeyVariable)
	if p.hellos.Load() != 2 || p.requests.Load() != 0 || strings.Contains(err.Error(), "key-in-hand") {
		t.Errorf("got %v after %d hellos and %d requests", err, p.hellos.Load(), p.requests.Load())
	}
}

func TestOversizedRequest(t *testing.T) {
	p := newPeer(t)
	c := newClient(t, p, nil)
	text, _ := json.Marshal(map[string]string{"text": strings.Repeat("x", control.MaxMessage)})
	_, err := c.Call(context.Background(), "dvv_type", text)
	refusedAs(t, err, control.BadRequest, "nothing was sent")
	if p.conns.Load() != 0 {
		t.Error("it connected for a request that cannot be sent")
	}
	if _, err := c.Call(context.Background(), "dvv_type", json.RawMessage("{")); err == nil {
		t.Error("arguments that are no JSON were sent")
	}
}

// Calls at once use connections of their own that join one attachment, and no
// more of them than there may be.
func TestSideBySide(t *testing.T) {
	let := make(chan struct{})
	asked := make(chan struct{}, 100)
	hold := script{func(e *end, req control.Request) bool {
		asked <- struct{}{}
		<-let
		say(good)(e, req)
		return true
	}, say(good), say(good), say(good)}
	var all []script
	for range maxCalls {
		all = append(all, hold)
	}
	p := newPeer(t, all...)
	c := newClient(t, p, nil)
	const n = maxCalls + 3
	done := make(chan error, n)
	for range n {
		go func() {
			_, err := call(c)
			done <- err
		}()
	}
	for range maxCalls {
		<-asked
	}
	if got := p.requests.Load(); got != maxCalls {
		t.Errorf("%d calls at once, want %d", got, maxCalls)
	}
	// One more waits for its turn, and can be given up meanwhile.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Call(ctx, "dvv_limbs", nil)
	refusedAs(t, err, control.Timeout, "before anything was sent")
	close(let)
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := p.conns.Load(); got != maxCalls {
		t.Errorf("%d connections, want %d", got, maxCalls)
	}
}

func TestCancel(t *testing.T) {
	asked, cancelled := make(chan string, 1), make(chan string, 1)
	answer := make(chan bool, 1)
	p := newPeer(t, script{func(e *end, req control.Request) bool {
		var call control.ToolCall
		_ = json.Unmarshal(req.Params, &call)
		asked <- call.Call
		if <-answer {
			say(`{"id":ID,"ok":true,"result":"settled"}`+"\n")(e, req)
		} else {
			_, _ = e.r.ReadByte() // until the client closes
		}
		return true
	}}, script{func(e *end, req control.Request) bool {
		if req.Method != control.MethodCancel {
			t.Errorf("got %s on the other connection", req.Method)
		}
		cancelled <- string(req.Params)
		say(`{"id":ID,"ok":true,"result":{"cancelled":true}}`+"\n")(e, req)
		return true
	}})
	c := newClient(t, p, nil)
	ctx, cancel := context.WithCancel(context.Background())
	type outcome struct {
		b   []byte
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		b, err := c.Call(ctx, "dvv_limbs", nil)
		done <- outcome{b, err}
	}()
	name := <-asked
	cancel()
	if got := <-cancelled; got != `{"id":"`+name+`"}` {
		t.Errorf("got %s, want the call's name %q", got, name)
	}
	answer <- true
	if o := <-done; o.err != nil || string(o.b) != `"settled"` {
		t.Errorf("got %s %v, want what the call settled to", o.b, o.err)
	}
}

// A call that does not settle after its cancellation is given up.
func TestCancelWithoutAnswer(t *testing.T) {
	asked := make(chan struct{}, 1)
	stuck := script{func(e *end, req control.Request) bool {
		asked <- struct{}{}
		_, _ = e.r.ReadByte()
		return false
	}}
	p := newPeer(t, stuck, stuck)
	clock := newClock()
	c := newClient(t, p, clock)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, "dvv_limbs", nil)
		done <- err
	}()
	<-asked
	cancel()
	<-asked // the cancellation, which is not answered either
	go func() {
		for range 200 {
			clock.fire(cancelTime)
			time.Sleep(time.Millisecond)
		}
	}()
	refusedAs(t, <-done, control.LimbGone, "cancelled", "may or may not have run")
}

func TestClose(t *testing.T) {
	asked := make(chan struct{})
	p := newPeer(t, script{func(e *end, req control.Request) bool {
		close(asked)
		_, _ = e.r.ReadByte()
		return false
	}})
	c := newClient(t, p, nil)
	done := make(chan error, 1)
	go func() {
		_, err := call(c)
		done <- err
	}()
	<-asked
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	refusedAs(t, <-done, control.LimbGone, "may or may not have run")
	_, err := call(c)
	refusedAs(t, err, control.NotImplemented, "nothing was sent")
	p.wg.Wait() // every connection has ended
}

func TestHelloThatMakesNoSense(t *testing.T) {
	for reply, want := range map[string]string{
		`{"id":ID,"ok":true,"result":{"protocol":2,"attachment":"att_1"}}` + "\n": "install the same version",
		`{"id":ID,"ok":true,"result":"hi"}` + "\n":                                "makes no sense",
		`{"id":ID,"ok":false,"error":"64 agents are attached already"}` + "\n":    "it refused: 64 agents",
		"HTTP/1.1 400 Bad Request\r\n\r\n":                                        "did not answer hello",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			var req control.Request
			if json.NewDecoder(c).Decode(&req) == nil {
				_, _ = c.Write([]byte(strings.ReplaceAll(reply, "ID", string(req.ID))))
			}
		}()
		c := New(Config{Name: "t", Dial: func(context.Context) (net.Conn, string, error) {
			nc, err := net.Dial("tcp", l.Addr().String())
			return nc, "", err
		}})
		_, err = call(c)
		refusedAs(t, err, control.NotImplemented, want, "nothing was sent")
		_ = c.Close()
		<-served
		_ = l.Close()
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{}`, ` {"a":1,"b":[true,null,{"c":"\u00e9\n"}]} `, `{"a":-0.5e+10}`, `{"a":01}`, `{"a":"\x"}`, `{"a"}`, `{"a":1,}`, `[]`, `{"a":tru}`, `{} x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		members, ok := object(b)
		want := json.Valid(b) && bytes.TrimLeft(b, " \t\r\n")[0] == '{'
		if ok != want {
			t.Fatalf("%q: got %v, want %v", b, ok, want)
		}
		for _, m := range members {
			if !json.Valid(m.raw) {
				t.Fatalf("%q: the value %q of %q is no JSON", b, m.raw, m.name)
			}
		}
	})
}
