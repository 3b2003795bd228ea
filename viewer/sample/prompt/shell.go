package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"deskvnc/viewer/sample/tree"
)

const (
	shellPID = 4242
	// maxVars bounds the variables, and maxVar the length of one.
	maxVars = 256
	maxVar  = 64 << 10
	// maxHistory bounds the lines that are remembered.
	maxHistory = 500
	// maxNested bounds shells in shells.
	maxNested = 8
	// maxPipe bounds the commands of one pipeline.
	maxPipe = 32
)

// Exit codes that a shell gives itself.
const (
	codeSyntax  = 2
	codeMissing = 127
	codeCannot  = 126
)

// A Shell is one login.
type Shell struct {
	tree    *tree.Tree
	began   time.Time
	dir     string
	vars    map[string]string
	status  int
	history []string
	nested  int

	over   bool // exit was called
	signal string

	term *Terminal // nil without
}

// New is a shell over a tree, at home.
func New(t *tree.Tree) *Shell {
	return &Shell{tree: t, began: time.Now(), dir: tree.Home, vars: map[string]string{
		"HOME": tree.Home, "USER": userName, "LOGNAME": userName, "SHELL": "/bin/sh", "PATH": "/bin", "HOSTNAME": hostName, "LANG": "C.UTF-8",
	}}
}

const (
	userName = "sample"
	hostName = "sample"
)

// Setenv sets a variable. It is false for a name that is none, or too much.
func (s *Shell) Setenv(name, value string) bool {
	if _, has := s.vars[name]; !isName(name) || len(value) > maxVar || !has && len(s.vars) >= maxVars {
		return false
	}
	s.vars[name] = value
	return true
}

// An End is how a shell ended: by a code, or by a signal.
type End struct {
	Code   int
	Signal string
}

func (s *Shell) end() End { return End{s.status, s.signal} }

// Run runs a command line with the streams given, and waits for it. Ctx ends
// it.
func (s *Shell) Run(ctx context.Context, line string, in io.Reader, out, errs *Outlet) End {
	s.run(ctx, line, streams{in, &sink{w: channel{ctx, out}}, &sink{w: channel{ctx, errs}}})
	return s.end()
}

// RunOn runs a command line at a terminal.
func (s *Shell) RunOn(ctx context.Context, line string, t *Terminal) End {
	s.term = t
	s.foreground(ctx, line)
	return s.end()
}

// foreground runs a line that the terminal's keys can end.
func (s *Shell) foreground(ctx context.Context, line string) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.term.foreground(func(signal string) { cancel(ended(signal)) })
	screen := &sink{w: screen{ctx, s.term.out}}
	s.run(ctx, line, streams{typist{ctx, s.term}, screen, &sink{w: screen.w}})
	s.term.background()
}

// ended is why a command was ended: a signal.
type ended string

func (e ended) Error() string { return "ended by the signal " + string(e) }

// signals are their numbers.
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "USR1": 10, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15}

// code is the exit code of a command that ctx ended.
func code(ctx context.Context) int {
	var by ended
	if errors.As(context.Cause(ctx), &by) {
		return 128 + signals[string(by)]
	}
	return 128 + signals["TERM"]
}

// streams are those of a command.
type streams struct {
	in        io.Reader
	out, errs *sink
}

// A sink is where a command writes. It keeps the error that ended it.
type sink struct {
	w   io.Writer
	mu  sync.Mutex // guards err: both outputs may be one
	err error
}

func (k *sink) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.w.Write(p)
	k.err = err
	return n, err
}

func (k *sink) broken() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *sink) printf(format string, args ...any) { fmt.Fprintf(k, format, args...) }

