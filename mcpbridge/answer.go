package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"deskvnc/control"

	"github.com/mark3labs/mcp-go/mcp"
)

// A toolCall is a tools/call request, read as far as everybody needs it.
type toolCall struct {
	name      string
	arguments json.RawMessage
	progress  json.RawMessage // the progress token as it came, or nil
	slim      json.RawMessage // the request without its arguments, for the core
}

// maxToken bounds a progress token, which is sent back every few seconds.
const maxToken = 1024

// toolCallOf reads a tools/call request; reply is the error when it is none.
func toolCallOf(m message) (c toolCall, reply []byte) {
	refuse := func(text string) (toolCall, []byte) {
		return toolCall{}, errorReply(m.id, codeInvalidParams, "tools/call: "+text)
	}
	if m.params == nil || m.params[0] != '{' {
		return refuse("params must be an object with a name and arguments")
	}
	slim := []byte(`{`)
	named := false
	seen := map[string]bool{}
	for _, f := range control.Fields(m.params) {
		if seen[f.Name] {
			return refuse("params has a key twice")
		}
		seen[f.Name] = true
		switch f.Name {
		case "arguments":
			c.arguments = f.Raw
			continue
		case "name":
			if f.Raw[0] != '"' || json.Unmarshal(f.Raw, &c.name) != nil {
				return refuse("the name must be a string")
			}
			named = true
			continue
		case "_meta":
			if f.Raw[0] != '{' && f.Raw[0] != 'n' {
				return refuse("_meta must be an object")
			}
			for _, g := range control.Fields(f.Raw) {
				if g.Name == "progressToken" && usableID(g.Raw) && len(g.Raw) <= maxToken {
					c.progress = g.Raw
				}
			}
		}
		key, _ := json.Marshal(f.Name)
		slim = append(append(append(append(slim, key...), ':'), f.Raw...), ',')
	}
	if !named {
		return refuse("the name is missing")
	}
	c.slim = slim
	return c, nil
}

// answer serves a request and returns its reply. It never panics.
func (s *Server) answer(ctx context.Context, m message, notify func([]byte)) (reply []byte) {
	defer rescue(m.id, &reply)
	if m.method == string(mcp.MethodToolsCall) {
		c, reply := toolCallOf(m)
		if reply != nil {
			return reply
		}
		return s.answerTool(ctx, m, c, func(ctx context.Context) []byte { return s.call(ctx, c.name, c.arguments) })
	}
	switch {
	case m.method == "shutdown":
		return resultReply(m.id, []byte("{}"))
	case m.method == "" || len(m.method) > maxMethod: // the core would say it in full
		return errorReply(m.id, codeMethodNotFound, fmt.Sprintf("there is no method %q", shortened(m.method)))
	case m.params != nil && string(m.params) != "null" && m.params[0] != '{':
		return errorReply(m.id, codeInvalidParams, m.method+": params must be an object")
	}
	params := m.params
	if string(params) == "null" {
		params = nil
	}
	return s.limited(m.id, s.ask(ctx, m, params, notify))
}

// rescue is deferred: it turns a panic into a reply that does not show it.
func rescue(id json.RawMessage, reply *[]byte) {
	if recover() != nil {
		*reply = errorReply(id, codeInternal, "the server made a mistake while it answered; the call may or may not have acted")
	}
}

// ask hands one request to the method core and returns the reply.
func (s *Server) ask(ctx context.Context, m message, params json.RawMessage, notify func([]byte)) []byte {
	resp := s.handleMessage(ctx, m, params, notify)
	switch resp := resp.(type) {
	case mcp.JSONRPCResponse:
		result, err := json.Marshal(resp.Result)
		if err != nil {
			return errorReply(m.id, codeInternal, "the result cannot be shown")
		}
		return resultReply(m.id, result)
	case mcp.JSONRPCError:
		return refusedByCore(m, resp)
	}
	return errorReply(m.id, codeInternal, "the request has no answer")
}

// maxMethod is the longest name of a method that is said in full, in bytes.
const maxMethod = 64

func shortened(method string) string {
	if len(method) <= maxMethod {
		return method
	}
	n := maxMethod
	for n > 0 && !utf8.RuneStart(method[n]) {
		n--
	}
	return method[:n] + "..."
}

// refusedByCore is the error of the library as a reply. What it says about
// params that it cannot read are Go's types, which tell a client nothing.
func refusedByCore(m message, e mcp.JSONRPCError) []byte {
	switch e.Error.Code {
	case codeInvalidRequest: // the message itself was checked by parse
		return errorReply(m.id, codeInvalidParams, m.method+": the params are not those of this method")
	case codeInvalidParams:
		if m.method != string(mcp.MethodToolsList) {
			break
		}
		for _, f := range control.Fields(m.params) {
			if f.Name == "cursor" {
				return errorReply(m.id, codeInvalidParams, m.method+": there is no page with this cursor; leave it out")
			}
		}
	}
	return errorReplyOf(m.id, e.Error)
}

