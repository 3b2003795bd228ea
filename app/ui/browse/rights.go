package browse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// askRights asks for the permissions of what is chosen.
func (b *Browser) askRights(s *side) {
	var list []viewer.FileEntry
	for _, e := range s.table.picked() {
		if e.Type != viewer.Link { // it has none
			list = append(list, e)
		}
	}
	if !b.may(s) {
		return
	}
	if len(list) == 0 {
		b.config.Say("Links have no permissions of their own.", true)
		return
	}
	mode, same := list[0].Mode, true
	for _, e := range list {
		same = same && e.Mode == mode && e.HasMode
	}
	title := "Permissions of “" + fit(list[0].Shown, 220, textSize()) + "”"
	text := "Owner " + or(list[0].Owner, "not known") + ", group " + or(list[0].Group, "not known")
	if !s.far {
		text = ""
	}
	if len(list) > 1 {
		title, text = fmt.Sprintf("Permissions of %d items", len(list)), ""
		if !same {
			text = "They differ now; all get these."
		}
	}
	g := newRights(func(mode uint32) { b.sheet.entry.SetText(octal(mode)) })
	g.set(mode)
	b.sheet.ask(&question{
		title: title, text: text, more: g.object, line: true, input: octal(mode), check: func(text string) error {
			mode, err := parseMode(text)
			if err == nil {
				g.set(mode)
			}
			return err
		},
		answers: []choice{{"Set", func(text string, _ bool) {
			mode, err := parseMode(text)
			if err != nil {
				return
			}
			b.change(s, "", func(ctx context.Context) error {
				for _, e := range list {
					if err := s.place.chmod(ctx, e.Path, mode); err != nil {
						return err
					}
				}
				return nil
			})
		}}},
	})
}

// rights are nine ticks.
type rights struct {
	object  *fyne.Container
	ticks   [9]*widget.Check
	special uint32 // the bits beside them, kept
	setting bool
}

func newRights(changed func(mode uint32)) *rights {
	r := &rights{object: container.NewGridWithColumns(4)}
	head := func(text string) {
		r.object.Add(look.NewText(text, look.ColorMuted, theme.SizeNameText, false))
	}
	for _, h := range []string{"", "Read", "Write", "Execute"} {
		head(h)
	}
	for i := range r.ticks {
		if i%3 == 0 {
			head([]string{"Owner", "Group", "Others"}[i/3])
		}
		r.ticks[i] = widget.NewCheck("", func(bool) {
			if !r.setting {
				changed(r.get())
			}
		})
		r.object.Add(r.ticks[i])
	}
	return r
}

func (r *rights) set(mode uint32) {
	r.setting = true
	defer func() { r.setting = false }()
	r.special = mode &^ 0o777
	for i, t := range r.ticks {
		t.SetChecked(mode&(1<<(8-i)) != 0)
	}
}

func (r *rights) get() uint32 {
	mode := r.special
	for i, t := range r.ticks {
		if t.Checked {
			mode |= 1 << (8 - i)
		}
	}
	return mode
}

// octal is permission bits as chmod takes them.
func octal(mode uint32) string { return fmt.Sprintf("%03o", mode) }

func parseMode(text string) (uint32, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	if err != nil || n > 0o7777 {
		return 0, errors.New("write the permissions as three or four digits from 0 to 7, such as 644")
	}
	return uint32(n), nil
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
