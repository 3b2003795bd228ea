package files

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"deskvnc/viewer"
)

const (
	// maxListed bounds the entries of one folder; more are not asked for.
	maxListed = 500_000
	// listAhead is how many parts of a listing are asked for at once.
	listAhead = 8
	// maxHollow bounds the parts without a name that a server may send.
	maxHollow = 64
	// linkWorkers is how many links of a listing are looked at at once.
	linkWorkers = 16
)

// A Listing is what came of listing a folder.
type Listing struct {
	Path  string // from the root, byte for byte
	Count int
	// Odd counts names that no folder can hold and that were left out: empty,
	// of several components, or endless.
	Odd int
	// More says that the folder holds more than [maxListed] entries.
	More bool
}

// List gives each the entries of a folder, some at a time, in the order the
// machine has them; "." and ".." are left out. Links are looked at, so that one
// to a folder can be entered and one that leads nowhere is marked. An error of
// each ends the listing. each is called from List's own goroutine.
func (f *FS) List(ctx context.Context, path string, each func([]viewer.FileEntry) error) (Listing, error) {
	p, err := f.Path(ctx, path)
	if err != nil {
		return Listing{}, err
	}
	out := Listing{Path: p}
	handle, err := f.opendir(ctx, p)
	if err != nil {
		return out, f.listError(ctx, p, err)
	}
	defer f.closeHandle(handle)
	ask := func() <-chan reply { return f.stream.ask(typeReaddir, packet(nil).text(handle)) }
	ahead := 1
	if f.deep {
		ahead = listAhead
	}
	var asked []<-chan reply
	for range ahead {
		asked = append(asked, ask())
	}
	// The requests may reach the machine in another order than they were made:
	// all of them are heard before the end is believed.
	for hollow, ended := 0, false; len(asked) > 0; {
		r, err := f.stream.wait(ctx, asked[0], nil)
		if err != nil {
			return out, failed("list", p, err)
		}
		asked = asked[1:]
		if err := answered(r, typeName); err != nil {
			if is(err, statusEOF) {
				ended = true
				continue
			}
			return out, failed("list", p, err)
		}
		some, odd, err := parseNames(r.body, p)
		if err != nil {
			return out, fault("list", p, viewer.Malformed, err)
		}
		if out.Odd += odd; len(some) == 0 {
			if hollow++; hollow > maxHollow {
				return out, fault("list", p, viewer.Malformed, errors.New("the machine lists nothing without end"))
			}
		}
		if out.Count+len(some) > maxListed || out.Odd > maxListed {
			some, out.More = some[:max(0, min(len(some), maxListed-out.Count))], true
		} else if !ended {
			asked = append(asked, ask())
		}
		out.Count += len(some)
		if err := f.follow(ctx, some); err != nil {
			return out, failed("list", p, err)
		}
		if len(some) > 0 {
			if err := each(some); err != nil {
				return out, err
			}
		}
		if out.More {
			return out, nil
		}
	}
	return out, nil
}

// All lists a folder into one slice.
func (f *FS) All(ctx context.Context, path string) ([]viewer.FileEntry, Listing, error) {
	var all []viewer.FileEntry
	l, err := f.List(ctx, path, func(some []viewer.FileEntry) error {
		all = append(all, some...)
		return nil
	})
	return all, l, err
}

// listError finds out why a folder cannot be listed.
func (f *FS) listError(ctx context.Context, p string, err error) error {
	if is(err, statusFailure) || is(err, statusNoSuchFile) {
		if a, e := f.attrsOf(ctx, typeStat, p); e == nil && a.flags&attrMode != 0 && a.mode&modeType != modeFolder {
			return fault("list", p, viewer.Invalid, errors.New("not a folder"))
		}
	}
	return failed("list", p, err)
}

func (f *FS) opendir(ctx context.Context, p string) (string, error) {
	late := func(r reply) {
		if h, err := handleOf(r); err == nil {
			f.closeHandle(h)
		}
	}
	r, err := f.stream.call(ctx, typeOpendir, packet(nil).text(p), late)
	if err != nil {
		return "", err
	}
	return handleOf(r)
}

func handleOf(r reply) (string, error) {
	if err := answered(r, typeHandle); err != nil {
		return "", err
	}
	in := parser{b: r.body}
	h := string(in.bytes())
	if in.err == nil && len(h) > 256 { // section 3
		in.err = errors.New("the machine gave a handle that is too long")
	}
	return h, in.err
}