// handleMessage calls the library. It gets an id of its own, since it would
// round long ones; the reply is given the client's bytes.
func (s *Server) handleMessage(ctx context.Context, m message, params json.RawMessage, notify func([]byte)) mcp.JSONRPCMessage {
	method, _ := json.Marshal(m.method)
	b := append([]byte(`{"jsonrpc":"2.0","id":1,"method":`), method...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	b = append(b, '}')
	sess := &session{client: &s.client, notices: make(chan mcp.JSONRPCNotification, maxNotices)}
	resp := s.core.HandleMessage(s.core.WithContext(ctx, sess), b)
	for {
		select {
		case n := <-sess.notices:
			if _, ok := n.Params.Meta[mcp.MetaKeySubscriptionID]; ok {
				n.Params.Meta[mcp.MetaKeySubscriptionID] = m.id
			}
			if b, err := json.Marshal(n); err == nil && notify != nil {
				notify(b)
			}
			continue
		default:
		}
		return resp
	}
}

// calling carries a tool call through the library to [handle] and its result
// back, so that neither arguments nor pictures are decoded on the way.
type calling struct {
	do     func(context.Context) []byte
	result []byte
}

type callingKey struct{}

// handle is the handler of every tool.
func handle(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c, ok := ctx.Value(callingKey{}).(*calling)
	if !ok {
		return nil, errors.New("a tool was called past the bridge")
	}
	c.result = c.do(ctx)
	return &mcp.CallToolResult{}, nil
}

// answerTool serves a tools/call; do gives the tool's result. The library
// decides whether the request's revision is served, and what a result of that
// revision is marked with.
func (s *Server) answerTool(ctx context.Context, m message, c toolCall, do func(context.Context) []byte) (reply []byte) {
	defer rescue(m.id, &reply)
	// An unknown tool is refused by a result, which a model sees; the library
	// would refuse it by an error, which it does not. Hence a known name.
	name, _ := json.Marshal(s.config.Rows[0].Name)
	params := append(append(append([]byte(nil), c.slim...), `"name":`...), name...)
	call := &calling{do: do}
	resp := s.handleMessage(context.WithValue(ctx, callingKey{}, call), m, append(params, '}'), nil)
	switch resp := resp.(type) {
	case mcp.JSONRPCError:
		return refusedByCore(m, resp)
	case mcp.JSONRPCResponse:
		if len(call.result) < 2 || call.result[0] != '{' {
			return errorReply(m.id, codeInternal, "the tool has no result")
		}
		return s.limited(m.id, toolReply(m.id, call.result, resp.Result))
	}
	return errorReply(m.id, codeInternal, "the request has no answer")
}

// toolReply writes the reply of a tool call: what the library marked the empty
// result with, then the tool's own result byte for byte.
func toolReply(id json.RawMessage, result []byte, decorated any) []byte {
	b := append(replyHead(id, len(result)+256), `,"result":{`...)
	if r, ok := decorated.(mcp.ResultMetadata); ok {
		if meta := r.GetResultMeta(); meta != nil {
			if j, err := json.Marshal(meta); err == nil {
				b = append(append(append(b, `"_meta":`...), j...), ',')
			}
		}
		if t := r.GetResultType(); t != "" {
			b = append(append(append(b, `"resultType":"`...), t...), `",`...)
		}
	}
	return append(append(b, result[1:]...), '}')
}

// limited replaces a reply that is longer than a message may be. The newline
// and the closing brace count.
func (s *Server) limited(id json.RawMessage, reply []byte) []byte {
	if len(reply) < s.config.MaxMessage {
		return reply
	}
	return errorReply(id, codeInternal, fmt.Sprintf("the reply has %d bytes and this server sends at most %d; the call did run. "+
		"Ask for less: a region, a smaller scale, fewer bytes", len(reply)+1, s.config.MaxMessage))
}

// call carries out one tool call: the one function behind every face. The
// result is JSON on one line.
func (s *Server) call(ctx context.Context, name string, arguments json.RawMessage) (result []byte) {
	defer func() {
		if recover() != nil {
			result = refusal(control.Refuse(control.Internal, name+": the program made a mistake; the call may or may not have acted"))
		}
	}()
	row, ok := s.rows[name]
	if !ok {
		r := control.Refuse(control.BadRequest, fmt.Sprintf("there is no tool %.64q", name))
		r.Hint = "Use one of the tools that tools/list names."
		return refusal(r)
	}
	if _, r := control.Check(row, arguments); r != nil {
		return refusal(r)
	}
	b, err := s.open()
	if err != nil {
		return refusal(refused(err))
	}
	s.idle.begin()
	defer s.idle.end()
	if result, err = b.Call(ctx, name, arguments); err != nil {
		return refusal(refused(err))
	}
	return result
}

// refused turns a backend's error into a refusal.
func refused(err error) *control.Refused {
	var r *control.Refused
	if errors.As(err, &r) {
		return r
	}
	return control.Refuse(control.Internal, err.Error())
}

func refusal(r *control.Refused) []byte {
	b, err := control.RefusalResult(r).Encode()
	if err != nil {
		// Only a settlement can have no JSON form.
		b, _ = control.RefusalResult(control.Refuse(r.Code, r.Message)).Encode()
	}
	return b
}
