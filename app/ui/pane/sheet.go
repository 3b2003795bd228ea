package pane

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"slices"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// maxSecret bounds what a person can type as a password, in bytes.
const maxSecret = 1024

// An entry is a line of a sheet: Escape cancels it.
type entry struct {
	widget.Entry
	canvas fyne.Canvas
	cancel func()
}

func newEntry(c fyne.Canvas, cancel func()) *entry {
	e := &entry{canvas: c, cancel: cancel}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey is called by the toolkit.
func (e *entry) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape {
		e.cancel()
		return
	}
	e.Entry.TypedKey(ev)
}

// A sheet asks a person for what a machine wants to know, on the pane of its
// session. It belongs to the goroutine of the widgets.
type sheet struct {
	box      *fyne.Container
	body     *fyne.Container
	title    *look.Text
	text     *widget.RichText
	warning  *widget.RichText
	user     *entry
	secret   *entry
	save     *widget.Check // keep the answer
	saving   *widget.RichText
	art      *widget.Label   // a key's fingerprint as a drawing
	prompts  *fyne.Container // what the machine asks in its own words
	lines    []*entry        // of them
	sure     *widget.Check   // a changed key may be replaced
	yes, no  *look.Choice
	question viewer.Question

	reply chan<- answer // where the answer goes; nil when nothing is asked
}

type answer struct {
	a   viewer.Answer
	err error
}

func newSheet(c fyne.Canvas) *sheet {
	s := &sheet{
		title:   look.NewText("", theme.ColorNameForeground, theme.SizeNameSubHeadingText, true),
		text:    look.NewParagraph("", look.ColorMuted, theme.SizeNameText),
		warning: look.NewParagraph("", theme.ColorNameWarning, theme.SizeNameText),
	}
	s.user, s.secret = newEntry(c, s.cancel), newEntry(c, s.cancel)
	s.secret.Password = true
	s.secret.ActionItem = canvas.NewRectangle(color.Transparent) // in place of the eye that would show it
	s.user.SetPlaceHolder("User name")
	s.secret.SetPlaceHolder("Password")
	s.user.OnSubmitted = func(string) { s.secret.focus() }
	s.secret.OnSubmitted = func(string) { s.submit() }
	s.art, s.prompts = newArt(), container.NewVBox()
	s.save, s.saving = widget.NewCheck("", nil), look.NewParagraph("", look.ColorMuted, theme.SizeNameCaptionText)
	s.sure = widget.NewCheck("I know why it has changed", func(bool) { s.allow() })
	s.yes, s.no = look.NewChoice("", widget.HighImportance, s.submit), look.NewChoice("Cancel", widget.MediumImportance, s.cancel)
	buttons := container.NewHBox(layout.NewSpacer(), s.no, s.yes)
	body := look.NewCard(container.NewVBox(s.title, s.text, s.art, s.user, s.secret, s.prompts, s.save, s.saving, s.warning, s.sure, container.New(look.Inset{6, 0, 0, 0}, buttons)))
	s.body = body
	s.box = container.NewStack(look.NewGround(look.ColorVeil), container.New(centred{func() fyne.CanvasObject { return body }}, container.NewVScroll(body)))
	s.box.Hide()
	return s
}

func (e *entry) focus() { e.canvas.Focus(e) }

// ask shows the question; the answer goes to reply, which has room for it.
// Before is what the machine said to the try before this one.
func (s *sheet) ask(q viewer.Question, before string, reply chan<- answer) {
	s.reply, s.question = reply, q
	w := wording(q)
	if before != "" && (w.user || w.secret || len(q.Prompts) > 0) && q.Kind != viewer.AskPassphrase {
		w.text = before + "\n" + w.text
	}
	s.title.SetText(w.title)
	look.SetParagraph(s.text, w.text, look.ColorMuted)
	color, loud := theme.ColorNameWarning, theme.ColorNameForeground
	if w.sure {
		color, loud = theme.ColorNameError, theme.ColorNameError
	}
	s.title.SetColor(loud)
	look.SetParagraph(s.warning, w.warning, color)
	show(s.warning, w.warning != "")
	show(s.user, w.user)
	show(s.secret, w.secret)
	s.secret.SetPlaceHolder(or(w.hint, "Password"))
	s.art.SetText(w.art)
	show(s.art, w.art != "")
	s.askPrompts(q.Prompts)
	s.yes.SetText(w.yes)
	s.yes.Importance = widget.HighImportance
	if w.danger {
		s.yes.Importance = widget.DangerImportance
	}
	s.save.SetChecked(false)
	s.save.Hide()
	if w.keep { // what replaces a key is kept anyhow
		s.save.Text = "Remember it for the next time"
		s.save.Enable()
		s.save.SetChecked(true)
		s.save.Show()
	}
	s.saving.Hide()
	s.sure.SetChecked(false)
	show(s.sure, w.sure)
	s.allow()
	s.secret.SetText("")
	s.user.SetText(q.Name)
	if s.user.Text == "" {
		s.user.SetText(q.Target.User)
	}
	s.box.Show()
	s.box.Refresh()
}

