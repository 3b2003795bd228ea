package plane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"deskvnc/control"
)

// maxGroup bounds the machines of one group call.
const maxGroup = 256

// A group is an ordered list of limbs. A member keeps its index while the
// group grows; one whose session has ended stays in the list.
type group struct {
	id      string
	mu      sync.Mutex
	members []string // limb ids
}

func (g *group) limbs() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.members)
}

// groupNamed finds one of the attachment's groups.
func (a *Attachment) groupNamed(id string) (*group, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.groups[id]; g != nil {
		return g, nil
	}
	return nil, &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("there is no group %.64q", id), Hint: "dvv_group_list shows the groups; dvv_group_open makes one."}
}

// grouped reports whether any of the attachment's groups holds a limb.
func (a *Attachment) grouped(limb string) bool {
	a.mu.Lock()
	groups := make([]*group, 0, len(a.groups))
	for _, g := range a.groups {
		groups = append(groups, g)
	}
	a.mu.Unlock()
	return slices.ContainsFunc(groups, func(g *group) bool { return slices.Contains(g.limbs(), limb) })
}

// groupMembers opens the machines of a group call, all or none.
func (c *call) groupMembers() ([]*seat, error) {
	hosts, addresses := c.args.Strings("hostIds"), c.args.Strings("addresses")
	switch n := len(hosts) + len(addresses); {
	case n == 0:
		return nil, control.Refuse(control.BadRequest, c.row.Name+": give hostIds or addresses")
	case n > maxGroup:
		return nil, control.Refuse(control.BadRequest, fmt.Sprintf("%s: %d machines are more than the %d of one call", c.row.Name, n, maxGroup))
	case len(addresses) == 0 && c.args.Has("protocol"):
		return nil, control.Refuse(control.BadRequest, c.row.Name+": protocol goes with addresses")
	}
	var requests []request
	for _, h := range hosts {
		requests = append(requests, request{hostID: h, perceive: c.args.Bool("perceive")})
	}
	for _, h := range addresses {
		requests = append(requests, request{address: h, protocol: c.args.Text("protocol"), perceive: c.args.Bool("perceive")})
	}
	var seats, mine []*seat
	for i, r := range requests {
		st, fresh, err := c.openOne(r)
		if err == nil && slices.Contains(seats, st) {
			err = control.Refuse(control.BadRequest, "it is the same machine as another one of this call")
		}
		if err != nil {
			for _, st := range mine {
				c.letGo(st)
			}
			refused := *refusedBy(err)
			refused.Message = fmt.Sprintf("machine %d (%.64q): %s; nothing of this call stays open", i, r.hostID+r.address, refused.Message)
			return nil, &refused
		}
		seats = append(seats, st)
		if fresh {
			mine = append(mine, st)
		}
	}
	return seats, nil
}

// memberCard is a member in a list: a card with its index, or, when its
// session has ended, what is left to say.
func (c *call) memberCard(index int, limb string) any {
	if st := c.a.seatAt(limb); st != nil {
		card := c.card(st)
		card.Index = &index
		return card
	}
	return struct {
		LimbID   string        `json:"limb_id"`
		Protocol string        `json:"protocol"`
		Host     string        `json:"host"`
		Slot     int           `json:"slot"`
		State    control.State `json:"state"`
		Index    int           `json:"index"`
	}{limb, protocolOf(limb), "", slotOf(limb), control.State{State: "disconnected", Reason: "the session has ended"}, index}
}

// protocolOf and slotOf read a limb id of our own making, for display only.
func protocolOf(limb string) string {
	parts := bytes.Split([]byte(limb), []byte("_"))
	if len(parts) > 1 {
		return string(parts[1])
	}
	return ""
}

func slotOf(limb string) (slot int) {
	i := bytes.LastIndexByte([]byte(limb), '_')
	fmt.Sscanf(limb[i+1:], "%d", &slot)
	return slot
}

func (c *call) cardsOf(g *group, from int) []any {
	out := []any{}
	for i, limb := range g.limbs() {
		if i >= from {
			out = append(out, c.memberCard(i, limb))
		}
	}
	return out
}

// groupOpen serves dvv_group_open.
func (c *call) groupOpen() (control.Result, error) {
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	seats, err := c.groupMembers()
	if err != nil {
		return control.Result{}, err
	}
	g := &group{}
	for _, st := range seats {
		g.members = append(g.members, st.limb.id)
	}
	c.a.mu.Lock()
	c.a.group++
	g.id = fmt.Sprintf("grp_%d", c.a.group)
	c.a.groups[g.id] = g
	c.a.mu.Unlock()
	return control.Result{
		Text: fmt.Sprintf("Opened %s with %s.", g.id, count(len(seats), "member", "members")),
		Structured: struct {
			GroupID string `json:"groupId"`
			Members []any  `json:"members"`
		}{g.id, c.cardsOf(g, 0)},
	}, nil
}

