package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/control/paths"
	"deskvnc/control/wheel"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// An Attachment is one agent that is connected. Everything it was given and
// has seen is forgotten when it ends. It is safe for concurrent use.
type Attachment struct {
	plane     *Plane
	id        string
	label     string
	authority string                      // what a take-over revokes: its grants' id
	grant     atomic.Pointer[grant.Grant] // the present one; see Plane.Regrant
	since     time.Time
	// confined are the folders that the process was told at its start to keep
	// its agent to; nil for those of the grant.
	confined atomic.Pointer[paths.Roots]

	ctx    context.Context // ends when the attachment does
	cancel context.CancelFunc
	calls  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	seats  map[string]*seat // by limb id
	own    *allowed         // the folders of the grant, as they were when they were first used
	order  []*seat          // in order of attaching
	groups map[string]*group
	group  int // the last group number given
}

// ID is the attachment's id, of the form att_<hex>.
func (a *Attachment) ID() string { return a.id }

// Confine keeps the attachment to local folders, beside what its grant says
// of machines.
func (a *Attachment) Confine(r *paths.Roots) { a.confined.Store(r) }

// allowed are the folders of one grant.
type allowed struct {
	grant *grant.Grant
	roots *paths.Roots
}

// folders are where the attachment may read and write local files. What a
// folder of the grant leads to is looked up once.
func (a *Attachment) folders() (*paths.Roots, error) {
	if r := a.confined.Load(); r != nil {
		return r, nil
	}
	g := a.grant.Load()
	if g.AnyFolder() {
		return paths.Everything(), nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own != nil && a.own.grant == g {
		return a.own.roots, nil
	}
	r, err := paths.Confined(g.ReadFolders(), g.WriteFolders())
	if err != nil {
		return nil, control.Refuse(control.PolicyDenied, oneLine(err.Error()))
	}
	a.own = &allowed{g, r}
	return r, nil
}

// A call is one tool call while it runs.
type call struct {
	ctx   context.Context
	a     *Attachment
	grant grant.Grant // as it was when the call began
	row   control.Row
	args  control.Args
}

// Call runs a tool and returns its result in the form every face shows. A
// refusal is a result; nothing else can come back. The call stops when ctx
// ends.
func (a *Attachment) Call(ctx context.Context, tool string, arguments json.RawMessage) []byte {
	r := a.result(ctx, tool, arguments)
	b, err := r.Encode()
	if err != nil { // a result of ours that has no JSON form
		b, _ = control.RefusalResult(control.Refuse(control.Internal, "the result cannot be shown")).Encode()
	}
	return b
}

// result runs a tool. A fault of ours is a refusal too.
func (a *Attachment) result(ctx context.Context, tool string, arguments json.RawMessage) (r control.Result) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return control.RefusalResult(control.Refuse(control.LimbGone, "this attachment has ended"))
	}
	a.calls.Add(1)
	a.mu.Unlock()
	defer a.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	defer func() {
		if v := recover(); v != nil {
			r = control.RefusalResult(control.Refuse(control.Internal, fmt.Sprintf("%s: a fault inside the program; it may or may not have acted", tool)))
		}
	}()
	r, err := a.serve(ctx, tool, arguments)
	if err != nil {
		return control.RefusalResult(refusedBy(err))
	}
	return r
}

// refusedBy is the refusal that an error amounts to.
func refusedBy(err error) *control.Refused {
	var r *control.Refused
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return control.Refuse(control.Timeout, "the call was cancelled before it was done")
	}
	return control.Refuse(control.Internal, err.Error())
}

// handlers are the tools, by name.
var handlers map[string]func(*call) (control.Result, error)

func init() {
	handlers = map[string]func(*call) (control.Result, error){
		"dvv_hosts":        (*call).listHosts,
		"dvv_limbs":        (*call).limbs,
		"dvv_open":         (*call).open,
		"dvv_close":        (*call).close,
		"dvv_reconnect":    (*call).reconnect,
		"dvv_status":       (*call).status,
		"dvv_signals":      (*call).signals,
		"dvv_control":      (*call).control,
		"dvv_click":        (*call).click,
		"dvv_type":         (*call).typeText,
		"dvv_key":          (*call).key,
		"dvv_screen":       (*call).screen,
		"dvv_wait":         (*call).wait,
		"dvv_clipboard":    (*call).clipboard,
		"dvv_run":          (*call).run,
		"dvv_term_read":    (*call).termRead,
		"dvv_term_send":    (*call).termSend,
		"dvv_files":        (*call).files,
		"dvv_transfer":     (*call).transfer,
		"dvv_group_open":   (*call).groupOpen,
		"dvv_group_list":   (*call).groupList,
		"dvv_group_grow":   (*call).groupGrow,
		"dvv_group_shrink": (*call).groupShrink,
		"dvv_group_close":  (*call).groupClose,
		"dvv_group_run":    (*call).groupRun,
	}
}

