package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/control/server"
	"deskvnc/control/socket"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// patience bounds every wait, so that only what hangs fails.
const patience = time.Minute

// An agent is an MCP client at the ends of "dvv mcp".
type agent struct {
	t     testing.TB
	in    io.WriteCloser
	lines chan string
	id    int
	said  []string // every result, in order
}

// newAgent runs "dvv mcp" with more arguments in this process and greets it.
func newAgent(t testing.TB, args ...string) *agent {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(context.Background(), append([]string{"mcp"}, args...), inR, outW, &stderr)
		_ = inR.Close()
		_ = outW.Close()
	}()
	a := listen(t, inW, outR)
	t.Cleanup(func() {
		_ = inW.Close()
		select {
		case c := <-code:
			if c != 0 {
				t.Errorf("dvv mcp %v ended with %d: %s", args, c, stderr.String())
			}
		case <-time.After(patience):
			t.Errorf("dvv mcp %v does not end", args)
		}
	})
	a.greet()
	return a
}

// listen reads lines from a server's output.
func listen(t testing.TB, in io.WriteCloser, out io.Reader) *agent {
	a := &agent{t: t, in: in, lines: make(chan string, 64)}
	go func() {
		defer close(a.lines)
		r := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			a.lines <- line
		}
	}()
	return a
}

func (a *agent) greet() {
	a.t.Helper()
	a.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}` + "\n")
	if l := a.line(); !json.Valid([]byte(l)) {
		a.t.Fatalf("got %q", l)
	}
}

func (a *agent) send(text string) {
	a.t.Helper()
	if _, err := io.WriteString(a.in, text); err != nil {
		a.t.Fatal(err)
	}
}

// line reads one line; "" is the end.
func (a *agent) line() string {
	a.t.Helper()
	select {
	case l := <-a.lines:
		return l
	case <-time.After(patience):
		a.t.Fatal("no answer")
		return ""
	}
}

// A toolResult is what a tool call came to.
type toolResult struct {
	Content []struct {
		Type, Text, Data, MIMEType string
	}
	Structured map[string]any `json:"structuredContent"`
	IsError    bool
	raw        string
}

// call calls a tool; args are name, value, name, value.
func (a *agent) call(tool string, args ...any) toolResult {
	a.t.Helper()
	m := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		a.t.Fatal(err)
	}
	a.id++
	a.send(toolLine(a.id, tool, string(b)))
	var reply struct {
		ID     int
		Result json.RawMessage
	}
	line := a.line()
	if err := json.Unmarshal([]byte(line), &reply); err != nil || reply.ID != a.id || reply.Result == nil {
		a.t.Fatalf("%s: got %.400s", tool, line)
	}
	r := toolResult{raw: string(reply.Result)}
	if err := json.Unmarshal(reply.Result, &r); err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	a.said = append(a.said, tool+" "+r.raw)
	return r
}

// eventually makes the same call until its result is right; only the last
// one is kept in what was said.
func (a *agent) eventually(right func(toolResult) bool, tool string, args ...any) toolResult {
	a.t.Helper()
	for end := time.Now().Add(patience); ; {
		r := a.do(tool, args...)
		if right(r) {
			return r
		}
		if time.Now().After(end) {
			a.t.Fatalf("%s %v: not as it should be: %.600s", tool, args, r.raw)
		}
		a.said = a.said[:len(a.said)-1]
		a.do("dvv_wait", "until", "screen-changed", "timeoutMs", 200)
		a.said = a.said[:len(a.said)-1]
	}
}

// do is call for what must succeed.
func (a *agent) do(tool string, args ...any) toolResult {
	a.t.Helper()
	r := a.call(tool, args...)
	if r.IsError {
		a.t.Fatalf("%s %v: %v", tool, args, r.Structured)
	}
	return r
}

// refused is call for what must refuse with a code.
func (a *agent) refused(code, tool string, args ...any) toolResult {
	a.t.Helper()
	r := a.call(tool, args...)
	if !r.IsError || r.Structured["code"] != code {
		a.t.Fatalf("%s %v: got %v, want %s", tool, args, r.Structured, code)
	}
	return r
}

// at is a value inside the structured result.
func (r toolResult) at(path ...string) any {
	var v any = r.Structured
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// number is a number inside the structured result.
func (r toolResult) number(t testing.TB, path ...string) int {
	t.Helper()
	f, ok := r.at(path...).(float64)
	if !ok {
		t.Fatalf("%v is no number in %v", path, r.Structured)
	}
	return int(f)
}

// picture is the image of a result.
func (r toolResult) picture(t testing.TB) image.Image {
	t.Helper()
	for _, c := range r.Content {
		if c.Type != "image" {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(c.Data)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	t.Fatalf("no picture in %.300s", r.raw)
	return nil
}

// A window stands for the desktop program: sessions and their control socket.
type window struct {
	t       testing.TB
	samples *sample.Machines
	engine  *engine.Engine
	plane   *plane.Plane
	server  *server.Server
	l       *socket.Listener
	done    chan error
	once    sync.Once
}

// machines are the sample machines as a host source.
type machines struct{ *sample.Machines }

func (m machines) Hosts() []viewer.Target { return m.Targets() }

// newWindow serves a control socket at an address.
func newWindow(t testing.TB, where string) *window {
	t.Helper()
	m, err := sample.Start(sample.Options{Shell: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &window{t: t, samples: m, done: make(chan error, 1)}
	w.engine = engine.New(engine.Config{Drivers: drivers.Registry()})
	w.plane = plane.New(plane.Config{Engine: w.engine, Hosts: machines{m}, Version: version})
	g, err := grant.Operator(true, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if w.l, err = socket.Listen(where); err != nil {
		t.Fatal(err)
	}
	w.server = server.New(server.Config{Version: version, Key: w.l.Key(), Attach: func(label string) (server.Attachment, error) {
		return w.plane.Attach(label, g)
	}})
	go func() { w.done <- w.server.Serve(w.l) }()
	t.Cleanup(w.close)
	return w
}

// port is where to connect to.
func (w *window) port() string {
	if p := w.l.Address().Port; p > 0 {
		return strconv.Itoa(p)
	}
	return w.l.Address().Path
}

func (w *window) close() {
	w.once.Do(func() {
		_ = w.server.Close()
		_ = w.l.Close()
		if err := <-w.done; !errors.Is(err, server.ErrClosed) && !errors.Is(err, net.ErrClosed) {
			w.t.Errorf("Serve: %v", err)
		}
		w.plane.Close()
		w.engine.Close()
		_ = w.samples.Close()
	})
}

// freePort is a port that nobody listens on now.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
