package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

// A Login opens sessions of one SSH login; an *ssh.Client does.
type Login interface {
	NewSession() (*ssh.Session, error)
}

// An FS is the files of one machine over one SFTP session. It is safe for
// concurrent use. A call ends with its context, at once; what the machine still
// does about it is cleaned up behind the caller's back.
type FS struct {
	stream *stream
	limits Limits // set once
	// deep says that listings may be asked for ahead.
	deep bool // set once

	tidy tidy // what is cleaned up behind the callers' backs

	mu   sync.Mutex // guards below
	home string
	busy map[string]bool // parts being written
}

// Limits are what a server states about itself (limits@openssh.com), or what
// every server takes.
type Limits struct {
	Read, Write int // bytes in one request
	Handles     int // open files; 0 when not stated
}

const (
	// safeChunk is what every server takes in one request.
	safeChunk = 32 << 10
	// maxChunk is the most we ask for in one request; OpenSSH's own maximum,
	// which with its head fits a packet.
	maxChunk = maxPacket - 1024
	// closeGrace is how long Close waits for the receive loop.
	closeGrace = 2 * time.Second
)

// Open starts the machine's SFTP service on a login. An error of kind
// Unsupported says that the machine has none.
func Open(ctx context.Context, login Login) (*FS, error) {
	type opened struct {
		f   *FS
		err error
	}
	c := make(chan opened, 1)
	go func() {
		f, err := open(ctx, login)
		c <- opened{f, err}
	}()
	select {
	case o := <-c:
		return o.f, o.err
	case <-ctx.Done():
		go func() {
			if o := <-c; o.f != nil {
				o.f.Close()
			}
		}()
		return nil, failed("open", "file transfer", ctx.Err())
	}
}

func open(ctx context.Context, login Login) (*FS, error) {
	s, err := login.NewSession()
	if err != nil {
		return nil, &viewer.Error{Op: "files.open", Kind: viewer.Closed, Err: fmt.Errorf("no further session on this login: %w", err)}
	}
	w, err := s.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, err := s.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.RequestSubsystem("sftp"); err != nil {
		s.Close()
		return nil, &viewer.Error{Op: "files.open", Kind: viewer.Unsupported, Err: fmt.Errorf("the machine offers no file transfer (SFTP) to this login: %w", err)}
	}
	return OpenPipe(ctx, r, w, func() {
		w.Close()
		s.Close()
	})
}

// OpenPipe speaks SFTP over r and w. hangUp ends both; it may be called more
// than once. OpenPipe owns them from here on.
func OpenPipe(ctx context.Context, r io.Reader, w io.WriteCloser, hangUp func()) (*FS, error) {
	st := newStream(r, w, hangUp)
	started := make(chan error, 1)
	go func() { started <- st.start() }()
	select {
	case err := <-started:
		if err != nil {
			return nil, startError(err)
		}
	case <-ctx.Done():
		st.fail(ctx.Err())
		return nil, failed("open", "file transfer", ctx.Err())
	}
	f := &FS{stream: st, limits: Limits{Read: safeChunk, Write: safeChunk}, busy: map[string]bool{}}
	f.deep = st.can("fstatvfs@openssh.com")
	if err := f.askLimits(ctx); err != nil {
		f.Close()
		return nil, failed("open", "file transfer", err)
	}
	return f, nil
}

// startError words a version exchange that failed.
func startError(err error) error {
	var known *viewer.Error
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &viewer.Error{Op: "files.open", Kind: viewer.Unsupported, Err: errors.New("the machine ended file transfer before it began; its SFTP service may be missing or not allowed for this login")}
	}
	return &viewer.Error{Op: "files.open", Kind: viewer.Unsupported, Err: fmt.Errorf("no file transfer with this machine: %w", err)}
}

// askLimits asks what one request may hold (OpenSSH PROTOCOL 4.8).
func (f *FS) askLimits(ctx context.Context) error {
	if !f.stream.can("limits@openssh.com") {
		return nil
	}
	r, err := f.stream.call(ctx, typeExtended, packet(nil).text("limits@openssh.com"), nil)
	if err != nil {
		return err
	}
	if answered(r, typeExtendedReply) != nil {
		return nil // what every server takes will do
	}
	p := parser{b: r.body}
	p.uint64() // of a whole packet; the two below are within it
	read, write, handles := p.uint64(), p.uint64(), p.uint64()
	if p.err != nil {
		return p.err
	}
	f.limits.Read, f.limits.Write = chunk(read), chunk(write)
	f.limits.Handles = int(min(handles, 1<<20))
	return nil
}