// serve checks the call against its row and the grant's life, and runs it.
func (a *Attachment) serve(ctx context.Context, tool string, arguments json.RawMessage) (control.Result, error) {
	row, ok := control.RowByName(tool)
	handler := handlers[tool]
	if !ok || handler == nil {
		return control.Result{}, &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("there is no tool %.64q", tool), Hint: "Use one of the tools that the list of tools names."}
	}
	args, refused := control.Check(row, arguments)
	if refused != nil {
		return control.Result{}, refused
	}
	g := *a.grant.Load()
	if g.Expired(a.plane.now()) {
		return control.Result{}, control.Refuse(control.PolicyDenied, "the grant of this attachment has expired")
	}
	return handler(&call{ctx: ctx, a: a, grant: g, row: row, args: args})
}

// needs refuses when the grant lacks a capability.
func (c *call) needs(capability string) error {
	if c.grant.Has(capability) {
		return nil
	}
	return control.Refuse(control.PolicyDenied, fmt.Sprintf("%s needs the capability %s, which this agent's grant does not hold", c.row.Name, capability))
}

// capability is what the grant must hold for this call.
func (c *call) capability() string {
	if c.row.Actions != nil {
		return c.row.Actions[c.args.Text("action")]
	}
	return c.row.Capability
}

// list are the seats that are alive, in the order they were taken.
func (a *Attachment) list() []*seat {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prune()
	return slices.Clone(a.order)
}

// prune forgets the seats whose session has ended. The caller holds mu.
func (a *Attachment) prune() {
	a.order = slices.DeleteFunc(a.order, func(s *seat) bool {
		if s.dead() {
			delete(a.seats, s.limb.id)
			return true
		}
		return false
	})
}

// seatAt is the attachment's live seat at a limb, or nil.
func (a *Attachment) seatAt(id string) *seat {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prune()
	return a.seats[id]
}

// sit takes a seat at a session, or returns the one there is.
func (a *Attachment) sit(s *engine.Session, origin grant.Origin) (*seat, error) {
	l, refused := a.plane.limbOf(s)
	if refused != nil {
		return nil, refused
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prune()
	if a.closed {
		return nil, control.Refuse(control.LimbGone, "this attachment has ended")
	}
	if st := a.seats[l.id]; st != nil {
		return st, nil
	}
	st := &seat{a: a, limb: l, session: s, origin: origin}
	if !l.seat(st) {
		return nil, control.Refuse(control.LimbGone, "the session of "+l.id+" has ended")
	}
	a.seats[l.id] = st
	a.order = append(a.order, st)
	return st, nil
}

// seat adds a seat to the limb; it reports false when the session has ended.
func (l *limb) seat(st *seat) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != st.session {
		return false
	}
	l.seats[st] = struct{}{}
	return true
}

// leave gives a seat up: what runs there is withdrawn and settled, the wheel
// is given back and what was held down is released.
func (a *Attachment) leave(st *seat) {
	a.mu.Lock()
	if a.seats[st.limb.id] == st {
		delete(a.seats, st.limb.id)
	}
	a.order = slices.DeleteFunc(a.order, func(o *seat) bool { return o == st })
	a.mu.Unlock()
	l := st.limb
	l.steer(func(w *wheel.Wheel, now time.Time) {
		if act := l.acts[a.id]; act != nil {
			act.stop(errClosing)
		}
		w.Release(now, a.id, 0)
		delete(l.seats, st)
	})
	// What it held is up again before the caller is told so.
	ctx, cancel := context.WithTimeout(a.plane.ctx, settleWait)
	defer cancel()
	l.await(ctx, func(w *wheel.Wheel) bool { return !w.Owes() && l.acts[a.id] == nil })
	st.drop()
	a.plane.changed()
}

// settleWait bounds how long an answer waits for a release to be written; the
// release itself goes on.
const settleWait = 2 * time.Second

// Close ends the attachment: what runs is cancelled and settled, everything
// it holds is released on the wire, and sessions that it opened and nobody
// else uses end.
func (a *Attachment) Close() {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		a.calls.Wait()
		return
	}
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.calls.Wait()
	var ends sync.WaitGroup
	for _, st := range slices.Clone(a.order) { // no call can add one any more
		ends.Go(func() {
			a.leave(st)
			st.endIfAlone()
		})
	}
	ends.Wait()
	p := a.plane
	p.mu.Lock()
	p.attachments = slices.DeleteFunc(slices.Clone(p.attachments), func(o *Attachment) bool { return o == a })
	p.mu.Unlock()
	p.changed()
}

// endIfAlone ends the session of a seat that was given up, when its
// attachment opened it and nobody else is there. It reports whether it did.
func (st *seat) endIfAlone() bool {
	l := st.limb
	l.mu.Lock()
	alone := l.session == st.session && l.openedBy == st.a.id && len(l.seats) == 0 && len(l.panes) == 0
	l.mu.Unlock()
	if alone {
		st.session.Close()
	}
	return alone
}

// reason is an error in words for a caller.
func reason(err error) string { return oneLine(viewer.Reason(err)) }

// maxReason bounds a reason in a sentence of ours, in characters. Some of it
// may be the machine's own words.
const maxReason = 300

// oneLine makes a text fit to stand in a sentence.
func oneLine(s string) string {
	out := make([]rune, 0, min(len(s), maxReason))
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		if len(out) == maxReason {
			return string(out) + "..."
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
