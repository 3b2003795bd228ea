package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"deskvnc/control"
)

// A wire is one connection. One exchange at a time uses it.
type wire struct {
	nc    net.Conn
	r     *bufio.Reader
	after func(time.Duration, func()) func()

	mu    sync.Mutex
	cause string // why it was closed from here
}

func newWire(nc net.Conn, after func(time.Duration, func()) func()) *wire {
	return &wire{nc: nc, r: bufio.NewReaderSize(nc, 64<<10), after: after}
}

// fail closes the connection; the first cause is what an exchange that runs
// reports.
func (w *wire) fail(cause string) {
	w.mu.Lock()
	if w.cause == "" {
		w.cause = cause
	}
	w.mu.Unlock()
	_ = w.nc.Close()
}

// quiet reports whether nothing has come that nobody asked for, not even the
// end of the stream.
func (w *wire) quiet() bool { return w.r.Buffered() == 0 && silent(w.nc) }

var (
	errTooLarge  = errors.New("the reply is larger than 16 MiB")
	errMalformed = errors.New("malformed reply")
	errShut      = errors.New("the connection was closed")
)

// exchange sends one line and reads its reply. Any error leaves it open whether
// the request was carried out, and the connection useless. When ctx ends, stop
// is called, and the reply is waited for a little longer; without stop the
// connection is closed.
func (w *wire) exchange(ctx context.Context, r request, line []byte, stop func()) (reply, error) {
	if r.limit > 0 {
		defer w.after(r.limit, func() { w.fail(fmt.Sprintf("timed out after %v", r.limit)) })()
	}
	over := make(chan struct{})
	asked := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(asked)
		if stop == nil {
			w.fail("cancelled")
			return
		}
		stop()
		late := make(chan struct{})
		defer w.after(cancelTime, func() { close(late) })()
		select {
		case <-over:
		case <-late:
			w.fail("cancelled, and it did not settle in time")
		}
	})
	rep, err := w.talk(r.id, line)
	close(over)
	if !release() {
		<-asked
	}
	return rep, err
}

func (w *wire) talk(id uint64, line []byte) (reply, error) {
	if _, err := w.nc.Write(line); err != nil {
		return reply{}, w.why(err)
	}
	b, err := w.readLine()
	if err != nil {
		return reply{}, w.why(err)
	}
	return parseReply(id, b)
}

// why is the error with the cause that is known here.
func (w *wire) why(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.cause != "":
		return errors.New(w.cause)
	case errors.Is(err, io.EOF):
		return errShut
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err // without the addresses, which the message names
	}
	return err
}

// readLine reads up to a newline and returns what stands before it, CR and
// all. It reads no further than the largest reply.
func (w *wire) readLine() ([]byte, error) {
	var b []byte
	for {
		part, err := w.r.ReadSlice('\n')
		if len(b)+len(part) > control.MaxMessage {
			return nil, errTooLarge
		}
		b = append(b, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(b[:len(b)-1], []byte("\r")), nil
		case err == io.EOF && len(b) > 0:
			return nil, fmt.Errorf("%w: it does not end with a newline", errMalformed)
		case err == bufio.ErrBufferFull && len(b) == control.MaxMessage:
			return nil, errTooLarge // no place for the newline
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}
