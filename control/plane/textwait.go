package plane

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/grid"
)

const (
	// maxWaitText bounds the text that is waited for, in bytes.
	maxWaitText = 4096
	// firstOutput is how long a terminal that has printed nothing at all yet
	// must stay so to count as quiet: its prompt is on its way.
	firstOutput = 2 * time.Second
)

// exitInfo is how the program of a terminal ended.
type exitInfo struct {
	Code   *int    `json:"code"`
	Signal *string `json:"signal"`
}

// words are how it ended, in words.
func (e *exitInfo) words() string {
	switch {
	case e.Signal != nil:
		return "the program was ended by the signal " + oneLine(*e.Signal)
	case e.Code != nil:
		return fmt.Sprintf("the program ended with exit code %d", *e.Code)
	}
	return "the session has ended, and nobody told how the program did"
}

// errLinkLost ends a wait for the end of a program whose connection was lost:
// nobody knows whether it has ended.
var errLinkLost = errors.New("the connection was lost")

// checkWaitText refuses a text that cannot be waited for.
func checkWaitText(s string) error {
	switch {
	case s == "":
		return control.Refuse(control.BadRequest, `dvv_wait: "text" is empty, which is on every screen`)
	case len(s) > maxWaitText:
		return control.Refuse(control.BadRequest, fmt.Sprintf("dvv_wait: the text takes %d bytes, more than the %d that one may have", len(s), maxWaitText))
	}
	return nil
}

// waitTerminal waits on a terminal. It sleeps until the program prints or the
// state changes.
func (c *call) waitTerminal(ctx context.Context, st *seat, until string, quiet time.Duration) (settled bool, saw observed, exit *exitInfo, err error) {
	saw.Signal = "output-bytes"
	if until == "exit" {
		saw.Signal = "none"
		exit, err = c.waitExit(ctx, st)
		return exit != nil, saw, exit, err
	}
	g, err := c.gridOf(st)
	if err != nil {
		return false, saw, nil, err
	}
	state, stop := stateWatch(st.session)
	defer stop()
	w := g.Watch()
	defer w.Close()
	if refused := ready(st.session, c.a.plane.now()); refused != nil {
		return false, saw, nil, refused
	}
	before := g.Written()
	look := func() bool { return false }
	switch until {
	case "text":
		look = shows(g, c.args.Text("text"))
	case "text-gone":
		look = func() bool { return !onScreen(g, c.args.Text("text")) }
	case "screen-changed":
		from := g.Generation()
		look = func() bool { return g.Generation() != from }
	}
	calm := until == "idle" || until == "screen-stable"
	since := time.Now()
	for {
		if !calm && look() {
			settled = true
			break
		}
		var due <-chan time.Time
		var t *time.Timer
		if calm {
			q := quiet
			if g.Written() == 0 {
				q = max(q, firstOutput)
			}
			t = time.NewTimer(time.Until(since.Add(q)))
			due = t.C
		}
		ended := false
		select {
		case <-w.Wake():
			since = time.Now()
		case <-due:
			settled, ended = true, true
		case <-state:
			if refused := ready(st.session, c.a.plane.now()); refused != nil {
				settled = !calm && look() // its last words
				if !settled {
					err = refused
				}
				ended = true
			}
		case <-st.session.Done():
			err, ended = control.Refuse(control.LimbGone, "the session of "+st.limb.id+" has ended"), true
		case <-ctx.Done():
			ended = true
		}
		if t != nil {
			t.Stop()
		}
		if ended {
			break
		}
		if until == "text" || until == "text-gone" { // output in a torrent is not searched for every line of it
			pause := time.NewTimer(lookPause)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			pause.Stop()
		}
	}
	if !settled && err == nil && !calm && ctx.Err() != nil {
		settled = look()
	}
	if settled {
		saw.Confidence = 1
	}
	saw.Bytes = int(min(g.Written()-before, math.MaxInt32))
	saw.QuietMs = time.Since(since).Milliseconds()
	return settled, saw, nil, err
}

// onScreen reports whether a text is on the screen now. A line that wrapped
// counts as one.
func onScreen(g *grid.Terminal, text string) bool {
	sc := g.Screen()
	if strings.Contains(strings.Join(sc.Lines, "\n"), text) {
		return true
	}
	var b strings.Builder
	for y, line := range sc.Lines {
		b.WriteString(line)
		switch {
		case !sc.Wrapped[y]:
			b.WriteByte('\n')
		case utf8.RuneCountInString(line) == len(line): // blanks at its end are part of the line
			b.WriteString(strings.Repeat(" ", max(0, sc.Cols-len(line))))
		}
	}
	return strings.Contains(b.String(), text)
}

// shows returns a look for a text: on the screen, or in what was printed since
// the first look and may have scrolled away again.
func shows(g *grid.Terminal, text string) func() bool {
	at := g.Read(grid.Cursor{Line: math.MaxUint64}, 1).Next
	at = grid.Cursor{Line: at.Line}
	return func() bool {
		if onScreen(g, text) {
			return true
		}
		for {
			p := g.Read(at, maxTermRead)
			if strings.Contains(p.Text, text) {
				return true
			}
			if !p.More {
				at = grid.Cursor{Line: p.Next.Line} // the last lines come again
				return false
			}
			at = p.Next
			if at.Char >= uint64(len(text)) { // a text over the cut is found too
				at.Char -= uint64(len(text))
			} else {
				at.Char = 0
			}
		}
	}
}

// waitExit waits for the end of the program in a terminal. nil without an error
// says that it goes on.
func (c *call) waitExit(ctx context.Context, st *seat) (*exitInfo, error) {
	s := st.session
	state, stop := stateWatch(s)
	defer stop()
	began := s.Info().Connections
	for {
		now, info := s.State(), s.Info()
		switch {
		case now.Phase == viewer.Disconnected && info.Connections == 0:
			if refused := ready(s, c.a.plane.now()); refused != nil {
				return nil, refused
			}
		case now.Phase == viewer.Disconnected && now.Kind == viewer.Exited:
			e := &exitInfo{}
			var exit *viewer.Exit
			if errors.As(info.LastErr, &exit) && exit.Signal != "" {
				e.Signal = &exit.Signal
			} else if exit != nil {
				e.Code = &exit.Code
			}
			return e, nil
		case now.Phase == viewer.Disconnected:
			return &exitInfo{}, nil // nobody says how
		case began > 0 && (info.Connections != began || now.Phase == viewer.Reconnecting):
			return nil, errLinkLost
		}
		select {
		case <-state:
		case <-s.Done():
			return &exitInfo{}, nil
		case <-ctx.Done():
			return nil, nil
		}
	}
}
