package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"deskvnc/viewer"
)

const (
	// window is how many bytes of one file are asked for, or sent, before the
	// first of them is answered.
	window = 4 << 20
	// maxAsked bounds the requests of one window.
	maxAsked = 128
)

// A remote is an open file of the machine.
type remote struct {
	fs     *FS
	handle string
	path   string
}

// open opens a file; flags are those of OPEN.
func (f *FS) open(ctx context.Context, p string, flags uint32) (*remote, error) {
	late := func(r reply) {
		if h, err := handleOf(r); err == nil {
			f.closeHandle(h)
		}
	}
	r, err := f.stream.call(ctx, typeOpen, packet(nil).text(p).uint32(flags).uint32(0), late)
	if err != nil {
		return nil, err
	}
	h, err := handleOf(r)
	if err != nil {
		return nil, err
	}
	return &remote{fs: f, handle: h, path: p}, nil
}

// size asks for the size of the open file; -1 when the machine does not tell.
func (r *remote) size(ctx context.Context) int64 {
	answer, err := r.fs.stream.call(ctx, typeFstat, packet(nil).text(r.handle), nil)
	if err != nil || answered(answer, typeAttrs) != nil {
		return -1
	}
	in := parser{b: answer.body}
	if a := in.attrs(); in.err == nil {
		return a.size
	}
	return -1
}

// close closes the file and tells what the machine says about it, which may be
// that the last bytes found no room.
func (r *remote) close(ctx context.Context) error {
	h := r.handle
	r.handle = ""
	return r.fs.command(ctx, typeClose, packet(nil).text(h))
}

// drop closes the file, if it is open, and then does what is left to do, behind
// the caller's back: after what was asked before, which the machine answers in
// its own time.
func (r *remote) drop(then func(context.Context)) {
	h := r.handle
	r.handle = ""
	r.fs.tidy.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
		defer cancel()
		if h != "" {
			r.fs.command(ctx, typeClose, packet(nil).text(h))
		}
		if then != nil {
			then(ctx)
		}
	})
}

// A place is one of the requests that may be under way at a time. The next one
// in the same place is made when its answer has been taken.
type place struct {
	request packet // with room for the head
	data    []byte // of a read; of a write it is the end of request
	answer  <-chan reply
	off     int64
	n       int // bytes asked for, or sent
}

// places are the requests under way, in the order of the file; owned by the
// transfer.
type places struct {
	r    *remote
	all  []place
	made int // requests made
	seen int // answers taken
}

func (r *remote) places(chunk int) *places {
	return &places{r: r, all: make([]place, min(max(window/chunk, 4), maxAsked))}
}

// room reports whether one more request may be made.
func (q *places) room() bool { return q.made-q.seen < len(q.all) }

// none reports whether no request is under way.
func (q *places) none() bool { return q.made == q.seen }

// read asks for n bytes at off.
func (q *places) read(off int64, n int) {
	p := &q.all[q.made%len(q.all)]
	if len(p.data) < n {
		p.data = make([]byte, n)
	}
	q.made++
	p.off, p.n = off, n
	q.ask(p, 0)
}

// ask asks for what is missing behind the first have bytes of a place.
func (q *places) ask(p *place, have int) {
	p.request = append(p.request[:0], make([]byte, head)...).text(q.r.handle).uint64(uint64(p.off) + uint64(have)).uint32(uint32(p.n - have))
	p.answer = q.r.fs.stream.send(typeRead, p.request, p.data[have:p.n])
}

// next takes the oldest answer to a read, and asks again for what a short one
// left out. The end of the file is io.EOF, with what came before it.
func (q *places) next(ctx context.Context) ([]byte, error) {
	p := &q.all[q.seen%len(q.all)]
	have := 0
	for {
		r, err := q.r.fs.stream.wait(ctx, p.answer, nil)
		if err != nil {
			return nil, err
		}
		if err := answered(r, typeData); err != nil {
			q.seen++
			if is(err, statusEOF) {
				err = io.EOF
			}
			return p.data[:have], err
		}
		if have += len(r.body); have >= p.n {
			q.seen++
			return p.data[:have], nil
		}
		q.ask(p, have)
	}
}

