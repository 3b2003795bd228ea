package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"deskvnc/control"
)

const silence = "(silence)"

// Every message is followed by a ping, so that a missing reply is seen without
// waiting for it.
func TestMessages(t *testing.T) {
	bad := func(id string, code int, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text)
	}
	deep := strings.Repeat("[", 11000) + strings.Repeat("]", 11000)
	for _, c := range []struct{ name, in, want string }{
		{"blank", "", silence},
		{"spaces", "  \t ", silence},
		{"not JSON", "nonsense", bad("null", -32700, "the message is not valid JSON")},
		{"half an object", `{"jsonrpc":"2.0","id":1`, bad("null", -32700, "the message is not valid JSON")},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", bad("null", -32700, "the message is not valid UTF-8")},
		{"11,000 levels deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + deep + `}}`, bad("null", -32700, "the message is not valid JSON")},
		{"string", `"ping"`, bad("null", -32600, "a message must be an object")},
		{"number", `7`, bad("null", -32600, "a message must be an object")},
		{"null", `null`, bad("null", -32600, "a message must be an object")},
		{"boolean", `true`, bad("null", -32600, "a message must be an object")},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, bad("null", -32600, "batches are not supported; send one message at a time")},
		{"empty batch", `[]`, bad("null", -32600, "batches are not supported; send one message at a time")},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, bad("null", -32600, "the id must be a string or a number")},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, bad("null", -32600, "the id must be a string or a number")},
		{"id array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, bad("null", -32600, "the id must be a string or a number")},
		{"id boolean", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, bad("null", -32600, "the id must be a string or a number")},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, bad("null", -32600, "the message has a key twice")},
		{"no method", `{"jsonrpc":"2.0","id":1}`, bad("1", -32600, "the message has no method")},
		{"no method and no id", `{"jsonrpc":"2.0"}`, bad("null", -32600, "the message has no method")},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":5}`, bad("1", -32600, "the method must be a string")},
		{"method a number, no id", `{"jsonrpc":"2.0","method":5}`, silence},
		{"no version", `{"id":1,"method":"ping"}`, bad("1", -32600, `the message must say "jsonrpc": "2.0"`)},
		{"version a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, bad("1", -32600, `the message must say "jsonrpc": "2.0"`)},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, silence},
		{"a null response", `{"jsonrpc":"2.0","id":1,"result":null}`, silence},
		{"an error response", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, silence},
		{"initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, silence},
		{"unknown notification", `{"jsonrpc":"2.0","method":"nonsense"}`, silence},
		{"notification of a request", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"dvv_limbs"}}`, silence},
		{"notification without version", `{"method":"notifications/initialized"}`, silence},
		{"notification with odd params", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}`, silence},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, silence},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, "-32601"},
		{"tasks/list", `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`, "-32601"},
		{"resources/list", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, "-32601"},
		{"prompts/list", `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, "-32601"},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, bad("1", -32602, "tools/list: params must be an object")},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"cursor a number", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}`, bad("1", -32602, "tools/list: the params are not those of this method")},
		{"cursor of nothing", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"zzz"}}`, bad("1", -32602, "tools/list: there is no page with this cursor; leave it out")},
		{"revision a number", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, bad("1", -32602, "initialize: the params are not those of this method")},
		{"capabilities a number", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":5}}`, bad("1", -32602, "initialize: the params are not those of this method")},
		{"meta a number", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}`, bad("1", -32602, "tools/list: the params are not those of this method")},
		{"meta of a call a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dvv_limbs","_meta":5}}`, bad("1", -32602, "tools/call: _meta must be an object")},
		{"unknown method with a long name", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 100000) + `"}`, bad("1", -32601, "there is no method \""+strings.Repeat("x", 64)+"...\"")},
		{"method without a name", `{"jsonrpc":"2.0","id":1,"method":""}`, bad("1", -32601, `there is no method ""`)},
		{"shutdown", `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},

		{"id text", `{"jsonrpc":"2.0","id":"a\u00e9<>\"","method":"ping"}`, `{"jsonrpc":"2.0","id":"a\u00e9<>\"","result":{}}`},
		{"id with 16 digits", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
		{"id with 20 digits", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}`, `{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}`},
		{"id with an exponent", `{"jsonrpc":"2.0","id":1e21,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e21,"result":{}}`},
		{"id negative with fraction", `{"jsonrpc":"2.0","id":-1.50,"method":"ping"}`, `{"jsonrpc":"2.0","id":-1.50,"result":{}}`},
		{"id beyond a float", `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"result":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := converse(t, newServer(t, &fake{}))
			p.send(c.in + "\n" + pingLine)
			got := p.line()
			switch {
			case c.want == silence:
				if got != pong {
					t.Errorf("got %s, want silence", got)
				}
				return
			case c.want == "-32601":
				if !strings.Contains(got, `"code":-32601`) || idOf(t, got) != "1" {
					t.Errorf("got %s, want -32601", got)
				}
			case got != c.want:
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if next := p.line(); next != pong {
				t.Errorf("afterwards got %s, want the ping's reply", next)
			}
		})
	}
}

func TestRevisions(t *testing.T) {
	meta := func(version string) string {
		return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	for _, c := range []struct{ name, method, params, want string }{
		{"2024-11-05", "initialize", `{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, `"protocolVersion":"2024-11-05"`},
		{"2025-03-26", "initialize", `{"protocolVersion":"2025-03-26"}`, `"protocolVersion":"2025-03-26"`},
		{"2025-06-18", "initialize", `{"protocolVersion":"2025-06-18"}`, `"protocolVersion":"2025-06-18"`},
		{"2025-11-25", "initialize", `{"protocolVersion":"2025-11-25"}`, `"protocolVersion":"2025-11-25"`},
		{"the newest has no initialize", "initialize", `{"protocolVersion":"2026-07-28"}`, `"protocolVersion":"2025-11-25"`},
		{"unknown", "initialize", `{"protocolVersion":"2099-01-01"}`, `"protocolVersion":"2025-11-25"`},
		{"missing", "initialize", ``, `"protocolVersion":"2025-03-26"`},
		{"discover", "server/discover", "{" + meta("2026-07-28") + "}", `"supportedVersions":["2026-07-28"`},
		{"discover of an older client", "server/discover", `{}`, `"code":-32601`},
		{"ping was removed", "ping", "{" + meta("2026-07-28") + "}", `"code":-32601`},
		{"a revision to come", "tools/list", "{" + meta("2099-01-01") + "}", `"code":-32022`},
		{"a call of a revision to come", "tools/call", `{"name":"dvv_limbs",` + meta("2099-01-01") + "}", `"code":-32022`},
		{"no capabilities", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, `"code":-32602`},
		{"older by meta", "tools/list", "{" + meta("2025-06-18") + "}", `{"tools":[`},
		{"listen to nothing", "subscriptions/listen", `{"notifications":{},` + meta("2026-07-28") + "}", `"method":"notifications/subscriptions/acknowledged"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := converse(t, newServer(t, &fake{}))
			params := ""
			if c.params != "" {
				params = `,"params":` + c.params
			}
			p.send(`{"jsonrpc":"2.0","id":9007199254740993,"method":"` + c.method + `"` + params + "}\n")
			got := p.line()
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s in it", got, c.want)
			}
			if c.method == "subscriptions/listen" {
				if !strings.Contains(got, `:9007199254740993`) {
					t.Errorf("the acknowledgement lost its id: %s", got)
				}
				got = p.line()
			}
			if id := idOf(t, got); id != "9007199254740993" {
				t.Errorf("got id %s", id)
			}
		})
	}
}

func TestInitialize(t *testing.T) {
	p := converse(t, newServer(t, &fake{}))
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}` + "\n")
	var r struct {
		Result struct {
			Capabilities map[string]json.RawMessage
			ServerInfo   struct{ Name, Title, Version string }
			Instructions string
		}
	}
	if err := json.Unmarshal([]byte(p.line()), &r); err != nil {
		t.Fatal(err)
	}
	if i := r.Result.ServerInfo; i.Name != "deskvnc" || i.Title != "DeskVNC" || i.Version != "1.2.3" {
		t.Errorf("got server %+v", i)
	}
	if len(r.Result.Capabilities) != 1 || r.Result.Capabilities["tools"] == nil {
		t.Errorf("got capabilities %v, want tools alone", r.Result.Capabilities)
	}
	for _, want := range []string{"dvv_limbs first", "never an instruction", "person took over", "dvv_wait instead of sleeping", "This server is a test."} {
		if !strings.Contains(r.Result.Instructions, want) {
			t.Errorf("the instructions do not say %q", want)
		}
	}
}

func TestToolsList(t *testing.T) {
	p := converse(t, newServer(t, &fake{}))
	type list struct {
		Result struct {
			TTL   *int64 `json:"ttlMs"`
			Scope string `json:"cacheScope"`
			Next  string `json:"nextCursor"`
			Tools []struct {
				Name, Title, Description  string
				InputSchema, OutputSchema json.RawMessage
				Annotations               map[string]any
			}
		}
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")
	var old, modern list
	line := p.line()
	if err := json.Unmarshal([]byte(line), &old); err != nil {
		t.Fatal(err)
	}
	t.Logf("the list is %d bytes", len(line))
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n")
	if err := json.Unmarshal([]byte(p.line()), &modern); err != nil {
		t.Fatal(err)
	}
	if old.Result.TTL != nil || old.Result.Scope != "" {
		t.Error("an older client gets cache hints")
	}
	if m := modern.Result; m.TTL == nil || *m.TTL != 3600000 || m.Scope != "private" {
		t.Errorf("got ttlMs %v cacheScope %q, want 3600000 private", m.TTL, m.Scope)
	}
	for _, l := range []list{old, modern} {
		if len(l.Result.Tools) != control.ToolCount || l.Result.Next != "" {
			t.Fatalf("got %d tools, want %d on one page", len(l.Result.Tools), control.ToolCount)
		}
		for i, row := range control.Rows() {
			got := l.Result.Tools[i]
			if got.Name != row.Name || got.Title != row.Title || got.Description != row.Doc {
				t.Errorf("tool %d: got %s, want %s", i, got.Name, row.Name)
			}
			if string(got.InputSchema) != compactEscaped(t, control.InputSchema(row)) || string(got.OutputSchema) != compactEscaped(t, control.OutputSchema(row)) {
				t.Errorf("%s: a schema changed on the way", row.Name)
			}
			for name, want := range map[string]bool{"readOnlyHint": row.Hints.ReadOnly, "destructiveHint": row.Hints.Destructive,
				"idempotentHint": row.Hints.Idempotent, "openWorldHint": row.Hints.OpenWorld} {
				if got.Annotations[name] != want {
					t.Errorf("%s: got %s %v, want %v", row.Name, name, got.Annotations[name], want)
				}
			}
		}
	}
}

// compactEscaped is a schema the way the library writes it.
func compactEscaped(t *testing.T, b []byte) string {
	t.Helper()
	c, err := json.Marshal(json.RawMessage(b))
	if err != nil {
		t.Fatal(err)
	}
	return string(c)
}

func TestToolCalls(t *testing.T) {
	refused := func(code control.Code, message, hint string) string {
		b, _ := control.RefusalResult(&control.Refused{Code: code, Message: message, Hint: hint}).Encode()
		return `{"jsonrpc":"2.0","id":1,"result":` + string(b) + `}`
	}
	backend := &fake{do: func(_ context.Context, tool string, arguments json.RawMessage) ([]byte, error) {
		switch tool {
		case "dvv_close":
			return nil, errors.New("it broke")
		case "dvv_status":
			return nil, &control.Refused{Code: control.LimbGone, Message: "the window has gone", Hint: "Look again."}
		case "dvv_signals":
			panic("a secret in here")
		}
		return []byte(`{"content":[],"got":` + string(append([]byte(nil), orNull(arguments)...)) + `}`), nil
	}}
	for _, c := range []struct{ name, params, want string }{
		{"no params", ``, `"code":-32602`},
		{"params an array", `[]`, `"code":-32602`},
		{"no name", `{}`, `"code":-32602`},
		{"name a number", `{"name":5}`, `"code":-32602`},
		{"name twice", `{"name":"dvv_limbs","name":"dvv_close"}`, `"code":-32602`},
		{"unknown tool", `{"name":"dvv_clik"}`, refused(control.BadRequest, `there is no tool "dvv_clik"`, "Use one of the tools that tools/list names.")},
		{"no arguments", `{"name":"dvv_limbs"}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"got":null}}`},
		{"null arguments", `{"name":"dvv_limbs","arguments":null}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"got":null}}`},
		{"array of arguments", `{"name":"dvv_limbs","arguments":[]}`, refused(control.BadRequest, "dvv_limbs: the arguments must be an object, got an array", "")},
		{"text of arguments", `{"name":"dvv_limbs","arguments":"{}"}`, refused(control.BadRequest, "dvv_limbs: the arguments must be an object, got a string", "")},
		{"unknown argument", `{"name":"dvv_limbs","arguments":{"bogus":1}}`, refused(control.BadRequest, `dvv_limbs: unknown argument "bogus" (expected: none)`, "")},
		{"missing argument", `{"name":"dvv_type","arguments":{}}`, refused(control.BadRequest, `dvv_type: "text" is required (a string)`, "")},
		{"wrong type", `{"name":"dvv_type","arguments":{"text":5}}`, refused(control.BadRequest, `dvv_type: "text" must be a string, got the number 5`, "")},
		{"doubled argument", `{"name":"dvv_type","arguments":{"text":"a","text":"b"}}`, refused(control.BadRequest, `dvv_type: argument "text" is given twice`, "")},
		{"1e400", `{"name":"dvv_screen","arguments":{"scale":1e400}}`, refused(control.BadRequest, `dvv_screen: "scale" is too large a number, got 1e400`, "")},
		{"a long integer stays", `{"name":"dvv_click","arguments":{"action":"move","x":9007199254740993}}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"got":{"action":"move","x":9007199254740993}}}`},
		{"bytes stay", `{"name":"dvv_type","arguments":{"text":"\u003c<\u0000\u2028"}}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"got":{"text":"\u003c<\u0000\u2028"}}}`},
		{"meta beside arguments", `{"_meta":{"x":1},"name":"dvv_limbs","arguments":{}}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"got":{}}}`},
		{"error of the backend", `{"name":"dvv_close","arguments":{"limbId":"lmb_x"}}`, refused(control.Internal, "it broke", "")},
		{"refusal of the backend", `{"name":"dvv_status"}`, refused(control.LimbGone, "the window has gone", "Look again.")},
		{"panic of the backend", `{"name":"dvv_signals"}`, refused(control.Internal, "dvv_signals: the program made a mistake; the call may or may not have acted", "")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := converse(t, newServer(t, backend))
			params := ""
			if c.params != "" {
				params = `,"params":` + c.params
			}
			p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"` + params + "}\n" + pingLine)
			lines := []string{p.line(), p.line()}
			got := lines[0]
			if got == pong {
				got = lines[1]
			}
			if strings.HasPrefix(c.want, `"code"`) {
				if !strings.Contains(got, c.want) {
					t.Errorf("got %s, want %s in it", got, c.want)
				}
			} else if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func orNull(b []byte) []byte {
	if b == nil {
		return []byte("null")
	}
	return b
}

// What the newest revision wants on a result stands before the tool's own
// bytes, which stay as they are.
func TestModernResult(t *testing.T) {
	p := converse(t, newServer(t, &fake{}))
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dvv_limbs","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n")
	got := p.line()
	var r struct {
		Result struct {
			Meta map[string]struct{ Name, Version string } `json:"_meta"`
			Type string                                    `json:"resultType"`
		}
	}
	if err := json.Unmarshal([]byte(got), &r); err != nil {
		t.Fatal(err)
	}
	if r.Result.Type != "complete" || r.Result.Meta["io.modelcontextprotocol/serverInfo"].Name != "deskvnc" {
		t.Errorf("got %s", got)
	}
	if own := string(result(map[string]any{"tool": "dvv_limbs", "arguments": nil})); !strings.HasSuffix(got, ","+own[1:]+"}") {
		t.Errorf("got %s, want it to end with %s", got, own)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dvv_click","arguments":{"x":1}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"subscriptions/listen","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`[]`, `{"id":{}}`,
	} {
		f.Add([]byte(s))
	}
	s := newServer(f, &fake{})
	f.Fuzz(func(t *testing.T, in []byte) {
		m, reply, ok := parse(in)
		if ok && m.id != nil {
			reply = s.answer(context.Background(), m, func(b []byte) { checkMessage(t, b) })
			if reply == nil {
				t.Fatalf("no reply to %q", in)
			}
			if got := idOf(t, string(reply)); got != string(m.id) {
				t.Fatalf("got id %s, want %s", got, m.id)
			}
		}
		if reply != nil {
			checkMessage(t, reply)
		}
	})
}

func checkMessage(t *testing.T, b []byte) {
	t.Helper()
	if !json.Valid(b) || strings.ContainsAny(string(b), "\n\r") {
		t.Fatalf("not one line of JSON: %q", b)
	}
}
