package plane

import (
	"time"

	"deskvnc/control/grant"
	"deskvnc/control/wheel"
)

// Regrant puts a new grant in the place of those with the same id: every
// attachment that has one is checked against g from its next call on. A call
// that runs keeps what it began with.
func (p *Plane) Regrant(g grant.Grant) {
	p.mu.Lock()
	for _, a := range p.attachments {
		if a.authority == g.ID() {
			a.grant.Store(&g)
		}
	}
	p.mu.Unlock()
	p.changed()
}

// KeepOff takes the wheel of a shown session from the agent that has it, if
// one has, and keeps the agents that have the session attached off it until
// [Pane.HandBack]. Nobody holds the wheel afterwards, unless a person does.
func (n *Pane) KeepOff() {
	n.limb.steer(func(w *wheel.Wheel, now time.Time) {
		if n.closed || n.limb.session != n.session {
			return
		}
		for st := range n.limb.seats {
			w.Revoke(now, st.party(), n.party)
		}
	})
}
