package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deskvnc/control"
)

// The methods for commands.
const (
	methodCommands = "engine.commands"
	methodExecute  = "engine.execute"
)

// dispatch carries out a request whose caller is authorised.
func (c *conn) dispatch(req control.Request) (json.RawMessage, error) {
	switch req.Method {
	case control.MethodAuth:
		return json.RawMessage("{}"), nil
	case control.MethodVersion:
		return encode(c.s.version())
	case control.MethodHello:
		return c.hello(req)
	case control.MethodTool:
		return c.tool(req)
	case control.MethodCancel:
		return c.cancel(req)
	case methodCommands:
		return c.commands(req)
	case methodExecute, "ui.menu.invoke", "command":
		return c.execute(req)
	}
	return nil, errUnknown
}

var errUnknown = errors.New("unknown method")

func (c *conn) hello(req control.Request) (json.RawMessage, error) {
	var h control.Hello
	if err := decode(req, &h); err != nil {
		return nil, err
	}
	if c.current() != nil {
		return nil, errors.New("this connection has an attachment already; use another connection")
	}
	a, err := c.s.hello(h)
	if err != nil {
		return nil, err
	}
	if !c.joined(a) {
		a.leave()
		return nil, errors.New("the caller has gone")
	}
	c.s.known(c)
	return encode(control.Welcome{Protocol: control.Protocol, Version: c.s.config.Version, Attachment: a.id, Secret: a.secret})
}

// known counts a connection to its attachment from now on.
func (s *Server) known(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.stranger {
		c.stranger = false
		s.strangers--
	}
}

var errNoHello = errors.New("say hello first, to start or join an attachment")

func (c *conn) tool(req control.Request) (json.RawMessage, error) {
	var t control.ToolCall
	if err := decode(req, &t); err != nil {
		return nil, err
	}
	a := c.current()
	if a == nil {
		return nil, errNoHello
	}
	ctx, done, err := a.begin(t.Call)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.runs(stop)
	defer c.runs(nil)
	return a.plane.Call(ctx, t.Tool, t.Arguments), nil
}

func (c *conn) cancel(req control.Request) (json.RawMessage, error) {
	var p struct {
		ID string `json:"id"`
	}
	if err := decode(req, &p); err != nil {
		return nil, err
	}
	a := c.current()
	if a == nil {
		return nil, errNoHello
	}
	return encode(struct {
		Cancelled bool `json:"cancelled"`
	}{a.cancel(p.ID)})
}

var errNoCommands = errors.New("this window serves no commands here")

func (c *conn) commands(req control.Request) (json.RawMessage, error) {
	var p struct {
		Filter string `json:"filter"`
	}
	if err := decode(req, &p); err != nil {
		return nil, err
	}
	if c.s.config.Commands == nil {
		return nil, errNoCommands
	}
	ctx, cancel := context.WithTimeout(c.s.ctx, c.s.times.command)
	defer cancel()
	list, err := c.s.config.Commands.List(ctx, p.Filter)
	if err != nil {
		return nil, err
	}
	return encode(list)
}

func (c *conn) execute(req control.Request) (json.RawMessage, error) {
	var p struct {
		Command string          `json:"command"`
		ID      string          `json:"id"` // another word for command
		Params  json.RawMessage `json:"params"`
	}
	if err := decode(req, &p); err != nil {
		return nil, err
	}
	if p.Command == "" {
		p.Command = p.ID
	}
	switch {
	case p.Command == "":
		return nil, errors.New("the command is missing")
	case c.s.config.Commands == nil:
		return nil, errNoCommands
	}
	ctx, cancel := context.WithTimeout(c.s.ctx, c.s.times.command)
	defer cancel()
	result, err := c.s.config.Commands.Execute(ctx, p.Command, p.Params)
	if err != nil {
		return nil, &commandError{err}
	}
	return encode(result)
}

// A commandError begins with the command's own id.
type commandError struct{ err error }

func (e *commandError) Error() string { return e.err.Error() }
func (e *commandError) Unwrap() error { return e.err }

// decode reads a method's params. Names that it does not have are refused.
func decode(req control.Request, into any) error {
	d := json.NewDecoder(bytes.NewReader(orEmpty(req.Params)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("params: %w", err)
	}
	return nil
}

func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("the result cannot be shown: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// okReply is the reply of a request that was served; result is copied in as
// it is.
func okReply(id, result json.RawMessage) []byte {
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	b := replyHead(id, len(result))
	b = append(b, `,"ok":true,"result":`...)
	return append(append(b, result...), '}')
}

// errorReply is the reply of one that was not.
func errorReply(id json.RawMessage, text string) []byte {
	q, _ := encode(text) // a string always has a JSON form
	b := replyHead(id, len(q))
	b = append(b, `,"ok":false,"error":`...)
	return append(append(b, q...), '}')
}

func replyHead(id json.RawMessage, size int) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	b := make([]byte, 0, len(id)+size+48)
	b = append(b, `{"id":`...)
	return append(b, id...)
}

// limited replaces a reply that no caller takes, so that it is not lost.
func limited(req control.Request, reply []byte) []byte {
	if len(reply) < control.MaxMessage {
		return reply
	}
	return errorReply(req.ID, fmt.Sprintf("%s: it did run, but its result has %d bytes and a reply may have %d; ask for less: a region, a smaller scale, fewer bytes",
		req.Method, len(reply)+1, control.MaxMessage))
}