// closeHandle closes a handle; nobody waits for the answer.
func (f *FS) closeHandle(h string) { f.stream.ask(typeClose, packet(nil).text(h)) }

// parseNames reads one part of a listing.
func parseNames(body []byte, folder string) (some []viewer.FileEntry, odd int, err error) {
	in := parser{b: body}
	n := in.uint32()
	for ; n > 0 && in.err == nil; n-- {
		name, long := string(in.bytes()), in.bytes()
		a := in.attrs()
		switch {
		case in.err != nil:
		case name == "." || name == "..":
		case !goodName(name):
			odd++
		default:
			e := entry(Join(folder, name), a)
			e.Owner, e.Group = owners(long, a)
			some = append(some, e)
		}
	}
	return some, odd, in.err
}

// entry makes an entry of a path and its attributes.
func entry(p string, a attrs) viewer.FileEntry {
	e := viewer.FileEntry{Path: p, Name: Base(p), Size: -1, Type: viewer.RegularFile}
	e.Shown = Shown(e.Name)
	if a.flags&attrSize != 0 {
		e.Size = a.size
	}
	if a.flags&attrTimes != 0 {
		e.Modified = time.Unix(int64(a.mtime), 0)
	}
	if a.flags&attrMode != 0 {
		e.Mode, e.HasMode, e.Type = a.mode&0o7777, true, typeOf(a.mode)
	}
	if a.flags&attrIDs != 0 {
		e.Owner, e.Group = strconv.FormatUint(uint64(a.uid), 10), strconv.FormatUint(uint64(a.gid), 10)
	}
	return e
}

func typeOf(mode uint32) viewer.FileType {
	switch mode & modeType {
	case modeFolder:
		return viewer.Folder
	case modeLink:
		return viewer.Link
	case modeFile, 0: // some servers send permission bits only
		return viewer.RegularFile
	}
	return viewer.Special
}

// owners takes the names of owner and group from the line for people, which
// looks like ls -l with most servers.
func owners(long []byte, a attrs) (owner, group string) {
	if a.flags&attrIDs != 0 {
		owner, group = strconv.FormatUint(uint64(a.uid), 10), strconv.FormatUint(uint64(a.gid), 10)
	}
	if len(long) > 4*maxName || len(long) < 10 || !strings.ContainsRune("-dlbcps", rune(long[0])) {
		return owner, group
	}
	words := strings.Fields(string(long[:min(len(long), 256)]))
	if len(words) < 8 || len(words[0]) < 10 {
		return owner, group
	}
	if _, err := strconv.Atoi(words[1]); err != nil && words[1] != "?" {
		return owner, group
	}
	return Shown(words[2]), Shown(words[3])
}

// follow finds out where the links among some lead.
func (f *FS) follow(ctx context.Context, some []viewer.FileEntry) error {
	links := make(chan *viewer.FileEntry)
	var group sync.WaitGroup
	defer group.Wait()
	defer close(links)
	started := 0
	for i := range some {
		if some[i].Type != viewer.Link {
			continue
		}
		if started < linkWorkers {
			started++
			group.Go(func() {
				for e := range links {
					f.followOne(ctx, e)
				}
			})
		}
		select {
		case links <- &some[i]:
		case <-f.stream.done:
			return lost(f.stream.ended())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// followOne fills in what a link leads to. A machine that does not say leaves
// it unknown.
func (f *FS) followOne(ctx context.Context, e *viewer.FileEntry) {
	if target, err := f.oneName(ctx, typeReadlink, e.Path); err == nil {
		e.Target = Shown(target)
	}
	a, err := f.attrsOf(ctx, typeStat, e.Path)
	switch {
	case err == nil:
		to := entry(e.Path, a)
		e.To, e.Size, e.Modified = to.Type, to.Size, to.Modified
	case ctx.Err() == nil && !refused(err) && f.stream.ended() == nil:
		e.Broken = true
	}
}

// Stat looks at one path, and where it leads when it is a link.
func (f *FS) Stat(ctx context.Context, path string) (viewer.FileEntry, error) {
	p, err := f.Path(ctx, path)
	if err != nil {
		return viewer.FileEntry{}, err
	}
	a, err := f.attrsOf(ctx, typeLstat, p)
	if refused(err) {
		a, err = f.attrsOf(ctx, typeStat, p)
	}
	if err != nil {
		return viewer.FileEntry{}, failed("stat", p, err)
	}
	e := entry(p, a)
	if e.Type == viewer.Link {
		f.followOne(ctx, &e)
	}
	return e, nil
}
