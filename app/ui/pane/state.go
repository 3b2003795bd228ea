package pane

import (
	"errors"
	"fmt"
	"math"
	"time"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

var errClosed = &viewer.Error{Op: "login", Kind: viewer.Cancelled, Err: errors.New("the session was closed")}

// update shows the session as it stands.
func (p *Pane) update() {
	if p.closed {
		return
	}
	st, info := p.session.State(), p.session.Info()
	if info.CursorSet {
		p.surface.setCursor(info.Cursor)
	} else {
		p.surface.unsetCursor()
	}
	up := st.Phase == viewer.Connected
	p.stopCounting()
	switch {
	case p.restless && !up:
		p.drop()
	case p.restless && info.Connections != p.made: // it came and went between two looks
		p.LetGo()
	}
	p.made = info.Connections
	switch {
	case up:
		p.live, p.refused = true, ""
		p.told()
		if p.failed != nil {
			p.card.show("No room for this picture", viewer.Reason(p.failed), "", choice{"Close", true, p.config.Close})
		}
	case p.sheet.reply != nil:
		p.told()
	case st.Phase == viewer.Disconnected:
		if st.Kind == viewer.Denied {
			p.refused = sentence(st.Reason)
		}
		p.showEnd(st)
	case st.Phase == viewer.Reconnecting && !st.NextRetry.IsZero():
		p.showPause(st)
	default:
		p.tell(p.progress(st), p.session.Target().HostPort(), "", choice{"Cancel", false, p.config.Close})
	}
	if up && !p.restless && p.visible {
		p.Focus()
	}
	p.restless = up
	p.config.Changed()
}

// ask shows a question of the machine.
func (p *Pane) ask(q viewer.Question, reply chan<- answer) {
	if p.closed {
		reply <- answer{err: errClosed}
		return
	}
	if p.sheet.reply != nil { // a new attempt asks anew
		p.sheet.cancel()
	}
	p.sheet.ask(q, p.refused, reply)
	p.card.hide()
	p.Focus()
	p.config.Changed()
}

// progress is what a session being opened is doing.
func (p *Pane) progress(st viewer.State) string {
	name := p.session.Target().Label()
	switch st.Phase {
	case viewer.Resolving:
		return "Looking up " + name
	case viewer.Authenticating:
		return "Logging in to " + name
	case viewer.Negotiating:
		return "Agreeing with " + name
	case viewer.Reconnecting:
		return "Connecting to " + name + " again"
	}
	return "Connecting to " + name
}

// showPause tells why there is no connection and when the next attempt is
// made.
func (p *Pane) showPause(st viewer.State) {
	name := p.session.Target().Label()
	title := "No connection to " + name
	if p.live {
		title = "The connection to " + name + " is lost"
	}
	p.tell(title, sentence(st.Reason), pauseText(st, time.Now()), choice{"Close", false, p.config.Close}, choice{"Edit address", false, p.config.Edit}, choice{"Now", true, p.config.Retry})
	p.keepCounting(st)
}

// pauseText says when the next attempt is made.
func pauseText(st viewer.State, now time.Time) string {
	left := int(math.Ceil(st.NextRetry.Sub(now).Seconds()))
	when := fmt.Sprintf("in %d s", left)
	if left <= 0 {
		when = "now"
	} else if left >= 120 {
		when = fmt.Sprintf("in %d min", (left+30)/60)
	}
	if st.Attempt > 1 {
		return fmt.Sprintf("Trying again %s, for the %s time.", when, ordinal(st.Attempt))
	}
	return "Trying again " + when + "."
}

// ordinal is a number in its order.
func ordinal(n int) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, end)
}

// keepCounting has the text change when it is due, while it can be seen.
func (p *Pane) keepCounting(st viewer.State) {
	left := time.Until(st.NextRetry)
	if !p.visible || left <= 0 {
		return
	}
	next := left % time.Second
	if next < 20*time.Millisecond {
		next += time.Second
	}
	p.counting = time.AfterFunc(next, p.count.Post)
}

// countdown shows how long it is now; nothing else is drawn.
func (p *Pane) countdown() {
	p.stopCounting()
	st := p.session.State()
	if p.closed || st.Phase != viewer.Reconnecting || st.NextRetry.IsZero() || p.sheet.reply != nil {
		return
	}
	detail := p.card.detail
	if p.term != nil && p.live {
		detail = p.lost.detail
	}
	look.SetParagraph(detail, pauseText(st, time.Now()), look.ColorMuted)
	p.keepCounting(st)
}

func (p *Pane) stopCounting() {
	if p.counting != nil {
		p.counting.Stop()
		p.counting = nil
	}
}

// Refuse says no to what is asked on the pane, if anything is.
func (p *Pane) Refuse() {
	if p.confirm != nil {
		p.confirm.cancel()
	}
	if p.sheet.reply != nil {
		p.sheet.cancel()
	}
}

// showEnd tells how the session ended and what can be done.
func (p *Pane) showEnd(st viewer.State) {
	name := p.session.Target().Label()
	title := "Could not connect to " + name
	if p.live {
		title = "The connection to " + name + " has ended"
	}
	advice := ""
	again := choice{"Try again", true, p.config.Retry}
	edit := choice{"Edit address", false, p.config.Edit}
	end := choice{"Close", false, p.config.Close}
	choices := []choice{end, again}
	switch st.Kind {
	case viewer.Unreachable:
		advice = "Check the address and that the machine is on and lets viewers in."
		choices = []choice{end, edit, again}
	case viewer.Timeout:
		advice = fmt.Sprintf("%s did not answer in time. It may be off, or a firewall drops the connection.", p.session.Target().HostPort())
		choices = []choice{end, edit, again}
	case viewer.Denied:
		title = name + " refused the login"
		advice = "Try again to give other credentials."
	case viewer.Credentials:
		title = name + " asks for a login"
	case viewer.Cancelled:
		title = "Not connected to " + name
	case viewer.Exited:
		title = "The program on " + name + " has ended"
		choices = []choice{end, {"Start again", true, p.config.Retry}}
	case viewer.Unsupported, viewer.Invalid:
		advice = "Trying again will not help as long as nothing has changed on the machine."
		choices = []choice{{"Close", true, p.config.Close}, edit, {"Try again", false, p.config.Retry}}
	case viewer.Limit:
		advice = "The machine asked for more than this viewer allows."
		choices = []choice{{"Close", true, p.config.Close}, {"Try again", false, p.config.Retry}}
	case viewer.Malformed:
		advice = "The machine sent something that is not right; the picture up to then is kept."
	case viewer.Closed:
		if p.live {
			advice = "The machine, or something on the way to it, ended the connection."
		} else {
			choices = []choice{end, edit, again}
		}
	}
	if p.session.Called() {
		if !p.live {
			title = "Could not show " + name
		}
		advice = "It comes back here when it calls again."
		choices = []choice{{"Close", true, p.config.Close}}
	}
	p.tell(title, sentence(st.Reason), advice, choices...)
}

// sentence makes a reason one.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	r := []rune(s)
	if r[0] >= 'a' && r[0] <= 'z' {
		r[0] += 'A' - 'a'
	}
	if last := r[len(r)-1]; last != '.' && last != '!' && last != '?' {
		r = append(r, '.')
	}
	return string(r)
}
