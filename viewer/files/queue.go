package files

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"deskvnc/viewer"
)

// A Direction is which way a job goes.
type Direction string

// The directions.
const (
	Download Direction = "download"
	Upload   Direction = "upload"
)

// A Job is one file or folder to move.
type Job struct {
	Direction Direction
	Remote    string // path on the machine; of an upload, where the copy goes
	Local     string // path on this side, absolute; of a download, where the copy goes
	Options   Options
}

// A State is where a job stands.
type State string

// The states.
const (
	Waiting      State = "waiting"
	Running      State = "running"
	Paused       State = "paused"
	Reconnecting State = "reconnecting"
	Done         State = "done"
	Failed       State = "failed"
	Cancelled    State = "cancelled"
)

// over reports whether nothing more happens without a Retry.
func (s State) over() bool { return s == Done || s == Failed || s == Cancelled }

// A JobState is a job and how far it is.
type JobState struct {
	ID       int
	Job      Job
	State    State
	Progress Progress
	Result   Result
	Err      error // why it failed, or why the link was last lost
	Attempt  int   // 1 for the first
}

// QueueOptions are what the jobs of a queue share.
type QueueOptions struct {
	// Parallel is how many jobs run at a time; 0 is 2.
	Parallel int
	// Attempts is how often a job is begun in all when the link is lost; 0 is
	// 10. What was moved is not moved again.
	Attempts int
	// Wait is how long to wait before the n-th new attempt (from 1); nil
	// doubles from one second to half a minute.
	Wait func(n int) time.Duration
	// Changed is called after something changed, ten times a second a job at
	// most, by any goroutine. It must not block.
	Changed func()
}

// maxJobs bounds the jobs of one queue that are kept.
const maxJobs = 10_000

// A Queue moves many files and folders, a few at a time, over one SFTP session
// that it opens when there is something to do and opens again when it is lost:
// the jobs go on where they were. It is safe for concurrent use.
type Queue struct {
	connect func(context.Context) (*FS, error)
	o       QueueOptions
	work    tidy

	dialling sync.Mutex // held while connecting

	mu      sync.Mutex // guards below
	jobs    []*job     // in order of arrival
	nextID  int
	running int
	fs      *FS // may have ended; nil before the first use
	closed  bool
}

// A job is a Job in a queue; its fields are guarded by the queue.
type job struct {
	state  JobState
	gate   Gate
	memory *memory
	cancel context.CancelFunc // while it runs
	ended  chan struct{}      // closed when it is over; new after a Retry
	paused bool               // a person paused it
}

// NewQueue makes a queue. connect opens an SFTP session, and is called again
// when that was lost; the queue closes what it gives.
func NewQueue(connect func(context.Context) (*FS, error), o QueueOptions) *Queue {
	if o.Parallel <= 0 {
		o.Parallel = 2
	}
	if o.Attempts <= 0 {
		o.Attempts = 10
	}
	if o.Wait == nil {
		o.Wait = func(n int) time.Duration { return min(time.Second<<min(n-1, 5), 30*time.Second) }
	}
	return &Queue{connect: connect, o: o, nextID: 1}
}

// Add puts a job at the end of the queue.
func (q *Queue) Add(j Job) (id int, err error) {
	if err := j.check(); err != nil {
		return 0, err
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return 0, &viewer.Error{Op: "files.queue", Kind: viewer.Closed, Err: errors.New("the transfers of this machine have been closed")}
	}
	if len(q.jobs) >= maxJobs {
		q.mu.Unlock()
		return 0, &viewer.Error{Op: "files.queue", Kind: viewer.Limit, Err: errors.New("too many transfers are listed; clear the finished ones first")}
	}
	id = q.nextID
	q.nextID++
	q.jobs = append(q.jobs, &job{
		state:  JobState{ID: id, Job: j, State: Waiting, Progress: Progress{Total: -1, Left: -1}},
		memory: &memory{}, ended: make(chan struct{}),
	})
	q.startLocked()
	q.mu.Unlock()
	q.changed()
	return id, nil
}

// startLocked starts what may run; the lock is held.
func (q *Queue) startLocked() {
	for _, j := range q.jobs {
		if q.closed || q.running >= q.o.Parallel {
			return
		}
		if j.state.State != Waiting || j.paused {
			continue
		}
		q.running++
		j.state.State = Running
		ctx, cancel := context.WithCancel(context.Background())
		j.cancel = cancel
		q.work.Go(func() { q.run(ctx, j) })
	}
}

// run moves one job to its end.
func (q *Queue) run(ctx context.Context, j *job) {
	var res Result
	var err error
	for attempt := 1; ; attempt++ {
		q.set(j, func(s *JobState) { s.Attempt, s.State = s.Attempt+1, Running })
		var used *FS
		if used, err = q.session(ctx); err == nil {
			res, err = j.move(ctx, used, q)
		}
		if err == nil || ctx.Err() != nil || !worthRetry(err) || attempt >= q.o.Attempts {
			break
		}
		q.set(j, func(s *JobState) { s.State, s.Err = Reconnecting, err })
		if used != nil {
			q.forget(used)
		}
		if !pause(ctx, q.o.Wait(attempt)) {
			break
		}
	}
	q.mu.Lock()
	j.state.Result, j.state.Err = res, err
	switch {
	case err == nil:
		j.state.State = Done
	case ctx.Err() != nil:
		j.state.State = Cancelled
	default:
		j.state.State = Failed
	}
	j.cancel()
	j.cancel = nil
	q.running--
	close(j.ended)
	q.startLocked()
	q.mu.Unlock()
	q.changed()
}

