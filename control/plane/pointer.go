package plane

import (
	"errors"
	"fmt"
	"image"
	"time"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// The pace of pointer acts.
const (
	doublePause = 250 * time.Millisecond // between the two clicks of a double one
	dragPause   = 30 * time.Millisecond  // around the press and the release of a drag
	dragPoints  = 8                      // between the two ends of a drag
)

// maxModifiers bounds the keys held during a pointer act.
const maxModifiers = 8

// A stroke is a pointer act, checked.
type stroke struct {
	action    string
	at, to    image.Point
	button    viewer.Buttons
	wheel     viewer.Pointer // one click of the wheel
	clicks    int
	modifiers []viewer.Key // going down
	resolved  []string
}

// click serves dvv_click.
func (c *call) click() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if isTerminal(st.session) {
		if err := c.takesMouse(st); err != nil {
			return control.Result{}, err
		}
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	k, err := c.stroke()
	if err != nil {
		return control.Result{}, err
	}
	f := fences{pointer: true, given: c.args.Has("generation"), generation: uint32(c.args.Int("generation")), points: []image.Point{k.at}}
	if k.action == "drag" {
		f.points = append(f.points, k.to)
	}
	a, err := c.begin(st, f)
	if err != nil {
		return control.Result{}, err
	}
	p, err := a.run(k)
	return c.settle(a, p, err, k.resolved, k.done(a))
}

// takesMouse refuses a terminal whose program has not asked for the mouse. One
// with the whole screen scrolls all the same, as by arrow keys.
func (c *call) takesMouse(st *seat) error {
	g := st.session.Grid()
	if g != nil {
		m := g.Screen().Modes
		if m.Mouse != 0 || c.args.Text("action") == "scroll" && m.Alternate && m.AlternateScroll {
			return nil
		}
	}
	return &control.Refused{
		Code: control.WrongProtocol, Message: st.limb.id + " is a terminal, and its program has not asked for the mouse; nothing was sent",
		Hint: "Use dvv_key, dvv_type or dvv_term_send; terminal.mouse_reporting in dvv_status tells when a program takes clicks, in cells.",
	}
}

// done is the sentence of a full success.
func (k stroke) done(a *act) string {
	what := map[string]string{"move": "Moved to", "click": "Clicked at", "double": "Double-clicked at", "right": "Right-clicked at", "middle": "Middle-clicked at", "drag": "Dragged from", "scroll": "Scrolled at"}[k.action]
	text := fmt.Sprintf("%s %d,%d", what, k.at.X, k.at.Y)
	if k.action == "drag" {
		text += fmt.Sprintf(" to %d,%d", k.to.X, k.to.Y)
	}
	return text + fmt.Sprintf(" (intent %d). That was sent, which does not say that it worked: look with dvv_screen form damage-crop.", a.id)
}

// stroke reads the arguments of dvv_click. What the action does not use is
// refused, never ignored.
func (c *call) stroke() (stroke, error) {
	k := stroke{action: c.args.Text("action"), button: viewer.Left, clicks: 1}
	bad := func(format string, a ...any) (stroke, error) {
		return stroke{}, control.Refuse(control.BadRequest, "dvv_click: "+fmt.Sprintf(format, a...))
	}
	for _, n := range []string{"x", "y"} {
		if !c.args.Has(n) {
			return bad("%s needs %q", k.action, n)
		}
	}
	owner := map[string]string{"toX": "drag", "toY": "drag", "button": "drag", "direction": "scroll", "clicks": "scroll"}
	for _, n := range []string{"toX", "toY", "button", "direction", "clicks"} {
		if c.args.Has(n) && owner[n] != k.action {
			return bad("%q goes with %s, not with %s", n, owner[n], k.action)
		}
	}
	k.at = image.Pt(c.args.Int("x"), c.args.Int("y"))
	switch k.action {
	case "right":
		k.button = viewer.Right
	case "middle":
		k.button = viewer.Middle
	case "drag":
		if !c.args.Has("toX") || !c.args.Has("toY") {
			return bad("drag needs %q and %q", "toX", "toY")
		}
		k.to = image.Pt(c.args.Int("toX"), c.args.Int("toY"))
		switch c.args.Text("button") {
		case "middle":
			k.button = viewer.Middle
		case "right":
			k.button = viewer.Right
		}
	case "scroll":
		k.wheel = viewer.Pointer{X: k.at.X, Y: k.at.Y}
		switch c.args.Text("direction") {
		case "up":
			k.wheel.WheelY = -1
		case "down":
			k.wheel.WheelY = 1
		case "left":
			k.wheel.WheelX = -1
		case "right":
			k.wheel.WheelX = 1
		default:
			return bad("scroll needs %q", "direction")
		}
		if c.args.Has("clicks") {
			k.clicks = c.args.Int("clicks")
		}
	}
	names := c.args.Strings("modifiers")
	if len(names) > maxModifiers {
		return bad("%d modifiers are more than the %d that can be held", len(names), maxModifiers)
	}
	for _, name := range names {
		m, alias, ok := key.Lookup(name)
		if !ok {
			return stroke{}, control.Refuse(control.UnknownKey, fmt.Sprintf("%.64q is not a key; nothing was sent", name))
		}
		if alias {
			k.resolved = append(k.resolved, name+" => "+m.Name)
		}
		k.modifiers = append(k.modifiers, pressed(m))
	}
	return k, nil
}

// pressed is a key of a chord going down: with its scan code where there is
// one, so that it works as a key and not as a character.
func pressed(k key.Key) viewer.Key {
	out := viewer.Key{Sym: k.Sym, Scan: k.Scan, Down: true}
	if k.Scan == 0 {
		out.Rune = key.Rune(k.Sym)
	}
	return out
}

// ups are keys coming up again, in reverse.
func ups(down []viewer.Key) []viewer.Input {
	out := make([]viewer.Input, 0, len(down))
	for i := len(down) - 1; i >= 0; i-- {
		k := down[i]
		k.Down = false
		out = append(out, k)
	}
	return out
}

// run sends a stroke and tells how far it came.
func (a *act) run(k stroke) (progress, error) {
	var first []viewer.Input
	for _, m := range k.modifiers {
		first = append(first, m)
	}
	first = append(first, viewer.Pointer{X: k.at.X, Y: k.at.Y})
	last, held := ups(k.modifiers), len(k.modifiers) > 0
	press := []viewer.Input{viewer.Pointer{X: k.at.X, Y: k.at.Y, Buttons: k.button}, viewer.Pointer{X: k.at.X, Y: k.at.Y}}
	a.at = k.at
	switch k.action {
	case "move":
		err := a.step(false, append(first, last...)...)
		return counted("delivered", a.sent), err
	case "click", "right", "middle":
		err := a.step(false, append(append(first, press...), last...)...)
		return counted("delivered", a.sent), err
	case "double":
		err := a.step(held, append(first, press...)...)
		if err == nil {
			err = a.pause(doublePause)
		}
		if err == nil {
			err = a.step(false, append(press, last...)...)
		}
		return counted("delivered", a.sent), err
	case "scroll":
		in := first
		n := 0
		var err error
		for n < k.clicks && err == nil {
			in = append(in, k.wheel)
			if n == k.clicks-1 {
				in = append(in, last...)
			}
			if err = a.step(held && n < k.clicks-1, in...); err == nil {
				n++
			}
			in = nil
		}
		return counted("delivered", n), err
	case "drag":
		return a.drag(k, first, last)
	}
	return progress{Kind: "none"}, errors.New("dvv_click: no such action: " + k.action)
}

// drag presses at one point and lets go at another, over points between, at a
// pace that programs follow.
func (a *act) drag(k stroke, first, last []viewer.Input) (progress, error) {
	n, synthesised := 0, false
	p := progress{Kind: "drag", PointsDelivered: &n, ReleaseSynthesised: &synthesised}
	finish := func(err error) (progress, error) {
		p.ReleasedAt = &point{a.at.X, a.at.Y}
		return p, err
	}
	held := len(k.modifiers) > 0
	if err := a.step(held, first...); err != nil {
		return finish(err)
	}
	if err := a.pause(dragPause); err != nil {
		return finish(err)
	}
	if err := a.step(true, viewer.Pointer{X: k.at.X, Y: k.at.Y, Buttons: k.button}); err != nil {
		return finish(err)
	}
	if err := a.pause(dragPause); err != nil {
		return finish(err)
	}
	for i := 1; i <= dragPoints+1; i++ {
		at := between(k.at, k.to, i, dragPoints+1)
		if err := a.step(true, viewer.Pointer{X: at.X, Y: at.Y, Buttons: k.button}); err != nil {
			return finish(err)
		}
		a.at = at
		n++
	}
	if err := a.pause(dragPause); err != nil {
		return finish(err)
	}
	err := a.step(false, append([]viewer.Input{viewer.Pointer{X: k.to.X, Y: k.to.Y}}, last...)...)
	return finish(err)
}

// between is the point i steps of n from one point to another, rounded.
func between(from, to image.Point, i, n int) image.Point {
	at := func(a, b int) int {
		d := 2*(b-a)*i + n // twice the distance, and a half
		q := d / (2 * n)
		if d < 0 && d%(2*n) != 0 {
			q-- // towards the lower number, as for positive distances
		}
		return a + q
	}
	return image.Pt(at(from.X, to.X), at(from.Y, to.Y))
}
