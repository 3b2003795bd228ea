// Package sample serves sample machines on loopback: a drawn desktop over
// real RFB, with things to click, type in and scroll, and a shell with files
// over real SSH. With them everything can be tried and tested without a
// machine, an account or a network.
//
// It is an RFB server and an SSH login of its own, shares no code with the
// drivers, and knows nothing of what connects to it.
package sample

import (
	"errors"
	"fmt"
	"image"
	"net"
	"slices"
	"sync"
	"time"

	"deskvnc/viewer"
)

// MaxCount bounds the machines of one Start.
const MaxCount = 256

// Options say what to serve. The zero value is one desktop of 1920x1080 that
// asks for no password.
type Options struct {
	Width, Height int // 0: the default
	Count         int // machines; 0: one
	// Password, unless empty, is asked for by VNC authentication, which looks
	// at its first eight bytes.
	Password viewer.Secret
	// Shell serves a machine with a shell and files as well.
	Shell bool
}

// Machines are the sample machines of one Start.
type Machines struct {
	password viewer.Secret
	desktops []*desktop
	listens  []net.Listener
	targets  []viewer.Target
	wg       sync.WaitGroup // accept loops, connections and the clock
	done     chan struct{}

	mu     sync.Mutex // guards below
	bases  []*base
	conns  map[net.Conn]struct{}
	now    time.Time // the minute that the clocks show
	closed bool
}

// A base is a desktop of one size on which nobody has done anything: what the
// desktops of that size share.
type base struct {
	scene *scene
	pic   *picture
	used  int // desktops made from it; guarded by Machines.mu
}

// copy is a picture that shares all of the base's tiles. The caller holds
// Machines.mu.
func (b *base) copy() *picture {
	p := &picture{view: b.pic.view}
	p.tiles = slices.Clone(p.tiles)
	return p
}

// Start serves the machines until Close.
func Start(o Options) (*Machines, error) {
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = DefaultWidth, DefaultHeight
	}
	if o.Count == 0 {
		o.Count = 1
	}
	if o.Width < MinWidth || o.Height < MinHeight || o.Width > MaxSide || o.Height > MaxSide {
		return nil, invalid("a sample desktop is %dx%d to %dx%d pixels, not %dx%d", MinWidth, MinHeight, MaxSide, MaxSide, o.Width, o.Height)
	}
	if o.Count < 1 || o.Count > MaxCount {
		return nil, invalid("there can be 1 to %d sample machines, not %d", MaxCount, o.Count)
	}
	m := &Machines{
		password: o.Password,
		done:     make(chan struct{}),
		conns:    make(map[net.Conn]struct{}),
		now:      time.Now().Truncate(time.Minute),
	}
	for i := range o.Count {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sample: listen: %w", err), m.Close())
		}
		name := "sample"
		if i > 0 {
			name = fmt.Sprintf("sample-%d", i+1)
		}
		b, pic := m.take(o.Width, o.Height)
		d := newDesktop(m, name, b, pic, m.now)
		m.desktops = append(m.desktops, d)
		m.listens = append(m.listens, l)
		m.targets = append(m.targets, viewer.Target{
			Protocol: viewer.VNC, Address: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port,
			HostID: name, Name: name,
		})
		m.wg.Go(func() { m.accept(l, func(c net.Conn) { serve(c, d, m.password) }) })
	}
	if o.Shell {
		if err := m.startShell(); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	m.wg.Go(m.clock)
	return m, nil
}

func invalid(format string, args ...any) error {
	return &viewer.Error{Op: "sample", Kind: viewer.Invalid, Err: fmt.Errorf(format, args...)}
}

// Targets are the machines, in order: the desktops "sample", "sample-2" and so
// on, and then the shell, if there is one.
func (m *Machines) Targets() []viewer.Target { return slices.Clone(m.targets) }

// Close ends all connections and waits until nothing runs any more. It may be
// called twice.
func (m *Machines) Close() error {
	m.mu.Lock()
	again := m.closed
	m.closed = true
	if !again {
		close(m.done)
		for c := range m.conns {
			c.Close()
		}
	}
	m.mu.Unlock()
	var errs []error
	if !again {
		for _, l := range m.listens {
			errs = append(errs, l.Close())
		}
		for _, d := range m.desktops {
			d.close()
		}
	}
	m.wg.Wait()
	return errors.Join(errs...)
}

// accept serves what connects to one machine.
func (m *Machines) accept(l net.Listener, serve func(net.Conn)) {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Out of descriptors, or a connection that broke in the queue:
			// the next may do better, but not at once.
			select {
			case <-m.done:
				return
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		m.mu.Lock()
		closed := m.closed
		if !closed {
			m.conns[conn] = struct{}{}
			m.wg.Go(func() {
				serve(conn)
				m.mu.Lock()
				delete(m.conns, conn)
				m.mu.Unlock()
			})
		}
		m.mu.Unlock()
		if closed {
			conn.Close()
		}
	}
}

// take gives the base of a size and a picture made from it. Who takes one
// gives it back when it goes over to another.
func (m *Machines) take(w, h int) (*base, *picture) {
	if b, p := m.find(w, h); b != nil {
		return b, p
	}
	// Drawn without the lock: a large one takes a while.
	m.mu.Lock()
	now := m.now
	m.mu.Unlock()
	s := newScene("sample", w, h, now)
	b := &base{scene: s, pic: newPicture(s)}
	if b, p := m.find(w, h); b != nil {
		return b, p
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b.used = 1
	m.bases = append(m.bases, b)
	return b, b.copy()
}

// find takes a base that is there already.
func (m *Machines) find(w, h int) (*base, *picture) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.bases {
		if b.pic.w == w && b.pic.h == h {
			b.used++
			return b, b.copy()
		}
	}
	return nil, nil
}

func (m *Machines) give(b *base) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.used--; b.used == 0 {
		m.bases = slices.DeleteFunc(m.bases, func(o *base) bool { return o == b })
	}
}

// clock moves the clocks at each minute; nothing else ticks on an idle sample.
func (m *Machines) clock() {
	for {
		now := time.Now()
		t := time.NewTimer(now.Truncate(time.Minute).Add(time.Minute).Sub(now))
		select {
		case <-m.done:
			t.Stop()
			return
		case <-t.C:
			m.tick(time.Now().Truncate(time.Minute))
		}
	}
}

// A change is the tiles of a base before and after something was drawn on it.
type change struct{ before, after []*tile }

// tick shows a new minute on all desktops. What it looks like is drawn once a
// base; desktops that still show the base's tiles take those.
func (m *Machines) tick(now time.Time) {
	m.mu.Lock()
	m.now = now
	changes := make(map[*base]change, len(m.bases))
	for _, b := range m.bases {
		before := slices.Clone(b.pic.tiles)
		b.scene.now = now
		b.pic.epoch++
		b.pic.paint(b.scene, b.scene.lay.clock, func(image.Rectangle) {})
		changes[b] = change{before, slices.Clone(b.pic.tiles)}
	}
	m.mu.Unlock()
	for _, d := range m.desktops {
		d.tick(now, changes)
	}
}
