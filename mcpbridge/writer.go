package mcpbridge

import (
	"io"
	"strconv"
	"sync"
	"sync/atomic"
)

// The bounds of what waits for a client that does not read.
const (
	maxQueuedBytes   = 64 << 20
	maxQueuedReplies = 4096
)

// A writer owns the output: one goroutine, one write a message, in the order
// in which they were put.
type writer struct {
	w      io.Writer
	framed *atomic.Bool  // whether to write Content-Length frames
	broken chan struct{} // closed when the reader of the output has gone
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	room    sync.Cond // a place has become free, or nobody waits for one any more
	work    sync.Cond // there is something to write, or the end
	queue   [][]byte
	size    int  // bytes in queue and being written
	relaxed bool // put never waits
	ended   bool // nothing is taken any more
}

func newWriter(w io.Writer, framed *atomic.Bool) *writer {
	o := &writer{w: w, framed: framed, broken: make(chan struct{}), done: make(chan struct{})}
	o.room.L, o.work.L = &o.mu, &o.mu
	go o.loop()
	return o
}

// put queues a message and takes its bytes over. It waits while the client has
// left too much unread.
func (o *writer) put(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.full() && !o.relaxed && !o.ended {
		o.room.Wait()
	}
	o.add(b)
}

// offer is put for what may as well be lost: it never waits.
func (o *writer) offer(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.full() {
		o.add(b)
	}
}

func (o *writer) full() bool { return o.size > maxQueuedBytes || len(o.queue) >= maxQueuedReplies }

func (o *writer) add(b []byte) {
	if o.ended {
		return
	}
	o.queue = append(o.queue, b)
	o.size += len(b)
	o.work.Signal()
}

// relax lets nobody wait any more: the process is about to end.
func (o *writer) relax() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.relaxed = true
	o.room.Broadcast()
}

// end lets the goroutine stop once all that was put has been written.
func (o *writer) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.room.Broadcast()
	o.work.Signal()
}

func (o *writer) loop() {
	defer close(o.done)
	for {
		b, ok := o.take()
		if !ok {
			return
		}
		if _, err := o.w.Write(o.frame(b)); err != nil {
			o.fail()
			return
		}
		o.written(len(b))
	}
}

// take waits for the next message.
func (o *writer) take() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.ended {
		o.work.Wait()
	}
	if len(o.queue) == 0 {
		return nil, false
	}
	b := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	return b, true
}

func (o *writer) written(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= n
	o.room.Broadcast()
}

func (o *writer) fail() {
	o.mu.Lock()
	o.ended, o.queue = true, nil
	o.room.Broadcast()
	o.mu.Unlock()
	close(o.broken)
}

// frame puts the message into the form that the client speaks.
func (o *writer) frame(b []byte) []byte {
	if !o.framed.Load() {
		return append(b, '\n')
	}
	head := append(strconv.AppendInt([]byte("Content-Length: "), int64(len(b)), 10), "\r\n\r\n"...)
	return append(head, b...)
}
