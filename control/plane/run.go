package plane

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"deskvnc/control"
	"deskvnc/control/wheel"
	"deskvnc/viewer"
)

const (
	// runSlack is how long the driver may take to answer after the deadline of
	// a command: it tells the command to stop first.
	runSlack = 10 * time.Second
	// runRenew is how often a command that runs counts as the holder's work:
	// its lease does not end under it.
	runRenew = 10 * time.Second
	// roomOfRun bounds the encoded result of a command. Its output is in there
	// three times, and takes several bytes a character at worst.
	roomOfRun = 12 << 20
	// roomOfCut bounds it when the command was cut off.
	roomOfCut = 64 << 10
)

// runAnswer is the result of dvv_run.
type runAnswer struct {
	settlement
	Exit         runExit `json:"exit"`
	Stdout       string  `json:"stdout"`
	Stderr       string  `json:"stderr"`
	StdoutBase64 string  `json:"stdoutBase64,omitempty"` // when it is no UTF-8
	StderrBase64 string  `json:"stderrBase64,omitempty"`
	StdoutBytes  int64   `json:"stdoutBytes"` // all that the command printed
	StderrBytes  int64   `json:"stderrBytes"`
	Dropped      dropped `json:"dropped"`
	DurationMs   int64   `json:"durationMs"`
	TimedOut     bool    `json:"timedOut"`
	// Background says that something the command started still runs.
	Background bool `json:"background,omitempty"`

	of *commandRun
}

// runExit is how a command ended: a code, or a signal, or why there is neither.
type runExit struct {
	Code       *int    `json:"code"`
	Signal     *string `json:"signal"`
	Source     string  `json:"source"` // always exec
	Unanswered *string `json:"unanswered"`
	Why        *string `json:"why"`
}

// dropped is what of the output was not kept.
type dropped struct {
	Cap    int  `json:"cap"` // bytes of each stream that are kept
	Stdout gap  `json:"stdout"`
	Stderr gap  `json:"stderr"`
	Any    bool `json:"any"`
}

// A gap is what is missing in the middle of a stream.
type gap struct {
	Bytes int64 `json:"bytes"`
	Lines int64 `json:"lines"`
	// After is how many bytes of the kept text stand before the gap.
	After *int `json:"after,omitempty"`
}

// A commandRun is a command that was run, and what is to be said of it.
type commandRun struct {
	seat    *seat
	keep    int // bytes of each stream
	ran     viewer.Ran
	exit    runExit
	answer  settlement
	refused *control.Refused // when the command was cut off
}

// run serves dvv_run.
func (c *call) run() (control.Result, error) {
	st, err := c.terminal()
	if err != nil {
		return control.Result{}, err
	}
	cmd := viewer.Command{Line: c.args.Text("command"), Dir: c.args.Text("cwd"), Keep: viewer.RunKeep}
	if c.args.Has("maxOutputBytes") {
		cmd.Keep = c.args.Int("maxOutputBytes")
	}
	switch {
	case strings.TrimSpace(cmd.Line) == "":
		return control.Result{}, control.Refuse(control.BadRequest, "dvv_run: the command is empty")
	case len(cmd.Line)+len(cmd.Dir) > maxCommand:
		return control.Result{}, control.Refuse(control.BadRequest, fmt.Sprintf("dvv_run: the command takes %d bytes, more than the %d that one may have; store a script with dvv_files and run it", len(cmd.Line)+len(cmd.Dir), maxCommand))
	case c.args.Has("cwd") && cmd.Dir == "":
		return control.Result{}, control.Refuse(control.BadRequest, `dvv_run: "cwd" is empty; leave it out to start in the home directory`)
	}
	a, err := c.begin(st, fences{})
	if err != nil {
		return control.Result{}, err
	}
	ran, err := a.command(cmd, time.Duration(c.args.Int("timeoutMs"))*time.Millisecond)
	return c.ranCommand(a, cmd.Keep, ran, err)
}

// maxCommand bounds the text of a command, in bytes: one word of a command
// line has 128 KiB on Linux.
const maxCommand = 128 << 10

// errNoAnswer is the error of a driver that says nothing after the deadline.
var errNoAnswer = errors.New("the connection did not answer after the deadline")

// command runs a command, and keeps the wheel while it does.
func (a *act) command(cmd viewer.Command, limit time.Duration) (viewer.Ran, error) {
	type end struct {
		ran viewer.Ran
		err error
	}
	ended := make(chan end, 1)
	ctx, cancel := context.WithTimeout(a.ctx, limit)
	began := time.Now()
	a.seat.limb.plane.work.Go(func() {
		defer cancel()
		ran, err := a.seat.session.Run(ctx, cmd)
		ended <- end{ran, err}
	})
	last := time.NewTimer(limit + runSlack)
	defer last.Stop()
	busy := time.NewTicker(runRenew)
	defer busy.Stop()
	for {
		select {
		case e := <-ended:
			return e.ran, e.err
		case <-busy.C:
			a.seat.limb.steer(func(w *wheel.Wheel, now time.Time) {
				if w.MayDispatch(a.seat.a.id) {
					w.Dispatched(now, a.seat.a.id, false)
				}
			})
		case <-last.C:
			return viewer.Ran{TimedOut: true, Unanswered: errNoAnswer.Error() + ": the command may still run", Took: time.Since(began)}, nil
		}
	}
}

