package plane

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/grid"
)

// isTerminal reports whether a session is a terminal and no desktop.
func isTerminal(s *engine.Session) bool { return s.Target().Protocol == viewer.SSH }

// geometryOf is the coordinate space of a session: pixels of a desktop, cells
// of a terminal. The generation moves with every change of size and with every
// connection.
func geometryOf(s *engine.Session) (generation uint32, w, h int) {
	if g := s.Grid(); g != nil {
		cols, rows, resizes := g.Shape()
		return uint32(min(1+resizes+uint64(s.Info().Connections), 1<<32-1)), cols, rows
	}
	w, h = s.Frame().Size()
	return s.Frame().Generations().Geometry, w, h
}

// unitOf is what the coordinates of a session count.
func unitOf(s *engine.Session) string {
	if isTerminal(s) {
		return "cells"
	}
	return "pixels"
}

// terminalInfo is the state of a terminal; nil for a desktop, and for a login
// without a terminal.
func terminalInfo(s *engine.Session) *control.TerminalInfo {
	g := s.Grid()
	if g == nil {
		return nil
	}
	sc := g.Screen()
	i := &control.TerminalInfo{Cols: sc.Cols, Rows: sc.Rows}
	if s.State().Phase != viewer.Connected {
		const why = "the terminal is not connected"
		off := control.UnknownValue[bool](why)
		i.AltScreen, i.BracketedPaste, i.MouseReporting = off, off, off
		i.Cursor, i.Title = control.UnknownValue[control.CursorInfo](why), control.UnknownValue[string](why)
		return i
	}
	i.AltScreen, i.BracketedPaste = control.LiveValue(sc.Alternate), control.LiveValue(sc.Modes.BracketedPaste)
	i.MouseReporting = control.LiveValue(sc.Modes.Mouse != 0)
	i.Cursor = control.LiveValue(control.CursorInfo{X: sc.X, Y: sc.Y, Visible: sc.Visible})
	if i.Title = control.UnknownValue[string]("no program has named the window"); sc.Title != "" {
		i.Title = control.LiveValue(sc.Title)
	}
	return i
}

// terminal is the seat of a call that is for terminals only and whose
// capability the caller has.
func (c *call) terminal() (*seat, error) {
	st, err := c.seat()
	if err != nil {
		return nil, err
	}
	if !isTerminal(st.session) {
		return nil, control.Refuse(control.WrongProtocol, c.row.Name+" is for terminals, and "+st.limb.id+" is a desktop")
	}
	if err := c.needs(c.capability()); err != nil {
		return nil, err
	}
	return st, nil
}

// gridOf is the terminal of a seat that was connected at some time: what it
// shows stays when the connection has ended.
func (c *call) gridOf(st *seat) (*grid.Terminal, error) {
	g := st.session.Grid()
	if g == nil {
		return nil, &control.Refused{Code: control.NotSupported, Message: st.limb.id + " was logged in to without a terminal", Hint: "Use dvv_run for commands and dvv_files for files; a person can save the machine with a terminal."}
	}
	if st.session.Info().Connections == 0 {
		if refused := ready(st.session, c.a.plane.now()); refused != nil {
			return nil, refused
		}
	}
	return g, nil
}

// afterwards says that a terminal is not connected any more, or is empty.
func afterwards(s *engine.Session, c *call) string {
	st := stateOf(s.State(), c.a.plane.now())
	if st.State == viewer.Connected {
		return ""
	}
	return " It is " + stateText(st) + "; this is what was left."
}

// maxTermRead bounds the text of one dvv_term_read, in bytes.
const maxTermRead = 64 << 10

// termReadAnswer is the result of dvv_term_read.
type termReadAnswer struct {
	LimbID     string `json:"limbId"`
	Text       string `json:"text"`
	Cursor     string `json:"cursor"`
	Lost       uint64 `json:"lost"`       // lines that scrolled away before they were read
	More       bool   `json:"more"`       // read on with the cursor at once
	Unfinished bool   `json:"unfinished"` // the last lines may still change, and come again then
	AltScreen  bool   `json:"altScreen"`  // a full-screen program runs; see dvv_screen
}

