package plane

import (
	"fmt"
	"slices"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// saved are the machines of the host library.
func (p *Plane) saved() []viewer.Target {
	if p.hosts == nil {
		return nil
	}
	return p.hosts.Hosts()
}

// discovered are the machines seen on the network and not saved.
func (p *Plane) discovered() []viewer.Target {
	if d, ok := p.hosts.(Discoverer); ok {
		return d.Discovered()
	}
	return nil
}

// origin says how a machine is known.
func (p *Plane) origin(t viewer.Target) grant.Origin {
	same := func(o viewer.Target) bool { return sameMachine(o, t) }
	switch {
	case slices.ContainsFunc(p.saved(), same):
		return grant.Saved
	case slices.ContainsFunc(p.discovered(), same):
		return grant.Discovered
	case slices.ContainsFunc(p.engine.Sessions(), func(s *engine.Session) bool { return sameMachine(s.Target(), t) }):
		return grant.Opened
	}
	return grant.Elsewhere
}

func sameMachine(a, b viewer.Target) bool {
	return a.Protocol == b.Protocol && control.MachineKey(a) == control.MachineKey(b)
}

// listHosts serves dvv_hosts.
func (c *call) listHosts() (control.Result, error) {
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	p := c.a.plane
	var machines []viewer.Target
	origin := grant.Saved
	if c.args.Bool("discovered") {
		origin = grant.Discovered
		machines = p.discovered()
		saved := p.saved()
		for _, s := range p.engine.Sessions() { // opened by address, and not saved
			t := s.Target()
			known := func(o viewer.Target) bool { return sameMachine(o, t) }
			if !slices.ContainsFunc(machines, known) && !slices.ContainsFunc(saved, known) {
				machines = append(machines, t)
			}
		}
	} else {
		machines = p.saved()
	}
	stored, _ := p.hosts.(CredentialSource)
	hosts := []control.HostRecord{}
	for _, t := range machines {
		if !c.grant.Host(t, origin) {
			continue
		}
		hosts = append(hosts, control.HostRecord{
			HostID: t.HostID, Label: t.Label(), Address: t.Address, Port: t.Port, Protocol: t.Protocol,
			CredentialStored: stored != nil && stored.CredentialStored(t), Discovered: origin == grant.Discovered,
		})
	}
	kind, next := "saved", "Open one with dvv_open."
	if origin == grant.Discovered {
		kind = "discovered"
	}
	if len(hosts) == 0 {
		next = "dvv_open opens any other one by address and protocol, if that is allowed."
	}
	return control.Result{
		Text: fmt.Sprintf("%s. %s", count(len(hosts), kind+" machine", kind+" machines"), next),
		Structured: struct {
			Hosts []control.HostRecord `json:"hosts"`
		}{hosts},
	}, nil
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// A request is a machine that a caller asks to open.
type request struct {
	hostID, address, protocol string
	port                      int // 0: the protocol's own
	slot                      int
	perceive                  bool
}

// target finds the machine that a request means, and how it is known. A host
// is looked for by its id and then by its name; an address that belongs to a
// known machine is that machine.
func (p *Plane) target(r request) (viewer.Target, grant.Origin, error) {
	bad := func(format string, a ...any) (viewer.Target, grant.Origin, error) {
		return viewer.Target{}, 0, control.Refuse(control.BadRequest, fmt.Sprintf(format, a...))
	}
	switch {
	case r.hostID == "" && r.address == "":
		return bad("give hostId or address")
	case r.hostID != "" && r.address != "":
		return bad("give hostId or address, not both")
	case r.hostID != "" && r.protocol != "":
		return bad("protocol goes with address; a saved machine knows its own")
	case r.hostID != "" && r.port != 0:
		return bad("port goes with address; a saved machine knows its own")
	case r.address != "" && r.protocol == "":
		return bad("protocol is required with address")
	}
	saved := p.saved()
	if r.hostID != "" {
		all := slices.Concat(saved, p.discovered())
		if i := slices.IndexFunc(all, func(t viewer.Target) bool { return t.HostID == r.hostID }); i >= 0 {
			return all[i], p.origin(all[i]), nil
		}
		var named []viewer.Target
		for _, t := range saved {
			if t.Name == r.hostID {
				named = append(named, t)
			}
		}
		switch len(named) {
		case 0:
			return viewer.Target{}, 0, &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("there is no saved machine %.64q", r.hostID), Hint: "Call dvv_hosts for the ids, or give address and protocol."}
		case 1:
			return named[0], grant.Saved, nil
		}
		return bad("%d saved machines are called %.64q; use the host_id", len(named), r.hostID)
	}
	t, err := viewer.ParseTarget(r.address, viewer.Protocol(r.protocol))
	switch {
	case err != nil:
		return bad("address: %s", reason(err))
	case t.Protocol != viewer.Protocol(r.protocol), t.User != "":
		return bad("address is a host name or an IP address alone")
	}
	if r.port != 0 {
		if t.Port != t.Protocol.DefaultPort() && t.Port != r.port {
			return bad("address and port name two different ports")
		}
		t.Port = r.port
	}
	same := func(o viewer.Target) bool {
		return o.Protocol == t.Protocol && o.Port == t.Port && viewer.Normalize(o.Address) == t.Address
	}
	known := slices.Concat(saved, p.discovered())
	for _, s := range p.engine.Sessions() {
		known = append(known, s.Target())
	}
	if i := slices.IndexFunc(known, same); i >= 0 {
		return known[i], p.origin(known[i]), nil
	}
	return t, grant.Elsewhere, nil
}

// open serves dvv_open.
func (c *call) open() (control.Result, error) {
	st, _, err := c.openOne(request{
		hostID: c.args.Text("hostId"), address: c.args.Text("address"), protocol: c.args.Text("protocol"),
		port: c.args.Int("port"), slot: c.args.Int("slot"), perceive: c.args.Bool("perceive"),
	})
	if err != nil {
		return control.Result{}, err
	}
	card := c.card(st)
	text := fmt.Sprintf("Opened %s, a %s session to %s; it is %s.", card.LimbID, card.Protocol, card.Host, card.State.State)
	if card.State.State != viewer.Connected {
		text += " Call dvv_wait with until connected next."
	}
	return control.Result{Text: text, Structured: struct {
		Limb control.Card `json:"limb"`
	}{card}}, nil
}

// openOne attaches to a machine, opening a session when there is none. fresh
// says that the attachment had no seat there before.
func (c *call) openOne(r request) (st *seat, fresh bool, err error) {
	if err := c.needs(grant.Open); err != nil {
		return nil, false, err
	}
	p := c.a.plane
	t, origin, err := p.target(r)
	if err != nil {
		return nil, false, err
	}
	if !c.grant.Host(t, origin) {
		return nil, false, control.Refuse(control.PolicyDenied, "the grant of this agent does not cover "+t.HostPort())
	}
	if err := admitSlot(t, r.slot); err != nil {
		return nil, false, err
	}
	s, opened, err := p.find(t, r.slot)
	if err != nil {
		return nil, false, err
	}
	before := c.a.seatAt(control.LimbID(t, s.Slot()))
	if st, err = c.a.sit(s, origin); err != nil {
		if opened {
			s.Close()
		}
		return nil, false, err
	}
	fresh = st != before
	if opened {
		st.limb.mu.Lock()
		st.limb.openedBy = c.a.id
		st.limb.mu.Unlock()
	} else if s.State().Phase == viewer.Disconnected && !s.Called() {
		// Asking for the machine again is asking for another try.
		if err := dialAgain(c.ctx, s); err != nil {
			return nil, false, err
		}
	}
	if r.perceive {
		if refused := st.perceive(); refused != nil {
			if fresh {
				c.a.leave(st)
				st.endIfAlone()
			}
			return nil, false, refused
		}
	}
	p.changed()
	return st, fresh, nil
}

// admitSlot refuses a slot that the protocol cannot give.
func admitSlot(t viewer.Target, slot int) error {
	switch {
	case slot == 0:
	case t.Protocol == viewer.RDP:
		return control.Refuse(control.SlotRefused, "an RDP machine gives one session at a time")
	case t.Protocol == viewer.VNC && t.Exclusive:
		return control.Refuse(control.SlotRefused, "this machine is saved as exclusive, so a second session would end the first")
	}
	return nil
}

// find returns the session of a slot, opening it when there is none. Slot 0 is
// any session that is live.
func (p *Plane) find(t viewer.Target, slot int) (s *engine.Session, opened bool, err error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	var first *engine.Session
	for _, s := range p.engine.Sessions() {
		if !sameMachine(s.Target(), t) {
			continue
		}
		if s.Slot() == slot {
			return s, false, nil
		}
		if first == nil || s.Slot() < first.Slot() {
			first = s
		}
	}
	if slot == 0 && first != nil {
		return first, false, nil
	}
	s, err = p.engine.Open(unattended(t))
	switch viewer.KindOf(err) {
	case "":
	case viewer.Limit:
		return nil, false, control.Refuse(control.RateLimited, reason(err))
	case viewer.Unsupported:
		return nil, false, &control.Refused{Code: control.BadRequest, Message: reason(err), Hint: "Use another protocol to reach this machine."}
	default:
		return nil, false, control.Refuse(control.LimbGone, reason(err))
	}
	if s.Slot() != slot {
		next := s.Slot()
		s.Close()
		return nil, false, &control.Refused{Code: control.SlotRefused, Message: fmt.Sprintf("the next session to this machine is slot %d, not %d", next, slot), Hint: fmt.Sprintf("Use slot %d.", next)}
	}
	return s, true, nil
}

// unattended is a machine as an agent opens it: commands of the SSH
// configuration are run for persons only.
func unattended(t viewer.Target) viewer.Target {
	set := t.Settings()
	set.Unattended = true
	t.SSH = &set
	return t
}

// close serves dvv_close.
func (c *call) close() (control.Result, error) {
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	id := c.args.Text("limbId")
	if !control.LimbIDShape(id) {
		return control.Result{}, badLimbID(id)
	}
	type answer struct {
		LimbID       string `json:"limbId"`
		Closed       bool   `json:"closed"`
		SessionEnded bool   `json:"sessionEnded"`
	}
	st := c.a.seatAt(id)
	if st == nil {
		return control.Result{Text: id + " was not attached; there is nothing to close.", Structured: answer{id, true, false}}, nil
	}
	ended := c.letGo(st)
	text := "Let go of " + id + "; the session goes on."
	if ended {
		text = "Closed " + id + " and ended its session."
	}
	return control.Result{Text: text, Structured: answer{id, true, ended}}, nil
}

// letGo gives a seat up and ends the session when nobody else uses it.
func (c *call) letGo(st *seat) (ended bool) {
	c.a.leave(st)
	return st.endIfAlone()
}

// limbs serves dvv_limbs.
func (c *call) limbs() (control.Result, error) {
	cards := []control.Card{}
	attached := map[*engine.Session]bool{}
	driven := ""
	for _, st := range c.a.list() {
		card := c.card(st)
		cards = append(cards, card)
		attached[st.session] = true
		if card.Lease.HolderKind != nil && *card.Lease.HolderKind != "agent" {
			driven += " A person is driving " + card.LimbID + "."
		}
	}
	available := []control.LiveSession{}
	for _, s := range c.a.plane.engine.Sessions() {
		t := s.Target()
		if attached[s] || !c.grant.Host(t, c.a.plane.origin(t)) {
			continue
		}
		live := control.LiveSession{
			LimbID: control.LimbID(t, s.Slot()), Host: t.Label(), Port: t.Port, Protocol: t.Protocol, Slot: s.Slot(),
			State: stateOf(s.State(), c.a.plane.now()),
		}
		if t.HostID != "" {
			live.HostID = &t.HostID
		}
		if l, refused := c.a.plane.limbOf(s); refused == nil {
			l.mu.Lock()
			live.AttachedElsewhere = len(l.seats) > 0
			l.mu.Unlock()
		}
		available = append(available, live)
	}
	text := fmt.Sprintf("%s attached, %d more available.%s", count(len(cards), "limb", "limbs"), len(available), driven)
	if len(cards)+len(available) == 0 {
		text += " dvv_hosts lists the machines; open one with dvv_open."
	}
	return control.Result{Text: text, Structured: struct {
		Limbs     []control.Card        `json:"limbs"`
		Available []control.LiveSession `json:"available"`
	}{cards, available}}, nil
}
