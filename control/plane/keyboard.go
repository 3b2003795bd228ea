package plane

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/key"
)

// typeText serves dvv_type.
func (c *call) typeText() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.takesKeys(st); err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	text := c.args.Text("text")
	if text == "" {
		return control.Result{}, &control.Refused{Code: control.NotExpressible, Message: "there is no text to type", Hint: "Give text; keys such as Enter go through dvv_key."}
	}
	n := 0
	for _, r := range text {
		if key.FromRune(r).Sym == 0 {
			return control.Result{}, &control.Refused{
				Code: control.NotExpressible, Message: fmt.Sprintf("character %d, %U, is none that a key types; nothing was typed", n+1, r),
				Hint: "Leave it out, or press the key that you mean with dvv_key.",
			}
		}
		n++
	}
	var pause time.Duration
	if c.args.Has("wpm") { // five characters a word
		pause = time.Duration(60000/(max(c.args.Number("wpm"), 1)*5)) * time.Millisecond
	}
	a, err := c.begin(st, c.keyFences(st))
	if err != nil {
		return control.Result{}, err
	}
	sent, err := a.typing(text, pause)
	return c.settle(a, counted("code-points", sent), err, nil,
		fmt.Sprintf("Typed %s (intent %d).", count(sent, "character", "characters"), a.id))
}

// keyFences are the fences of keys: what is typed into a terminal goes to its
// program, whatever it shows.
func (c *call) keyFences(st *seat) fences { return fences{keys: !isTerminal(st.session)} }

// typing sends text, one code point at a time, and tells how many went. A
// carriage return with a line feed is one line break.
func (a *act) typing(text string, pause time.Duration) (sent int, err error) {
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		points := 1
		if r == '\r' && len(text) > size && text[size] == '\n' {
			size++
			points++
		}
		text = text[size:]
		k := key.FromRune(r)
		in := viewer.Key{Sym: k.Sym, Rune: key.Rune(k.Sym), Down: true}
		if err := a.step(false, in, viewer.Key{Sym: in.Sym, Rune: in.Rune}); err != nil {
			return sent, err
		}
		sent += points
		if pause > 0 && text != "" {
			if err := a.pause(pause); err != nil {
				return sent, err
			}
		}
	}
	return sent, nil
}

// key serves dvv_key.
func (c *call) key() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.takesKeys(st); err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	keys, resolved, err := key.ParseChord(c.args.Text("keys"))
	var unknown *key.UnknownError
	switch {
	case errors.As(err, &unknown):
		return control.Result{}, control.Refuse(control.UnknownKey, fmt.Sprintf("%.64q is not a key; nothing was pressed", unknown.Name))
	case errors.Is(err, key.ErrNone):
		return control.Result{}, &control.Refused{Code: control.BadRequest, Message: "no key is named", Hint: "Give a name such as Enter, or a chord such as ctrl+c."}
	case err != nil:
		return control.Result{}, control.Refuse(control.BadRequest, err.Error())
	}
	down := typed(st, keys)
	if !means(st, down) {
		return control.Result{}, &control.Refused{
			Code: control.NotExpressible, Message: fmt.Sprintf("%.80q sends nothing to the program of a terminal; nothing was pressed", c.args.Text("keys")),
			Hint: "Use a key or chord that terminals have, such as Enter, ctrl+c, alt+b or F5.",
		}
	}
	a, err := c.begin(st, c.keyFences(st))
	if err != nil {
		return control.Result{}, err
	}
	var in []viewer.Input
	for _, k := range down {
		in = append(in, k)
	}
	err = a.step(false, append(in, ups(down)...)...)
	return c.settle(a, counted("delivered", a.sent), err, resolved, fmt.Sprintf("Pressed %.80q (intent %d).", c.args.Text("keys"), a.id))
}

// takesKeys refuses a login that has nothing to type into.
func (c *call) takesKeys(st *seat) error {
	if isTerminal(st.session) && st.session.Grid() == nil {
		_, err := c.gridOf(st)
		return err
	}
	return nil
}

// typed is a key of a chord going down on a session: a terminal is given the
// character as well, since its program reads characters.
func typed(st *seat, keys []key.Key) (down []viewer.Key) {
	shift := slices.ContainsFunc(keys, func(k key.Key) bool { return k.Sym == key.ShiftL || k.Sym == key.ShiftR })
	for _, k := range keys {
		p := pressed(k)
		if isTerminal(st.session) && !k.Modifier() {
			if p.Rune = key.Rune(k.Sym); shift {
				p.Rune = unicode.ToUpper(p.Rune)
			}
			if p.Rune < ' ' {
				p.Rune = 0
			}
		}
		down = append(down, p)
	}
	return down
}

// means reports whether a chord says anything to the program of a terminal.
func means(st *seat, down []viewer.Key) bool {
	g := st.session.Grid()
	if g == nil {
		return true
	}
	m := g.Screen().Modes
	t := key.Term{
		AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, NewLine: m.NewLine, BackspaceBS: m.BackspaceBS,
		MetaEsc: m.MetaEsc, ModifyOther: m.ModifyOther, Kitty: m.Kitty,
	}
	var mods key.Mods
	for _, k := range down {
		switch k.Sym {
		case key.ShiftL, key.ShiftR:
			mods |= key.ModShift
		case key.ControlL, key.ControlR:
			mods |= key.ModCtrl
		case key.AltL, key.AltR, key.MetaL:
			mods |= key.ModAlt
		case key.SuperL, key.SuperR:
			mods |= key.ModSuper
		}
		if len(t.Bytes(key.Stroke{Sym: k.Sym, Rune: k.Rune, Mods: mods, Action: key.Press})) > 0 {
			return true
		}
	}
	return false
}
