package plane

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"deskvnc/control"
	"deskvnc/control/paths"
	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

const (
	// filesWait bounds one dvv_files.
	filesWait = 120 * time.Second
	// maxInline bounds the bytes of a file that a get without "to" returns.
	maxInline = 262144
	// maxListText bounds the entries of one result, in bytes of their text.
	maxListText = 1 << 20
)

// filesUse says which arguments belong to which action, beside the limb.
var filesUse = map[string][]string{
	"home": nil, "list": {"path"}, "get": {"path", "to"}, "put": {"path", "from", "contentBase64", "mode"},
	"mkdir": {"path"}, "remove": {"path", "recursive"}, "rename": {"path", "to"},
}

// The results of dvv_files, one for each action.
type (
	fileHome struct {
		LimbID string `json:"limbId"`
		Path   string `json:"path"`
	}
	fileList struct {
		LimbID  string      `json:"limbId"`
		Path    string      `json:"path"`
		Entries []fileEntry `json:"entries"`
		Count   int         `json:"count"`
		More    bool        `json:"more,omitempty"` // the folder holds more than is listed
		Total   int         `json:"total,omitempty"`
	}
	fileEntry struct {
		Name      string `json:"name"`
		Path      string `json:"path"`
		IsDir     bool   `json:"isDir"`
		Size      int64  `json:"size"`
		Modified  *int64 `json:"modified"` // unix seconds
		Mode      uint32 `json:"mode"`
		IsSymlink bool   `json:"isSymlink"`
	}
	fileGot struct {
		LimbID   string  `json:"limbId"`
		Path     string  `json:"path"`
		Size     int64   `json:"size"`
		Encoding string  `json:"encoding,omitempty"`
		Windows  int     `json:"windows"`
		SavedTo  *string `json:"savedTo"`
	}
	filePut struct {
		LimbID  string  `json:"limbId"`
		Path    string  `json:"path"`
		Sent    int64   `json:"sent"`
		Size    int64   `json:"size"`
		Windows int     `json:"windows"`
		From    *string `json:"from"`
	}
	fileMade struct {
		LimbID  string `json:"limbId"`
		Path    string `json:"path"`
		Created bool   `json:"created"`
	}
	fileRemoved struct {
		LimbID    string `json:"limbId"`
		Path      string `json:"path"`
		Removed   bool   `json:"removed"`
		Recursive bool   `json:"recursive"`
	}
	fileRenamed struct {
		LimbID  string `json:"limbId"`
		From    string `json:"from"`
		Path    string `json:"path"`
		Renamed bool   `json:"renamed"`
	}
)

// A fileCall is one dvv_files at work.
type fileCall struct {
	*call
	ctx  context.Context
	seat *seat
	fs   *files.FS
	path string // as the caller gave it
	// to and from are the local ends, opened before anything else is done.
	to      *paths.File
	from    *paths.Source
	content []byte
}

// files serves dvv_files.
func (c *call) files() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	action := c.args.Text("action")
	if err := c.filesArguments(action); err != nil {
		return control.Result{}, err
	}
	if err := st.mayFile(c.capability()); err != nil {
		return control.Result{}, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, filesWait)
	defer cancel()
	f := &fileCall{call: c, ctx: ctx, seat: st, path: c.args.Text("path")}
	if err := f.local(action); err != nil {
		return control.Result{}, err
	}
	defer f.closeLocal()
	if f.fs, err = st.session.Files(ctx); err != nil {
		return control.Result{}, f.unavailable(err)
	}
	// A person who takes the wheel ends what the agent does with files, too.
	stop := st.onRevoked(ctx, cancel)
	defer stop()
	r, err := f.do(action)
	if err != nil {
		if st.mayFile(c.capability()) != nil && ctx.Err() != nil {
			return control.Result{}, control.Refuse(control.LeaseRevoked, "a person took the wheel part way; part of it may have been done")
		}
		return control.Result{}, f.failed(err)
	}
	st.renew()
	return r, nil
}

// mayFile refuses a seat that a person keeps off the machine, and writing where
// only looking is allowed.
func (s *seat) mayFile(capability string) error {
	s.limb.lock()
	defer s.limb.unlock()
	switch {
	case s.limb.wheel.View(s.party()).Revoked:
		return control.Refuse(control.LeaseRevoked, "a person took the wheel and has not handed it back")
	case s.limb.viewOnly && capability == "files.write":
		return viewOnlyRefusal()
	}
	return nil
}

// onRevoked calls cancel when a person takes the wheel from the seat.
func (s *seat) onRevoked(ctx context.Context, cancel func()) (stop func()) {
	watch, end := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			s.limb.lock()
			revoked, changed := s.limb.wheel.View(s.party()).Revoked, s.limb.changed
			s.limb.unlock()
			if revoked {
				cancel()
				return
			}
			select {
			case <-changed:
			case <-watch.Done():
				return
			}
		}
	}()
	return func() { end(); <-over }
}