// termRead serves dvv_term_read.
func (c *call) termRead() (control.Result, error) {
	st, err := c.terminal()
	if err != nil {
		return control.Result{}, err
	}
	g, err := c.gridOf(st)
	if err != nil {
		return control.Result{}, err
	}
	from, err := cursorOf(st.session, c.args.Text("since"))
	if err != nil {
		return control.Result{}, err
	}
	p := g.Read(from, maxTermRead)
	a := termReadAnswer{
		LimbID: st.limb.id, Text: p.Text, Cursor: st.session.ID() + ":" + p.Next.String(),
		Lost: p.Lost, More: p.More, Unfinished: p.Unfinished, AltScreen: p.Alternate,
	}
	st.renew()
	text := fmt.Sprintf("%s of output of %s.", count(len(p.Text), "byte", "bytes"), st.limb.id)
	if p.Text == "" {
		text = "Nothing new was printed on " + st.limb.id + "."
	}
	if p.Lost > 0 {
		text += fmt.Sprintf(" %s before it had scrolled out of reach.", count(int(min(p.Lost, 1<<31)), "line", "lines"))
	}
	if p.More {
		text += " There is more: call again with this cursor."
	}
	if p.Alternate {
		text += " A full-screen program runs, which is not part of this: look with dvv_screen."
	}
	text += afterwards(st.session, c)
	if p.Text != "" {
		text += "\n" + wrap(st, p.Text)
	}
	return control.Result{Text: text, Structured: a}, nil
}

// cursorOf reads a cursor of dvv_term_read. One of an earlier session says
// nothing about this one.
func cursorOf(s *engine.Session, text string) (grid.Cursor, error) {
	if text == "" {
		return grid.Cursor{}, nil
	}
	session, cursor, ok := strings.Cut(text, ":")
	at, err := grid.ParseCursor(cursor)
	switch {
	case !ok || err != nil || cursor == "":
		return at, control.Refuse(control.BadRequest, `dvv_term_read: "since" is the cursor that an earlier call returned; leave it out to read from the beginning`)
	case session != s.ID():
		return at, control.Refuse(control.BadRequest, `dvv_term_read: "since" belongs to another session; leave it out to read this one from the beginning`)
	}
	return at, nil
}

const (
	// maxTermSend bounds what one dvv_term_send may send, in bytes.
	maxTermSend = 1 << 20
	// sendPiece is how much of it is queued at once: what was not written yet
	// can be taken back.
	sendPiece = 4 << 10
)

// termSend serves dvv_term_send.
func (c *call) termSend() (control.Result, error) {
	st, err := c.terminal()
	if err != nil {
		return control.Result{}, err
	}
	data, err := c.toSend()
	if err != nil {
		return control.Result{}, err
	}
	if _, err := c.gridOf(st); err != nil {
		return control.Result{}, err
	}
	a, err := c.begin(st, fences{})
	if err != nil {
		return control.Result{}, err
	}
	sent := 0
	for sent < len(data) && err == nil {
		n := pieceOf(data[sent:])
		if err = a.step(false, viewer.Bytes{Data: data[sent : sent+n]}); err == nil {
			sent += n
		}
	}
	p := counted("delivered", sent)
	p.of = [2]string{"byte was sent", "bytes were sent"}
	return c.settle(a, p, err, nil,
		fmt.Sprintf("Sent %s to %s (intent %d). That does not say what came of it: follow with dvv_wait, then look.", count(sent, "byte", "bytes"), st.limb.id, a.id))
}

// pieceOf is the length of the next piece, which ends between characters.
func pieceOf(b []byte) int {
	if len(b) <= sendPiece {
		return len(b)
	}
	for n := sendPiece; n > sendPiece-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			return n
		}
	}
	return sendPiece
}

// toSend are the bytes that dvv_term_send is to send.
func (c *call) toSend() ([]byte, error) {
	bad := func(text string) ([]byte, error) {
		return nil, control.Refuse(control.BadRequest, "dvv_term_send: "+text)
	}
	data := []byte(c.args.Text("text"))
	if c.args.Has("bytesHex") {
		digits := strings.Join(strings.Fields(c.args.Text("bytesHex")), "")
		var err error
		if data, err = hex.DecodeString(digits); err != nil {
			if errors.Is(err, hex.ErrLength) {
				return bad(fmt.Sprintf(`"bytesHex" has %d digits; it takes two for each byte`, len(digits)))
			}
			return bad(`"bytesHex" holds something that is no hexadecimal digit`)
		}
	} else if !c.args.Has("text") {
		return bad(`give "text" or "bytesHex"`)
	}
	switch {
	case len(data) == 0:
		return bad("there is nothing to send")
	case len(data) > maxTermSend:
		return bad(fmt.Sprintf("%d bytes are more than the %d of one call; store a file with dvv_files instead", len(data), maxTermSend))
	}
	return data, nil
}

// stateWatch tells of changes of a session's state.
func stateWatch(s *engine.Session) (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	cancel := s.Subscribe(func(ev viewer.Event) {
		if _, is := ev.(viewer.StateChanged); is {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	})
	return c, cancel
}
