package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

const (
	// maxCommands bounds the commands at once in a session: OpenSSH has ten
	// channels for a login, and the terminal and the files need one each.
	maxCommands = 8
	// drainQuiet and drainMost bound the wait for output after the exit code:
	// what comes later is of something that goes on in the background.
	drainQuiet = 500 * time.Millisecond
	drainMost  = 3 * time.Second
	// placeTime is how long a machine may take to notice that a command has
	// ended before it has a place for the next, and placePause the time between
	// two questions.
	placeTime  = time.Second
	placePause = 20 * time.Millisecond
)

// Run runs a command on a channel of its own; see [viewer.Runner].
func (s *Session) Run(ctx context.Context, c viewer.Command) (viewer.Ran, error) {
	began := time.Now()
	if strings.ContainsRune(c.Line+c.Dir, 0) {
		return viewer.Ran{}, &viewer.Error{Op: "shell.Run", Kind: viewer.Invalid, Err: errors.New("a command cannot contain the character NUL")}
	}
	select {
	case s.slots <- struct{}{}:
	default:
		select {
		case s.slots <- struct{}{}:
		case <-s.done:
			return viewer.Ran{}, errClosed
		case <-ctx.Done():
			return viewer.Ran{}, &viewer.Error{Op: "shell.Run", Kind: viewer.KindOf(ctx.Err()), Err: fmt.Errorf("%d other commands run in this session, and none ended in time: the command was not started", maxCommands)}
		}
	}
	defer func() { <-s.slots }()
	r, err := s.runLine(ctx, inDir(c.Dir, c.Line), c.Keep)
	if err != nil {
		return viewer.Ran{}, err
	}
	ran, err := r.wait(ctx)
	ran.Took = time.Since(began)
	return ran, err
}

// runLine starts a command.
func (s *Session) runLine(ctx context.Context, line string, keep int) (*running, error) {
	ch, requests, err := s.openChannel(ctx)
	if err != nil {
		return nil, err
	}
	r := &running{session: s, line: line, channel: ch, stdout: newKeeper(keep), stderr: newKeeper(keep), exited: make(chan struct{}), moved: make(chan struct{}, 1), refused: make(chan struct{}), ended: make(chan struct{})}
	go r.read(requests)
	go r.start()
	return r, nil
}

// openChannel opens the channel of a command. A machine that has no place for
// it may not have noticed yet that another one has ended.
func (s *Session) openChannel(ctx context.Context) (ssh.Channel, <-chan *ssh.Request, error) {
	for left := placeTime; ; left -= placePause {
		ch, requests, err := s.client.OpenChannel(ctx)
		if viewer.KindOf(err) != viewer.Limit || left <= 0 {
			return ch, requests, err
		}
		select {
		case <-time.After(placePause):
		case <-ctx.Done():
			return nil, nil, &viewer.Error{Op: "shell.Run", Kind: viewer.KindOf(ctx.Err()), Err: ctx.Err()}
		}
	}
}

// A running is a command at work.
type running struct {
	session *Session
	line    string
	channel ssh.Channel
	exited  chan struct{} // closed when the machine said how it ended
	moved   chan struct{} // one place: output came
	refused chan struct{} // closed when the machine does not run it
	ended   chan struct{} // closed when the channel has ended and all is read

	mu             sync.Mutex // guards below
	stdout, stderr *keeper
	exit           *viewer.Exit
	over           bool // nothing is kept any more
}

// start gives the machine the command, which has nothing to read.
func (r *running) start() {
	ok, err := r.channel.SendRequest("exec", true, ssh.Marshal(struct{ Line string }{r.line}))
	switch {
	case err != nil: // the channel ends
	case !ok:
		close(r.refused)
		r.channel.Close()
	default:
		r.channel.CloseWrite()
	}
}

// read takes everything that comes on the channel, to its end.
func (r *running) read(requests <-chan *ssh.Request) {
	var all sync.WaitGroup
	all.Go(func() { r.copy(r.channel, r.stdout) })
	all.Go(func() { r.copy(r.channel.Stderr(), r.stderr) })
	all.Go(func() {
		for q := range requests {
			if exit := exitOf(q); exit != nil {
				r.mu.Lock()
				if r.exit == nil {
					r.exit = exit
					close(r.exited)
				}
				r.mu.Unlock()
			}
			if q.WantReply {
				q.Reply(false, nil)
			}
		}
	})
	all.Wait()
	r.channel.Close()
	close(r.ended)
}

func (r *running) copy(from io.Reader, to *keeper) {
	b := make([]byte, readPiece)
	for {
		n, err := from.Read(b)
		if n > 0 {
			r.mu.Lock()
			if !r.over {
				to.Write(b[:n])
			}
			r.mu.Unlock()
			select {
			case r.moved <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits for the end of the command or of ctx.
func (r *running) wait(ctx context.Context) (viewer.Ran, error) {
	select {
	case <-r.ended:
	case <-r.exited:
		r.drain(ctx)
	case <-r.refused:
	case <-ctx.Done():
		return r.stop(ctx)
	}
	select {
	case <-r.refused:
		return r.result(), &viewer.Error{Op: "shell.Run", Kind: viewer.Unsupported, Err: fmt.Errorf("%s does not run commands for this login", r.session.target.Label())}
	default:
	}
	ran := r.result()
	if !ran.Exited && ran.Signal == "" {
		ran.Lost = true
		ran.Unanswered = r.lost()
	}
	return ran, nil
}

// drain waits for the rest of the output of a command that has ended.
func (r *running) drain(ctx context.Context) {
	most := time.NewTimer(drainMost)
	defer most.Stop()
	quiet := time.NewTimer(drainQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-r.ended:
			return
		case <-r.moved:
			quiet.Reset(drainQuiet)
		case <-quiet.C:
			return
		case <-most.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// result is what there is, and the end of keeping more.
func (r *running) result() viewer.Ran {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	ran := viewer.Ran{Stdout: r.stdout.output(), Stderr: r.stderr.output()}
	if r.exit != nil {
		ran.Code, ran.Signal, ran.Exited = r.exit.Code, r.exit.Signal, r.exit.Signal == ""
		select {
		case <-r.ended:
		default:
			ran.Open = true
		}
	}
	r.channel.Close()
	return ran
}

// lost says why a command ended without an answer.
func (r *running) lost() string {
	limit := time.NewTimer(explains)
	defer limit.Stop()
	label := r.session.target.Label()
	select {
	case <-r.session.client.Done():
		if err := r.session.client.Err(); err != nil {
			return "the connection ended first: " + viewer.Reason(err)
		}
		return "the session was closed first"
	case <-limit.C:
	}
	return label + " closed the command's channel and did not say how it ended"
}

// inDir has a command start in a folder, or fail when it cannot.
func inDir(dir, line string) string {
	if dir == "" {
		return line
	}
	return "cd " + quoteDir(dir) + " || exit 1\n" + line
}

// quoteDir writes a folder for a shell: a leading ~ is the home folder, and
// nothing else means anything.
func quoteDir(dir string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch {
	case dir == "~":
		return "~"
	case strings.HasPrefix(dir, "~/"):
		return "~/" + quote(dir[2:])
	case !strings.HasPrefix(dir, "/"):
		dir = "./" + dir // no option, and not looked for elsewhere
	}
	return quote(dir)
}
