package plane

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// Bounds of one plane.
const (
	// MaxAttachments bounds the agents attached at one time.
	MaxAttachments = 64
	// maxLimbs bounds the limbs remembered, live or ended: an ended one keeps
	// its counters, so that no lease or intent id comes twice.
	maxLimbs = 4096
	// maxLabel bounds an attachment's label, in characters.
	maxLabel = 64
)

// A HostSource tells which machines may be opened.
type HostSource interface {
	Hosts() []viewer.Target
}

// A Discoverer is a [HostSource] that also knows machines which were seen on
// the network and not saved.
type Discoverer interface {
	Discovered() []viewer.Target
}

// A CredentialSource is a [HostSource] that knows for which machines a
// credential is stored.
type CredentialSource interface {
	CredentialStored(t viewer.Target) bool
}

// A ViewOnlySource is a [HostSource] that knows which machines were saved to be
// looked at only. A person at the machine's pane can still change that.
type ViewOnlySource interface {
	ViewOnly(t viewer.Target) bool
}

// A Config is what a plane is made of.
type Config struct {
	Engine *engine.Engine
	Hosts  HostSource // nil: none are saved
	// Now replaces the clock that the wheels read; nil means time.Now.
	Now     func() time.Time
	Version string
}

// A Plane owns the wheels and attachments of a process. It is safe for
// concurrent use.
type Plane struct {
	engine  *engine.Engine
	hosts   HostSource
	now     func() time.Time
	version string

	ctx    context.Context // ends when the plane is closed
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines of the plane
	unsub  func()         // from the engine

	encoders chan struct{} // one place for each picture encoded at a time

	kick chan struct{} // one place: a wheel has a nearer deadline
	next atomic.Int64  // unix nanoseconds of the ticker's next deadline; 0 for none

	opening sync.Mutex // one open at a time, so that two do not open one machine twice

	mu          sync.Mutex
	limbs       map[string]*limb // by limb id
	order       []*limb          // by age
	attachments []*Attachment    // in order of attaching
	watchers    []*watcher
	panes       int
	closed      bool
}

type watcher struct{ fn func() }

// New returns a plane over the sessions of an engine.
func New(c Config) *Plane {
	p := &Plane{
		engine: c.Engine, hosts: c.Hosts, now: c.Now, version: c.Version,
		kick: make(chan struct{}, 1), limbs: map[string]*limb{}, encoders: make(chan struct{}, maxEncoders),
	}
	if p.now == nil {
		p.now = time.Now
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.unsub = c.Engine.Subscribe(func(ch engine.Change) {
		if ch.Gone {
			p.sessionGone(ch.Session)
		}
	})
	p.work.Go(p.tick)
	return p
}

// Close ends every attachment, letting go of what it holds, and waits for the
// plane's goroutines. The engine's sessions stay.
func (p *Plane) Close() {
	p.mu.Lock()
	p.closed = true
	attachments := slices.Clone(p.attachments)
	p.mu.Unlock()
	for _, a := range attachments {
		a.Close()
	}
	p.unsub()
	p.cancel()
	p.work.Wait()
}

// Version is the program's version.
func (p *Plane) Version() string { return p.version }

// Attach starts an attachment for an agent: label is what people are shown,
// g what it may do.
func (p *Plane) Attach(label string, g grant.Grant) (*Attachment, error) {
	var raw [6]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return nil, fmt.Errorf("plane: attach: %w", err)
	}
	a := &Attachment{plane: p, id: "att_" + hex.EncodeToString(raw[:]), authority: g.ID(), since: p.now(), seats: map[string]*seat{}, groups: map[string]*group{}}
	if a.label = cleanLabel(label); a.label == "" {
		a.label = "agent " + a.id
	}
	a.grant.Store(&g)
	a.ctx, a.cancel = context.WithCancel(p.ctx)
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		a.cancel()
		return nil, &viewer.Error{Op: "attach", Kind: viewer.Cancelled, Err: fmt.Errorf("the program is closing")}
	case len(p.attachments) >= MaxAttachments:
		p.mu.Unlock()
		a.cancel()
		return nil, &viewer.Error{Op: "attach", Kind: viewer.Limit, Err: fmt.Errorf("%d agents are attached already; end one first", MaxAttachments)}
	}
	p.attachments = append(p.attachments, a)
	p.mu.Unlock()
	p.changed()
	return a, nil
}

// cleanLabel makes a caller's name fit to be shown: one short line.
func cleanLabel(s string) string {
	out := make([]rune, 0, maxLabel)
	for _, r := range s {
		if len(out) == maxLabel {
			break
		}
		// Bidirectional controls could make a label read as another one.
		if r >= ' ' && r != 0x7f && !(r >= 0x80 && r < 0xa0) && r != 0xfffd &&
			!(r >= 0x200b && r <= 0x200f) && !(r >= 0x2028 && r <= 0x202e) && !(r >= 0x2066 && r <= 0x2069) {
			out = append(out, r)
		}
	}
	return string(out)
}

