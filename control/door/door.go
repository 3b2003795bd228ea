package door

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/control/server"
	"deskvnc/control/socket"
)

// Config is what a Door is made of.
type Config struct {
	Plane *plane.Plane
	// Settings remembers; nil: nothing is remembered.
	Settings Settings
	Version  string
	// Allow are capabilities that agents have in this run besides what is
	// remembered.
	Allow []string
}

// A Door lets agents in. It is safe for concurrent use.
type Door struct {
	config Config
	saving saver

	switching sync.Mutex // one opening or closing at a time; above mu

	mu      sync.Mutex // guards below
	closed  bool
	serves  *command.Registry // the window's commands; nil: none
	permit  Permit
	grant   grant.Grant
	open    *opened // nil while no agent can come in
	trouble string  // why it is not open, or not remembered
	watch   func()
}

// opened is a control socket that is served.
type opened struct {
	listener *socket.Listener
	server   *server.Server
	done     chan struct{} // closed when Serve has returned
}

// A State is the door as a person is shown it.
type State struct {
	Open bool
	// Where is the address that is listened on; Connect is what to write
	// after --connect to get there.
	Where, Connect string
	// Trouble is why the door could not be opened, or what was changed could
	// not be saved; empty for none.
	Trouble string
}

// errClosed is the reason why nothing can be changed any more.
var errClosed = errors.New("the viewer is closing")

// New returns a closed door with what is remembered of it. It reads the
// settings: call it before there is a window to keep waiting.
func New(c Config) (*Door, error) {
	d := &Door{config: c, watch: func() {}}
	remembered, err := load(c.Settings)
	if err != nil {
		d.trouble = "What was allowed to agents could not be read, so they have the least: " + err.Error()
	}
	d.permit = remembered.Permit
	for _, a := range c.Allow {
		d.permit = d.permit.with(a, true)
	}
	if d.grant, err = d.permit.issue(); err != nil {
		return nil, err
	}
	d.saving.on = remembered.On
	return d, nil
}

// Remembered reports whether a person left the door open.
func (d *Door) Remembered() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.saving.on
}

// Serve has the commands of a window served to agents with the capability app.
func (d *Door) Serve(commands *command.Registry) {
	d.mu.Lock()
	d.serves = commands
	d.mu.Unlock()
}

// OnChange calls fn, from any goroutine, after the state or the permit has
// changed. fn must not call the door.
func (d *Door) OnChange(fn func()) {
	d.mu.Lock()
	d.watch = fn
	d.mu.Unlock()
}

func (d *Door) changed() {
	d.mu.Lock()
	fn := d.watch
	d.mu.Unlock()
	fn()
}

// State is the door as it is now.
func (d *Door) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := State{Trouble: d.trouble}
	if d.open != nil {
		a := d.open.listener.Address()
		s.Open, s.Where, s.Connect = true, a.String(), a.String()
		if a.Path == "" && a.Port != 0 {
			s.Connect = strconv.Itoa(a.Port)
		}
		if auto, err := socket.Parse(socket.Auto, true); err == nil && auto.Path == a.Path && a.Path != "" {
			s.Connect = socket.Auto
		}
	}
	return s
}

// Open lets agents in at an address as [socket.Listen] takes it, for this run
// only. An open door stays where it is.
func (d *Door) Open(where string) error {
	d.switching.Lock()
	defer d.switching.Unlock()
	defer d.changed()
	d.mu.Lock()
	closed, already := d.closed, d.open != nil
	d.mu.Unlock()
	switch {
	case closed:
		return errClosed
	case already:
		return nil
	}
	l, err := socket.Listen(where)
	if err != nil {
		d.mu.Lock()
		d.trouble = err.Error()
		d.mu.Unlock()
		return err
	}
	o := &opened{listener: l, done: make(chan struct{})}
	o.server = server.New(server.Config{Attach: d.attach, Commands: guarded{d}, Version: d.config.Version, Key: l.Key()})
	go func() {
		defer close(o.done)
		_ = o.server.Serve(l) // ends when the door shuts
	}()
	d.mu.Lock()
	d.open, d.trouble = o, ""
	d.mu.Unlock()
	return nil
}

// Shut lets no agent in any more and sends away those who are there: what they
// do is cancelled, what they hold is released. It waits for that.
func (d *Door) Shut() {
	d.switching.Lock()
	defer d.switching.Unlock()
	d.shut()
}

