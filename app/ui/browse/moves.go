package browse

import (
	"context"
	"fmt"
	"path/filepath"

	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// A move is what is removed once it has been copied.
type move struct {
	s *side
	e viewer.FileEntry
}

// A batch is what was asked for at once: a person's answer for all counts for
// all of it.
type batch struct {
	b *Browser

	turn chan struct{} // one place: taken while a person is asked
	all  files.Action  // what was answered for all; owned by whose turn it is
}

func newBatch(b *Browser) *batch { return &batch{b: b, turn: make(chan struct{}, 1)} }

// exists asks what to do about a name that is taken. It is called by the
// transfers.
func (g *batch) exists(ctx context.Context, c files.Conflict) (files.Choice, error) {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return files.Choice{}, ctx.Err()
	}
	defer func() { <-g.turn }()
	if g.all != files.Refuse {
		return files.Choice{Do: g.all, All: true}, nil
	}
	choice, err := g.b.askExists(ctx, c)
	if err == nil && choice.All {
		g.all = choice.Do
	}
	return choice, err
}

// transfer copies or moves entries to the folder shown on the other side.
func (b *Browser) transfer(from *side, list []viewer.FileEntry, moves bool) {
	to := b.other(from)
	if len(list) == 0 || !from.ready() {
		return
	}
	if !to.ready() {
		b.config.Say("The other side shows no folder to copy to.", true)
		return
	}
	if (to.far || moves) && !b.may(b.there) {
		return
	}
	g := newBatch(b)
	added := 0
	for _, e := range list {
		if e.Type == viewer.Special || e.Broken {
			b.config.Say(e.Shown+" is no file or folder and is left out.", true)
			continue
		}
		j := files.Job{Options: files.Options{Exists: g.exists}}
		if from.far {
			j.Direction, j.Remote, j.Local = files.Download, e.Path, filepath.Join(to.path, files.LocalName(e.Name))
		} else {
			j.Direction, j.Remote, j.Local = files.Upload, files.Join(to.path, e.Name), e.Path
		}
		id, err := b.queue.Add(j)
		if err != nil {
			b.config.Say(sentence(viewer.Reason(err)), true)
			break
		}
		added++
		if moves {
			b.moves[id] = move{from, e}
		}
	}
	if added > 0 {
		clear(from.table.chosen)
		from.table.Refresh()
		from.report()
	}
}

// Drop uploads files of this computer, dropped on the window, to the folder
// shown of the machine.
func (b *Browser) Drop(paths []string) error {
	if err := b.config.ReadOnly(); err != nil {
		return err
	}
	if !b.there.ready() {
		return errNotShown
	}
	g := newBatch(b)
	for _, p := range paths {
		_, err := b.queue.Add(files.Job{
			Direction: files.Upload, Remote: files.Join(b.there.path, filepath.Base(p)), Local: p, Options: files.Options{Exists: g.exists},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// jobsChanged follows the transfers.
func (b *Browser) jobsChanged() {
	if b.closed {
		return
	}
	jobs := b.queue.Jobs()
	known := make(map[int]bool, len(jobs))
	var here, there bool
	for _, j := range jobs {
		known[j.ID] = true
		if !over(j.State) {
			delete(b.over, j.ID)
			continue
		}
		if b.over[j.ID] {
			continue
		}
		b.over[j.ID] = true
		if j.Job.Direction == files.Upload {
			there = there || b.there.ready() && b.there.place.parent(j.Job.Remote) == b.there.place.parent(b.there.place.join(b.there.path, "x"))
		} else {
			here = here || b.here.ready() && b.here.place.parent(j.Job.Local) == b.here.path
		}
		m, moving := b.moves[j.ID]
		if !moving || j.State != files.Done {
			continue
		}
		delete(b.moves, j.ID)
		if j.Result.FailedCount > 0 || j.Result.Skipped > 0 || len(j.Result.Notes) > 0 && m.e.IsFolder() {
			b.config.Say(fmt.Sprintf("%s was not moved whole and stays where it was.", m.e.Shown), true)
			continue
		}
		b.change(m.s, "", func(ctx context.Context) error { return m.s.place.remove(ctx, m.e) })
	}
	for id := range b.over {
		if !known[id] {
			delete(b.over, id)
		}
	}
	b.strip.update(jobs)
	if here && !b.here.loading {
		b.here.reload()
	}
	if there && !b.there.loading {
		b.there.reload()
	}
}

// over reports whether nothing more happens to a job by itself.
func over(s files.State) bool {
	return s == files.Done || s == files.Failed || s == files.Cancelled
}
