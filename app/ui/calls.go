package ui

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// callPort is where viewers usually wait for machines that call them.
const callPort = 5500

// A Listener waits for machines that call.
type Listener interface {
	Addr() net.Addr
	// Close ends the waiting and hangs up on those that wait; the sessions go
	// on.
	Close() error
}

// A ListenFunc begins to wait for machines that call at an address. Agree asks
// the person whether a machine may show its screen, until ctx ends; told tells
// what became of a call. Both are called from other goroutines.
type ListenFunc func(address string, agree func(ctx context.Context, from viewer.Target) bool, told func(from viewer.Target, s *engine.Session, err error)) (Listener, error)

// calls is the waiting for machines that call.
type calls struct {
	w        *Window
	listener Listener // nil while nobody waits
	port     int      // the last one
	here     bool     // only programs of this computer can call
	queue    []*call  // those that ask; the first is shown

	object *fyne.Container
	title  *look.Text
	text   *widget.RichText
	yes    *look.Choice
	no     *look.Choice
}

// A call asks the person.
type call struct {
	from  viewer.Target
	reply chan bool // has room for one
}

func newCalls(w *Window) *calls {
	c := &calls{
		w: w, port: callPort,
		title: look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true),
		text:  look.NewParagraph("", look.ColorMuted, theme.SizeNameText),
	}
	button := func(id, text string, importance widget.Importance) *look.Choice {
		return look.NewChoice(text, importance, func() { w.invoke(id, nil) })
	}
	c.yes, c.no = button("calls.accept", "Show", widget.HighImportance), button("calls.refuse", "Refuse", widget.MediumImportance)
	buttons := container.NewHBox(spacer(), c.no, c.yes)
	c.object = look.NewCard(container.NewVBox(c.title, c.text, container.New(look.Inset{6, 0, 0, 0}, buttons)))
	c.object.Hide()
	return c
}

// callCommands are the commands about machines that call.
func (w *Window) callCommands() []command.Command {
	return []command.Command{
		{
			ID: "session.listen", Label: "Wait for calls...", Menu: []string{"Session"}, Kind: command.Action, Capability: grant.Admin, Person: true, Window: true,
			Doc: "Waits for machines that call this viewer to show their screen, or no longer. Each is asked about. Without parameters a card lets the person choose.",
			Params: []command.Param{
				{Name: "on", Type: command.Bool, Doc: "wait, or do not"},
				{Name: "port", Type: command.Integer, Doc: "where, the last one when missing; " + strconv.Itoa(callPort) + " at first"},
				{Name: "here", Type: command.Bool, Doc: "only programs of this computer can call"},
			},
			Enabled: func(command.Params) error {
				if w.config.Listen == nil {
					return errors.New("this window takes no calls")
				}
				return nil
			},
			On: func() bool { return w.calls.listener != nil }, Run: w.runListen,
		},
		{
			ID: "calls.accept", Label: "Show the machine that calls", Kind: command.Action, Capability: grant.Open, Person: true, Window: true,
			Doc: "Lets the machine in that asks to show its screen.", Enabled: w.needCall,
			Run: func(context.Context, command.Params) (any, error) { w.calls.answer(true); return nil, nil },
		},
		{
			ID: "calls.refuse", Label: "Refuse the machine that calls", Kind: command.Action, Capability: grant.Open, Person: true, Window: true,
			Doc: "Hangs up on the machine that asks to show its screen.", Enabled: w.needCall,
			Run: func(context.Context, command.Params) (any, error) { w.calls.answer(false); return nil, nil },
		},
	}
}

func (w *Window) needCall(command.Params) error {
	if len(w.calls.queue) == 0 {
		return errors.New("no machine calls")
	}
	return nil
}

// runListen begins or ends the waiting, or shows the card for it.
func (w *Window) runListen(_ context.Context, p command.Params) (any, error) {
	if !p.Has("on") && !p.Has("port") {
		w.showListen()
		return nil, nil
	}
	if !p.Bool("on", true) {
		w.calls.stop()
		return map[string]any{"on": false}, nil
	}
	port := w.calls.port
	if p.Has("port") {
		port = p.Int("port")
	}
	if err := w.calls.start(port, p.Bool("here", w.calls.here)); err != nil {
		return nil, err
	}
	return map[string]any{"on": true, "address": w.calls.listener.Addr().String()}, nil
}

// start begins to wait at a port.
func (c *calls) start(port int, here bool) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%d is not a port: use a number from 1 to 65535", port)
	}
	c.stop()
	host := ""
	if here {
		host = "localhost"
	}
	l, err := c.w.config.Listen(net.JoinHostPort(host, strconv.Itoa(port)), c.agree, c.told)
	if err != nil {
		return errors.New(viewer.Reason(err))
	}
	c.listener, c.port, c.here = l, port, here
	c.w.status.say("Machines can call now, "+c.where()+".", false)
	c.w.sayControl()
	return nil
}

// where is where it waits, for a person.
func (c *calls) where() string {
	text := "at port " + strconv.Itoa(c.port)
	if c.here {
		text += " from this computer only"
	}
	return text
}

// stop ends the waiting.
func (c *calls) stop() {
	l := c.listener
	if l == nil {
		return
	}
	c.listener = nil
	c.w.background.Go(func() { _ = l.Close() }) // it has ended either way
	for len(c.queue) > 0 {
		c.answer(false)
	}
	c.w.status.say("Machines cannot call any more.", false)
	c.w.sayControl()
}

