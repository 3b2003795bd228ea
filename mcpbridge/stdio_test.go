package mcpbridge

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/control"
)

// blocking is a backend whose calls wait for a place in let, or for their
// cancellation.
func blocking() (b *fake, started chan string, let chan struct{}) {
	started, let = make(chan string, 4096), make(chan struct{})
	b = &fake{do: func(ctx context.Context, tool string, _ json.RawMessage) ([]byte, error) {
		started <- tool
		select {
		case <-let:
			return result(map[string]any{"tool": tool}), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	return b, started, let
}

func TestBurstThenEnd(t *testing.T) {
	for _, n := range []int{40, 300} {
		b := &fake{}
		p := converse(t, newServer(t, b))
		var in strings.Builder
		for i := range n {
			in.WriteString(toolLine(fmt.Sprint(i), "dvv_limbs", "{}"))
		}
		go func() {
			_, _ = io.WriteString(p.in, in.String())
			_ = p.in.Close()
		}()
		var ids []string
		for _, l := range p.rest() {
			ids = append(ids, idOf(t, l))
		}
		slices.Sort(ids)
		if ids = slices.Compact(ids); len(ids) != n || b.calls.Load() != int32(n) {
			t.Errorf("got %d replies and %d calls, want %d", len(ids), b.calls.Load(), n)
		}
		p.wait()
		if !b.closed.Load() {
			t.Error("the backend was not closed")
		}
	}
}

// A client that writes everything before it reads anything must not stop the
// server from reading, and loses nothing.
func TestClientThatDoesNotRead(t *testing.T) {
	p := converse(t, newServer(t, &fake{}))
	const n = 900
	for i := range n {
		p.send(toolLine(fmt.Sprint(i), "dvv_limbs", "{}"))
	}
	seen := map[string]bool{}
	for range n {
		seen[idOf(t, p.line())] = true
	}
	if len(seen) != n {
		t.Errorf("got replies to %d of %d calls", len(seen), n)
	}
}

func TestCallsRunSideBySide(t *testing.T) {
	b, started, let := blocking()
	p := converse(t, newServer(t, b))
	for i := range maxRunning + 3 {
		p.send(toolLine(fmt.Sprint(i), "dvv_limbs", "{}"))
	}
	for range maxRunning {
		<-started
	}
	p.send(pingLine)
	if got := p.line(); got != pong {
		t.Errorf("got %s, want a ping to be answered meanwhile", got)
	}
	if n := b.calls.Load(); n != maxRunning {
		t.Errorf("%d calls run at once, want %d", n, maxRunning)
	}
	close(let)
	for range maxRunning + 3 {
		p.line()
	}
	if n := b.calls.Load(); n != maxRunning+3 {
		t.Errorf("%d calls ran, want %d", n, maxRunning+3)
	}
}

func TestTooManyWaiting(t *testing.T) {
	b, started, let := blocking()
	p := converse(t, newServer(t, b))
	for i := range maxRunning + maxWaiting {
		p.send(toolLine(fmt.Sprint(i), "dvv_limbs", "{}"))
	}
	for range maxRunning {
		<-started
	}
	p.send(toolLine(`"over"`, "dvv_limbs", "{}"))
	if got := p.line(); idOf(t, got) != `"over"` || !strings.Contains(got, string(control.RateLimited)) {
		t.Errorf("got %s, want the call that is too much refused", got)
	}
	close(let)
	for range maxRunning + maxWaiting {
		p.line()
	}
}

func TestCancel(t *testing.T) {
	t.Run("running", func(t *testing.T) {
		b, started, _ := blocking()
		p := converse(t, newServer(t, b))
		p.send(toolLine("1", "dvv_limbs", "{}"))
		<-started
		p.send(cancelLine("1") + pingLine)
		if got := p.line(); got != pong {
			t.Errorf("got %s, want no reply to a cancelled call", got)
		}
	})
	t.Run("in the same write, waiting for its turn", func(t *testing.T) {
		b, started, let := blocking()
		p := converse(t, newServer(t, b))
		for i := range maxRunning {
			p.send(toolLine(fmt.Sprint(i), "dvv_limbs", "{}"))
		}
		for range maxRunning {
			<-started
		}
		p.send(toolLine(`"late"`, "dvv_limbs", "{}") + cancelLine(`"late"`) + pingLine)
		if got := p.line(); got != pong {
			t.Errorf("got %s, want the ping's reply", got)
		}
		close(let)
		for range maxRunning {
			p.line()
		}
		p.send(pingLine)
		if got := p.line(); got != pong {
			t.Errorf("got %s, want no reply to a cancelled call", got)
		}
		if n := b.calls.Load(); n != maxRunning {
			t.Errorf("%d calls ran, want %d: the cancelled one must not", n, maxRunning)
		}
	})
	t.Run("in the same write, free to run", func(t *testing.T) {
		b, _, _ := blocking()
		p := converse(t, newServer(t, b))
		p.send(toolLine("1", "dvv_limbs", "{}") + cancelLine("1") + pingLine)
		if got := p.line(); got != pong {
			t.Errorf("got %s, want no reply to a cancelled call", got)
		}
	})
	t.Run("by another spelling of the id", func(t *testing.T) {
		b, started, let := blocking()
		p := converse(t, newServer(t, b))
		p.send(toolLine("1", "dvv_limbs", "{}"))
		<-started
		p.send(cancelLine(`"1"`) + cancelLine("1.0"))
		close(let)
		if got := p.line(); idOf(t, got) != "1" || strings.Contains(got, "isError") {
			t.Errorf("got %s, want the call's result", got)
		}
	})
	t.Run("after the reply", func(t *testing.T) {
		p := converse(t, newServer(t, &fake{}))
		p.send(toolLine("1", "dvv_limbs", "{}"))
		p.line()
		p.send(cancelLine("1") + toolLine("1", "dvv_limbs", "{}"))
		if got := p.line(); idOf(t, got) != "1" {
			t.Errorf("got %s, want the second call's result", got)
		}
	})
}

func TestDoubledID(t *testing.T) {
	b, started, let := blocking()
	p := converse(t, newServer(t, b))
	p.send(toolLine("1", "dvv_limbs", "{}"))
	<-started
	p.send(toolLine("1", "dvv_limbs", "{}") + toolLine(`"1"`, "dvv_limbs", "{}"))
	if got, want := p.line(), `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a call with this id is still running"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	close(let)
	ids := []string{idOf(t, p.line()), idOf(t, p.line())}
	slices.Sort(ids)
	if ids[0] != `"1"` || ids[1] != "1" {
		t.Errorf("got replies to %v", ids)
	}
}

func TestFramedReplies(t *testing.T) {
	p := converse(t, newServer(t, &fake{}))
	p.send(pingLine)
	if got := p.line(); got != pong {
		t.Errorf("got %s", got)
	}
	ping := strings.TrimSpace(pingLine)
	for _, in := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ping), ping), pingLine} {
		p.send(in)
		want := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(pong), pong)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(p.out, got); err != nil || string(got) != want {
			t.Errorf("got %q %v, want %q", got, err, want)
		}
	}
}

// writes counts the writes of whole messages.
type writes struct {
	mu  sync.Mutex
	all [][]byte
}

func (w *writes) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, bytes.Clone(b))
	return len(b), nil
}

func TestOneWriteAMessage(t *testing.T) {
	picture := bytes.Repeat([]byte{0xfb, 0xff, 0x3e}, 100_000)
	b := &fake{do: func(context.Context, string, json.RawMessage) ([]byte, error) {
		return control.Result{Text: "a picture", Images: []control.Image{{MIME: "image/png", Data: picture}}}.Encode()
	}}
	var in strings.Builder
	for i := range 30 {
		in.WriteString(toolLine(fmt.Sprint(i), "dvv_screen", "{}"))
	}
	var w writes
	if err := newServer(t, b).ServeStdio(context.Background(), strings.NewReader(in.String()), &w); err != nil {
		t.Fatal(err)
	}
	if len(w.all) != 30 {
		t.Fatalf("got %d writes, want 30", len(w.all))
	}
	want := base64.StdEncoding.EncodeToString(picture)
	for _, m := range w.all {
		if m[len(m)-1] != '\n' || bytes.IndexByte(m, '\n') != len(m)-1 || !json.Valid(m) {
			t.Fatalf("a write is not one line of JSON: %.80q", m)
		}
		if !bytes.Contains(m, []byte(`"data":"`+want+`"`)) {
			t.Fatal("the picture changed on the way")
		}
	}
}

func TestReplyCap(t *testing.T) {
	size := 0
	b := &fake{do: func(context.Context, string, json.RawMessage) ([]byte, error) {
		return []byte(`{"content":"` + strings.Repeat("x", size) + `"}`), nil
	}}
	s, err := New(Config{Rows: control.Rows(), MaxMessage: MinMaxMessage, Open: func(string) (Backend, error) { return b, nil }})
	if err != nil {
		t.Fatal(err)
	}
	const around = len(`{"jsonrpc":"2.0","id":1,"result":{"content":""}}` + "\n")
	p := converse(t, s)
	size = MinMaxMessage - around
	p.send(toolLine("1", "dvv_limbs", "{}"))
	if got := p.line(); len(got)+1 != MinMaxMessage {
		t.Errorf("got a reply of %d bytes, want %d: %.200s", len(got)+1, MinMaxMessage, got)
	}
	size++
	p.send(toolLine("1", "dvv_limbs", "{}"))
	if got := p.line(); !strings.Contains(got, `"error":{"code":-32603`) || !strings.Contains(got, "did run") || idOf(t, got) != "1" {
		t.Errorf("got %.200s, want the reply replaced by an error", got)
	}
	p.send(strings.Repeat(" ", MinMaxMessage) + "\n" + pingLine)
	if got := p.line(); !strings.Contains(got, `"code":-32600`) || !strings.Contains(got, fmt.Sprint(MinMaxMessage)) {
		t.Errorf("got %s, want an overlong message refused", got)
	}
	if got := p.line(); got != pong {
		t.Errorf("got %s, want the message after it to be served", got)
	}
}

// The largest message that may be sent, and one byte more.
func TestLargestMessage(t *testing.T) {
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dvv_type","arguments":{"text":"`, `"}}}`
	b := &fake{do: func(_ context.Context, _ string, arguments json.RawMessage) ([]byte, error) {
		return fmt.Appendf(nil, `{"content":[],"length":%d}`, len(arguments)), nil
	}}
	p := converse(t, newServer(t, b))
	fill := strings.Repeat("x", control.MaxMessage-len(head)-len(tail)-1)
	p.send(head + fill + tail + "\n")
	if got := p.line(); !strings.Contains(got, fmt.Sprintf(`"length":%d`, len(fill)+len(`{"text":""}`))) {
		t.Errorf("got %.200s", got)
	}
	p.send(head + fill + "x" + tail + "\n" + pingLine)
	if got := p.line(); !strings.Contains(got, `"id":null,"error":{"code":-32600`) {
		t.Errorf("got %.200s, want the message refused", got)
	}
	if got := p.line(); got != pong || b.calls.Load() != 1 {
		t.Errorf("got %.200s and %d calls, want the ping's reply and one call", got, b.calls.Load())
	}
}

func TestNothingIsOpenedBeforeTheFirstCall(t *testing.T) {
	var opened atomic.Int32
	fail := true
	b := &fake{}
	var named string
	s, err := New(Config{Rows: control.Rows(), Open: func(client string) (Backend, error) {
		opened.Add(1)
		named = client
		if fail {
			return nil, &control.Refused{Code: control.NotImplemented, Message: "no window", Hint: "Start it."}
		}
		return b, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := converse(t, s)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"Agent\u0007 7 ` + strings.Repeat("z", 99) + `","version":"1"}}}` + "\n")
	p.line()
	for _, in := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n", pingLine,
		toolLine("2", "dvv_nothing", "{}"), toolLine("2", "dvv_limbs", `{"x":1}`),
	} {
		p.send(in)
		p.line()
	}
	if n := opened.Load(); n != 0 {
		t.Fatalf("the backend was opened %d times before the first call", n)
	}
	p.send(toolLine("2", "dvv_limbs", "{}"))
	if got := p.line(); !strings.Contains(got, "no window") || !strings.Contains(got, "Start it.") {
		t.Errorf("got %s, want the reason", got)
	}
	if !strings.HasPrefix(named, "Agent 7 zzz") || len(named) > maxClientName {
		t.Errorf("got client %q", named)
	}
	fail = false
	for range 3 {
		p.send(toolLine("2", "dvv_limbs", "{}"))
		if got := p.line(); strings.Contains(got, "isError") {
			t.Errorf("got %s", got)
		}
	}
	if opened.Load() != 2 || b.calls.Load() != 3 {
		t.Errorf("opened %d times and called %d times, want 2 and 3", opened.Load(), b.calls.Load())
	}
}

// The id of a call is free again once its reply was read.
func TestIDIsFreeAfterTheReply(t *testing.T) {
	b := &fake{}
	p := converse(t, newServer(t, b))
	const calls = 300
	for i := range calls {
		p.send(toolLine("2", "dvv_limbs", "{}"))
		if got := p.line(); strings.Contains(got, "error") {
			t.Fatalf("call %d: got %s", i, got)
		}
	}
	if n := b.calls.Load(); n != calls {
		t.Errorf("called %d times, want %d", n, calls)
	}
}

// gone is an output whose reader has gone.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestNobodyReads(t *testing.T) {
	b, started, _ := blocking()
	inR, inW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- newServer(t, b).ServeStdio(context.Background(), inR, gone{}) }()
	for i := range 3 {
		_, _ = io.WriteString(inW, toolLine(fmt.Sprint(i), "dvv_limbs", "{}"))
		<-started
	}
	_, _ = io.WriteString(inW, pingLine)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !b.closed.Load() {
		t.Error("the backend was not closed")
	}
	_ = inR.Close()
}

func TestExit(t *testing.T) {
	for _, in := range []string{`{"jsonrpc":"2.0","method":"exit"}` + "\n", `{"jsonrpc":"2.0","id":1,"method":"exit"}` + "\n"} {
		p := converse(t, newServer(t, &fake{}))
		p.send(in)
		for _, l := range p.rest() {
			if l != `{"jsonrpc":"2.0","id":1,"result":{}}` {
				t.Errorf("got %s", l)
			}
		}
		p.wait()
	}
}

func TestEndOfInputGivesAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fake{do: func(ctx context.Context, tool string, _ json.RawMessage) ([]byte, error) {
			wait := time.Second
			if tool == "dvv_status" {
				wait = time.Hour
			}
			select {
			case <-time.After(wait):
				return result(map[string]any{"tool": tool}), nil
			case <-ctx.Done():
				return result(map[string]any{"cancelled": tool}), nil
			}
		}}
		p := converse(t, newServer(t, b))
		p.send(toolLine("1", "dvv_limbs", "{}") + toolLine("2", "dvv_status", "{}"))
		start := time.Now()
		_ = p.in.Close()
		got := strings.Join(p.rest(), "\n")
		if !strings.Contains(got, `"structuredContent":{"tool":"dvv_limbs"}`) || !strings.Contains(got, `"structuredContent":{"cancelled":"dvv_status"}`) {
			t.Errorf("got %s", got)
		}
		p.wait()
		if took := time.Since(start); took != endGrace {
			t.Errorf("ended after %v, want %v", took, endGrace)
		}
		if !b.closed.Load() {
			t.Error("the backend was not closed")
		}
	})
}

func TestSignalCancelsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, started, _ := blocking()
		p := converse(t, newServer(t, b))
		for i := range 20 {
			p.send(toolLine(fmt.Sprint(i), "dvv_limbs", "{}"))
		}
		for range maxRunning {
			<-started
		}
		start := time.Now()
		p.stop()
		go func() { _, _ = io.Copy(io.Discard, p.out) }()
		p.wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("ended after %v, want at once", took)
		}
		if !b.closed.Load() {
			t.Error("the backend was not closed")
		}
	})
}

// A tool that does not listen, a backend that does not close and a client that
// does not read do not keep the process.
func TestNothingKeepsTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := stubborn{release}
		p := converse(t, newServer(t, b))
		p.send(toolLine("1", "dvv_limbs", "{}") + pingLine)
		synctest.Wait()
		start := time.Now()
		p.stop()
		p.wait()
		if took, most := time.Since(start), 2*stopGrace+writeGrace; took > most {
			t.Errorf("ended after %v, want %v at most", took, most)
		}
		close(release)
	})
}

type stubborn struct{ release chan struct{} }

func (s stubborn) Call(context.Context, string, json.RawMessage) ([]byte, error) {
	<-s.release
	return result(nil), nil
}

func (s stubborn) Close() error {
	<-s.release
	return nil
}

func TestProgress(t *testing.T) {
	call := func(id, tool, token string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"_meta":{"progressToken":%s},"name":%q,"arguments":{"until":"idle"}}}`+"\n", id, token, tool)
	}
	synctest.Test(t, func(t *testing.T) {
		b := &fake{do: func(ctx context.Context, tool string, _ json.RawMessage) ([]byte, error) {
			select {
			case <-time.After(17 * time.Second):
			case <-ctx.Done():
			}
			return []byte(`{"content":[]}`), nil
		}}
		p := converse(t, newServer(t, b))
		p.send(call("1", "dvv_wait", `"t\u00e9"`))
		for _, ms := range []int{5000, 10000, 15000} {
			want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t\u00e9","progress":%d,"message":"dvv_wait is still running"}}`, ms)
			if got := p.line(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		if got, want := p.line(), `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		// Nothing is said after the reply, after a cancellation, without a
		// token, with one that is none, or about a short call.
		p.send(call("2", "dvv_wait", "7"))
		if got := p.line(); !strings.Contains(got, `"progressToken":7,"progress":5000`) {
			t.Errorf("got %s", got)
		}
		p.send(cancelLine("2") + toolLine("3", "dvv_wait", `{"until":"idle"}`) + call("4", "dvv_wait", "{}") +
			strings.Replace(call("5", "dvv_limbs", "8"), `{"until":"idle"}`, `{}`, 1))
		time.Sleep(time.Minute)
		var ids []string
		for range 3 {
			ids = append(ids, idOf(t, p.line()))
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != "3 4 5" {
			t.Errorf("got replies to %s, want 3 4 5", got)
		}
		p.send(pingLine)
		if got := p.line(); got != pong {
			t.Errorf("got %s, want nothing more", got)
		}
		p.end()
	})
}

func BenchmarkEcho(b *testing.B)    { benchmark(b, 0) }
func BenchmarkPicture(b *testing.B) { benchmark(b, 300_000) }

func benchmark(b *testing.B, picture int) {
	r := control.Result{Text: "Done.", Structured: map[string]any{"ok": true}}
	if picture > 0 {
		r.Images = []control.Image{{MIME: "image/png", Data: bytes.Repeat([]byte{1}, picture)}}
	}
	p := converse(b, newServer(b, &fake{do: func(context.Context, string, json.RawMessage) ([]byte, error) { return r.Encode() }}))
	line := toolLine("1", "dvv_limbs", "{}")
	for b.Loop() {
		p.send(line)
		p.line()
	}
}
