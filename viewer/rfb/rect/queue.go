package rect

import (
	"sync"
	"sync/atomic"
	"time"

	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/inflate"
)

// The bounds of what waits to be drawn: queueBatches times batchBytes, and as
// many jobs as that many batches can have.
const (
	queueBatches = 3
	// batchBytes is the most that the jobs of a batch bring: the largest piece
	// that an inflater gives fits. A batch is handed over before it is full.
	batchBytes = 256 << 10
	batchJobs  = 2048
	// batchPixels is how much a batch may have to draw.
	batchPixels = 4 << 20
	// lockedPixels is how much is drawn before readers of the frame get a turn.
	lockedPixels = 256 << 10
)

// A painter draws jobs. Its state belongs to whoever draws: the drawer, or the
// reader while nothing is queued.
type painter interface {
	// paint draws j from what it brought. Behind data there are inflate.Slack
	// readable bytes.
	paint(px frame.Pixels, j *job, head, data []byte) error
}

// A preparer is a painter with work to do before the frame is locked.
type preparer interface {
	prepare(j *job, data []byte) error
}

// A job is one piece of drawing: a rectangle, or a part of one.
type job struct {
	p          painter
	do         func()       // instead of drawing
	x, y, w, h int          // inside of the picture
	source     frame.Source // of the pixels
	op         uint8        // for p
	part       bool         // another job completes the rectangle
	first      bool         // of the parts
	prepare    bool         // p is a preparer
	a, b       int          // for p

	at, head, size int // in the arena of the batch
}

// A batch is a list of jobs and the bytes that they bring.
type batch struct {
	jobs   []job
	arena  []byte
	used   int
	pixels int
}

// A Queue takes the drawing off the reader: it keeps jobs in order and draws
// them on a goroutine of its own, the drawer, from [Queue.Start] on. Before
// that, and in a program that has one processor, all is drawn at once.
//
// Everything that touches the frame goes through the queue or calls
// [Queue.Sync] first. All methods but Stop and End belong to the reader.
type Queue struct {
	frame *frame.Frame

	started bool
	direct  job      // what is drawn at once
	open    *batch   // being filled; nil for none
	spare   []*batch // empty ones
	out     int      // how many the drawer has
	trial   trial

	work  chan *batch // to the drawer
	free  chan *batch // back from it
	ended chan struct{}

	busy    atomic.Int64 // nanoseconds that the drawer has drawn
	stopped atomic.Bool
	broken  func() // called once when a job has failed

	mu  sync.Mutex // guards below
	err error      // of the first job that failed
}

// NewQueue returns a queue that draws on f.
func NewQueue(f *frame.Frame) *Queue { return &Queue{frame: f} }

// Start starts the drawer. broken is called once, from any goroutine, when a
// job has failed: it ends the reading. Whoever starts a queue calls [Queue.End].
func (q *Queue) Start(broken func()) {
	q.started, q.broken = true, broken
	q.work = make(chan *batch, queueBatches)
	q.free = make(chan *batch, queueBatches)
	q.ended = make(chan struct{})
	go q.drawer()
}

// drawer draws what is handed over until the end.
func (q *Queue) drawer() {
	defer close(q.ended)
	for b := range q.work {
		since := time.Now()
		q.run(b)
		q.busy.Add(int64(time.Since(since)))
		q.free <- b // never waits: there is a place for each
	}
}

// Busy is the time that the drawer has spent on drawing. It may be called from
// any goroutine.
func (q *Queue) Busy() time.Duration { return time.Duration(q.busy.Load()) }

// Stop lets what waits to be drawn be dropped.
func (q *Queue) Stop() { q.stopped.Store(true) }

// End draws what is queued, unless Stop was called, ends the drawer and returns
// the error of the job that failed. Nobody reads any more.
func (q *Queue) End() error {
	if q.started {
		q.handOver()
		close(q.work)
		<-q.ended
		q.started = false
		q.spare, q.open = nil, nil
	}
	return q.failure()
}

func (q *Queue) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// fail notes the error of a job. What comes after it is dropped.
func (q *Queue) fail(err error) {
	q.mu.Lock()
	first := q.err == nil
	if first {
		q.err = err
	}
	q.mu.Unlock()
	if first {
		q.Stop()
		q.broken()
	}
}

// Do calls f once all that was queued before has been drawn: at once when that
// is so already.
func (q *Queue) Do(f func()) {
	if q.Idle() {
		f()
		return
	}
	b := q.batch(0)
	b.jobs = append(b.jobs, job{do: f})
}

// Idle reports whether all has been drawn.
func (q *Queue) Idle() bool {
	return !q.started || (q.open == nil || len(q.open.jobs) == 0) && q.returned()
}

// returned reports whether the drawer has nothing to do.
func (q *Queue) returned() bool {
	for q.out > 0 {
		select {
		case b := <-q.free:
			q.keep(b)
		default:
			return false
		}
	}
	return true
}