// fill gives the next place n bytes for a write at off; the caller fills them.
func (q *places) fill(off int64, n int) (p *place, data []byte) {
	p = &q.all[q.made%len(q.all)]
	front := head + 4 + len(q.r.handle) + 8 + 4
	if cap(p.request) < front+n {
		p.request = make(packet, front+n)
	}
	p.request = p.request[:front+n]
	p.off = off
	return p, p.request[front:]
}

// write sends n of the bytes that fill gave.
func (q *places) write(p *place, n int) {
	q.made++
	p.n = n
	front := head + 4 + len(q.r.handle) + 8 + 4
	_ = p.request[:head].text(q.r.handle).uint64(uint64(p.off)).uint32(uint32(n))
	p.answer = q.r.fs.stream.send(typeWrite, p.request[:front+n], nil)
}

// written takes the oldest answer to a write.
func (q *places) written(ctx context.Context) (int, error) {
	p := &q.all[q.seen%len(q.all)]
	r, err := q.r.fs.stream.wait(ctx, p.answer, nil)
	if err != nil {
		return 0, err
	}
	q.seen++
	return p.n, status(r)
}

// errShrunk says that a file ended before its size.
var errShrunk = errors.New("the file became shorter while it was copied")

// receive copies the file from off to end into w, in order, with many requests
// under way; end is -1 to copy to where the file ends. n counts the bytes that w
// took.
func (r *remote) receive(ctx context.Context, w io.Writer, off, end int64, m *meter, res *Result) (n int64, err error) {
	chunk := r.fs.limits.Read
	q := r.places(chunk)
	next, over := off, false
	for {
		// Where the end is not known, the first bytes tell whether there are any.
		for !over && q.room() && (next < end || end < 0 && (n > 0 || q.none())) && !m.gate.Shut() {
			size := chunk
			if end >= 0 {
				size = int(min(int64(chunk), end-next))
			}
			q.read(next, size)
			next += int64(size)
		}
		if q.none() {
			if over || end >= 0 && next >= end {
				return n, nil
			}
			if err := m.hold(ctx); err != nil {
				return n, err
			}
			continue
		}
		data, err := q.next(ctx)
		if len(data) > 0 && !over {
			res.Windows++
			wrote, err := w.Write(data)
			n += int64(wrote)
			if err != nil {
				return n, err
			}
			m.add(len(data))
		}
		switch {
		case err == nil || over && errors.Is(err, io.EOF):
		case !errors.Is(err, io.EOF):
			return n, err
		case end >= 0:
			return n, fault("get", r.path, viewer.Differs, errShrunk)
		default:
			over = true
		}
	}
}

// send copies src into the file from off on, until end, or until src ends when
// end is -1. acked counts the bytes without a gap that the machine has
// confirmed.
func (r *remote) send(ctx context.Context, src io.Reader, off, end int64, m *meter, res *Result) (acked int64, err error) {
	chunk := r.fs.limits.Write
	q := r.places(chunk)
	next, over := off, false
	for {
		for !over && q.room() && (end < 0 || next < end) && !m.gate.Shut() {
			size := chunk
			if end >= 0 {
				size = int(min(int64(chunk), end-next))
			}
			p, data := q.fill(next, size)
			n, err := io.ReadFull(src, data)
			switch {
			case err == nil:
			case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
				return acked, &sourceError{err}
			case end >= 0:
				return acked, fault("put", r.path, viewer.Differs, errShrunk)
			default:
				over = true
			}
			if n > 0 {
				q.write(p, n)
				next += int64(n)
				res.Windows++
			}
			if err := ctx.Err(); err != nil {
				return acked, err
			}
		}
		if q.none() {
			if over || end >= 0 && next >= end {
				return acked, nil
			}
			if err := m.hold(ctx); err != nil {
				return acked, err
			}
			continue
		}
		n, err := q.written(ctx)
		if err != nil {
			return acked, err
		}
		acked += int64(n)
		m.add(n)
	}
}

// A sourceError is a failure to read what is being sent.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return fmt.Sprintf("reading what is to be sent: %v", e.err) }
func (e *sourceError) Unwrap() error { return e.err }