// ranCommand is the result of a command that was run, or was not.
func (c *call) ranCommand(a *act, keep int, ran viewer.Ran, err error) (control.Result, error) {
	kind := viewer.KindOf(err)
	started := err == nil || kind == viewer.Cancelled && ran.Unanswered != ""
	a.posted = started
	p := progress{Kind: "none"}
	if started {
		a.sent, p = 1, counted("delivered", 1)
	}
	r := &commandRun{seat: a.seat, keep: keep, ran: ran, exit: exitOf(ran)}
	var outcome error
	switch {
	case a.ctx.Err() != nil && (err != nil || ran.Unanswered != ""):
		if outcome = context.Cause(a.ctx); started {
			r.exit.Unanswered = text("cancelled")
		}
	case err == nil && ran.TimedOut:
		outcome = context.DeadlineExceeded
	case err == nil && ran.Lost:
		outcome = &viewer.Error{Op: "run", Kind: viewer.Closed, Err: errors.New(ran.Unanswered)}
	case err != nil:
		outcome = notStarted(err)
	}
	res, err := c.settle(a, p, outcome, nil, "")
	var refused *control.Refused
	if errors.As(err, &refused) {
		s, ok := refused.Settlement.(settlement)
		if !ok || !started {
			return res, err
		}
		r.answer, r.refused = s, refused
		return control.Result{}, r.cut()
	}
	s, ok := res.Structured.(settlement)
	if !ok {
		return res, err
	}
	if r.answer = s; ran.Unanswered != "" && s.Outcome != "delivered" {
		r.answer.Reason = ran.Unanswered
	}
	return r.within(roomOfRun), nil
}

func text(s string) *string { return &s }

// notStarted is the refusal of a command that was not started.
func notStarted(err error) error {
	refuse := func(code control.Code, hint string) error {
		return &control.Refused{Code: code, Message: reason(err) + "; nothing was run", Hint: hint}
	}
	switch viewer.KindOf(err) {
	case viewer.Invalid:
		return refuse(control.BadRequest, "Correct the command and call again.")
	case viewer.Unsupported:
		return refuse(control.NotSupported, "Use the terminal itself with dvv_term_send and dvv_wait, or tell the user.")
	case viewer.Timeout, viewer.Busy, viewer.Limit:
		return refuse(control.IntentBlocked, "Wait for a command that runs there to end, then try again with more time.")
	}
	return err
}

func exitOf(ran viewer.Ran) runExit {
	e := runExit{Source: "exec"}
	switch {
	case ran.TimedOut:
		e.Unanswered = text("deadline")
	case ran.Lost:
		e.Unanswered = text("link-lost")
	case ran.Signal != "":
		e.Signal = &ran.Signal
	case ran.Exited:
		e.Code = &ran.Code
	}
	if ran.Unanswered != "" {
		e.Why = text(oneLine(ran.Unanswered))
	}
	return e
}

// cut is the refusal of a command that was cut off, with what it had printed.
func (r *commandRun) cut() *control.Refused {
	refused := *r.refused
	refused.Message += "; the command was told to stop"
	if !r.ran.Stopped {
		refused.Message += " and may still run"
	}
	for {
		refused.Settlement = r.structured()
		if b, err := control.RefusalResult(&refused).Encode(); err != nil || len(b) <= roomOfCut || !r.shrink() {
			return &refused
		}
	}
}

// within is the result in at most room bytes, encoded. Of more output the
// beginning and the end stay.
func (r *commandRun) within(room int) control.Result {
	for {
		res := r.result()
		// At worst a byte takes twenty-five: three times in the result, escaped
		// up to twice.
		if len(res.Text) < room/25 {
			return res
		}
		if b, err := res.Encode(); err != nil || len(b) <= room || !r.shrink() {
			return res
		}
	}
}

// shrink halves what is kept of the longer stream; false when nothing is left.
func (r *commandRun) shrink() bool {
	o := &r.ran.Stdout
	if kept(r.ran.Stderr) > kept(*o) {
		o = &r.ran.Stderr
	}
	if kept(*o) == 0 {
		return false
	}
	*o = cutOutput(*o, kept(*o)/2)
	return true
}

func kept(o viewer.Output) int { return len(o.Head) + len(o.Tail) }