// agree asks the person; see [ListenFunc].
func (c *calls) agree(ctx context.Context, from viewer.Target) bool {
	q := &call{from: from, reply: make(chan bool, 1)}
	if !c.w.fence.Go(func() { c.add(q) }) {
		return false
	}
	select {
	case yes := <-q.reply:
		return yes
	case <-ctx.Done():
		c.w.fence.Go(func() { c.drop(q) })
		return false
	}
}

// told says what became of a call; see [ListenFunc].
func (c *calls) told(from viewer.Target, s *engine.Session, err error) {
	c.w.fence.Go(func() {
		if c.w.closing {
			return
		}
		if err != nil {
			c.w.status.say(sentence("The call from "+from.Address+" came to nothing: "+viewer.Reason(err)), viewer.KindOf(err) != viewer.Cancelled)
			return
		}
		c.w.addTab(s) // the engine's own word may come later
		if t := c.w.tabOf(s); t != nil {
			c.w.choose(t)
		}
	})
}

// add has a call wait for the person.
func (c *calls) add(q *call) {
	if c.listener == nil || c.w.closing {
		q.reply <- false
		return
	}
	c.queue = append(c.queue, q)
	c.show()
}

// drop takes a call away that waits no longer.
func (c *calls) drop(q *call) {
	if i := slices.Index(c.queue, q); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		c.show()
	}
}

// answer answers the call that is shown.
func (c *calls) answer(yes bool) {
	q := c.queue[0]
	c.queue = c.queue[1:]
	q.reply <- yes
	c.show()
}

// show shows the first call, if there is one. The card takes no keyboard: what
// is typed meanwhile is not its answer.
func (c *calls) show() {
	if len(c.queue) == 0 {
		c.object.Hide()
		c.yes.Left()
		c.no.Left()
		return
	}
	from := c.queue[0].from
	c.title.SetText(callerName(from) + " wants to show its screen")
	text := "It has called this computer. Nothing is sent to it before you answer."
	if from.Name != "" {
		text = "It calls from " + from.Address + ". Nothing is sent to it before you answer."
	}
	if n := len(c.queue) - 1; n > 0 {
		text += fmt.Sprintf(" %d more wait.", n)
	}
	look.SetParagraph(c.text, text, look.ColorMuted)
	c.object.Show()
	c.object.Refresh()
	c.w.chrome.Refresh()
}

// place puts the card at the upper edge of the stage.
func (c *calls) place(stage fyne.Position, size fyne.Size) {
	const width, margin = 440, 10
	w := max(min(width, size.Width-2*margin), 60)
	c.object.Resize(fyne.NewSize(w, c.object.Size().Height)) // wrapped text knows its height only then
	c.object.Resize(fyne.NewSize(w, c.object.MinSize().Height))
	c.object.Move(stage.AddXY((size.Width-w)/2, margin))
}

// showListen lets the person begin or end the waiting.
func (w *Window) showListen() {
	c := w.calls
	text := look.NewParagraph("Machines whose VNC server connects to a listening viewer can show their screen here. You are asked about each of them, and nothing is sent to one before you agree.", look.ColorMuted, theme.SizeNameText)
	fault := look.NewParagraph("", theme.ColorNameError, theme.SizeNameText)
	fault.Hide()
	port := newCardEntry(func() { w.closeModal(); w.FocusPane() })
	port.SetText(strconv.Itoa(c.port))
	here := widget.NewCheck("Only from this computer", nil)
	here.SetChecked(c.here)
	label := look.NewText("Port", look.ColorMuted, theme.SizeNameText, false)
	label.SetMinWidth(label.Natural())
	row := container.NewHBox(label, container.New(fixed{74, port.MinSize().Height}, port), here)
	var toggle *look.Choice
	state := look.NewText("", theme.ColorNameForeground, theme.SizeNameText, false)
	paint := func() {
		if c.listener == nil {
			state.SetText("Not waiting.")
			toggle.SetText("Wait")
			port.Enable()
			here.Enable()
			return
		}
		state.SetText(sentence("Waiting " + c.where()))
		toggle.SetText("Stop")
		port.Disable()
		here.Disable()
	}
	act := func() {
		fault.Hide()
		if c.listener != nil {
			c.stop()
			paint()
			return
		}
		n, err := strconv.Atoi(strings.TrimSpace(port.Text))
		if err != nil {
			err = fmt.Errorf("%q is not a port: use a number from 1 to 65535", port.Text)
		} else {
			err = c.start(n, here.Checked)
		}
		if err != nil {
			look.SetParagraph(fault, sentence(err.Error()), theme.ColorNameError)
			fault.Show()
		}
		paint()
		w.fitModal()
	}
	toggle = look.NewChoice("", widget.MediumImportance, act)
	port.OnSubmitted = func(string) { act() }
	paint()
	w.showModal("Wait for calls", container.New(column(min(400, max(w.win.Canvas().Size().Width-60, 200))), text, row, fault, state), toggle)
}

// callerName is what a machine that calls is called: its port says nothing.
func callerName(from viewer.Target) string {
	if from.Name != "" {
		return from.Name
	}
	return from.Address
}