// keep takes a batch back from the drawer.
func (q *Queue) keep(b *batch) {
	b.reset()
	q.spare = append(q.spare, b)
	q.out--
}

func (b *batch) reset() {
	clear(b.jobs) // they hold functions
	b.jobs, b.used, b.pixels = b.jobs[:0], 0, 0
}

// Sync waits until all has been drawn, and returns the error of a job that has
// failed.
func (q *Queue) Sync() error {
	if q.Idle() {
		if !q.started {
			return nil
		}
		return q.failure()
	}
	if q.out == 0 {
		q.inline()
	} else {
		q.handOver()
	}
	for q.out > 0 {
		q.keep(<-q.free)
	}
	return q.failure()
}

// Flush sees to it that what is queued gets drawn. The reader calls it before
// it waits for the network: it has the time to draw by itself, which costs less
// than to wake the drawer, unless that is at work already.
func (q *Queue) Flush() {
	q.trial.waits()
	switch {
	case q.open == nil || len(q.open.jobs) == 0:
	case q.returned():
		q.inline()
	default:
		q.handOver()
	}
}

// inline draws the open batch. The drawer has nothing to do.
func (q *Queue) inline() {
	q.run(q.open)
	q.open.reset()
}

// full has the open batch drawn, by the drawer if that pays.
func (q *Queue) full() {
	b, now := q.open, time.Now()
	away := q.trial.full(b.used+bpp*b.pixels, now)
	q.trial.since = now
	if !away && q.returned() {
		q.inline()
	} else {
		q.handOver()
	}
}

// handOver gives the open batch to the drawer.
func (q *Queue) handOver() {
	if q.open == nil || len(q.open.jobs) == 0 {
		return
	}
	q.work <- q.open // never waits: there is a place for each
	q.open = nil
	q.out++
}

// batch returns the open batch with room for n bytes and a job. It waits for
// the drawer when it is too far behind.
func (q *Queue) batch(n int) *batch {
	if b := q.open; b != nil && (b.used+n > batchBytes || len(b.jobs) >= batchJobs) {
		q.full()
	}
	if q.open != nil {
		return q.open
	}
	if q.returned(); len(q.spare) == 0 {
		if q.out < queueBatches {
			q.spare = append(q.spare, &batch{jobs: make([]job, 0, 384), arena: make([]byte, batchBytes+inflate.Slack)})
		} else {
			q.keep(<-q.free)
		}
	}
	last := len(q.spare) - 1
	q.open, q.spare = q.spare[last], q.spare[:last]
	return q.open
}

// put queues a job with what it brings, which is copied; or draws it at once.
func (q *Queue) put(j *job, head, data []byte) error {
	n := len(head) + len(data)
	if !q.started || n > batchBytes {
		if err := q.Sync(); err != nil {
			return err
		}
		q.direct = *j
		return q.draw(&q.direct, head, data)
	}
	b := q.batch(n)
	j.at, j.head, j.size = b.used, len(head), n
	copy(b.arena[b.used:], head)
	copy(b.arena[b.used+len(head):], data)
	b.used += n
	b.pixels += j.w * j.h
	b.jobs = append(b.jobs, *j)
	if b.pixels >= batchPixels {
		q.full()
	}
	if q.stopped.Load() {
		return q.failure()
	}
	return nil
}

// draw draws one job that is not queued.
func (q *Queue) draw(j *job, head, data []byte) error {
	if j.prepare {
		if err := j.p.(preparer).prepare(j, data); err != nil {
			return err
		}
	}
	px := q.frame.Lock()
	defer q.frame.Unlock()
	if err := j.p.paint(px, j, head, data); err != nil {
		return err
	}
	if !j.part {
		q.frame.Touch(j.x, j.y, j.w, j.h, j.source)
	}
	return nil
}

// run draws a batch. The frame stays locked from one job to the next.
func (q *Queue) run(b *batch) {
	var px frame.Pixels
	locked, pixels := false, 0
	unlock := func() {
		if locked {
			q.frame.Unlock()
			locked, pixels = false, 0
		}
	}
	defer unlock()
	for i := range b.jobs {
		if q.stopped.Load() {
			return
		}
		j := &b.jobs[i]
		if j.do != nil {
			unlock()
			j.do()
			continue
		}
		head, data := b.arena[j.at:j.at+j.head], b.arena[j.at+j.head:j.at+j.size]
		if j.prepare {
			unlock()
			if err := j.p.(preparer).prepare(j, data); err != nil {
				q.fail(err)
				return
			}
		}
		if !locked {
			px, locked = q.frame.Lock(), true
		}
		if err := j.p.paint(px, j, head, data); err != nil {
			unlock()
			q.fail(err)
			return
		}
		if !j.part {
			q.frame.Touch(j.x, j.y, j.w, j.h, j.source)
		}
		if pixels += j.w * j.h; pixels >= lockedPixels {
			unlock()
		}
	}
}