// allow lets a dangerous yes be pressed only by somebody who means it.
func (s *sheet) allow() {
	if s.sure.Visible() && !s.sure.Checked {
		s.yes.Disable()
	} else {
		s.yes.Enable()
	}
}

// A Keeping says whether a password can be kept, and what a person should
// know about that.
type Keeping struct {
	Possible bool
	Text     string
}

// keepable are the questions whose answer the keychain can hold.
var keepable = []viewer.QuestionKind{viewer.AskPassword, viewer.AskVNCPassword, viewer.AskProxyPassword, viewer.AskPassphrase}

// offer offers to keep the password.
func (s *sheet) offer(k Keeping) {
	what := "password"
	if s.question.Kind == viewer.AskPassphrase {
		what = "passphrase"
	}
	s.save.Text = "Save in the keychain"
	if s.question.Target.HostID == "" {
		s.save.Text = "Save the machine, and its " + what + " in the keychain"
	}
	if k.Possible {
		s.save.Enable()
	} else {
		s.save.SetChecked(false)
		s.save.Disable()
	}
	s.save.Show()
	look.SetParagraph(s.saving, k.Text, look.ColorMuted)
	show(s.saving, k.Text != "")
	s.box.Refresh()
}

func show(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
}

// take puts the cursor where something is to be typed. A question of yes or
// no gets none: a key meant for the machine must not answer it.
func (s *sheet) take() {
	switch {
	case s.user.Visible() && s.user.Text == "":
		s.user.focus()
	case s.secret.Visible():
		s.secret.focus()
	case len(s.lines) > 0:
		s.lines[0].focus()
	}
}

func (s *sheet) submit() {
	for _, e := range append([]*entry{s.secret}, s.lines...) {
		if len(e.Text) > maxSecret {
			look.SetParagraph(s.text, fmt.Sprintf("An answer has at most %d bytes.", maxSecret), theme.ColorNameError)
			e.focus()
			return
		}
	}
	a := viewer.Answer{User: s.user.Text, Secret: viewer.SecretString(s.secret.Text), Save: s.save.Visible() && s.save.Checked}
	switch s.question.Kind {
	case viewer.AskPassword:
	case viewer.AskVNCPassword, viewer.AskProxyPassword, viewer.AskPassphrase:
		a.User = ""
	case viewer.AskPrompts:
		a = viewer.Answer{Secrets: s.answers()}
	default:
		a = viewer.Answer{Accept: true, Save: a.Save, Replace: s.question.Key != nil && s.question.Key.Pinned != nil}
	}
	s.done(answer{a: a})
}

func (s *sheet) cancel() {
	s.done(answer{err: &viewer.Error{Op: "login", Kind: viewer.Cancelled, Err: errors.New("you cancelled the login")}})
}

// done answers, once, and takes the sheet away.
func (s *sheet) done(a answer) {
	if s.reply == nil {
		return
	}
	s.reply <- a // has room for one
	s.hide()
}

// hide takes the sheet away; what was typed is forgotten.
func (s *sheet) hide() {
	s.reply = nil
	s.secret.SetText("")
	s.box.Hide()
	s.yes.Left()
	s.no.Left()
	lines := append([]*entry{s.user, s.secret}, s.lines...)
	s.askPrompts(nil)
	for _, e := range lines {
		if e.canvas.Focused() == fyne.Focusable(e) {
			e.canvas.Unfocus()
		}
	}
}

// Ask shows a question on the pane that find gives, and waits for the person
// or for ctx. It may be called from any goroutine; find is called on that of
// the widgets and may give nil.
//
// Keeping tells whether a password can be kept; it may take its time, and be
// nil.
func Ask(ctx context.Context, f *fence.Fence, find func() *Pane, q viewer.Question, keeping func(context.Context) Keeping) (viewer.Answer, error) {
	reply := make(chan answer, 1)
	var on *Pane
	if keeping != nil && slices.Contains(keepable, q.Kind) {
		looking, enough := context.WithCancel(ctx)
		var look sync.WaitGroup
		look.Go(func() {
			k := keeping(looking)
			f.Go(func() {
				if on != nil && on.sheet.reply == reply {
					on.sheet.offer(k)
				}
			})
		})
		defer look.Wait()
		defer enough()
	}
	passed := f.Go(func() {
		if on = find(); on == nil {
			reply <- answer{err: errClosed}
			return
		}
		on.ask(q, reply)
	})
	if !passed {
		return viewer.Answer{}, &viewer.Error{Op: "login", Kind: viewer.Cancelled, Err: errors.New("the viewer is closing")}
	}
	select {
	case a := <-reply:
		return a.a, a.err
	case <-ctx.Done():
	}
	f.Go(func() {
		if on != nil && on.sheet.reply == reply {
			on.sheet.hide()
			on.update()
		}
	})
	return viewer.Answer{}, ctx.Err()
}