// groupList serves dvv_group_list.
func (c *call) groupList() (control.Result, error) {
	type listed struct {
		GroupID string `json:"groupId"`
		Members []any  `json:"members"`
	}
	var groups []*group
	if c.args.Has("groupId") {
		g, err := c.a.groupNamed(c.args.Text("groupId"))
		if err != nil {
			return control.Result{}, err
		}
		groups = append(groups, g)
	} else {
		c.a.mu.Lock()
		for n := 1; n <= c.a.group; n++ {
			if g := c.a.groups[fmt.Sprintf("grp_%d", n)]; g != nil {
				groups = append(groups, g)
			}
		}
		c.a.mu.Unlock()
	}
	out := []listed{}
	for _, g := range groups {
		out = append(out, listed{g.id, c.cardsOf(g, 0)})
	}
	return control.Result{
		Text: count(len(out), "group", "groups") + ".",
		Structured: struct {
			Groups []listed `json:"groups"`
		}{out},
	}, nil
}

// groupGrow serves dvv_group_grow.
func (c *call) groupGrow() (control.Result, error) {
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	g, err := c.a.groupNamed(c.args.Text("groupId"))
	if err != nil {
		return control.Result{}, err
	}
	seats, err := c.groupMembers()
	if err != nil {
		return control.Result{}, err
	}
	g.mu.Lock()
	from := len(g.members)
	for _, st := range seats {
		if !slices.Contains(g.members, st.limb.id) {
			g.members = append(g.members, st.limb.id)
		}
	}
	g.mu.Unlock()
	added := c.cardsOf(g, from)
	return control.Result{
		Text: fmt.Sprintf("Added %s to %s.", count(len(added), "member", "members"), g.id),
		Structured: struct {
			GroupID string `json:"groupId"`
			Added   []any  `json:"added"`
		}{g.id, added},
	}, nil
}

type groupClosed struct {
	GroupID string   `json:"groupId"`
	Closed  []string `json:"closed"`
}

// closeMembers lets go of limbs that no group holds any more.
func (c *call) closeMembers(limbs []string) []string {
	closed := []string{}
	for _, limb := range limbs {
		if c.a.grouped(limb) {
			continue
		}
		if st := c.a.seatAt(limb); st != nil {
			c.letGo(st)
		}
		closed = append(closed, limb)
	}
	return closed
}

// groupShrink serves dvv_group_shrink.
func (c *call) groupShrink() (control.Result, error) {
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	g, err := c.a.groupNamed(c.args.Text("groupId"))
	if err != nil {
		return control.Result{}, err
	}
	n := c.args.Int("n")
	g.mu.Lock()
	have := len(g.members)
	if n > have {
		g.mu.Unlock()
		return control.Result{}, control.Refuse(control.BadRequest, fmt.Sprintf("%s has %s, fewer than %d; nothing was closed", g.id, count(have, "member", "members"), n))
	}
	dropped := slices.Clone(g.members[have-n:])
	g.members = g.members[:have-n]
	g.mu.Unlock()
	slices.Reverse(dropped)
	closed := c.closeMembers(dropped)
	return control.Result{Text: fmt.Sprintf("Took %s from %s.", count(n, "member", "members"), g.id), Structured: groupClosed{g.id, closed}}, nil
}

// groupClose serves dvv_group_close.
func (c *call) groupClose() (control.Result, error) {
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	g, err := c.a.groupNamed(c.args.Text("groupId"))
	if err != nil {
		return control.Result{}, err
	}
	c.a.mu.Lock()
	delete(c.a.groups, g.id)
	c.a.mu.Unlock()
	closed := c.closeMembers(g.limbs())
	return control.Result{Text: fmt.Sprintf("Closed %s with %s.", g.id, count(len(closed), "limb", "limbs")), Structured: groupClosed{g.id, closed}}, nil
}

