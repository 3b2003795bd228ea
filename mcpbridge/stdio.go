package mcpbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"deskvnc/control"
)

const (
	// maxRunning is how many tool calls run at once: the connections that one
	// attachment may have.
	maxRunning = 16
	// The bounds of the calls that wait for one of those places.
	maxWaiting      = 1024
	maxWaitingBytes = 64 << 20

	// endGrace is how long calls may go on after the end of the input. A
	// client that closes a server sends SIGTERM after two seconds.
	endGrace = 1500 * time.Millisecond
	// stopGrace is how long cancelled calls get to settle, and the backend to
	// let go of what is held.
	stopGrace = time.Second
	// writeGrace is how long the last replies get to be written.
	writeGrace = 300 * time.Millisecond
)

// ServeStdio serves one client over a pair of streams until the input or ctx
// ends, then closes the server. At the end of the input the calls that run get
// a moment to finish; when ctx ends, or nobody reads the output, they are
// cancelled at once. A reading goroutine may be left in in.Read until in ends.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	f := newFrames(in, s.config.MaxMessage)
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d := &desk{
		s:       s,
		out:     newWriter(out, &f.framed),
		calls:   calls,
		running: map[string]*call{},
		idle:    make(chan struct{}, 1),
	}
	stop := context.AfterFunc(ctx, d.out.relax)
	defer stop()
	d.serve(ctx, f)
	d.settle(endGrace, ctx.Done(), d.out.broken)
	cancel()
	d.out.relax()
	d.settle(stopGrace, nil, nil)
	d.out.end()
	err := s.closeWithin(stopGrace)
	await(d.out.done, writeGrace)
	return err
}

// closeWithin is Close with a bound: a machine that does not answer does not
// keep the process.
func (s *Server) closeWithin(limit time.Duration) error {
	result := make(chan error, 1)
	go func() { result <- s.Close() }()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-result:
		return err
	case <-t.C:
		return nil
	}
}

func await(done <-chan struct{}, limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// A desk is one client's conversation.
type desk struct {
	s     *Server
	out   *writer
	calls context.Context // of every call
	idle  chan struct{}   // told when nothing runs or waits any more

	mu           sync.Mutex
	running      map[string]*call // by the bytes of the id; running and waiting
	active       int
	waiting      []*call
	waitingBytes int
}

// A call is one tools/call.
type call struct {
	m      message
	tool   toolCall
	cancel context.CancelFunc
	ctx    context.Context

	mu   sync.Mutex
	over bool // answered or cancelled: nothing more is said about it
}

// end marks the call as over; it reports false when it was already.
func (c *call) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.over
	c.over = true
	return !was
}

// serve reads until there is nothing more to read or no one to answer.
func (d *desk) serve(ctx context.Context, f *frames) {
	type read struct {
		body []byte
		err  error
	}
	reads := make(chan read)
	gone := make(chan struct{})
	defer close(gone)
	go func() {
		for {
			body, err := f.next()
			select {
			case reads <- read{body, err}:
			case <-gone:
				return
			}
			if err != nil && err != errTooLong && err != errHeader {
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.out.broken:
			return
		case r := <-reads:
			switch r.err {
			case nil:
				if !d.receive(r.body) {
					return
				}
			case errTooLong:
				d.out.put(errorReply(nil, codeInvalidRequest, tooLong(d.s.config.MaxMessage)))
			case errHeader, errTruncated:
				d.out.put(errorReply(nil, codeParse, r.err.Error()))
			}
			if r.err != nil && r.err != errTooLong && r.err != errHeader {
				return
			}
		}
	}
}

// receive serves one message. It reports false when the client asked to end.
func (d *desk) receive(body []byte) bool {
	m, reply, ok := parse(body)
	switch {
	case !ok:
		if reply != nil {
			d.out.put(reply)
		}
	case m.method == "exit":
		if m.id != nil {
			d.out.put(resultReply(m.id, []byte("{}")))
		}
		return false
	case m.id == nil:
		if m.method == "notifications/cancelled" {
			d.cancel(m.params)
		}
	case m.method == "tools/call":
		c, reply := toolCallOf(m)
		if reply == nil {
			reply = d.start(m, c)
		}
		if reply != nil {
			d.out.put(reply)
		}
	default:
		d.out.put(d.s.answer(d.calls, m, d.out.put))
	}
	return true
}

// start runs a call, or lets it wait for its turn. When it does neither it
// gives the reply.
func (d *desk) start(m message, t toolCall) []byte {
	doubled, full := d.admit(m, t)
	switch {
	case doubled:
		return errorReply(m.id, codeInvalidRequest, "a call with this id is still running")
	case full:
		return d.s.answerTool(d.calls, m, t, func(context.Context) []byte {
			r := control.Refuse(control.RateLimited, "too many calls are running and waiting")
			r.Hint = "Wait for their results, then try again."
			return refusal(r)
		})
	}
	return nil
}

func (d *desk) admit(m message, t toolCall) (doubled, full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running[string(m.id)] != nil {
		return true, false
	}
	wait := d.active >= maxRunning
	if wait && (len(d.waiting) >= maxWaiting || d.waitingBytes+len(m.params) > maxWaitingBytes) {
		return false, true
	}
	c := &call{m: m, tool: t}
	c.ctx, c.cancel = context.WithCancel(d.calls)
	d.running[string(m.id)] = c
	if wait {
		d.waiting = append(d.waiting, c)
		d.waitingBytes += len(m.params)
	} else {
		d.active++
		go d.run(c)
	}
	return false, false
}

// run carries out a call, then those that waited, one after the other.
func (d *desk) run(c *call) {
	for c != nil {
		if c.ctx.Err() == nil {
			stop := d.progress(c)
			reply := d.s.answerTool(c.ctx, c.m, c.tool, func(ctx context.Context) []byte {
				return d.s.call(ctx, c.tool.name, c.tool.arguments)
			})
			stop()
			if c.end() {
				d.free(c) // with the reply the client may use the id again
				d.out.put(reply)
			}
		}
		c.cancel()
		c = d.next(c)
	}
}

// free takes a call's id off the table, unless another call has it already.
func (d *desk) free(c *call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id := string(c.m.id); d.running[id] == c {
		delete(d.running, id)
	}
}

// next takes a call off the table and gives the one whose turn it is, or nil.
func (d *desk) next(done *call) *call {
	d.free(done)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > 0 {
		c := d.waiting[0]
		d.waiting[0] = nil
		d.waiting = d.waiting[1:]
		d.waitingBytes -= len(c.m.params)
		return c
	}
	d.active--
	if d.active == 0 {
		select {
		case d.idle <- struct{}{}:
		default:
		}
	}
	return nil
}

// cancel stops the call that a cancellation names, running or not. There will
// be no reply.
func (d *desk) cancel(params json.RawMessage) {
	var id json.RawMessage
	for _, f := range control.Fields(params) {
		if f.Name == "requestId" {
			id = bytes.TrimSpace(f.Raw)
		}
	}
	d.mu.Lock()
	c := d.running[string(id)]
	d.mu.Unlock()
	if c != nil && c.end() {
		c.cancel()
	}
}

// settle waits until nothing runs any more, for at most limit, or until one of
// the two is closed.
func (d *desk) settle(limit time.Duration, ended, broken <-chan struct{}) {
	t := time.NewTimer(limit)
	defer t.Stop()
	for {
		d.mu.Lock()
		active := d.active
		d.mu.Unlock()
		if active == 0 {
			return
		}
		select {
		case <-d.idle:
		case <-t.C:
			return
		case <-ended:
			return
		case <-broken:
			return
		}
	}
}