// chunk turns a stated limit into a request's size; zero is no statement.
func chunk(stated uint64) int {
	if stated == 0 {
		return safeChunk
	}
	return int(min(max(stated, 512), maxChunk))
}

// Limits returns what the server states about itself.
func (f *FS) Limits() Limits { return f.limits }

// Done is closed when the session has ended. Err then tells why.
func (f *FS) Done() <-chan struct{} { return f.stream.done }

// Err tells why the session ended; nil while it lives and after Close.
func (f *FS) Err() error {
	err := f.stream.ended()
	if err == nil || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return lost(err)
}

// Close ends the session, after what is being cleaned up. Calls that still run
// end with an error of kind Closed.
func (f *FS) Close() error {
	within(f.tidy.Wait)
	f.stream.Close()
	within(func() { <-f.stream.over }) // else its goroutine ends with the login
	return nil
}

// within waits for what a machine that does not answer could hold up.
func within(what func()) {
	over := make(chan struct{})
	go func() {
		what()
		close(over)
	}()
	t := time.NewTimer(closeGrace)
	defer t.Stop()
	select {
	case <-over:
	case <-t.C:
	}
}

// Home is the folder that the login starts in.
func (f *FS) Home(ctx context.Context) (string, error) {
	f.mu.Lock()
	home := f.home
	f.mu.Unlock()
	if home != "" {
		return home, nil
	}
	home, err := f.real(ctx, ".")
	if err != nil {
		return "", failed("home", "the home folder", err)
	}
	f.mu.Lock()
	f.home = home
	f.mu.Unlock()
	return home, nil
}

// Path makes p a path from the root of the machine: "~", "~/x" and relative
// paths start at home, an empty one is home. Nothing is collapsed or followed.
func (f *FS) Path(ctx context.Context, p string) (string, error) {
	if err := goodPath(p); err != nil {
		return "", fault("path", p, viewer.Invalid, err)
	}
	if strings.HasPrefix(p, "/") {
		return p, nil
	}
	home, err := f.Home(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case p == "" || p == "~" || p == "~/" || p == ".":
		return home, nil
	case strings.HasPrefix(p, "~/"):
		return Join(home, p[2:]), nil
	}
	return Join(home, strings.TrimPrefix(p, "./")), nil
}

// real asks the machine for the path without links and "..".
func (f *FS) real(ctx context.Context, p string) (string, error) {
	return f.oneName(ctx, typeRealpath, p)
}

// oneName sends a request that is answered by a single name.
func (f *FS) oneName(ctx context.Context, typ byte, p string) (string, error) {
	r, err := f.stream.call(ctx, typ, packet(nil).text(p), nil)
	if err != nil {
		return "", err
	}
	if err := answered(r, typeName); err != nil {
		return "", err
	}
	in := parser{b: r.body}
	n := in.uint32()
	name := string(in.bytes())
	switch {
	case in.err != nil:
		return "", in.err
	case n != 1 || name == "" || len(name) > maxPath || strings.IndexByte(name, 0) >= 0:
		return "", errors.New("the machine answered with no usable path")
	}
	return name, nil
}

// command sends a request that is answered by a status.
func (f *FS) command(ctx context.Context, typ byte, body packet) error {
	r, err := f.stream.call(ctx, typ, body, nil)
	if err != nil {
		return err
	}
	return status(r)
}

// attrsOf sends LSTAT or STAT.
func (f *FS) attrsOf(ctx context.Context, typ byte, p string) (attrs, error) {
	r, err := f.stream.call(ctx, typ, packet(nil).text(p), nil)
	if err != nil {
		return attrs{}, err
	}
	if err := answered(r, typeAttrs); err != nil {
		return attrs{}, err
	}
	in := parser{b: r.body}
	a := in.attrs()
	return a, in.err
}