// groupRun serves dvv_group_run: one tool on every member at the same time.
func (c *call) groupRun() (control.Result, error) {
	g, err := c.a.groupNamed(c.args.Text("groupId"))
	if err != nil {
		return control.Result{}, err
	}
	tool := "dvv_" + c.args.Text("action")
	row, ok := control.RowByName(tool)
	if !ok {
		return control.Result{}, control.Refuse(control.BadRequest, "there is no tool "+tool)
	}
	var fields map[string]json.RawMessage
	if raw := c.args.Raw("arguments"); raw != nil {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return control.Result{}, control.Refuse(control.BadRequest, "dvv_group_run: the arguments are no object")
		}
	}
	for _, name := range []string{"limbId", "groupId", "member"} {
		if _, has := fields[name]; has {
			return control.Result{}, control.Refuse(control.BadRequest, fmt.Sprintf("dvv_group_run: %q is given by the group", name))
		}
	}
	limbs := g.limbs()
	if err := c.sameGeometry(limbs, fields); err != nil {
		return control.Result{}, err
	}
	results := make([]control.Result, len(limbs))
	var all sync.WaitGroup
	for i, limb := range limbs {
		all.Go(func() {
			results[i] = c.memberResult(row, limb, fields)
		})
	}
	all.Wait()
	outputs := 0
	for _, r := range results {
		if _, is := r.Structured.(runAnswer); is {
			outputs++
		}
	}
	for i, r := range results {
		if a, is := r.Structured.(runAnswer); is && outputs > 1 {
			results[i] = a.of.within(roomOfRuns / outputs)
		}
	}
	for i := fitting(results); i < len(results); i++ {
		if len(results[i].Images) == 0 {
			continue
		}
		if st := c.a.seatAt(limbs[i]); st != nil {
			st.blind() // its picture is not shown after all
		}
		results[i] = control.RefusalResult(&control.Refused{
			Code: control.ImageTooLarge, Message: "the pictures of all members together are too large for one result",
			Hint: "Look at this member alone with dvv_screen, or at all of them with a smaller scale.",
		})
	}
	return groupResult(g, tool, limbs, results), nil
}

// maxGroupImages bounds the pictures of one result, in bytes; as text they
// take a third more, and a message has a bound.
const maxGroupImages = 10 << 20

// roomOfRuns bounds the results of commands on all members together: each is in
// the result of the group more than once.
const roomOfRuns = 4 << 20

// fitting is how many results, from the first, have pictures that fit.
func fitting(results []control.Result) int {
	sum := 0
	for i, r := range results {
		for _, im := range r.Images {
			sum += len(im.Data)
		}
		if sum > maxGroupImages {
			return i
		}
	}
	return len(results)
}

// sameGeometry refuses a generation that is not that of every member: the
// numbers of two machines mean nothing to each other.
func (c *call) sameGeometry(limbs []string, fields map[string]json.RawMessage) error {
	raw, has := fields["generation"]
	if !has {
		return nil
	}
	for _, limb := range limbs {
		st := c.a.seatAt(limb)
		if st == nil {
			continue
		}
		if geometry, _, _ := geometryOf(st.session); fmt.Sprint(geometry) != string(raw) {
			return &control.Refused{Code: control.GeometryChanged, Message: fmt.Sprintf("generation %.20s is not that of %s; nothing was sent to any member", raw, limb), Hint: "Leave generation out, so that each member uses its own."}
		}
	}
	return nil
}

// memberResult runs the tool for one member.
func (c *call) memberResult(row control.Row, limb string, fields map[string]json.RawMessage) control.Result {
	if c.a.seatAt(limb) == nil {
		return control.RefusalResult(control.Refuse(control.LimbGone, "the session of "+limb+" has ended"))
	}
	mine := map[string]json.RawMessage{}
	for k, v := range fields {
		mine[k] = v
	}
	id, _ := json.Marshal(limb) // a string always has a JSON form
	mine["limbId"] = id
	raw, err := json.Marshal(mine)
	if err != nil {
		return control.RefusalResult(control.Refuse(control.BadRequest, "the arguments have no JSON form"))
	}
	return c.a.result(c.ctx, row.Name, raw)
}

// groupResult puts the members' results together. Pictures stand once, at the
// end, labelled by limb.
func groupResult(g *group, tool string, limbs []string, results []control.Result) control.Result {
	type member struct {
		LimbID string          `json:"limbId"`
		Result json.RawMessage `json:"result"`
	}
	out := struct {
		GroupID string   `json:"groupId"`
		Results []member `json:"results"`
	}{g.id, []member{}}
	var images []control.Image
	failed := 0
	for i, r := range results {
		for _, im := range r.Images {
			im.Label = fmt.Sprintf("picture %d, of %s:", len(images)+1, limbs[i])
			r.Text += fmt.Sprintf("\nThe picture is number %d of this result.", len(images)+1)
			images = append(images, im)
		}
		r.Images = nil
		if r.IsError {
			failed++
		}
		raw, err := r.Encode()
		if err != nil {
			raw, _ = control.RefusalResult(control.Refuse(control.Internal, "the result cannot be shown")).Encode()
		}
		out.Results = append(out.Results, member{limbs[i], raw})
	}
	return control.Result{
		Text:       fmt.Sprintf("%s on %s of %s; %d refused.", tool, count(len(limbs), "member", "members"), g.id, failed),
		Images:     images,
		Structured: out,
	}
}
