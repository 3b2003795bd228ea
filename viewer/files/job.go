package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"deskvnc/viewer"
)

// check refuses a job that can never run.
func (j Job) check() error {
	bad := func(path, why string) error { return fault("queue", path, viewer.Invalid, errors.New(why)) }
	switch {
	case j.Direction != Download && j.Direction != Upload:
		return bad(string(j.Direction), "neither a download nor an upload")
	case !filepath.IsAbs(j.Local):
		return bad(j.Local, "the path on this side must be absolute")
	case j.Remote == "":
		return bad(j.Remote, "a path on the machine is needed")
	}
	if err := goodPath(j.Remote); err != nil {
		return fault("queue", j.Remote, viewer.Invalid, err)
	}
	return nil
}

// move does the job once over a live session.
func (j *job) move(ctx context.Context, f *FS, q *Queue) (Result, error) {
	q.mu.Lock()
	want := j.state.Job
	q.mu.Unlock()
	o := want.Options
	o.memory, o.Gate = j.memory, &j.gate
	tell := o.Progress
	o.Progress = func(p Progress) {
		q.set(j, func(s *JobState) {
			// A new attempt counts again what an earlier one did; what is shown
			// does not fall meanwhile.
			if old := s.Progress; p.Total == old.Total && p.Done < old.Done {
				p.Done, p.Files = old.Done, max(p.Files, old.Files)
			}
			s.Progress = p
		})
		if tell != nil {
			tell(p)
		}
	}
	folder, name := filepath.Split(filepath.Clean(want.Local))
	if want.Direction == Upload {
		// A link that is named itself is followed.
		if to, err := filepath.EvalSymlinks(want.Local); err == nil {
			folder, name = filepath.Split(to)
		}
	}
	if name == "" {
		name = "."
	}
	dir, err := os.OpenRoot(folder)
	if err != nil {
		return Result{}, local("queue", folder, err)
	}
	defer dir.Close()
	if want.Direction == Upload {
		return f.Put(ctx, dir, name, want.Remote, o)
	}
	return f.Get(ctx, want.Remote, dir, name, o)
}
