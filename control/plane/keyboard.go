package plane

import (
	"errors"
	"fmt"
	"time"
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
	if err := c.desktopKeys(st); err != nil {
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
	a, err := c.begin(st, fences{keys: true})
	if err != nil {
		return control.Result{}, err
	}
	sent, err := a.typing(text, pause)
	return c.settle(a, counted("code-points", sent), err, nil,
		fmt.Sprintf("Typed %s (intent %d).", count(sent, "character", "characters"), a.id))
}

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
	if err := c.desktopKeys(st); err != nil {
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
	a, err := c.begin(st, fences{keys: true})
	if err != nil {
		return control.Result{}, err
	}
	var down []viewer.Key
	var in []viewer.Input
	for _, k := range keys {
		down = append(down, pressed(k))
		in = append(in, down[len(down)-1])
	}
	err = a.step(false, append(in, ups(down)...)...)
	return c.settle(a, counted("delivered", a.sent), err, resolved, fmt.Sprintf("Pressed %.80q (intent %d).", c.args.Text("keys"), a.id))
}

// desktopKeys refuses a limb that this build can send no keys to.
func (c *call) desktopKeys(st *seat) error {
	if st.session.Target().Protocol == viewer.SSH {
		return control.Refuse(control.NotImplemented, c.row.Name+" on a terminal is not served by this build")
	}
	return nil
}
