package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// An agent is an MCP client that runs dvv and speaks JSON lines to it.
type agent struct {
	in io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[int]chan json.RawMessage
}

// newAgent starts "dvv mcp" with more arguments and shakes hands.
func newAgent(t *testing.T, env []string, args ...string) *agent {
	t.Helper()
	cmd := exec.Command(dvv, append([]string{"mcp"}, args...)...)
	cmd.Env = env
	stderr := &transcript{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	t.Cleanup(func() {
		in.Close()
		if t.Failed() {
			t.Logf("dvv mcp said:\n%s", stderr)
		}
	})
	a := &agent{in: in, waiting: map[int]chan json.RawMessage{}}
	go func() {
		r := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var reply struct {
				ID *int `json:"id"`
			}
			if json.Unmarshal(line, &reply) != nil || reply.ID == nil {
				continue
			}
			a.mu.Lock()
			c := a.waiting[*reply.ID]
			delete(a.waiting, *reply.ID)
			a.mu.Unlock()
			if c != nil {
				c <- line
			}
		}
	}()
	a.request(t, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "e2e", "version": "1"}})
	return a
}

// send starts a request; the channel gives its reply.
func (a *agent) send(t *testing.T, method string, params any) <-chan json.RawMessage {
	t.Helper()
	a.mu.Lock()
	a.next++
	id, c := a.next, make(chan json.RawMessage, 1)
	a.waiting[id] = c
	a.mu.Unlock()
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.in.Write(append(b, '\n')); err != nil {
		t.Fatalf("writing to dvv mcp: %v", err)
	}
	return c
}

func (a *agent) request(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	return await(t, method, a.send(t, method, params))
}

func await(t *testing.T, what string, c <-chan json.RawMessage) json.RawMessage {
	t.Helper()
	select {
	case line := <-c:
		return line
	case <-time.After(patience):
		t.Fatalf("%s was not answered", what)
		return nil
	}
}

// A toolResult is what a tool call came to.
type toolResult struct {
	Content []struct {
		Type, Text, Data, MIMEType string
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

func parseResult(t *testing.T, line json.RawMessage) toolResult {
	t.Helper()
	var reply struct {
		Result *toolResult
		Error  json.RawMessage
	}
	if err := json.Unmarshal(line, &reply); err != nil || reply.Result == nil {
		t.Fatalf("not a tool result (%v): %.400s", err, line)
	}
	return *reply.Result
}

// start begins a tool call.
func (a *agent) start(t *testing.T, tool string, args map[string]any) <-chan json.RawMessage {
	t.Helper()
	return a.send(t, "tools/call", map[string]any{"name": tool, "arguments": args})
}

// call calls a tool that must succeed.
func (a *agent) call(t *testing.T, tool string, args map[string]any) toolResult {
	t.Helper()
	r := parseResult(t, await(t, tool, a.start(t, tool, args)))
	if r.IsError {
		t.Fatalf("%s %v: %s", tool, args, r.Structured)
	}
	return r
}

// refused calls a tool that must refuse with a code.
func (a *agent) refused(t *testing.T, code, tool string, args map[string]any) toolResult {
	t.Helper()
	r := parseResult(t, await(t, tool, a.start(t, tool, args)))
	if got := r.get(t, "code"); !r.IsError || got != code {
		t.Fatalf("%s %v: got %s, want the refusal %s", tool, args, r.Structured, code)
	}
	return r
}

// get is a value inside the structured result, by a path such as lease.held.
func (r toolResult) get(t *testing.T, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(r.Structured, &v); err != nil {
		t.Fatalf("structured result %.200s: %v", r.Structured, err)
	}
	for _, name := range strings.Split(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}
