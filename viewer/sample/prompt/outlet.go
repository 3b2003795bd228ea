package prompt

import (
	"context"
	"io"
	"sync"
)

// outletSize bounds what waits to be sent to a slow reader.
const outletSize = 64 << 10

// An Outlet sends output on in the background. Who writes waits while its
// buffer is full, so that a slow reader slows the writer and nothing grows.
type Outlet struct {
	w    io.Writer
	done chan struct{} // closed when the sender has ended

	mu     sync.Mutex // guards below
	cond   sync.Cond
	buf    []byte
	busy   bool // a piece is being sent
	closed bool
	err    error
}

// NewOutlet starts an outlet to w. It ends with Close, once w lets it.
func NewOutlet(w io.Writer) *Outlet {
	o := &Outlet{w: w, done: make(chan struct{})}
	o.cond.L = &o.mu
	go o.send()
	return o
}

func (o *Outlet) send() {
	defer close(o.done)
	piece := make([]byte, outletSize)
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.buf) == 0 && !o.closed {
			o.cond.Wait()
		}
		if len(o.buf) == 0 || o.err != nil {
			return
		}
		n := copy(piece, o.buf)
		o.buf = o.buf[:copy(o.buf, o.buf[n:])]
		o.busy = true
		o.cond.Broadcast()
		o.mu.Unlock()
		_, err := o.w.Write(piece[:n])
		o.mu.Lock()
		o.busy = false
		if err != nil && o.err == nil {
			o.err = err
			o.buf = nil
		}
		o.cond.Broadcast()
	}
}

// Write sends p, or waits for room until ctx ends.
func (o *Outlet) write(ctx context.Context, p []byte) (int, error) {
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		o.cond.Broadcast()
		o.mu.Unlock()
	})
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := 0
	for len(p) > 0 {
		for len(o.buf) >= outletSize && o.err == nil && !o.closed && ctx.Err() == nil {
			o.cond.Wait()
		}
		switch {
		case o.err != nil:
			return sent, o.err
		case o.closed:
			return sent, io.ErrClosedPipe
		case ctx.Err() != nil:
			return sent, ctx.Err()
		}
		n := min(len(p), outletSize-len(o.buf))
		o.buf = append(o.buf, p[:n]...)
		p = p[n:]
		sent += n
		o.cond.Broadcast()
	}
	return sent, nil
}

// offer sends p if there is room for it at once.
func (o *Outlet) offer(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && !o.closed && len(o.buf)+len(p) <= outletSize {
		o.buf = append(o.buf, p...)
		o.cond.Broadcast()
	}
}

// Drop forgets what has not been sent.
func (o *Outlet) Drop() {
	o.mu.Lock()
	o.buf = o.buf[:0]
	o.cond.Broadcast()
	o.mu.Unlock()
}

// Flush waits until all is sent, or ctx ends.
func (o *Outlet) Flush(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		o.cond.Broadcast()
		o.mu.Unlock()
	})
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.buf) > 0 || o.busy) && o.err == nil && !o.closed && ctx.Err() == nil {
		o.cond.Wait()
	}
}

// Close ends the outlet, forgets what has not been sent, and waits for the
// piece that is being sent: end the writer below first.
func (o *Outlet) Close() {
	o.mu.Lock()
	o.closed, o.buf = true, nil
	o.cond.Broadcast()
	o.mu.Unlock()
	<-o.done
}