func (d *Door) shut() {
	d.mu.Lock()
	o := d.open
	d.open, d.trouble = nil, ""
	d.mu.Unlock()
	if o == nil {
		return
	}
	_ = o.server.Close()   // it always works
	_ = o.listener.Close() // what is left are files that nobody can use
	<-o.done
	d.changed()
}

// Switch is a person's switch: it opens the door at the usual place, or shuts
// it, and has that remembered.
func (d *Door) Switch(on bool) error {
	d.remember(func() { d.saving.on = on })
	if !on {
		d.Shut()
		return nil
	}
	return d.Open(socket.Auto)
}

// attach starts an attachment with the grant of the moment.
func (d *Door) attach(label string) (server.Attachment, error) {
	d.mu.Lock() // so that it cannot miss a new grant
	defer d.mu.Unlock()
	return d.config.Plane.Attach(label, d.grant)
}

// End sends one agent away. It reports whether there was one of that id.
func (d *Door) End(attachment string) bool {
	d.mu.Lock()
	o := d.open
	d.mu.Unlock()
	return o != nil && o.server.End(attachment)
}

// Close shuts the door for good and waits for what is being saved.
func (d *Door) Close() {
	d.switching.Lock()
	defer d.switching.Unlock()
	d.mu.Lock()
	d.closed = true
	d.watch = func() {}
	d.mu.Unlock()
	d.shut()
	d.saving.work.Wait()
}

// Grant is what agents may do now.
func (d *Door) Grant() grant.Grant {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.grant
}

// Permit is what a person allowed besides the usual.
func (d *Door) Permit() Permit {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.permit.clone()
}

// Allow allows a capability of [Ticked] to agents, or forbids it, for those
// who are there from their next call on and for those who come.
func (d *Door) Allow(capability string, on bool) error {
	if !slices.Contains(Ticked(), capability) {
		return errors.New(capability + " cannot be allowed or forbidden; it is one of " + list(Ticked()))
	}
	return d.change(func(p Permit) (Permit, error) { return p.with(capability, on), nil })
}

// AllowAnyHost allows agents to open every address there is, or only machines
// that are saved, were discovered or are open.
func (d *Door) AllowAnyHost(on bool) error {
	return d.change(func(p Permit) (Permit, error) { p.AnyHost = on; return p, nil })
}

// AddFolder lets agents read or write the files below a folder of this
// machine.
func (d *Door) AddFolder(folder string, write bool) error {
	return d.change(func(p Permit) (Permit, error) { return p.withFolder(folder, write) })
}

// RemoveFolder takes that back.
func (d *Door) RemoveFolder(folder string, write bool) error {
	return d.change(func(p Permit) (Permit, error) { return p.withoutFolder(folder, write), nil })
}

// change issues the grant of another permit and has it remembered.
func (d *Door) change(fn func(Permit) (Permit, error)) error {
	var failed error
	d.remember(func() {
		p, err := fn(d.permit.clone())
		if err != nil {
			failed = err
			return
		}
		g, err := p.issue()
		if err != nil {
			failed = err
			return
		}
		d.permit, d.grant = p, g
		d.config.Plane.Regrant(g)
	})
	return failed
}

// Changes are saved by one goroutine at a time, the newest last.
type saver struct {
	on    bool // the switch; guarded by Door.mu
	busy  bool // guarded by Door.mu
	again bool // guarded by Door.mu
	work  sync.WaitGroup
}

// remember makes a change under the lock and has the outcome saved without
// waiting for it.
func (d *Door) remember(fn func()) {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return
	}
	fn()
	switch s := &d.saving; {
	case d.config.Settings == nil:
	case s.busy:
		s.again = true
	default:
		s.busy = true
		s.work.Go(d.save)
	}
	d.mu.Unlock()
	d.changed()
}

// save saves until there is nothing new.
func (d *Door) save() {
	for {
		d.mu.Lock()
		d.saving.again = false
		m := memory{On: d.saving.on, Permit: d.permit.clone()}
		d.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), saveWait)
		err := store(ctx, d.config.Settings, m)
		cancel()
		d.mu.Lock()
		if err != nil {
			d.trouble = "This holds until the window closes; it could not be saved: " + err.Error()
		}
		if !d.saving.again {
			d.saving.busy = false
			d.mu.Unlock()
			if err != nil {
				d.changed()
			}
			return
		}
		d.mu.Unlock()
	}
}
