package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"deskvnc/control"
	"deskvnc/control/client"
	"deskvnc/control/grant"
	"deskvnc/control/server"
	"deskvnc/control/socket"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

const (
	// defaultIdle is how long a holder stays that nobody calls, in seconds.
	defaultIdle = 1800
	// readyLine is what a holder that was started by a verb writes once it
	// listens.
	readyLine = "ready"
	// stopTool is no tool: it has the holder end.
	stopTool = "dvv_hold_stop"
	// countTime bounds the question which limbs are left.
	countTime = 5 * time.Second
)

// endingText is what a holder says that is about to go.
const endingText = "the holder is ending"

const holdHelp = `Keep sessions open between the calls of a shell.

"dvv open" starts a holder by itself; start one yourself to choose how it
behaves. All calls of a shell are one agent to it, so that what one call has
seen and the wheel that it took count for the next. There is one holder for
saved and typed machines, one for the sample desktop (--sample) and one for each
window (--connect). A holder ends when its last session is closed, or after
--idle seconds without a call; it closes what is left.`

// holdFlags are the flags of "dvv hold".
type holdFlags struct {
	flags
	idle      int
	allow     []string
	acceptNew bool
	stop      bool
	ready     bool
}

func holdCommand(version string) *cobra.Command {
	var f holdFlags
	cmd := &cobra.Command{
		Use:   "hold",
		Short: "Keep sessions open between calls; \"open\" starts it by itself",
		Long:  holdHelp,
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd, version) },
	}
	fs := cmd.Flags()
	fs.IntVar(&f.idle, "idle", defaultIdle, "end after this many `seconds` without a call")
	fs.StringSliceVar(&f.allow, "allow", nil, "what is not allowed by itself: `exec` lets commands be run")
	fs.BoolVar(&f.acceptNew, "accept-new", false, "trust keys and certificates that were never seen before")
	fs.BoolVar(&f.stop, "stop", false, "end the holder that runs, and its sessions")
	fs.BoolVar(&f.ready, "ready", false, "")
	_ = fs.MarkHidden("ready")
	f.add(cmd)
	_ = fs.MarkHidden("json")
	return cmd
}

// noArgs refuses anything but flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badUsage(cmd, "unknown argument %q", args[0])
	}
	return nil
}

func (f *holdFlags) run(cmd *cobra.Command, version string) error {
	w, err := f.where(cmd)
	if err != nil {
		return err
	}
	exec := false
	for _, capability := range f.allow {
		if capability != grant.Exec {
			return badUsage(cmd, "--allow %s: only %s can be allowed", capability, grant.Exec)
		}
		exec = true
	}
	if w.window != nil && (exec || f.acceptNew) {
		return badUsage(cmd, "--allow and --accept-new are for sessions of dvv's own and cannot go with %s: the window decides there", w.from)
	}
	if f.idle < 1 || f.idle > 7*24*60*60 {
		return badUsage(cmd, "--idle %d: it is a number of seconds from 1 to 604800", f.idle)
	}
	ctx := cmd.Context()
	c, err := w.running(ctx)
	switch {
	case err != nil:
		return failed(err)
	case f.stop && c == nil:
		return &exit{code: exitFailed, text: "no such holder runs"}
	case f.stop:
		return w.stop(ctx, c)
	case c != nil:
		_ = c.Close()
		return &exit{code: exitFailed, text: w.String() + " runs already; end it with --stop"}
	}
	a, err := socket.Named(w.holder())
	if err != nil {
		return failed(err)
	}
	// Listening comes first: it makes sure that there is one only.
	l, err := socket.ListenAt(a)
	if err != nil {
		return failed(err)
	}
	b, err := w.held(version, exec, f.acceptNew)
	if err != nil {
		return failed(errors.Join(err, l.Close()))
	}
	// One that a verb started is there for a session alone: it does not stay
	// when that could not be opened.
	h := newHolder(b, time.Duration(f.idle)*time.Second, f.ready)
	listening := func() {
		if f.ready {
			fmt.Fprintln(cmd.OutOrStdout(), readyLine)
		} else {
			fmt.Fprintf(cmd.ErrOrStderr(), "dvv: holding sessions; listening at %s\n", l.Address())
		}
	}
	return failed(h.serve(ctx, l, version, listening))
}

// stop ends the holder that runs and waits until it is not found any more.
func (w where) stop(ctx context.Context, c *client.Client) error {
	_, err := c.Call(ctx, stopTool, nil)
	_ = c.Close()
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		c, err := w.running(ctx)
		if c == nil && ctx.Err() == nil {
			return failed(err)
		}
		if c != nil {
			_ = c.Close()
		}
		select {
		case <-ctx.Done():
			return &exit{code: exitFailed, text: w.String() + " does not end"}
		case <-time.After(startAgain):
		}
	}
}

// A held is a backend that knows whether anything is open.
type held interface {
	backend
	// open is the number of limbs after a tool was called; negative when that
	// is not known.
	open(tool string) int
	// watch calls fn when something was closed, until cancel is called.
	watch(fn func()) (cancel func())
}

// held opens what a holder holds.
func (w where) held(version string, exec, acceptNew bool) (held, error) {
	if w.window != nil {
		return window{client.New(client.Config{Address: *w.window, Name: label})}, nil
	}
	return newLocal(w, version, exec, acceptNew)
}

// open implements [held].
func (b *local) open(string) int { return len(b.desk.Engine.Sessions()) }

// watch implements [held].
func (b *local) watch(fn func()) (cancel func()) {
	return b.desk.Engine.Subscribe(func(ch engine.Change) {
		if ch.Gone {
			fn()
		}
	})
}

