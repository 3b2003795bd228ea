package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deskvnc/control"
	"deskvnc/viewer"
)

// limbList is what dvv_limbs answers.
type limbList struct {
	Limbs     []control.Card        `json:"limbs"`
	Available []control.LiveSession `json:"available"`
}

// listLimbs asks for the open sessions.
func listLimbs(ctx context.Context, b backend) (limbList, error) {
	var l limbList
	return l, ask(ctx, b, "dvv_limbs", nil, &l)
}

// listHosts asks for the machines.
func listHosts(ctx context.Context, b backend, discovered bool) ([]control.HostRecord, error) {
	var l struct {
		Hosts []control.HostRecord `json:"hosts"`
	}
	err := ask(ctx, b, "dvv_hosts", map[string]any{"discovered": discovered}, &l)
	return l.Hosts, err
}

// ask calls a tool for its structured result.
func ask(ctx context.Context, b backend, tool string, args map[string]any, into any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	answer, err := b.Call(ctx, tool, raw)
	if err != nil {
		return err
	}
	r, err := parse(answer)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if r.IsError {
		return r.refusal()
	}
	if err := json.Unmarshal(r.Structured, into); err != nil {
		return fmt.Errorf("%s: its result makes no sense: install the same version of dvv and DeskVNC", tool)
	}
	return nil
}

// lookUp finds the sessions and machines that the call names.
func (c *call) lookUp(ctx context.Context, b backend) error {
	switch c.row.CLI.Verb {
	case "open":
		return c.openOne(ctx, b)
	case "group open", "group grow":
		return c.openMany(ctx, b)
	}
	if c.id == "" {
		if a, ok := c.arg("limbId"); ok && a.Required {
			return c.onlyLimb(ctx, b)
		}
		return nil
	}
	if control.LimbIDShape(c.id) {
		c.args["limbId"] = c.id
		return nil
	}
	id, err := findLimb(ctx, b, c.id)
	switch {
	case err == nil:
		c.args["limbId"] = id
	case c.maybe != "":
		c.args[c.maybe] = c.id
	default:
		return err
	}
	return nil
}

// onlyLimb takes the one session that is open.
func (c *call) onlyLimb(ctx context.Context, b backend) error {
	l, err := listLimbs(ctx, b)
	if err != nil {
		return err
	}
	if len(l.Limbs) != 1 {
		return &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("%d sessions are open; say which one", len(l.Limbs)), Hint: "\"dvv limbs\" lists them."}
	}
	c.args["limbId"] = l.Limbs[0].LimbID
	return nil
}

// findLimb finds the open session to a machine that is called name.
func findLimb(ctx context.Context, b backend, name string) (string, error) {
	l, err := listLimbs(ctx, b)
	if err != nil {
		return "", err
	}
	var found []string
	for _, k := range l.Limbs {
		if k.Host == name {
			found = append(found, k.LimbID)
		}
	}
	for _, k := range l.Available {
		if k.Host == name || k.HostID != nil && *k.HostID == name {
			found = append(found, k.LimbID)
		}
	}
	if len(found) == 0 { // it may be the id of a saved machine, or its name may have changed
		hosts, err := listHosts(ctx, b, false)
		if err != nil {
			return "", err
		}
		saved := false
		for _, h := range hosts {
			if h.HostID != name && h.Label != name {
				continue
			}
			saved = true
			id := control.LimbID(viewer.Target{Protocol: h.Protocol, HostID: h.HostID}, 0)
			if slices.ContainsFunc(l.Limbs, func(k control.Card) bool { return k.LimbID == id }) {
				found = append(found, id)
			}
		}
		if len(found) == 0 {
			hint := "\"dvv limbs\" lists what is open."
			if saved {
				hint = "Open it with \"dvv open " + name + "\"."
			}
			return "", &control.Refused{Code: control.LimbGone, Message: fmt.Sprintf("%s: no session to it is open", quoted(name)), Hint: hint}
		}
	}
	if len(found) > 1 {
		return "", &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("%s: %d sessions to it are open", quoted(name), len(found)), Hint: "Use an id: " + strings.Join(found, ", ")}
	}
	return found[0], nil
}

// quoted cuts what somebody typed to what fits a message.
func quoted(s string) string {
	clean := strings.Map(printable, s)
	if r := []rune(clean); len(r) > 64 {
		clean = string(r[:64]) + "..."
	}
	return clean
}

