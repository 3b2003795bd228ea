package client

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A reply is what a window answered.
type reply struct {
	ok     bool
	result json.RawMessage // when ok
	text   string          // of the error, when not
}

// parseReply reads a reply to the request id. Anything that is not exactly
// such a reply is an error.
func parseReply(id uint64, b []byte) (reply, error) {
	bad := func(what string) (reply, error) { return reply{}, fmt.Errorf("%w: %s", errMalformed, what) }
	if !utf8.Valid(b) {
		return bad("it is not valid UTF-8")
	}
	fields, ok := object(b)
	if !ok {
		return bad("it is not one JSON object")
	}
	known := map[string]json.RawMessage{}
	for _, f := range fields {
		switch f.name {
		case "id", "ok", "result", "error":
			if known[f.name] != nil {
				return bad(f.name + " is there twice")
			}
			known[f.name] = f.raw
		}
	}
	var r reply
	switch string(known["ok"]) {
	case "true":
		r.ok = true
	case "false":
	default:
		return bad("ok is neither true nor false")
	}
	if string(known["id"]) != strconv.FormatUint(id, 10) {
		return bad(fmt.Sprintf("its id is %.40q and the request's is %d", known["id"], id))
	}
	if r.ok {
		if r.result = known["result"]; r.result == nil {
			return bad("it has no result")
		}
		return r, nil
	}
	if e := known["error"]; e == nil || e[0] != '"' || json.Unmarshal(e, &r.text) != nil {
		return bad("its error is not a string")
	}
	return r, nil
}
