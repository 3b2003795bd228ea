package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"deskvnc/viewer"
	"deskvnc/viewer/tunnel"
)

// maxTunnels bounds the tunnels of a session.
const maxTunnels = 64

// tunnels are those of a session. They stay when the connection is lost, and
// are opened again with the next.
type tunnels struct {
	changing sync.Mutex // one at a time is opened, or all

	mu   sync.Mutex // guards below
	next int
	all  []*tunnelEntry
	read bool // the saved ones are among them
}

type tunnelEntry struct {
	id   int
	spec viewer.Tunnel
	live *tunnel.Tunnel // nil while it does not listen
	err  error          // why
}

// Tunnels are the session's tunnels: those that the machine was saved with, and
// those opened since.
func (s *Session) Tunnels() []viewer.TunnelState {
	s.tunnels.mu.Lock()
	defer s.tunnels.mu.Unlock()
	out := make([]viewer.TunnelState, 0, len(s.tunnels.all))
	for _, e := range s.tunnels.all {
		st := viewer.TunnelState{Tunnel: e.spec, Err: e.err}
		if e.live != nil {
			st = e.live.State()
		}
		st.ID = e.id
		out = append(out, st)
	}
	return out
}

// OpenTunnel opens one more tunnel over the session's login. It stays until
// CloseTunnel, or the end of the session.
func (s *Session) OpenTunnel(ctx context.Context, spec viewer.Tunnel) (id int, err error) {
	if _, err := tunnel.Check(spec); err != nil {
		return 0, err
	}
	d := &s.tunnels
	d.changing.Lock()
	defer d.changing.Unlock()
	c, err := connected[viewer.Carrier](s, "tunnel")
	if err != nil {
		return 0, err
	}
	if len(s.Tunnels()) >= maxTunnels {
		return 0, &viewer.Error{Op: "tunnel", Kind: viewer.Limit, Err: fmt.Errorf("%d tunnels are open already: close one first", maxTunnels)}
	}
	live, err := tunnel.Open(ctx, c.Carrier(), spec)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	d.all = append(d.all, &tunnelEntry{id: d.next, spec: spec, live: live})
	return d.next, nil
}

// CloseTunnel closes a tunnel, with its connections.
func (s *Session) CloseTunnel(id int) error {
	d := &s.tunnels
	d.changing.Lock()
	defer d.changing.Unlock()
	d.mu.Lock()
	i := slices.IndexFunc(d.all, func(e *tunnelEntry) bool { return e.id == id })
	if i < 0 {
		d.mu.Unlock()
		return &viewer.Error{Op: "tunnel", Kind: viewer.Invalid, Err: fmt.Errorf("there is no tunnel %d in this session", id)}
	}
	live := d.all[i].live
	d.all = slices.Delete(d.all, i, i+1)
	d.mu.Unlock()
	if live != nil {
		live.Close()
	}
	return nil
}

// openTunnels opens the tunnels of a session that is connected. One that cannot
// be opened says why and stops nothing.
func (s *Session) openTunnels(ctx context.Context, live viewer.Session) {
	c, ok := live.(viewer.Carrier)
	if !ok {
		return
	}
	d := &s.tunnels
	d.changing.Lock()
	defer d.changing.Unlock()
	d.mu.Lock()
	if !d.read {
		d.read = true
		for _, spec := range s.target.Settings().Tunnels {
			d.next++
			d.all = append(d.all, &tunnelEntry{id: d.next, spec: spec})
		}
	}
	all := slices.Clone(d.all)
	d.mu.Unlock()
	for _, e := range all {
		if e.live != nil { // opened just now, on this connection
			continue
		}
		open, err := tunnel.Open(ctx, c.Carrier(), e.spec)
		d.mu.Lock()
		e.live, e.err = open, err
		d.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			s.emit(viewer.Notice{Text: "a tunnel does not listen: " + viewer.Reason(err)})
		}
	}
}

// closeTunnels closes what ran over a connection that has ended.
func (s *Session) closeTunnels() {
	d := &s.tunnels
	d.changing.Lock()
	defer d.changing.Unlock()
	d.mu.Lock()
	all := slices.Clone(d.all)
	d.mu.Unlock()
	for _, e := range all {
		d.mu.Lock()
		live := e.live
		e.live, e.err = nil, errNotConnected
		d.mu.Unlock()
		if live != nil {
			live.Close()
		}
	}
}

var errNotConnected = &viewer.Error{Op: "tunnel", Kind: viewer.Closed, Err: errors.New("the session is not connected")}
