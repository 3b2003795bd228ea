package browse

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// maxNamed bounds the names in a question.
const maxNamed = 8

// names lists entries for a person.
func names(list []viewer.FileEntry) string {
	var out []string
	for i, e := range list {
		if i == maxNamed {
			out = append(out, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		what := e.Shown
		switch {
		case e.Type == viewer.Folder:
			what += "  (folder, with all that is in it)"
		case e.Type == viewer.Link:
			what += "  (the link, not what it leads to)"
		}
		out = append(out, what)
	}
	return strings.Join(out, "\n")
}

// where names a side in a sentence.
func (s *side) where() string {
	if s.far {
		return "on " + s.b.config.Name
	}
	return "on this computer"
}

// askRemove asks before anything is deleted, and names what goes.
func (b *Browser) askRemove(s *side) {
	list := s.table.picked()
	if len(list) == 0 || !b.may(s) {
		return
	}
	title := fmt.Sprintf("Delete %d items %s?", len(list), s.where())
	if len(list) == 1 {
		title = "Delete “" + fit(list[0].Shown, 200, textSize()) + "” " + s.where() + "?"
	}
	b.sheet.ask(&question{
		title: title, text: names(list) + "\n\nThis cannot be undone.", danger: true,
		answers: []choice{{"Delete", func(string, bool) {
			b.change(s, "", func(ctx context.Context) error {
				for _, e := range list {
					if err := s.place.remove(ctx, e); err != nil {
						return err
					}
				}
				return nil
			})
		}}},
	})
}

// askFolder asks for the name of a new folder.
func (b *Browser) askFolder(s *side) {
	if !b.may(s) {
		return
	}
	b.sheet.ask(&question{
		title: "New folder " + s.where(), text: "In " + b.shownPath(s.path), line: true, check: s.free(""),
		answers: []choice{{"Make it", func(name string, _ bool) {
			path := s.place.join(s.path, name)
			b.change(s, name, func(ctx context.Context) error { return s.place.mkdir(ctx, path) })
		}}},
	})
}

// free says what is wrong with a new name; own is the one that is given up.
func (s *side) free(own string) func(string) error {
	return func(name string) error {
		if err := s.place.fault(name); err != nil {
			return err
		}
		for _, e := range s.all {
			if e.Name == name && name != own {
				return errors.New("there is one of that name already")
			}
		}
		return nil
	}
}

// askName asks for another name.
func (b *Browser) askName(s *side) {
	e, ok := s.table.at(s.table.cursor)
	if !ok || !b.may(s) {
		return
	}
	shown := e.Shown
	dot := strings.LastIndexByte(shown, '.')
	until := 0
	if dot > 0 && e.Type != viewer.Folder {
		until = len([]rune(shown[:dot]))
	}
	text := "In " + b.shownPath(s.path)
	if shown != e.Name {
		text += "\nThe name holds what cannot be shown; it is kept as it is unless you change it."
	}
	b.sheet.ask(&question{
		title: "Rename “" + fit(shown, 240, textSize()) + "”", text: text, line: true, input: shown, until: until, check: func(name string) error {
			if name == shown {
				return nil
			}
			return s.free(e.Name)(name)
		},
		answers: []choice{{"Rename", func(name string, _ bool) {
			if name == shown {
				return
			}
			to := s.place.join(s.path, name)
			b.change(s, name, func(ctx context.Context) error { return s.place.rename(ctx, e.Path, to) })
		}}},
	})
}

// askExists asks what to do about a name that is taken, and waits. It is
// called by the transfers.
func (b *Browser) askExists(ctx context.Context, c files.Conflict) (files.Choice, error) {
	type reply struct {
		choice files.Choice
		err    error
	}
	answer := make(chan reply, 1)
	give := func(a files.Action) func(string, bool) {
		return func(_ string, all bool) { answer <- reply{choice: files.Choice{Do: a, All: all}} }
	}
	q := &question{
		title: "There is one already", text: c.Path + "\n\nThere:  " + facts(c.Target) + "\nNew:  " + facts(c.Source), all: "The same for all of these",
		answers: []choice{{"Skip", give(files.Skip)}, {"Keep both", give(files.KeepBoth)}, {"Replace", give(files.Replace)}}, danger: true,
		refused: func() { answer <- reply{err: context.Canceled} },
	}
	if !b.config.Fence.Go(func() { b.sheet.ask(q) }) {
		return files.Choice{}, context.Canceled
	}
	select {
	case r := <-answer:
		if r.err != nil {
			return files.Choice{}, &viewer.Error{Op: "transfer", Kind: viewer.Cancelled, Err: errors.New("you cancelled it")}
		}
		return r.choice, nil
	case <-ctx.Done():
		b.config.Fence.Go(func() { b.sheet.withdraw(q) })
		return files.Choice{}, ctx.Err()
	}
}

// facts is what is known of a file, for the choice between two.
func facts(f files.Facts) string {
	text := bytes(f.Size)
	if f.Size < 0 {
		text = "size not known"
	}
	if t := timeOf(f.Modified); t != "" {
		text += ", changed " + t
	}
	return text
}