// worthRetry reports whether err is a link that may come back.
func worthRetry(err error) bool {
	switch viewer.KindOf(err) {
	case viewer.Closed, viewer.Timeout, viewer.Unreachable:
		return true
	}
	return false
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// session gives the live session, and opens one when there is none. Jobs that
// need one at once share the attempt.
func (q *Queue) session(ctx context.Context) (*FS, error) {
	q.dialling.Lock()
	defer q.dialling.Unlock()
	q.mu.Lock()
	old := q.fs
	q.mu.Unlock()
	if old != nil {
		select {
		case <-old.Done():
		default:
			return old, nil
		}
		old.Close()
	}
	f, err := q.connect(ctx)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fs = f
	return f, nil
}

// forget ends a session that a job lost, so that the next one is new even when
// its end has not been noticed.
func (q *Queue) forget(lost *FS) {
	q.mu.Lock()
	if q.fs == lost {
		q.fs = nil
	}
	q.mu.Unlock()
	lost.Close()
}

// set changes a job's state and tells.
func (q *Queue) set(j *job, change func(*JobState)) {
	q.mu.Lock()
	change(&j.state)
	if j.paused && j.state.State == Running {
		j.state.State = Paused
	}
	q.mu.Unlock()
	q.changed()
}

func (q *Queue) changed() {
	if q.o.Changed != nil {
		q.o.Changed()
	}
}

// Jobs lists the jobs in order of arrival.
func (q *Queue) Jobs() []JobState {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]JobState, len(q.jobs))
	for i, j := range q.jobs {
		all[i] = j.state
	}
	return all
}

// Job gives one job.
func (q *Queue) Job(id int) (JobState, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j := q.findLocked(id); j != nil {
		return j.state, true
	}
	return JobState{}, false
}

func (q *Queue) findLocked(id int) *job {
	for _, j := range q.jobs {
		if j.state.ID == id {
			return j
		}
	}
	return nil
}

// Totals adds up the jobs that are not over with those that are done.
func (q *Queue) Totals() Progress {
	q.mu.Lock()
	defer q.mu.Unlock()
	sum := Progress{Left: -1}
	for _, j := range q.jobs {
		p := j.state.Progress
		if j.state.State == Failed || j.state.State == Cancelled {
			continue
		}
		sum.Done += p.Done
		sum.Total += max(p.Total, 0)
		sum.Files += p.Files
		sum.FilesTotal += p.FilesTotal
		if j.state.State == Running {
			sum.Rate += p.Rate
		}
	}
	if sum.Rate >= 1 {
		sum.Left = time.Duration(float64(sum.Total-sum.Done) / sum.Rate * float64(time.Second)).Round(time.Second)
	}
	return sum
}

// each does something with the named jobs, or with all.
func (q *Queue) each(ids []int, do func(*job)) {
	q.mu.Lock()
	for _, j := range q.jobs {
		if len(ids) == 0 || slices.Contains(ids, j.state.ID) {
			do(j)
		}
	}
	q.startLocked()
	q.mu.Unlock()
	q.changed()
}

// Pause holds the named jobs, or all.
func (q *Queue) Pause(ids ...int) {
	q.each(ids, func(j *job) {
		if !j.state.State.over() {
			j.paused = true
			j.gate.Pause()
			if j.state.State == Running || j.state.State == Waiting {
				j.state.State = Paused
			}
		}
	})
}

// Resume lets the named jobs, or all, go on.
func (q *Queue) Resume(ids ...int) {
	q.each(ids, func(j *job) {
		if !j.paused {
			return
		}
		j.paused = false
		j.gate.Resume()
		if j.state.State == Paused {
			j.state.State = Waiting
			if j.cancel != nil {
				j.state.State = Running
			}
		}
	})
}

// Cancel ends the named jobs, or all that are not over. An unfinished copy is
// removed unless the job keeps it.
func (q *Queue) Cancel(ids ...int) {
	q.each(ids, func(j *job) {
		switch {
		case j.state.State.over():
		case j.cancel != nil:
			j.cancel()
		default:
			j.state.State, j.state.Err = Cancelled, &viewer.Error{Op: "files.queue", Kind: viewer.Cancelled}
			close(j.ended)
		}
	})
}

// Retry begins the named jobs, or all, again that failed or were cancelled.
// What they finished before is not done again.
func (q *Queue) Retry(ids ...int) {
	q.each(ids, func(j *job) {
		if j.state.State == Failed || j.state.State == Cancelled {
			j.paused = false
			j.gate.Resume()
			j.ended = make(chan struct{})
			j.state = JobState{ID: j.state.ID, Job: j.state.Job, State: Waiting, Attempt: j.state.Attempt, Progress: Progress{Total: -1, Left: -1}}
		}
	})
}

// Clear forgets the jobs that are over.
func (q *Queue) Clear() {
	q.mu.Lock()
	q.jobs = slices.DeleteFunc(q.jobs, func(j *job) bool { return j.state.State.over() })
	q.mu.Unlock()
	q.changed()
}

// Wait waits until a job is over and gives its error.
func (q *Queue) Wait(ctx context.Context, id int) (JobState, error) {
	q.mu.Lock()
	j := q.findLocked(id)
	if j == nil {
		q.mu.Unlock()
		return JobState{}, &viewer.Error{Op: "files.queue", Kind: viewer.Missing, Err: errors.New("there is no such transfer")}
	}
	ended := j.ended
	q.mu.Unlock()
	select {
	case <-ended:
		q.mu.Lock()
		defer q.mu.Unlock()
		return j.state, j.state.Err
	case <-ctx.Done():
		return JobState{}, ctx.Err()
	}
}

// Close cancels what runs and ends the session. It returns when all has ended.
func (q *Queue) Close() error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.Cancel()
	q.work.Wait()
	q.mu.Lock()
	f := q.fs
	q.fs = nil
	q.mu.Unlock()
	if f != nil {
		return f.Close()
	}
	return nil
}