// An AttachmentInfo is what a person is shown of an attachment.
type AttachmentInfo struct {
	ID, Label, Grant string
	Since            time.Time
	Limbs            []string // the limbs it has attached
	Driving          []string // those whose wheel it holds
}

// Attachments are the agents attached now, in the order they came.
func (p *Plane) Attachments() []AttachmentInfo {
	p.mu.Lock()
	attachments := slices.Clone(p.attachments)
	p.mu.Unlock()
	out := make([]AttachmentInfo, 0, len(attachments))
	for _, a := range attachments {
		info := AttachmentInfo{ID: a.id, Label: a.label, Grant: a.grant.Load().Label(), Since: a.since}
		for _, s := range a.list() {
			info.Limbs = append(info.Limbs, s.limb.id)
			if s.limb.holds(a.id) {
				info.Driving = append(info.Driving, s.limb.id)
			}
		}
		out = append(out, info)
	}
	return out
}

// OnChange calls fn when an agent comes or goes, attaches or lets go of a
// limb, or a wheel changes hands, until cancel is called. fn must not block
// and must not call the plane.
func (p *Plane) OnChange(fn func()) (cancel func()) {
	w := &watcher{fn}
	p.mu.Lock()
	p.watchers = append(p.watchers, w)
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		p.watchers = slices.DeleteFunc(slices.Clone(p.watchers), func(o *watcher) bool { return o == w })
		p.mu.Unlock()
	}
}

func (p *Plane) changed() {
	p.mu.Lock()
	watchers := p.watchers
	p.mu.Unlock()
	for _, w := range watchers {
		w.fn()
	}
}

// limbOf returns the limb of a session. A session whose id another machine
// has already got is refused.
func (p *Plane) limbOf(s *engine.Session) (*limb, *control.Refused) {
	t := s.Target()
	id, key := control.LimbID(t, s.Slot()), control.MachineKey(t)
	p.mu.Lock()
	l := p.limbs[id]
	if l == nil {
		l = newLimb(p, id, key)
		p.limbs[id] = l
		p.order = append(p.order, l)
		p.trim()
	}
	p.mu.Unlock()
	if l.key != key {
		return nil, control.Refuse(control.LimbGone, "another machine has the limb id "+id+" already")
	}
	l.begin(s)
	if _, listed := p.engine.Session(s.ID()); !listed {
		// It went off the list before the limb got it, so that nobody will
		// say so later.
		l.end(s)
		return nil, control.Refuse(control.LimbGone, "the session of "+id+" has ended")
	}
	return l, nil
}

// trim forgets the oldest limbs whose session has ended. The caller holds mu.
func (p *Plane) trim() {
	for i := 0; len(p.order) > maxLimbs && i < len(p.order); {
		if l := p.order[i]; l.live() == nil && len(p.order)-i > 1 {
			delete(p.limbs, l.id)
			p.order = slices.Delete(p.order, i, i+1)
			continue
		}
		i++
	}
}

// sessionGone ends what belonged to a session that has been closed.
func (p *Plane) sessionGone(s *engine.Session) {
	p.mu.Lock()
	l := p.limbs[control.LimbID(s.Target(), s.Slot())]
	p.mu.Unlock()
	if l != nil {
		l.end(s)
	}
	p.changed()
}

// tick applies passing time to the wheels. It sleeps without a timer while
// nobody holds or waits.
func (p *Plane) tick() {
	for {
		p.next.Store(0)
		p.mu.Lock()
		limbs := slices.Clone(p.order)
		p.mu.Unlock()
		now := p.now()
		var next time.Time
		for _, l := range limbs {
			if at, ok := l.tick(now); ok && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		var due <-chan time.Time
		var timer *time.Timer
		if !next.IsZero() {
			p.next.Store(next.UnixNano())
			// A deadline that is due right now was met by the tick above; a
			// clock that stands still must not make this a busy loop.
			timer = time.NewTimer(max(next.Sub(now), time.Millisecond))
			due = timer.C
		}
		select {
		case <-due:
		case <-p.kick:
		case <-p.ctx.Done():
		}
		if timer != nil {
			timer.Stop()
		}
		if p.ctx.Err() != nil {
			return
		}
	}
}

// wakeTicker tells the ticker of a deadline that may be nearer than its own.
func (p *Plane) wakeTicker(at time.Time) {
	if next := p.next.Load(); next != 0 && next <= at.UnixNano() {
		return
	}
	select {
	case p.kick <- struct{}{}:
	default:
	}
}
