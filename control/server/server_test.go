package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/control"
)

// desk makes the attachments of a test.
type desk struct {
	mu       sync.Mutex
	made     int
	labels   []string
	started  chan string // tools that begin
	ended    chan string // attachments that were closed
	stopped  chan string // tools that were cancelled
	let      chan struct{}
	big      int
	noAttach error
}

func newDesk() *desk {
	return &desk{started: make(chan string, 100), ended: make(chan string, 100), stopped: make(chan string, 100), let: make(chan struct{})}
}

func (d *desk) attach(label string) (Attachment, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.noAttach != nil {
		return nil, d.noAttach
	}
	d.made++
	d.labels = append(d.labels, label)
	return &seat{desk: d, id: fmt.Sprintf("att_%d", d.made)}, nil
}

type seat struct {
	desk *desk
	id   string
}

func (s *seat) ID() string { return s.id }

func (s *seat) Close() { s.desk.ended <- s.id }

func (s *seat) Call(ctx context.Context, tool string, arguments json.RawMessage) []byte {
	switch tool {
	case "panic":
		panic("the secret of the panic")
	case "big":
		return []byte(`"` + strings.Repeat("x", s.desk.big) + `"`)
	case "wait":
		s.desk.started <- string(arguments)
		select {
		case <-ctx.Done():
			s.desk.stopped <- string(arguments)
			return []byte(`{"content":[],"isError":true}`)
		case <-s.desk.let:
		}
	}
	return []byte(`{"tool":"` + tool + `","arguments":` + string(orEmpty(arguments)) + `,"at":"` + s.id + `"}`)
}

// serve starts a server on loopback.
func serve(t *testing.T, c Config, change func(*Server)) (address string, s *Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = New(c)
	if change != nil {
		change(s)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("Serve: got %v, want ErrClosed", err)
		}
	})
	return l.Addr().String(), s
}

// A caller is one raw connection.
type caller struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, address string) *caller {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return &caller{t, c, bufio.NewReader(c)}
}

func (c *caller) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// line reads one line; "" is the end.
func (c *caller) line() string {
	c.t.Helper()
	l, err := c.r.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		c.t.Fatalf("reading: %v", err)
	}
	return strings.TrimSuffix(l, "\n")
}

// ask sends a line and reads the reply.
func (c *caller) ask(text string) string {
	c.t.Helper()
	c.send(text + "\n")
	return c.line()
}

// hello starts or joins an attachment.
func (c *caller) hello(params string) control.Welcome {
	c.t.Helper()
	got := c.ask(`{"id":1,"method":"hello","params":` + params + `}`)
	var r struct{ Result control.Welcome }
	if err := json.Unmarshal([]byte(got), &r); err != nil || r.Result.Attachment == "" {
		c.t.Fatalf("hello: %s", got)
	}
	return r.Result
}

func joining(w control.Welcome) string {
	return fmt.Sprintf(`{"client":"again","attachment":%q,"secret":%q}`, w.Attachment, w.Secret)
}

func (d *desk) config() Config { return Config{Attach: d.attach, Version: "1.2.3"} }

