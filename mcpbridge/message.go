package mcpbridge

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"deskvnc/control"
)

// The error codes of JSON-RPC 2.0, section 5.1.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// A message is one JSON-RPC request or notification.
type message struct {
	id     json.RawMessage // as it came; nil for a notification
	method string
	params json.RawMessage // a JSON value, or nil
}

// parse reads a message. When it is none, reply is the error to send, or nil
// when nothing is to be said, and ok is false.
func parse(body []byte) (m message, reply []byte, ok bool) {
	if !utf8.Valid(body) {
		return m, errorReply(nil, codeParse, "the message is not valid UTF-8"), false
	}
	if !json.Valid(body) {
		return m, errorReply(nil, codeParse, "the message is not valid JSON"), false
	}
	body = bytes.TrimSpace(body)
	switch body[0] {
	case '{':
	case '[':
		return m, errorReply(nil, codeInvalidRequest, "batches are not supported; send one message at a time"), false
	default:
		return m, errorReply(nil, codeInvalidRequest, "a message must be an object"), false
	}
	var version, method json.RawMessage
	var response, doubled, hasID bool
	seen := map[string]bool{}
	for _, f := range control.Fields(body) {
		doubled = doubled || seen[f.Name]
		seen[f.Name] = true
		switch f.Name {
		case "jsonrpc":
			version = f.Raw
		case "id":
			m.id, hasID = f.Raw, true
		case "method":
			method = f.Raw
		case "params":
			m.params = f.Raw
		case "result", "error":
			response = true
		}
	}
	id := m.id // to answer with
	if hasID && !usableID(id) {
		id = nil
	}
	refuse := func(text string) (message, []byte, bool) {
		return message{}, errorReply(id, codeInvalidRequest, text), false
	}
	switch {
	case doubled:
		id = nil
		return refuse("the message has a key twice")
	case method == nil && response:
		return message{}, nil, false // we send no requests, so nobody waits for it
	case method == nil:
		return refuse("the message has no method")
	case json.Unmarshal(method, &m.method) != nil || method[0] != '"':
		if !hasID {
			return message{}, nil, false
		}
		return refuse("the method must be a string")
	case !hasID:
		return m, nil, true
	case id == nil:
		return refuse("the id must be a string or a number")
	case string(version) != `"2.0"`:
		return refuse(`the message must say "jsonrpc": "2.0"`)
	}
	return m, nil, true
}

// usableID reports whether an id is a string or a number.
func usableID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

// resultReply is the reply of a request that was served. result is JSON and is
// copied in as it is.
func resultReply(id json.RawMessage, result []byte) []byte {
	b := replyHead(id, len(result))
	b = append(b, `,"result":`...)
	return append(append(b, result...), '}')
}

// errorReply is the reply of a request that was not; a nil id is null.
func errorReply(id json.RawMessage, code int, text string) []byte {
	return errorReplyOf(id, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, text})
}

// errorReplyOf is errorReply with an error object made elsewhere.
func errorReplyOf(id json.RawMessage, details any) []byte {
	e, err := json.Marshal(details)
	if err != nil {
		e = []byte(`{"code":-32603,"message":"the error cannot be shown"}`)
	}
	b := replyHead(id, len(e))
	b = append(b, `,"error":`...)
	return append(append(b, e...), '}')
}

// replyHead opens a reply with room for size bytes more and the frame around
// the whole.
func replyHead(id json.RawMessage, size int) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b := make([]byte, 0, size+len(id)+64)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	return append(b, id...)
}
