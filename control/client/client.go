package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"deskvnc/control"
	"deskvnc/control/socket"
)

// The times of a request.
const (
	// helloTime bounds the greeting of a new connection.
	helloTime = 10 * time.Second
	// cancelTime bounds a cancellation, and then the wait for the reply of
	// the call that was cancelled.
	cancelTime = time.Second
)

// Config is what a [Client] is made of.
type Config struct {
	// Address is where the window's control socket is.
	Address socket.Address
	// Name is what the caller calls itself; a person is shown it.
	Name string

	// Peer is what errors call the other end; empty means "the window at" its
	// address.
	Peer string
	// Dial replaces [socket.Dial]; nil means that.
	Dial func(ctx context.Context) (net.Conn, string, error)
	// After calls fn after d unless stop is called first; nil means the
	// system's clock.
	After func(d time.Duration, fn func()) (stop func())
}

// A Client is one attachment to a window, over as many connections as it has
// calls at once. It is safe for concurrent use.
type Client struct {
	config Config
	peer   string        // the other end, in words
	ids    atomic.Uint64 // of requests; never reset, never used twice
	places chan struct{} // one for each call at once

	hello sync.Mutex // held while a connection is opened; guards below
	greet control.Welcome

	stop    sync.Mutex // held while a cancellation is sent; guards below
	stopper *wire

	mu     sync.Mutex // guards below
	idle   []*wire
	open   map[*wire]struct{}
	closed bool
}

// maxCalls is how many calls run at once: the connections that one attachment
// may have, less one for cancellations.
const maxCalls = 15

// New makes a client. Nothing is connected yet.
func New(c Config) *Client {
	if c.Dial == nil {
		c.Dial = func(ctx context.Context) (net.Conn, string, error) { return socket.Dial(ctx, c.Address) }
	}
	if c.After == nil {
		c.After = func(d time.Duration, fn func()) func() {
			t := time.AfterFunc(d, fn)
			return func() { t.Stop() }
		}
	}
	if c.Peer == "" {
		c.Peer = "the window at " + c.Address.String()
	}
	return &Client{config: c, peer: c.Peer, places: make(chan struct{}, maxCalls), open: map[*wire]struct{}{}}
}

// Call carries out a tool in the window and returns its result as the window
// wrote it. An error is a [control.Refused]: no reply, or none that counts.
func (c *Client) Call(ctx context.Context, tool string, arguments json.RawMessage) ([]byte, error) {
	limit, ok := control.ShortDeadline, true
	if row, known := control.RowByName(tool); known {
		limit, ok = row.Limit(arguments)
	}
	if !ok {
		limit = 0
	}
	id := c.ids.Add(1)
	call := strconv.FormatUint(id, 10)
	params, err := json.Marshal(control.ToolCall{Tool: tool, Arguments: arguments, Call: call})
	if err != nil {
		return nil, control.Refuse(control.BadRequest, fmt.Sprintf("%s: the arguments cannot be sent: %v", tool, err))
	}
	return c.request(ctx, request{id: id, method: control.MethodTool, params: params, what: tool, limit: limit, call: call})
}

// Request sends one request of another kind and returns its result. what names
// it in errors: the method, or the command that it runs.
func (c *Client) Request(ctx context.Context, method, what string, params json.RawMessage) (json.RawMessage, error) {
	return c.request(ctx, request{id: c.ids.Add(1), method: method, params: params, what: what, limit: control.ShortDeadline})
}

// Close ends the connections; the window then ends the attachment. Calls that
// run get an error.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for w := range c.open {
		w.fail("the client was closed")
	}
	c.idle = nil
	return nil
}

// A request is one line to send.
type request struct {
	id     uint64
	method string
	params json.RawMessage
	key    string
	what   string        // in words, for errors
	limit  time.Duration // for the reply; 0 for none
	call   string        // to cancel it by, or empty
}

// line is the request as it is sent.
func (r request) line() ([]byte, error) {
	b, err := json.Marshal(control.Request{ID: json.RawMessage(strconv.FormatUint(r.id, 10)), Method: r.method, Params: r.params, Key: r.key})
	if err != nil {
		return nil, control.Refuse(control.BadRequest, fmt.Sprintf("%s: it cannot be sent: %v", r.what, err))
	}
	if b = append(b, '\n'); len(b) > control.MaxMessage {
		r := control.Refuse(control.BadRequest, fmt.Sprintf("%s: the request has %d bytes and may have %d; nothing was sent", r.what, len(b), control.MaxMessage))
		r.Hint = "Send less at a time."
		return nil, r
	}
	return b, nil
}

// request sends a request once and returns its result.
func (c *Client) request(ctx context.Context, r request) (json.RawMessage, error) {
	b, err := r.line()
	if err != nil {
		return nil, err
	}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return nil, c.unsent(r.what, ctx.Err())
	}
	w, err := c.acquire(ctx)
	switch {
	case errors.Is(err, errUnauthorized):
		return nil, c.denied(r.what)
	case err != nil && ctx.Err() != nil:
		return nil, c.unsent(r.what, ctx.Err())
	case err != nil:
		return nil, c.unsent(r.what, err)
	case ctx.Err() != nil:
		c.release(w)
		return nil, c.unsent(r.what, ctx.Err())
	}
	var stop func()
	if r.call != "" {
		stop = func() { c.cancel(r.call) }
	}
	rep, err := w.exchange(ctx, r, b, stop)
	if err != nil {
		c.drop(w)
		return nil, c.lost(r, err)
	}
	if !rep.ok {
		// An unauthorised connection is closed by the window.
		if c.drop(w); rep.text == unauthorized {
			return nil, c.denied(r.what)
		}
		return nil, control.Refuse(control.Internal, rep.text)
	}
	c.release(w)
	return rep.result, nil
}

// unauthorized is the window's word for a wrong key; nothing ran then.
const unauthorized = "unauthorized"

// unsent is the error when nothing has been sent for a request.
func (c *Client) unsent(what string, err error) error {
	var r *control.Refused
	var gone *socket.Unreachable
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &gone):
		r = control.Refuse(control.NotImplemented, fmt.Sprintf("%s: %v; nothing was sent", what, err))
		r.Hint = "Ask the user to start the window, then call again: it is looked for at every call."
		return r
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return control.Refuse(control.Timeout, what+": it was cancelled before anything was sent")
	}
	r = control.Refuse(control.NotImplemented, fmt.Sprintf("%s: %s cannot be used: %v; nothing was sent", what, c.peer, err))
	r.Hint = "Tell the user; the call may be tried again once that is put right."
	return r
}

// denied is the error when the window does not take the key.
func (c *Client) denied(what string) error {
	r := control.Refuse(control.PolicyDenied, fmt.Sprintf("%s: %s did not accept the control key; nothing was done", what, c.peer))
	r.Hint = "Tell the user: " + socket.KeyVariable + " is set to another window's key, or the key file was lost; starting the window again makes a new one."
	return r
}

// lost is the error when a request may have been carried out or not.
func (c *Client) lost(r request, err error) error {
	e := control.Refuse(control.LimbGone, fmt.Sprintf("%s: the reply to %s was lost (%v); it may or may not have run", c.peer, r.what, err))
	e.Hint = "Look before you repeat it: dvv_limbs, then dvv_status or dvv_screen of the limb."
	if errors.Is(err, errTooLarge) {
		e.Hint += " Ask for less: a file path instead of the content, a region, or a smaller scale."
	}
	return e
}