func TestLines(t *testing.T) {
	address, _ := serve(t, newDesk().config(), nil)
	version := func(id string) string {
		return `{"id":` + id + `,"ok":true,"result":{"name":"deskvnc","version":"1.2.3","protocol":1}}`
	}
	for _, c := range []struct {
		name, in, want string
		closes         bool
	}{
		{"a request", `{"id":7,"method":"app.version"}`, version("7"), false},
		{"CRLF", "{\"id\":7,\"method\":\"app.version\"}\r", version("7"), false},
		{"after blank lines", "\n  \n\r\n" + `{"id":7,"method":"app.version"}`, version("7"), false},
		{"id text", `{"id":"a\u00e9","method":"app.version"}`, version(`"a\u00e9"`), false},
		{"id 7.0", `{"id":7.0,"method":"app.version"}`, version(`7.0`), false},
		{"id long", `{"id":9007199254740993,"method":"app.version"}`, version(`9007199254740993`), false},
		{"id object", `{"id":{"a":1},"method":"app.version"}`, version(`{"a":1}`), false},
		{"no id", `{"method":"app.version"}`, version("null"), false},
		{"null params", `{"id":7,"method":"app.version","params":null}`, version("7"), false},
		{"other keys", `{"id":7,"method":"app.version","jsonrpc":"2.0"}`, version("7"), false},
		{"key where none is needed", `{"id":7,"method":"app.version","key":"x"}`, version("7"), false},
		{"auth where none is needed", `{"id":7,"method":"auth","params":{"key":"x"}}`, `{"id":7,"ok":true,"result":{}}`, false},
		{"unknown method", `{"id":7,"method":"app.nonsense"}`, `{"id":7,"ok":false,"error":"unknown method \"app.nonsense\""}`, false},
		{"params an array", `{"id":7,"method":"app.version","params":[]}`, `{"id":7,"ok":false,"error":"app.version: params must be an object"}`, false},
		{"unknown param", `{"id":7,"method":"hello","params":{"clyent":"x"}}`, `{"id":7,"ok":false,"error":"hello: params: json: unknown field \"clyent\""}`, false},
		{"tool before hello", `{"id":7,"method":"tool.call","params":{"tool":"dvv_limbs"}}`, `{"id":7,"ok":false,"error":"tool.call: say hello first, to start or join an attachment"}`, false},
		{"cancel before hello", `{"id":7,"method":"plane.cancel","params":{"id":"1"}}`, `{"id":7,"ok":false,"error":"plane.cancel: say hello first, to start or join an attachment"}`, false},
		{"no commands", `{"id":7,"method":"engine.execute","params":{"command":"host.new"}}`, `{"id":7,"ok":false,"error":"engine.execute: this window serves no commands here"}`, false},

		{"not JSON", `nonsense`, `{"id":null,"ok":false,"error":"malformed request: not valid JSON"}`, true},
		{"not UTF-8", "{\"id\":7,\"method\":\"\xff\"}", `{"id":null,"ok":false,"error":"malformed request: not valid UTF-8"}`, true},
		{"array", `[]`, `{"id":null,"ok":false,"error":"malformed request: not an object"}`, true},
		{"no method", `{"id":7}`, `{"id":null,"ok":false,"error":"malformed request: no method"}`, true},
		{"method a number", `{"id":7,"method":5}`, `{"id":null,"ok":false,"error":"malformed request: no method"}`, true},
		{"method twice", `{"id":7,"method":"app.version","method":"hello"}`, `{"id":null,"ok":false,"error":"malformed request: a key is there twice"}`, true},
		{"key a number", `{"id":7,"method":"app.version","key":5}`, `{"id":null,"ok":false,"error":"malformed request: the key is not a string"}`, true},
		{"id endless", `{"id":"` + strings.Repeat("x", maxID) + `","method":"app.version"}`, `{"id":null,"ok":false,"error":"malformed request: the id is too long"}`, true},
		{"a web page", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + `{"id":7,"method":"app.version"}`, `{"id":null,"ok":false,"error":"malformed request: not valid JSON"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, address)
			if got := conn.ask(c.in); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if c.closes {
				if got := conn.line(); got != "" {
					t.Errorf("got %s, want the end", got)
				}
			} else if got := conn.ask(`{"id":8,"method":"app.version"}`); got != version("8") {
				t.Errorf("the next request: got %s", got)
			}
		})
	}
}

func TestCaps(t *testing.T) {
	d := newDesk()
	address, _ := serve(t, d.config(), nil)
	c := dial(t, address)
	head, tail := `{"id":7,"method":"app.version","x":"`, `"}`
	fill := strings.Repeat("x", control.MaxMessage-len(head)-len(tail)-1)
	if got := c.ask(head + fill + tail); !strings.Contains(got, `"ok":true`) {
		t.Errorf("the longest line: got %.200s", got)
	}
	go func() { _, _ = io.WriteString(c, head+fill+"x"+tail+"\n") }()
	if got := c.line(); !strings.Contains(got, "longer than 16777216 bytes") {
		t.Errorf("one byte more: got %.200s", got)
	}

	c = dial(t, address)
	c.hello(`{"client":"x"}`)
	const around = len(`{"id":7,"ok":true,"result":""}` + "\n")
	tool := `{"id":7,"method":"tool.call","params":{"tool":"big"}}`
	d.big = control.MaxMessage - around
	if got := c.ask(tool); len(got)+1 != control.MaxMessage {
		t.Errorf("the longest reply: got %d bytes", len(got)+1)
	}
	d.big++
	if got := c.ask(tool); !strings.Contains(got, `"ok":false`) || !strings.Contains(got, "it did run") {
		t.Errorf("one byte more: got %.200s", got)
	}
	if got := c.ask(`{"id":8,"method":"app.version"}`); !strings.Contains(got, `"id":8,"ok":true`) {
		t.Errorf("the next request: got %.200s", got)
	}
}

// A last line that is not ended may have been cut short: it is not carried out.
func TestUnendedLine(t *testing.T) {
	d := newDesk()
	address, _ := serve(t, d.config(), nil)
	c := dial(t, address)
	c.hello(`{"client":"x"}`)
	c.send(`{"id":7,"method":"tool.call","params":{"tool":"wait"}}`)
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := c.line(); got != "" {
		t.Errorf("got %s, want the end", got)
	}
	if len(d.started) != 0 {
		t.Error("it was carried out")
	}
}

func TestKey(t *testing.T) {
	key := strings.Repeat("ab", 32)
	config := newDesk().config()
	config.Key = key
	address, _ := serve(t, config, nil)
	const denied, fine = `{"id":7,"ok":false,"error":"unauthorized"}`, `"ok":true`
	version := `{"id":7,"method":"app.version"}`
	with := `{"id":7,"method":"app.version","key":"` + key + `"}`
	auth := `{"id":7,"method":"auth","params":{"key":"` + key + `"}}`
	for _, c := range []struct {
		name string
		in   []string
		want string // of the last
	}{
		{"none", []string{version}, denied},
		{"with the request", []string{with}, fine},
		{"once for the connection", []string{auth, version}, fine},
		{"with the first request, then without", []string{with, version}, fine},
		{"wrong", []string{`{"id":7,"method":"app.version","key":"` + key[1:] + `x"}`}, denied},
		{"wrong after a right one", []string{with, `{"id":7,"method":"app.version","key":"wrong"}`}, denied},
		{"wrong auth after a right one", []string{with, `{"id":7,"method":"auth","params":{"key":"wrong"}}`}, denied},
		{"auth without", []string{`{"id":7,"method":"auth"}`}, denied},
		{"as another method's parameter", []string{`{"id":7,"method":"ui.key","params":{"key":"` + key + `"}}`}, denied},
		{"before hello", []string{`{"id":7,"method":"hello","params":{"client":"x"}}`}, denied},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, address)
			var got string
			for _, in := range c.in {
				got = conn.ask(in)
			}
			if got != c.want && !(c.want == fine && strings.Contains(got, fine)) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if c.want == denied && conn.line() != "" {
				t.Error("the connection goes on")
			}
			if strings.Contains(got, key) {
				t.Error("the key is said back")
			}
		})
	}
}

// Only what is authorised keeps a connection: blank lines do not.
func TestStrangersAreSentAway(t *testing.T) {
	config := newDesk().config()
	config.Key = strings.Repeat("ab", 32)
	address, _ := serve(t, config, func(s *Server) { s.times.auth = 300 * time.Millisecond })
	known := dial(t, address)
	if got := known.ask(`{"id":7,"method":"app.version","key":"` + config.Key + `"}`); !strings.Contains(got, `"ok":true`) {
		t.Fatal(got)
	}
	silent, blank := dial(t, address), dial(t, address)
	blank.send("\n\n")
	for _, c := range []*caller{silent, blank} {
		if got := c.line(); got != "" {
			t.Errorf("got %s, want the end", got)
		}
	}
	if got := known.ask(`{"id":8,"method":"app.version"}`); !strings.Contains(got, `"ok":true`) {
		t.Errorf("a known caller was sent away too: %s", got)
	}
}

func TestAttachments(t *testing.T) {
	d := newDesk()
	address, _ := serve(t, d.config(), nil)
	a, b := dial(t, address), dial(t, address)
	w := a.hello(`{"client":"Agent\u0000 Smith ` + strings.Repeat("x", 200) + `"}`)
	if w.Protocol != control.Protocol || w.Version != "1.2.3" || w.Attachment != "att_1" || len(w.Secret) != 64 {
		t.Errorf("got %+v", w)
	}
	if l := d.labels[0]; !strings.HasPrefix(l, "Agent Smith xxx") || len(l) != maxLabel {
		t.Errorf("got label %q", l)
	}
	if got := b.hello(joining(w)); got.Attachment != "att_1" || d.made != 1 {
		t.Errorf("got %+v and %d attachments, want the one joined", got, d.made)
	}
	for _, c := range []*caller{a, b} {
		want := `{"id":7,"ok":true,"result":{"tool":"dvv_click","arguments":{"x": 1.0,"s":"<\u0041>"},"at":"att_1"}}`
		if got := c.ask(`{"id":7,"method":"tool.call","params":{"tool":"dvv_click","arguments":{"x": 1.0,"s":"<\u0041>"}}}`); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := a.ask(`{"id":7,"method":"hello","params":{"client":"x"}}`); !strings.Contains(got, "has an attachment already") {
		t.Errorf("a second hello: got %s", got)
	}
	c := dial(t, address)
	for _, params := range []string{
		`{"attachment":"att_1","secret":"wrong"}`, `{"attachment":"att_1"}`, `{"attachment":"att_9","secret":"` + w.Secret + `"}`,
	} {
		if got := c.ask(`{"id":7,"method":"hello","params":` + params + `}`); !strings.Contains(got, "no such attachment any more") || strings.Contains(got, w.Secret) {
			t.Errorf("%s: got %s", params, got)
		}
	}
	// The same connection may then start its own.
	if got := c.hello(`{"client":""}`); got.Attachment != "att_2" || d.labels[1] != "agent" {
		t.Errorf("got %+v %q", got, d.labels)
	}
	for i := range MaxConnections - 2 {
		dial(t, address).hello(joining(w))
		_ = i
	}
	if got := dial(t, address).ask(`{"id":7,"method":"hello","params":` + joining(w) + `}`); !strings.Contains(got, "16 connections already") {
		t.Errorf("the seventeenth: got %s", got)
	}
	for range MaxAttachments - 2 {
		dial(t, address).hello(`{"client":"x"}`)
	}
	if got := dial(t, address).ask(`{"id":7,"method":"hello","params":{"client":"x"}}`); !strings.Contains(got, "64 agents are attached already") {
		t.Errorf("the sixty-fifth: got %s", got)
	}
}

func TestStrangersAreBounded(t *testing.T) {
	d := newDesk()
	address, _ := serve(t, d.config(), nil)
	var all []*caller
	for range maxStrangers {
		c := dial(t, address)
		c.ask(`{"id":7,"method":"app.version"}`)
		all = append(all, c)
	}
	c := dial(t, address)
	if got := c.line(); !strings.Contains(got, "too many connections") {
		t.Errorf("got %s", got)
	}
	if got := c.line(); got != "" {
		t.Errorf("got %s, want the end", got)
	}
	all[0].hello(`{"client":"x"}`) // no stranger any more
	if got := dial(t, address).ask(`{"id":7,"method":"app.version"}`); !strings.Contains(got, `"ok":true`) {
		t.Errorf("got %s", got)
	}
}

func TestCancel(t *testing.T) {
	d := newDesk()
	address, _ := serve(t, d.config(), nil)
	a, b := dial(t, address), dial(t, address)
	w := a.hello(`{"client":"x"}`)
	b.hello(joining(w))
	stranger := dial(t, address)
	stranger.hello(`{"client":"another"}`)
	a.send(`{"id":7,"method":"tool.call","params":{"tool":"wait","arguments":{"n":1},"call":"c1"}}` + "\n")
	<-d.started
	if got := b.ask(`{"id":8,"method":"tool.call","params":{"tool":"dvv_limbs","call":"c1"}}`); !strings.Contains(got, "still running") {
		t.Errorf("a doubled call: got %s", got)
	}
	for c, want := range map[*caller]string{stranger: `{"id":9,"ok":true,"result":{"cancelled":false}}`} {
		if got := c.ask(`{"id":9,"method":"plane.cancel","params":{"id":"c1"}}`); got != want {
			t.Errorf("another attachment: got %s, want %s", got, want)
		}
	}
	if got, want := b.ask(`{"id":9,"method":"plane.cancel","params":{"id":"c1"}}`), `{"id":9,"ok":true,"result":{"cancelled":true}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := a.line(), `{"id":7,"ok":true,"result":{"content":[],"isError":true}}`; got != want {
		t.Errorf("got %s, want what the call settled to", got)
	}
	if got, want := b.ask(`{"id":9,"method":"plane.cancel","params":{"id":"c1"}}`), `{"id":9,"ok":true,"result":{"cancelled":false}}`; got != want {
		t.Errorf("when it is over: got %s, want %s", got, want)
	}
}

// Who goes leaves nothing running; the attachment waits a moment for him.
func TestLeaving(t *testing.T) {
	d := newDesk()
	address, s := serve(t, d.config(), func(s *Server) { s.times.rejoin = time.Hour })
	a, b := dial(t, address), dial(t, address)
	w := a.hello(`{"client":"x"}`)
	b.hello(joining(w))
	call := func(n int) string {
		return fmt.Sprintf(`{"id":7,"method":"tool.call","params":{"tool":"wait","arguments":%d}}`+"\n", n)
	}
	a.send(call(1))
	b.send(call(2))
	<-d.started
	<-d.started
	_ = a.Close()
	if got := <-d.stopped; got != "1" {
		t.Errorf("call %s was cancelled, want the one whose connection closed", got)
	}
	_ = b.Close()
	if got := <-d.stopped; got != "2" {
		t.Errorf("call %s was cancelled, want the other", got)
	}
	c := dial(t, address)
	c.hello(joining(w)) // in time
	c.send(call(3))
	<-d.started
	s.mu.Lock()
	seat := s.attachments["att_1"]
	s.mu.Unlock()
	seat.mu.Lock()
	if seat.grace != nil || seat.conns != 1 {
		t.Error("the attachment goes on ending although somebody joined again")
	}
	seat.mu.Unlock()

	address, _ = serve(t, d.config(), func(s *Server) { s.times.rejoin = time.Millisecond })
	c = dial(t, address)
	w = c.hello(`{"client":"x"}`)
	_ = c.Close()
	if got := <-d.ended; got != w.Attachment {
		t.Errorf("got the end of %s, want %s", got, w.Attachment)
	}
	if got := dial(t, address).ask(`{"id":7,"method":"hello","params":` + joining(w) + `}`); !strings.Contains(got, "no such attachment any more") {
		t.Errorf("joining too late: got %s", got)
	}
}

func TestPanicAndErrors(t *testing.T) {
	d := newDesk()
	address, _ := serve(t, d.config(), nil)
	c := dial(t, address)
	c.hello(`{"client":"x"}`)
	if got := c.ask(`{"id":7,"method":"tool.call","params":{"tool":"panic"}}`); !strings.Contains(got, `"ok":false`) || !strings.Contains(got, "may or may not have acted") || strings.Contains(got, "secret") {
		t.Errorf("got %s", got)
	}
	if got := c.ask(`{"id":7,"method":"tool.call","params":{"tool":"dvv_limbs"}}`); !strings.Contains(got, `"ok":true`) {
		t.Errorf("the next call: got %s", got)
	}
	d.mu.Lock()
	d.noAttach = errors.New("a person has to allow this")
	d.mu.Unlock()
	if got, want := dial(t, address).ask(`{"id":7,"method":"hello","params":{"client":"x"}}`), `{"id":7,"ok":false,"error":"hello: a person has to allow this"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// fakeCommands are the program's commands.
type fakeCommands struct{}

func (fakeCommands) List(_ context.Context, filter string) (any, error) {
	return []string{"host.new <" + filter + ">"}, nil
}

func (fakeCommands) Execute(ctx context.Context, id string, params json.RawMessage) (any, error) {
	if id == "slow" {
		<-ctx.Done()
		return nil, errors.New("slow: it is still running; look before you repeat it")
	}
	return map[string]any{"id": id, "params": params}, nil
}

func TestCommands(t *testing.T) {
	config := newDesk().config()
	config.Commands = fakeCommands{}
	address, _ := serve(t, config, func(s *Server) { s.times.command = 50 * time.Millisecond })
	c := dial(t, address)
	for in, want := range map[string]string{
		`{"id":7,"method":"engine.commands","params":{"filter":"h"}}`:                      `{"id":7,"ok":true,"result":["host.new <h>"]}`,
		`{"id":7,"method":"engine.execute","params":{"command":"host.new","params":[1]}}`:  `{"id":7,"ok":true,"result":{"id":"host.new","params":[1]}}`,
		`{"id":7,"method":"ui.menu.invoke","params":{"id":"host.new"}}`:                    `{"id":7,"ok":true,"result":{"id":"host.new","params":null}}`,
		`{"id":7,"method":"command","params":{"command":"host.new","params":{"a":"<b>"}}}`: `{"id":7,"ok":true,"result":{"id":"host.new","params":{"a":"<b>"}}}`,
		`{"id":7,"method":"engine.execute"}`:                                               `{"id":7,"ok":false,"error":"engine.execute: the command is missing"}`,
		`{"id":7,"method":"engine.execute","params":{"command":"slow"}}`:                   `{"id":7,"ok":false,"error":"slow: it is still running; look before you repeat it"}`,
	} {
		if got := c.ask(in); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// A caller that does not take its reply is given up.
func TestCallerThatDoesNotRead(t *testing.T) {
	d := newDesk()
	d.big = 15 << 20
	address, _ := serve(t, d.config(), func(s *Server) { s.times.write, s.times.rejoin = 200*time.Millisecond, 0 })
	c := dial(t, address)
	c.hello(`{"client":"x"}`)
	c.send(`{"id":7,"method":"tool.call","params":{"tool":"big"}}` + "\n")
	<-d.ended
}

func TestCloseEndsEverything(t *testing.T) {
	d := newDesk()
	address, s := serve(t, d.config(), nil)
	c := dial(t, address)
	c.hello(`{"client":"x"}`)
	c.send(`{"id":7,"method":"tool.call","params":{"tool":"wait"}}` + "\n")
	<-d.started
	dial(t, address)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if len(d.ended) != 1 || len(d.stopped) != 1 {
		t.Errorf("%d attachments ended and %d calls stopped, want 1 and 1", len(d.ended), len(d.stopped))
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("it still listens")
	}
	if err := s.Serve(nopListener{}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

type nopListener struct{ net.Listener }

func (nopListener) Close() error { return nil }

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"id":1,"method":"hello","params":{}}`, `{"method":"x","key":"k"}`, `[]`, `{"id":1,"id":2}`, `{"params":null,"method":"x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return // readLine gives none
		}
		req, err := parse(b)
		if err == nil && (req.Method == "" || len(req.ID) > maxID) {
			t.Fatalf("%q was taken for a request", b)
		}
	})
}
