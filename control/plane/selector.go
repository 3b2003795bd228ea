package plane

import (
	"fmt"
	"strconv"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

func badLimbID(id string) *control.Refused {
	return &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("%.80q is not a limb id", id), Hint: "Use a limb_id from dvv_limbs."}
}

// seat finds the limb that the selector arguments mean, and checks that the
// grant covers its machine.
func (c *call) seat() (*seat, error) {
	st, err := c.selected()
	if err != nil {
		return nil, err
	}
	if !c.grant.Host(st.session.Target(), st.origin) {
		return nil, control.Refuse(control.PolicyDenied, "the grant of this agent does not cover "+st.session.Target().HostPort())
	}
	return st, nil
}

// selected resolves limbId, else groupId and member, else the only limb.
func (c *call) selected() (*seat, error) {
	switch {
	case c.args.Has("limbId"):
		return c.byID(c.args.Text("limbId"))
	case c.args.Has("groupId"):
		return c.byMember(c.args.Text("groupId"))
	case c.args.Has("member"):
		return nil, &control.Refused{Code: control.BadRequest, Message: "member needs groupId: the group it is a member of", Hint: "Give groupId, or leave member out; dvv_group_list shows the groups."}
	}
	switch seats := c.a.list(); len(seats) {
	case 0:
		return nil, &control.Refused{Code: control.LimbGone, Message: "no limb is attached", Hint: "Call dvv_limbs, then dvv_open, or name an available limb by limbId."}
	case 1:
		return seats[0], nil
	default:
		return nil, &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("%d limbs are attached, so limbId is needed", len(seats)), Hint: "Name one by limbId; dvv_limbs lists them."}
	}
}

// byID finds an attached limb, or attaches a live session with that id.
func (c *call) byID(id string) (*seat, error) {
	if !control.LimbIDShape(id) {
		return nil, badLimbID(id)
	}
	if st := c.a.seatAt(id); st != nil {
		return st, nil
	}
	s := c.a.plane.sessionOf(id)
	if s == nil {
		return nil, control.Refuse(control.LimbGone, "there is no session with the id "+id)
	}
	origin := c.a.plane.origin(s.Target())
	if !c.grant.Host(s.Target(), origin) {
		return nil, control.Refuse(control.PolicyDenied, "the grant of this agent does not cover "+s.Target().HostPort())
	}
	st, err := c.a.sit(s, origin)
	if err != nil {
		return nil, err
	}
	// Without room for its picture it is attached all the same: dvv_screen
	// says then what is missing.
	st.perceive()
	c.a.plane.changed()
	return st, nil
}

// sessionOf is the live session with a limb id, or nil.
func (p *Plane) sessionOf(id string) *engine.Session {
	for _, s := range p.engine.Sessions() {
		if control.LimbID(s.Target(), s.Slot()) == id {
			return s
		}
	}
	return nil
}

// byMember finds a limb of a group.
func (c *call) byMember(id string) (*seat, error) {
	if !c.args.Has("member") {
		return nil, &control.Refused{Code: control.BadRequest, Message: "groupId needs member: an index or a limb id", Hint: "dvv_group_list shows the members."}
	}
	g, err := c.a.groupNamed(id)
	if err != nil {
		return nil, err
	}
	member := c.args.Text("member")
	limbs := g.limbs()
	if n, err := strconv.ParseUint(member, 10, 31); err == nil {
		if int(n) >= len(limbs) {
			return nil, &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("%s has %d members, so there is no member %d", id, len(limbs), n), Hint: "dvv_group_list shows the members."}
		}
		return c.member(limbs[n])
	}
	for _, l := range limbs {
		if l == member {
			return c.member(l)
		}
	}
	return nil, &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("%s has no member %.64q", id, member), Hint: "dvv_group_list shows the members."}
}

// member is the seat at a group's limb.
func (c *call) member(id string) (*seat, error) {
	if st := c.a.seatAt(id); st != nil {
		return st, nil
	}
	return nil, control.Refuse(control.LimbGone, "the session of "+id+" has ended")
}

// desktop refuses a limb without a picture.
func (c *call) desktop(st *seat) error {
	if st.session.Target().Protocol == viewer.SSH {
		return control.Refuse(control.WrongProtocol, c.row.Name+" is for desktops, and "+st.limb.id+" is a terminal")
	}
	return nil
}