// addressed is an address that somebody typed, without what stands before an
// @ in it: that may be a password.
func addressed(s string) string {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = "..." + s[i:]
	}
	return quoted(s)
}

// openOne fills in the machine of "open".
func (c *call) openOne(ctx context.Context, b backend) error {
	if len(c.targets) == 0 {
		if c.args["address"] != nil && c.args["protocol"] == nil {
			c.args["protocol"] = string(viewer.VNC)
		}
		return c.check()
	}
	m, err := c.machine(ctx, b, c.targets[0])
	if err != nil {
		return err
	}
	if m.hostID != "" {
		c.args["hostId"] = m.hostID
		return c.check()
	}
	c.args["address"], c.args["protocol"] = m.target.Address, string(m.target.Protocol)
	if m.target.Socket() {
		c.args["address"] = written(m.target)
	} else if c.args["port"] == nil {
		c.args["port"] = m.target.Port
	}
	return c.check()
}

// openMany fills in the machines of a group.
func (c *call) openMany(ctx context.Context, b backend) error {
	hosts, _ := c.args["hostIds"].([]string)
	addresses, _ := c.args["addresses"].([]string)
	for _, text := range c.targets {
		m, err := c.machine(ctx, b, text)
		switch {
		case err != nil:
			return err
		case m.hostID != "":
			hosts = append(hosts, m.hostID)
			continue
		}
		if p, ok := c.args["protocol"].(string); ok && p != string(m.target.Protocol) {
			return badUsage(c.cmd, "%s: all addresses of a group have one protocol, and it is %s", text, p)
		}
		c.args["protocol"] = string(m.target.Protocol)
		addresses = append(addresses, written(m.target))
	}
	if len(hosts) > 0 {
		c.args["hostIds"] = hosts
	}
	if len(addresses) > 0 {
		c.args["addresses"] = addresses
		if c.args["protocol"] == nil {
			c.args["protocol"] = string(viewer.VNC)
		}
	}
	return c.check()
}

// A machine is one to open: known by an id, or an address.
type machine struct {
	hostID string
	target viewer.Target
}

// machine finds what a person means: a saved machine by its name or id, then a
// discovered one by its id, then an address, which has a dot, a colon or a
// protocol.
func (c *call) machine(ctx context.Context, b backend, text string) (machine, error) {
	for _, discovered := range []bool{false, true} {
		hosts, err := listHosts(ctx, b, discovered)
		if err != nil {
			return machine{}, err
		}
		var named []control.HostRecord
		for _, h := range hosts {
			if h.HostID == text && text != "" {
				return machine{hostID: text}, nil
			}
			if !discovered && h.Label == text {
				named = append(named, h)
			}
		}
		switch len(named) {
		case 0:
		case 1:
			return machine{hostID: named[0].HostID}, nil
		default:
			ids := make([]string, len(named))
			for i, h := range named {
				ids[i] = h.HostID
			}
			return machine{}, &control.Refused{Code: control.BadRequest, Message: fmt.Sprintf("%s: %d saved machines have that name", quoted(text), len(named)), Hint: "Use an id: " + strings.Join(ids, ", ")}
		}
	}
	protocol, given := c.args["protocol"].(string)
	if !given {
		protocol = string(viewer.VNC)
	}
	if !given && !strings.ContainsAny(text, ".:") && text != "localhost" {
		return machine{}, &control.Refused{Code: control.BadRequest, Message: quoted(text) + ": no such host",
			Hint: "\"dvv hosts\" lists the saved machines, \"dvv hosts add\" saves one; an address without a dot needs its port or --protocol."}
	}
	t, err := viewer.ParseTarget(text, viewer.Protocol(protocol))
	switch {
	case err != nil:
		return machine{}, &control.Refused{Code: control.BadRequest, Message: addressed(text) + ": " + viewer.Reason(err), Hint: "Write it as NAME, ADDRESS or ADDRESS:PORT."}
	case t.User != "":
		return machine{}, &control.Refused{Code: control.BadRequest, Message: addressed(text) + ": a user cannot be given here", Hint: "Save the machine with \"dvv hosts add NAME ADDRESS --user USER\", then open NAME."}
	}
	return machine{target: t}, nil
}