// cutOutput keeps the beginning and the end of an output, n bytes at most, cut
// between characters.
func cutOutput(o viewer.Output, n int) viewer.Output {
	if o.Dropped == 0 {
		o.Head, o.Tail = append(bytes.Clone(o.Head), o.Tail...), nil
	}
	drop := func(b []byte) {
		o.Dropped += int64(len(b))
		o.Lines += int64(bytes.Count(b, []byte{'\n'}))
	}
	head, tail := n-n/2, n/2
	if whole := o.Head; o.Dropped == 0 && len(whole) > n {
		o.Head, o.Tail = whole[:head], whole[len(whole)-tail:]
		drop(whole[head : len(whole)-tail])
	}
	if len(o.Head) > head {
		drop(o.Head[head:])
		o.Head = o.Head[:head]
	}
	if len(o.Tail) > tail {
		drop(o.Tail[:len(o.Tail)-tail])
		o.Tail = o.Tail[len(o.Tail)-tail:]
	}
	for i := 1; i < utf8.UTFMax && i <= len(o.Head); i++ { // a character that is not whole
		if b := o.Head[len(o.Head)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRune(b) {
				drop(b)
				o.Head = o.Head[:len(o.Head)-i]
			}
			break
		}
	}
	for i := 0; i < utf8.UTFMax && i < len(o.Tail); i++ {
		if utf8.RuneStart(o.Tail[i]) {
			drop(o.Tail[:i])
			o.Tail = o.Tail[i:]
			break
		}
	}
	return o
}

// structured is the result as an object.
func (r *commandRun) structured() runAnswer {
	a := runAnswer{
		settlement: r.answer, Exit: r.exit, StdoutBytes: r.ran.Stdout.Bytes, StderrBytes: r.ran.Stderr.Bytes,
		DurationMs: r.ran.Took.Milliseconds(), TimedOut: r.ran.TimedOut, Background: r.ran.Open, of: r,
	}
	a.Stdout, a.StdoutBase64 = shownOutput(r.ran.Stdout)
	a.Stderr, a.StderrBase64 = shownOutput(r.ran.Stderr)
	a.Dropped = dropped{Cap: r.keep, Stdout: gapOf(r.ran.Stdout), Stderr: gapOf(r.ran.Stderr), Any: r.ran.Stdout.Dropped+r.ran.Stderr.Dropped > 0}
	return a
}

func gapOf(o viewer.Output) gap {
	g := gap{Bytes: o.Dropped, Lines: o.Lines}
	if o.Dropped > 0 {
		n := len(o.Head)
		g.After = &n
	}
	return g
}

// shownOutput is an output as text; what is no UTF-8 is there byte for byte as
// well.
func shownOutput(o viewer.Output) (text, exact string) {
	all := append(bytes.Clone(o.Head), o.Tail...)
	if utf8.Valid(all) {
		return string(all), ""
	}
	return strings.ToValidUTF8(string(all), "\ufffd"), base64.StdEncoding.EncodeToString(all)
}

// result is the result as every face shows it.
func (r *commandRun) result() control.Result {
	a := r.structured()
	text := fmt.Sprintf("Ran the command on %s in %d ms (intent %d): %s.", r.seat.limb.id, a.DurationMs, a.Intent, endText(a))
	text += outputText(r.seat, "stdout", r.ran.Stdout) + outputText(r.seat, "stderr", r.ran.Stderr)
	return control.Result{Text: text, Structured: a}
}

// endText is how a command ended, in words.
func endText(a runAnswer) string {
	switch {
	case a.Exit.Code != nil && a.Background:
		return fmt.Sprintf("exit code %d; something that it started still runs", *a.Exit.Code)
	case a.Exit.Code != nil:
		return fmt.Sprintf("exit code %d", *a.Exit.Code)
	case a.Exit.Signal != nil:
		return "it was ended by the signal " + oneLine(*a.Exit.Signal)
	case a.Exit.Why != nil:
		return "no exit code, since " + *a.Exit.Why
	}
	return "no exit code"
}

// outputText is one output stream, wrapped.
func outputText(st *seat, name string, o viewer.Output) string {
	if o.Bytes == 0 {
		return "\n" + name + " is empty."
	}
	head := fmt.Sprintf("\n%s, %s", name, count(int(o.Bytes), "byte", "bytes"))
	shown := string(o.Head) + string(o.Tail)
	if o.Dropped > 0 {
		cut := fmt.Sprintf("%d bytes with %s in the middle are left out", o.Dropped, count(int(o.Lines), "line end", "line ends"))
		head += "; " + cut
		shown = string(o.Head) + "\n[... " + cut + " ...]\n" + string(o.Tail)
	}
	if !utf8.ValidString(shown) {
		head += "; not all of it is text: see " + name + "Base64"
	}
	return head + ":\n" + wrap(st, strings.ToValidUTF8(shown, "\ufffd"))
}
