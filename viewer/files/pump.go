package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pkg/sftp"

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
	fs   *FS
	file *sftp.File
	path string
	work tidy // requests that are not answered
}

// open opens a file; flag is as of os.OpenFile.
func (f *FS) open(ctx context.Context, p string, flag int) (*remote, error) {
	type opened struct {
		file *sftp.File
		err  error
	}
	c := make(chan opened, 1)
	go func() {
		file, err := f.client.OpenFile(p, flag)
		c <- opened{file, err}
	}()
	select {
	case o := <-c:
		if o.err != nil {
			return nil, plain(o.err)
		}
		return &remote{fs: f, file: o.file, path: p}, nil
	case <-ctx.Done():
		f.tidy.Go(func() {
			if o := <-c; o.err == nil {
				o.file.Close()
			}
		})
		return nil, ctx.Err()
	}
}

// size asks for the size of the open file; -1 when the machine does not tell.
func (r *remote) size(ctx context.Context) int64 {
	c := make(chan int64, 1)
	r.work.Go(func() {
		info, err := r.file.Stat()
		if err != nil || info.Size() < 0 {
			c <- -1
			return
		}
		c <- info.Size()
	})
	select {
	case n := <-c:
		return n
	case <-ctx.Done():
		return -1
	}
}

// close closes the file and tells what the machine says about it, which may be
// that the last bytes found no room.
func (r *remote) close(ctx context.Context) error {
	c := make(chan error, 1)
	r.fs.tidy.Go(func() {
		r.work.Wait()
		c <- r.file.Close()
	})
	select {
	case err := <-c:
		return plain(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drop closes the file behind the caller's back, then does what is left to do.
func (r *remote) drop(then func(context.Context)) {
	r.fs.tidy.Go(func() {
		r.work.Wait()
		r.file.Close()
		if then != nil && r.fs.stream.ended() == nil {
			ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
			defer cancel()
			then(ctx)
		}
	})
}

// A place is one of the requests that may be under way at a time.
type place struct {
	buf  []byte
	todo chan span   // closed at the end
	done chan answer // one at most waits
}

// A span is one request.
type span struct {
	off int64
	n   int // bytes of buf
}

type answer struct {
	n   int
	err error
}

// places are the requests under way, in the order of the file. They are owned
// by the transfer; each has a goroutine while the transfer runs.
type places struct {
	r     *remote
	do    func(b []byte, off int64) (int, error)
	chunk int
	all   []*place
	head  int // requests made
	tail  int // answers taken
}

func (r *remote) places(chunk int, do func([]byte, int64) (int, error)) *places {
	return &places{r: r, do: do, chunk: chunk, all: make([]*place, min(max(window/chunk, 4), maxAsked))}
}

// room reports whether one more request may be made.
func (q *places) room() bool { return q.head-q.tail < len(q.all) }

// free is the next place, with a buffer of n bytes that its owner may fill.
func (q *places) free(n int) *place {
	p := q.all[q.head%len(q.all)]
	if p == nil {
		p = &place{todo: make(chan span, 1), done: make(chan answer, 1)}
		q.all[q.head%len(q.all)] = p
		q.r.work.Go(func() {
			for s := range p.todo {
				n, err := q.do(p.buf[:s.n], s.off)
				p.done <- answer{n, err}
			}
		})
	}
	if len(p.buf) < n {
		p.buf = make([]byte, n)
	}
	return p
}

// ask makes the request of the place that free gave.
func (q *places) ask(p *place, off int64, n int) {
	q.head++
	p.todo <- span{off, n}
}

// next waits for the oldest answer.
func (q *places) next(ctx context.Context) (*place, answer, error) {
	p := q.all[q.tail%len(q.all)]
	select {
	case a := <-p.done:
		q.tail++
		return p, a, nil
	case <-ctx.Done():
		return nil, answer{}, ctx.Err()
	}
}

// end lets the goroutines go when their request is answered.
func (q *places) end() {
	for _, p := range q.all {
		if p != nil {
			close(p.todo)
		}
	}
}

// errShrunk says that a file ended before its size.
var errShrunk = errors.New("the file became shorter while it was copied")

// receive copies the file from off to end into w, in order, with many requests
// under way; end is -1 to copy to where the file ends. n counts the bytes that w
// took.
func (r *remote) receive(ctx context.Context, w io.Writer, off, end int64, m *meter, res *Result) (n int64, err error) {
	chunk := r.fs.limits.Read
	q := r.places(chunk, r.file.ReadAt)
	defer q.end()
	next, over := off, false
	for {
		for !over && q.room() && (end < 0 || next < end) && !m.gate.Shut() {
			size := chunk
			if end >= 0 {
				size = int(min(int64(chunk), end-next))
			}
			q.ask(q.free(size), next, size)
			next += int64(size)
		}
		if q.head == q.tail {
			if over || end >= 0 && next >= end {
				return n, nil
			}
			if err := m.hold(ctx); err != nil {
				return n, err
			}
			continue
		}
		p, a, err := q.next(ctx)
		if err != nil {
			return n, err
		}
		if over {
			continue
		}
		if a.n > 0 {
			res.Windows++
			wrote, err := w.Write(p.buf[:a.n])
			n += int64(wrote)
			if err != nil {
				return n, err
			}
			m.add(a.n)
		}
		switch {
		case a.err == nil:
		case !errors.Is(a.err, io.EOF):
			return n, plain(a.err)
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
	q := r.places(chunk, r.file.WriteAt)
	defer q.end()
	next, over := off, false
	for {
		for !over && q.room() && (end < 0 || next < end) && !m.gate.Shut() {
			size := chunk
			if end >= 0 {
				size = int(min(int64(chunk), end-next))
			}
			p := q.free(size)
			n, err := io.ReadFull(src, p.buf[:size])
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
				q.ask(p, next, n)
				next += int64(n)
				res.Windows++
			}
			if err := ctx.Err(); err != nil {
				return acked, err
			}
		}
		if q.head == q.tail {
			if over || end >= 0 && next >= end {
				return acked, nil
			}
			if err := m.hold(ctx); err != nil {
				return acked, err
			}
			continue
		}
		_, a, err := q.next(ctx)
		if err != nil {
			return acked, err
		}
		if a.err != nil {
			if errors.Is(a.err, io.EOF) {
				a.err = &statusError{code: statusEOF}
			}
			return acked, plain(a.err)
		}
		acked += int64(a.n)
		m.add(a.n)
	}
}

// A sourceError is a failure to read what is being sent.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return fmt.Sprintf("reading what is to be sent: %v", e.err) }
func (e *sourceError) Unwrap() error { return e.err }