// filesArguments refuses arguments that the action does not use, and misses
// those that it needs.
func (c *call) filesArguments(action string) error {
	bad := func(format string, a ...any) error {
		return control.Refuse(control.BadRequest, "dvv_files: "+fmt.Sprintf(format, a...))
	}
	for _, name := range []string{"path", "to", "from", "contentBase64", "mode", "recursive"} {
		if c.args.Has(name) && !slices.Contains(filesUse[action], name) {
			return bad("%q does not go with %s", name, action)
		}
	}
	given := c.args.Text("path")
	switch {
	case strings.ContainsRune(given+c.args.Text("to")+c.args.Text("from"), 0):
		return bad("a path cannot contain the character NUL")
	case given == "" && action != "home" && action != "list":
		return bad(`%s needs "path"`, action)
	case action == "rename" && c.args.Text("to") == "":
		return bad(`rename needs "to", the new path`)
	case action == "get" && c.args.Has("to") && c.args.Text("to") == "":
		return bad(`"to" is empty; leave it out to get the content back`)
	case action == "put" && c.args.Has("from") == c.args.Has("contentBase64"):
		return bad(`put needs "from" or "contentBase64", and not both`)
	}
	return nil
}

// local opens the local end of a get or put, before anything is asked of the
// machine.
func (f *fileCall) local(action string) error {
	roots, err := f.a.folders()
	if err != nil {
		return err
	}
	switch {
	case action == "get" && f.args.Has("to"):
		f.to, err = roots.Create(f.args.Text("to"), files.LocalName(files.Base(f.path)))
		return localRefusal(err)
	case action == "put" && f.args.Has("from"):
		file, err := roots.Open(f.args.Text("from"))
		if err != nil {
			return localRefusal(err)
		}
		f.from = file
	case action == "put":
		if f.content, err = base64.StdEncoding.Strict().DecodeString(f.args.Text("contentBase64")); err != nil {
			return control.Refuse(control.BadRequest, `dvv_files: "contentBase64" is no base64`)
		}
	}
	return nil
}

func (f *fileCall) closeLocal() {
	if f.to != nil {
		f.to.Abort() // after its commit this does nothing
	}
	if f.from != nil {
		f.from.Close()
	}
}

// localRefusal is the refusal of a local path.
func localRefusal(err error) error {
	var r *paths.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r) && r.Policy:
		return control.Refuse(control.PolicyDenied, r.Text)
	case errors.As(err, &r):
		return &control.Refused{Code: control.BadRequest, Message: r.Text, Hint: "Give the absolute path of a file on the computer where DeskVNC runs."}
	}
	return &control.Refused{Code: control.BadRequest, Message: oneLine(err.Error()), Hint: "Check the local path: it must be absolute, and its folder must exist."}
}

// unavailable is the refusal of a machine whose files cannot be reached.
func (f *fileCall) unavailable(err error) error {
	s := f.seat.session
	switch viewer.KindOf(err) {
	case viewer.Timeout:
		return control.Refuse(control.FilesTimeout, fmt.Sprintf("the SSH login for files did not come about within %d seconds; nothing was done", filesWait/time.Second))
	case viewer.Cancelled:
		if f.ctx.Err() != nil && f.call.ctx.Err() == nil && errors.Is(f.ctx.Err(), context.DeadlineExceeded) {
			return control.Refuse(control.FilesTimeout, "the SSH login for files did not come about in time; nothing was done")
		}
		return err
	}
	if isTerminal(s) {
		if refused := ready(s, f.a.plane.now()); refused != nil {
			return refused
		}
	}
	hint := "File transfer needs an SSH login to this machine; tell the user."
	switch viewer.KindOf(err) {
	case viewer.Untrusted:
		hint = "Its SSH host key is not trusted: tell the user, who can look at it by opening the machine over SSH in DeskVNC."
	case viewer.Credentials, viewer.Denied:
		hint = "The SSH login did not succeed: tell the user, who can set up a key, or store a password with dvv login."
	}
	return &control.Refused{Code: control.FilesUnavailable, Message: reason(err), Hint: hint}
}

// failed is the refusal of an action that went wrong.
func (f *fileCall) failed(err error) error {
	var r *control.Refused
	switch kind := viewer.KindOf(err); {
	case errors.As(err, &r):
		return r
	case kind == viewer.Timeout, errors.Is(f.ctx.Err(), context.DeadlineExceeded):
		return control.Refuse(control.FilesTimeout, fmt.Sprintf("%s was not done within %d seconds; part may have been", f.args.Text("action"), filesWait/time.Second))
	case kind == viewer.Cancelled, errors.Is(err, context.Canceled):
		return err
	case kind == viewer.Closed:
		return &control.Refused{Code: control.FilesFailed, Message: reason(err) + "; part may have been done", Hint: "Call dvv_wait with until connected on a terminal, then list the folder before you try again."}
	}
	return control.Refuse(control.FilesFailed, reason(err))
}

