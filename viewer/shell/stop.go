package shell

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

const (
	// stopGrace is how long a command may take to end after each signal.
	stopGrace = 500 * time.Millisecond
	// huntTime bounds the search for a command that no signal reaches.
	huntTime = 3 * time.Second
)

// stop tells the command to stop, since ctx has ended, and says what is known
// of it then.
func (r *running) stop(ctx context.Context) (viewer.Ran, error) {
	stopped := r.signalled() || r.hunted()
	ran := r.result()
	ran.Code, ran.Signal, ran.Exited, ran.Open = 0, "", false, false
	ran.Stopped = stopped
	state := "it was told to stop, and may still run; look for it there with ps, and end it with kill"
	if stopped {
		state = "it was told to stop, and has ended"
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		ran.TimedOut, ran.Unanswered = true, "the command did not end in time: "+state
		return ran, nil
	}
	ran.Unanswered = "the command was cancelled: " + state
	return ran, &viewer.Error{Op: "shell.Run", Kind: viewer.Cancelled, Err: errors.New(ran.Unanswered)}
}

// endsWithin reports whether the command ends in time.
func (r *running) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.exited:
		return true
	case <-r.ended: // without a word: nobody knows
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.exit != nil
	case <-t.C:
		return false
	}
}

// signalled stops the command by the channel's own signals (RFC 4254 6.9), and
// reports whether it has ended. OpenSSH takes none for root.
func (r *running) signalled() bool {
	if r.session.deaf.Load() {
		return false
	}
	for _, signal := range []string{"TERM", "KILL"} {
		if send(r.channel, "signal", ssh.Marshal(struct{ Name string }{signal})) != nil {
			return false
		}
		if r.endsWithin(stopGrace) {
			return true
		}
	}
	return false
}

// hunted looks the command up among the processes of this login, and ends its
// group with kill. It touches nothing when it is not sure which one it is.
func (r *running) hunted() bool {
	ctx, cancel := context.WithTimeout(context.Background(), huntTime)
	defer cancel()
	list := r.session.aside(ctx, "exec sh -c 'echo $$ $PPID; ps -A -o pid= -o ppid= -o tty= -o args='")
	pid := processOf(list, r.line)
	if pid == 0 {
		return false
	}
	for _, signal := range []string{"TERM", "KILL"} {
		r.session.aside(ctx, "kill -"+signal+" -- -"+strconv.Itoa(pid))
		if r.endsWithin(stopGrace) {
			r.session.deaf.Store(true)
			return true
		}
	}
	return false
}

// aside runs a command of our own, and returns what it printed.
func (s *Session) aside(ctx context.Context, line string) string {
	r, err := s.runLine(ctx, line, 0)
	if err != nil {
		return ""
	}
	select {
	case <-r.ended:
	case <-r.exited:
		r.drain(ctx)
	case <-r.refused:
	case <-ctx.Done():
	}
	out := r.result().Stdout
	if out.Dropped > 0 {
		return ""
	}
	return string(out.Head) + string(out.Tail)
}

// processOf finds the process of a command in a list of processes, whose first
// line is the lister's own process and its parent, the server of this login. It
// is the child of that server that has no terminal, when there is only one, or
// only one whose arguments end in the line.
func processOf(list, line string) int {
	first, rest, _ := strings.Cut(list, "\n")
	self, server, ok := strings.Cut(strings.TrimSpace(first), " ")
	if !ok {
		return 0
	}
	var all, exact []int
	lines := strings.Split(rest, "\n")
	for i, l := range lines {
		f := strings.Fields(l)
		if len(f) < 4 || f[1] != server || f[0] == self || strings.Trim(f[2], "?-") != "" || strings.HasPrefix(f[3], "sshd:") || strings.Contains(f[3], "sftp-server") {
			continue
		}
		pid, err := strconv.Atoi(f[0])
		if err != nil || pid <= 1 {
			continue
		}
		all = append(all, pid)
		if strings.HasSuffix(strings.Join(lines[i:min(len(lines), i+1+strings.Count(line, "\n"))], "\n"), line) {
			exact = append(exact, pid)
		}
	}
	switch {
	case len(exact) == 1:
		return exact[0]
	case len(all) == 1:
		return all[0]
	}
	return 0
}