// A window is a window whose sessions are used through a holder.
type window struct{ *client.Client }

// watch implements [held]: nothing is told.
func (w window) watch(func()) (cancel func()) { return func() {} }

// open implements [held]: what the calls of this holder have attached. It is
// looked at when that may have become nothing.
func (w window) open(tool string) int {
	row, ok := control.RowByName(tool)
	if !ok || row.Capability != grant.Close && row.Capability != grant.Open {
		return -1
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTime)
	defer cancel()
	limbs, err := listLimbs(ctx, w)
	if err != nil {
		return -1
	}
	return len(limbs.Limbs)
}

// A holder serves one attachment to all who call it.
type holder struct {
	back held
	idle time.Duration

	mu      sync.Mutex
	next    int
	clients int
	calls   int
	had     bool // something was open
	empty   bool // nothing is any more
	ending  bool
	clock   *time.Timer // runs while there is no call
	quiet   quiet
	done    chan struct{}
}

func newHolder(b held, idle time.Duration, had bool) *holder {
	h := &holder{back: b, idle: idle, had: had, empty: true, done: make(chan struct{})}
	h.quiet.tell = GiveBack
	h.clock = time.AfterFunc(idle, h.tired)
	return h
}

// serve serves until the last limb is closed, nobody has called for too long,
// or ctx ends.
func (h *holder) serve(ctx context.Context, l *socket.Listener, version string, listening func()) error {
	config := server.Config{Version: version, Key: l.Key(), Attach: h.attach, NoRejoin: true}
	if own, ok := h.back.(*local); ok {
		commands, err := own.commands()
		if err != nil {
			h.clock.Stop()
			return errors.Join(err, l.Close(), h.back.Close())
		}
		config.Commands = guarded{commands}
	}
	s := server.New(config)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	defer h.back.watch(h.closed)()
	listening()
	var err error
	select {
	case <-ctx.Done():
	case <-h.done:
	case err = <-served:
		served <- err
	}
	h.clock.Stop()
	h.quiet.stop()
	err = errors.Join(err, s.Close(), l.Close())
	<-served
	if errors.Is(err, net.ErrClosed) || errors.Is(err, server.ErrClosed) {
		err = nil
	}
	return errors.Join(err, h.back.Close())
}

// closed looks whether what took long to close was the last.
func (h *holder) closed() {
	open := h.back.open("")
	h.mu.Lock()
	defer h.mu.Unlock()
	if open == 0 {
		h.empty = true
		h.leave()
	}
}

// end has serve return. The caller holds mu.
func (h *holder) end() {
	if !h.ending {
		h.ending = true
		close(h.done)
	}
}

// tired ends the holder when nobody calls.
func (h *holder) tired() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls == 0 {
		h.end()
	}
}

// A guest is one process that calls.
type guest struct {
	h    *holder
	id   string
	once sync.Once

	// Guarded by h.mu.
	stop      bool // it asked the holder to end
	gone      bool
	listening *listening // it waits for calls
}

// attach takes a process in. All share one attachment.
func (h *holder) attach(string) (server.Attachment, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ending {
		return nil, errors.New(endingText)
	}
	h.next++
	h.clients++
	return &guest{h: h, id: fmt.Sprintf("call_%d", h.next)}, nil
}

// ID implements [server.Attachment].
func (g *guest) ID() string { return g.id }

// Close implements [server.Attachment]: the process has gone, the attachment
// stays.
func (g *guest) Close() {
	g.once.Do(func() {
		g.h.mu.Lock()
		l := g.listening
		g.gone = true
		g.h.mu.Unlock()
		if l != nil { // before it is said to have gone: what it opened counts
			_ = l.w.Close()
		}
		g.h.mu.Lock()
		defer g.h.mu.Unlock()
		g.h.clients--
		if g.stop {
			g.h.end()
		}
		g.h.leave()
	})
}

// leave ends the holder when its last limb was closed. Whoever closed it has
// had the answer first. The caller holds mu.
func (h *holder) leave() {
	if h.clients == 0 && h.had && h.empty {
		h.end()
	}
}

// Call implements [server.Attachment].
func (g *guest) Call(ctx context.Context, tool string, arguments json.RawMessage) []byte {
	h := g.h
	if tool == stopTool {
		h.mu.Lock()
		g.stop = true
		h.mu.Unlock()
		b, _ := control.Result{Text: "The holder ends."}.Encode() // always has a form
		return b
	}
	h.mu.Lock()
	h.calls++
	h.clock.Stop()
	h.mu.Unlock()
	if tool != callsTool { // which waits, most of the time
		h.quiet.begin()
		defer h.quiet.end()
	}
	defer func() {
		open := h.back.open(tool)
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case open > 0:
			h.had, h.empty = true, false
		case open == 0:
			h.empty = true
		default:
			h.had, h.empty = true, false
		}
		if h.calls--; h.calls == 0 {
			h.clock.Reset(h.idle)
		}
	}()
	b, err := g.serve(ctx, tool, arguments)
	if err == nil {
		return b
	}
	var r *control.Refused
	if !errors.As(err, &r) {
		r = control.Refuse(control.Internal, err.Error())
	}
	b, _ = control.RefusalResult(r).Encode() // a refusal always has a form
	return b
}

// serve carries out one call.
func (g *guest) serve(ctx context.Context, tool string, arguments json.RawMessage) ([]byte, error) {
	answer, ok, err := g.listenCall(ctx, tool, arguments)
	switch {
	case !ok:
		return g.h.back.Call(ctx, tool, arguments)
	case err != nil:
		return nil, control.Refuse(control.BadRequest, viewer.Reason(err))
	}
	return control.Result{Structured: answer}.Encode()
}