// do does what the action says.
func (f *fileCall) do(action string) (control.Result, error) {
	switch action {
	case "home":
		home, err := f.fs.Home(f.ctx)
		if err != nil {
			return control.Result{}, err
		}
		return control.Result{Text: "The home directory follows.\n" + wrap(f.seat, home), Structured: fileHome{f.seat.limb.id, home}}, nil
	case "list":
		return f.list()
	case "get":
		return f.get()
	case "put":
		return f.put()
	case "mkdir":
		p, err := f.fs.Path(f.ctx, f.path)
		if err == nil {
			err = f.fs.Mkdir(f.ctx, p)
		}
		if err != nil {
			return control.Result{}, err
		}
		return f.done("Made the directory %q.", p, fileMade{f.seat.limb.id, p, true}), nil
	case "remove":
		return f.remove()
	}
	from, err := f.fs.Path(f.ctx, f.path)
	if err != nil {
		return control.Result{}, err
	}
	to, err := f.fs.Path(f.ctx, f.args.Text("to"))
	if err != nil {
		return control.Result{}, err
	}
	if err := f.fs.Rename(f.ctx, from, to, false); err != nil {
		return control.Result{}, err
	}
	return f.done("Renamed it to %q.", to, fileRenamed{f.seat.limb.id, from, to, true}), nil
}

func (f *fileCall) done(format, p string, structured any) control.Result {
	return control.Result{Text: fmt.Sprintf(format, oneLine(p)) + " (" + f.seat.limb.id + ")", Structured: structured}
}

// list lists a directory.
func (f *fileCall) list() (control.Result, error) {
	at := f.path
	if at == "" {
		at = "~"
	}
	out := fileList{LimbID: f.seat.limb.id, Entries: []fileEntry{}}
	var lines strings.Builder
	total := 0
	listing, err := f.fs.List(f.ctx, at, func(some []viewer.FileEntry) error {
		total += len(some)
		for _, e := range some {
			// Each entry is in the result three times.
			if lines.Len()+len(e.Path) > maxListText {
				out.More = true
				break
			}
			fmt.Fprintf(&lines, "%s\n", entryLine(e))
			out.Entries = append(out.Entries, entryOf(e))
		}
		return nil
	})
	if err != nil {
		return control.Result{}, err
	}
	slices.SortStableFunc(out.Entries, func(a, b fileEntry) int { return strings.Compare(a.Name, b.Name) })
	out.Path, out.Count = listing.Path, len(out.Entries)
	text := fmt.Sprintf("%s in the directory (%s).", count(total, "entry", "entries"), out.LimbID)
	if out.More = out.More || listing.More; out.More {
		out.Total = total
		text += fmt.Sprintf(" Only %d of them are listed: use dvv_run with find or ls for the rest, where commands can be run.", out.Count)
	}
	if listing.Odd > 0 {
		text += fmt.Sprintf(" %s that no directory can hold and %s left out.", count(listing.Odd, "name is one", "names are some"), map[bool]string{true: "was", false: "were"}[listing.Odd == 1])
	}
	return control.Result{Text: text + "\n" + wrap(f.seat, listing.Path+":\n"+strings.TrimSuffix(lines.String(), "\n")), Structured: out}, nil
}

func entryOf(e viewer.FileEntry) fileEntry {
	out := fileEntry{Name: e.Name, Path: e.Path, IsDir: e.IsFolder(), Size: e.Size, Mode: e.Mode, IsSymlink: e.Type == viewer.Link}
	if !e.Modified.IsZero() {
		at := e.Modified.Unix()
		out.Modified = &at
	}
	return out
}

// entryLine is an entry for a reader.
func entryLine(e viewer.FileEntry) string {
	kind := map[viewer.FileType]string{viewer.RegularFile: "-", viewer.Folder: "d", viewer.Link: "l"}[e.Type]
	if kind == "" {
		kind = "s"
	}
	mode, modified := "????", "-"
	if e.HasMode {
		mode = fmt.Sprintf("%04o", e.Mode)
	}
	if !e.Modified.IsZero() {
		modified = e.Modified.UTC().Format("2006-01-02 15:04:05")
	}
	line := fmt.Sprintf("%s%s %10d %s %s", kind, mode, e.Size, modified, e.Shown)
	if e.Type == viewer.Link {
		line += " -> " + e.Target
		if e.Broken {
			line += " (leads nowhere)"
		}
	}
	return line
}

