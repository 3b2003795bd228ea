package mcpbridge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deskvnc/control"
)

// A fake carries out tools as the tests tell it to.
type fake struct {
	calls  atomic.Int32
	closed atomic.Bool
	do     func(ctx context.Context, tool string, arguments json.RawMessage) ([]byte, error)
}

func (f *fake) Call(ctx context.Context, tool string, arguments json.RawMessage) ([]byte, error) {
	f.calls.Add(1)
	if f.do != nil {
		return f.do(ctx, tool, arguments)
	}
	return result(map[string]any{"tool": tool, "arguments": arguments}), nil
}

func (f *fake) Close() error {
	f.closed.Store(true)
	return nil
}

func result(structured any) []byte {
	b, err := control.Result{Text: "Done.", Structured: structured}.Encode()
	if err != nil {
		panic(err)
	}
	return b
}

func newServer(t testing.TB, b Backend) *Server {
	t.Helper()
	s, err := New(Config{Version: "1.2.3", About: "a test", Rows: control.Rows(), Open: func(string) (Backend, error) { return b, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A peer is the client's end of a conversation.
type peer struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	raw  *io.PipeReader
	stop context.CancelFunc
	done chan error
	once sync.Once
}

func converse(t testing.TB, s *Server) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	p := &peer{t: t, in: inW, out: bufio.NewReader(outR), raw: outR, stop: cancel, done: make(chan error, 1)}
	go func() {
		p.done <- s.ServeStdio(ctx, inR, outW)
		_ = inR.Close()
		_ = outW.Close()
	}()
	t.Cleanup(p.end)
	return p
}

// end closes everything and waits for the server.
func (p *peer) end() {
	p.once.Do(func() {
		p.stop()
		_ = p.in.Close()
		_ = p.raw.Close()
		p.wait()
	})
}

// wait waits for ServeStdio to return.
func (p *peer) wait() {
	p.t.Helper()
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Errorf("ServeStdio: %v", err)
		}
		p.done <- nil
	case <-time.After(time.Minute):
		p.t.Fatal("the server does not end")
	}
}

// send writes to the server's input. It may not be read completely when the
// server ends.
func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text); err != nil {
		p.t.Fatalf("sending: %v", err)
	}
}

// line reads one line of output, or "" at its end.
func (p *peer) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		if err == io.EOF && line == "" {
			return ""
		}
		p.t.Fatalf("reading: %q %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// rest reads what is left of the output.
func (p *peer) rest() []string {
	p.t.Helper()
	var lines []string
	for {
		l := p.line()
		if l == "" {
			return lines
		}
		lines = append(lines, l)
	}
}

// idOf is the id of a reply as it was written.
func idOf(t testing.TB, line string) string {
	t.Helper()
	var r struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(r.ID)
}

// toolLine is a tools/call request with its newline.
func toolLine(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
}

// cancelLine is a cancellation with its newline.
func cancelLine(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"test"}}` + "\n"
}

const pingLine = `{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n"
const pong = `{"jsonrpc":"2.0","id":"p","result":{}}`