// run runs a line and leaves the outcome in status.
func (s *Shell) run(ctx context.Context, line string, to streams) {
	all, err := parse(line)
	if err != nil {
		to.errs.printf("sh: %v\n", err)
		s.status = codeSyntax
		return
	}
	for _, st := range all {
		if st.when == after && s.status != 0 || st.when == orElse && s.status == 0 {
			continue
		}
		s.pipeline(ctx, st.pipe, to)
		if st.not {
			s.status = btoi(s.status == 0)
		}
		if s.over {
			return
		}
		if ctx.Err() != nil {
			s.status = code(ctx)
			return
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fork is a shell for a part of a pipeline, which changes nothing of s.
func (s *Shell) fork() *Shell {
	n := *s
	n.vars = maps.Clone(s.vars)
	n.history = slices.Clip(s.history)
	n.over = false
	return &n
}

// pipeline runs commands at once, each reading what the one before prints.
func (s *Shell) pipeline(ctx context.Context, pipe []command, to streams) {
	if len(pipe) == 1 {
		s.status = s.command(ctx, pipe[0], to)
		return
	}
	if len(pipe) > maxPipe {
		to.errs.printf("sh: a pipeline has up to %d commands\n", maxPipe)
		s.status = codeSyntax
		return
	}
	var work sync.WaitGroup
	in := to.in
	for i, c := range pipe {
		own := streams{in, to.out, to.errs}
		var next *io.PipeReader
		var end *io.PipeWriter
		if i < len(pipe)-1 {
			next, end = io.Pipe()
			own.out = &sink{w: end}
			stop := context.AfterFunc(ctx, func() { end.CloseWithError(io.ErrClosedPipe) })
			defer stop()
		}
		last := i == len(pipe)-1
		sub := s.fork()
		step := func() {
			st := sub.command(ctx, c, own)
			if end != nil {
				end.Close()
			}
			if r, ok := own.in.(*io.PipeReader); ok && i > 0 {
				r.Close() // what comes before ends as well
			}
			if last {
				s.status, s.signal = st, sub.signal
				s.over = sub.signal != ""
			}
		}
		if last {
			step()
		} else {
			work.Go(step)
			in = next
		}
	}
	work.Wait()
}

// command runs one command with its redirections.
func (s *Shell) command(ctx context.Context, c command, to streams) int {
	args, err := s.fill(c.words)
	if err != nil {
		to.errs.printf("sh: %v\n", err)
		return 1
	}
	var files []*tree.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, r := range c.to {
		if r.mode == toOther {
			if r.fd == 2 {
				to.errs = to.out
			} else {
				to.out = to.errs
			}
			continue
		}
		name := s.one(r.file)
		if name == "/dev/null" {
			switch r.fd {
			case 0:
				to.in = empty{}
			case 1:
				to.out = &sink{w: io.Discard}
			case 2:
				to.errs = &sink{w: io.Discard}
			}
			continue
		}
		flag := tree.Read
		switch r.mode {
		case toFile:
			flag = tree.Write | tree.Create | tree.Truncate
		case addToFile:
			flag = tree.Write | tree.Create | tree.Append
		}
		f, err := s.tree.Open(s.abs(name), flag, 0o644)
		if err != nil {
			to.errs.printf("sh: %s: %v\n", printable(name), err)
			return 1
		}
		files = append(files, f)
		switch r.fd {
		case 0:
			to.in = f
		case 1:
			to.out = &sink{w: f}
		case 2:
			to.errs = &sink{w: f}
		}
	}
	if len(args) == 0 {
		for _, a := range c.set {
			if !s.Setenv(a.name, s.one(a.value)) {
				to.errs.printf("sh: %s: too many variables, or too long\n", a.name)
				return 1
			}
		}
		return 0
	}
	run := s
	if len(c.set) > 0 { // for this command alone
		run = s.fork()
		for _, a := range c.set {
			run.Setenv(a.name, s.one(a.value))
		}
		defer func() { s.dir, s.over, s.signal = run.dir, run.over, run.signal }()
	}
	return run.start(ctx, args, to)
}

// start runs a command by its name.
func (s *Shell) start(ctx context.Context, args []string, to streams) int {
	name := args[0]
	p, ok := programs[path.Base(name)]
	if !ok || name != path.Base(name) && path.Dir(name) != "/bin" {
		if i, err := s.tree.Stat(s.abs(name)); path.Base(name) != name && err == nil {
			switch {
			case i.IsDir():
				to.errs.printf("sh: %s: Is a directory\n", printable(name))
				return codeCannot
			case i.Mode()&0o111 == 0:
				to.errs.printf("sh: %s: Permission denied\n", printable(name))
				return codeCannot
			}
			return s.script(ctx, name, to)
		}
		to.errs.printf("sh: %s: command not found; help lists what there is\n", printable(name))
		return codeMissing
	}
	c := &call{Shell: s, ctx: ctx, name: path.Base(name), args: args[1:], streams: to}
	st := p.run(c)
	if ctx.Err() != nil {
		return code(ctx)
	}
	if to.out.broken() != nil {
		if st == 0 {
			st = 128 + signals["PIPE"]
		}
		if err := to.out.broken(); errors.Is(err, tree.NoSpace) {
			to.errs.printf("%s: write error: %v\n", c.name, err)
			st = 1
		}
	}
	return st
}

// script runs a file of commands.
func (s *Shell) script(ctx context.Context, name string, to streams) int {
	f, err := s.tree.Open(s.abs(name), tree.Read, 0)
	if err != nil {
		to.errs.printf("sh: %s: %v\n", printable(name), err)
		return codeCannot
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLine+1))
	if err != nil {
		to.errs.printf("sh: %s: %v\n", printable(name), err)
		return codeCannot
	}
	return s.inner(ctx, string(b), to)
}

// inner runs a line in a shell of its own.
func (s *Shell) inner(ctx context.Context, line string, to streams) int {
	if s.nested >= maxNested {
		to.errs.printf("sh: shells in shells end after %d\n", maxNested)
		return 1
	}
	sub := s.fork()
	sub.nested++
	sub.run(ctx, line, to)
	if sub.signal != "" {
		return 128 + signals[sub.signal]
	}
	return sub.status
}

// empty has nothing to read.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }

// printable is a name that cannot steer the terminal.
func printable(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, visible(r)...)
	}
	return string(b)
}