// get fetches one file, into a local one or into the result.
func (f *fileCall) get() (control.Result, error) {
	if f.to != nil {
		r, err := f.fs.Fetch(f.ctx, f.path, f.to, files.Options{})
		if err != nil {
			return control.Result{}, err
		}
		if err := f.to.Commit(); err != nil {
			return control.Result{}, control.Refuse(control.FilesFailed, oneLine(err.Error()))
		}
		saved := f.to.Path()
		return control.Result{
			Text:       fmt.Sprintf("Saved %s of %s to %q.", count(int(r.Size), "byte", "bytes"), f.seat.limb.id, saved),
			Structured: fileGot{LimbID: f.seat.limb.id, Path: r.Path, Size: r.Size, Windows: r.Windows, SavedTo: &saved},
		}, nil
	}
	var content bytes.Buffer
	r, err := f.fs.Fetch(f.ctx, f.path, &content, files.Options{Limit: maxInline})
	if viewer.KindOf(err) == viewer.Limit {
		size := "more"
		if e, serr := f.fs.Stat(f.ctx, f.path); serr == nil && e.Size > maxInline {
			size = fmt.Sprint(e.Size)
		}
		return control.Result{}, &control.Refused{
			Code: control.BadRequest, Message: fmt.Sprintf("the file has %s bytes, and only %d come back inside a result", size, maxInline),
			Hint: `Give "to", an absolute local path to save it to.`,
		}
	}
	if err != nil {
		return control.Result{}, err
	}
	return control.Result{
		Text: fmt.Sprintf("%s of %s follow, in base64.\n", count(content.Len(), "byte", "bytes"), f.seat.limb.id) +
			wrap(f.seat, base64.StdEncoding.EncodeToString(content.Bytes())),
		Structured: fileGot{LimbID: f.seat.limb.id, Path: r.Path, Size: int64(content.Len()), Encoding: "base64", Windows: r.Windows},
	}, nil
}

// put stores one file. The copy gets its name, and its mode, when it is whole.
func (f *fileCall) put() (control.Result, error) {
	o := files.Options{Exists: files.Always(files.Replace), Mode: uint32(f.args.Int("mode")), HasMode: f.args.Has("mode")}
	var r files.Result
	var err error
	out := filePut{LimbID: f.seat.limb.id}
	if f.from != nil {
		name := f.args.Text("from")
		out.From = &name
		r, err = f.fs.PutFile(f.ctx, f.from, f.path, o)
	} else {
		r, err = f.fs.Store(f.ctx, bytes.NewReader(f.content), int64(len(f.content)), f.path, o)
	}
	if err != nil {
		return control.Result{}, err
	}
	out.Path, out.Sent, out.Size, out.Windows = r.Path, r.Bytes, r.Size, r.Windows
	text := fmt.Sprintf("Stored %s as %q (%s).", count(int(r.Size), "byte", "bytes"), oneLine(r.Path), out.LimbID)
	for _, n := range r.Notes {
		text += " " + oneLine(n) + "."
	}
	return control.Result{Text: text, Structured: out}, nil
}

// remove removes a file or an empty directory, or with recursive a directory
// with all that is in it. What everything else hangs on is never removed.
func (f *fileCall) remove() (control.Result, error) {
	p, err := f.fs.Path(f.ctx, f.path)
	if err != nil {
		return control.Result{}, err
	}
	recursive := f.args.Bool("recursive")
	if recursive {
		home, err := f.fs.Home(f.ctx)
		if err != nil {
			return control.Result{}, err
		}
		if why := tooMuch(p, home); why != "" {
			return control.Result{}, &control.Refused{
				Code: control.BadRequest, Message: fmt.Sprintf("%q is %s; it is not removed with all that is in it, and nothing was removed", oneLine(p), why),
				Hint: "Remove what you mean inside it one by one, or tell the user.",
			}
		}
	}
	if err := f.fs.Remove(f.ctx, p, recursive); err != nil {
		return control.Result{}, err
	}
	return f.done("Removed %q.", p, fileRemoved{f.seat.limb.id, p, true, recursive}), nil
}

// tooMuch says why a directory is not removed with all that is in it, or is
// empty: it is the top of the machine or right below it, or holds the home
// directory.
func tooMuch(p, home string) string {
	clean := func(s string) string { return path.Clean("/" + strings.TrimPrefix(s, "/")) }
	p, home = clean(p), clean(home)
	inside := func(folder string) bool {
		return folder == p || strings.HasPrefix(folder, strings.TrimSuffix(p, "/")+"/")
	}
	switch {
	case p == "/":
		return "the top of the machine"
	case p == home:
		return "the home directory"
	case inside(home):
		return "above the home directory"
	case strings.Count(p, "/") == 1:
		return "right below the top of the machine"
	}
	return ""
}
