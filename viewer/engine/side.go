package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"deskvnc/viewer"
	"deskvnc/viewer/files"
)

// A side is what runs beside a session over SSH: its files, and the login for
// them when the session is no SSH login itself.
type side struct {
	session *Session

	opening chan struct{} // one place, taken while something is opened; made with mu held

	mu    sync.Mutex   // guards below
	login viewer.Login // beside the session; nil without
	fs    *files.FS
}

// Files are the files of the machine, over SSH. They are opened once and shared
// by all who ask; when they have ended they are opened anew. A session of
// another protocol logs in beside it: to the same address, with its own SSH
// settings. They end with the session.
func (s *Session) Files(ctx context.Context) (*files.FS, error) { return s.side.files(ctx) }

func (d *side) files(ctx context.Context) (*files.FS, error) {
	if err := d.lock(ctx); err != nil {
		return nil, err
	}
	defer d.unlock()
	if d.session.ctx.Err() != nil {
		return nil, errEnded
	}
	d.mu.Lock()
	known := d.fs
	d.mu.Unlock()
	if known != nil {
		select {
		case <-known.Done():
		default:
			return known, nil
		}
	}
	fs, err := d.anew(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session.ctx.Err() != nil {
		fs.Close()
		return nil, errEnded
	}
	d.fs = fs
	return fs, nil
}

// OwnFiles are the files of the machine over a channel of the caller's own,
// which the caller closes. What moves there does not hold up those who share
// [Session.Files].
func (s *Session) OwnFiles(ctx context.Context) (*files.FS, error) {
	if err := s.side.lock(ctx); err != nil {
		return nil, err
	}
	defer s.side.unlock()
	if s.ctx.Err() != nil {
		return nil, errEnded
	}
	return s.side.anew(ctx)
}

// anew opens files, over a new login when the one beside the session has just
// ended. The caller holds the lock.
func (d *side) anew(ctx context.Context) (*files.FS, error) {
	fs, err := d.open(ctx)
	if viewer.KindOf(err) == viewer.Closed && d.dropLogin() {
		fs, err = d.open(ctx) // it had ended, and that was not known yet
	}
	return fs, err
}

// open opens files over the login there is, or a new one.
func (d *side) open(ctx context.Context) (*files.FS, error) {
	login, err := d.via(ctx)
	if err != nil {
		return nil, err
	}
	c, err := login.Subsystem(ctx, "sftp")
	if err != nil {
		return nil, err
	}
	fs, err := files.OpenPipe(ctx, c, c, func() { c.Close() })
	if err != nil {
		c.Close()
		return nil, err
	}
	return fs, nil
}

// dropLogin ends the login beside the session. It reports false when there is
// none.
func (d *side) dropLogin() bool {
	d.mu.Lock()
	login := d.login
	d.login = nil
	d.mu.Unlock()
	if login != nil {
		login.Close()
	}
	return login != nil
}

var errEnded = &viewer.Error{Op: "files", Kind: viewer.Closed, Err: errors.New("the session was closed")}

// lock waits until nothing else is being opened.
func (d *side) lock(ctx context.Context) error {
	d.mu.Lock()
	if d.opening == nil {
		d.opening = make(chan struct{}, 1)
	}
	opening := d.opening
	d.mu.Unlock()
	select {
	case opening <- struct{}{}:
		return nil
	case <-d.session.ctx.Done():
		return errEnded
	case <-ctx.Done():
		return &viewer.Error{Op: "files", Kind: viewer.KindOf(ctx.Err()), Err: ctx.Err()}
	}
}

func (d *side) unlock() { <-d.opening }

// via is the login that things beside the session run through: the session's
// own, or one beside it. The caller holds the lock.
func (d *side) via(ctx context.Context) (viewer.Login, error) {
	s := d.session
	if s.target.Protocol == viewer.SSH {
		c, err := connected[viewer.Carrier](s, "files")
		if err != nil {
			return nil, err
		}
		return c.Carrier(), nil
	}
	d.mu.Lock()
	login := d.login
	d.mu.Unlock()
	if login != nil {
		select {
		case <-login.Done():
		default:
			return login, nil
		}
	}
	t, err := sideTarget(s.target)
	if err != nil {
		return nil, err
	}
	o, err := s.opener()
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	login, err = o.Login(within, t, viewer.Env{Ask: viewer.AskFunc(s.askBeside), Emit: s.emitBeside})
	if s.ctx.Err() != nil {
		if err == nil {
			login.Close()
		}
		return nil, errEnded
	}
	if err != nil {
		s.beside.ended(viewer.KindOf(err), true)
		return nil, &viewer.Error{Op: "files", Kind: viewer.KindOf(err), Err: fmt.Errorf("the SSH login to %s: %s", t.HostPort(), viewer.Reason(err))}
	}
	s.beside.worked()
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.ctx.Err() != nil {
		login.Close()
		return nil, errEnded
	}
	d.login = login
	return login, nil
}

// sideTarget is the SSH login beside a session of another protocol.
func sideTarget(t viewer.Target) (viewer.Target, error) {
	if t.Socket() || t.RepeaterID != "" {
		return t, &viewer.Error{Op: "files", Kind: viewer.Unsupported, Err: errors.New("the address of this machine is not one that SSH can reach: open it over SSH by itself")}
	}
	set := t.Settings()
	t.Protocol = viewer.SSH
	if t.Port = set.Port; t.Port == 0 {
		t.Port = viewer.SSH.DefaultPort()
	}
	return t, nil
}

// askBeside passes on a question of a login beside the session, whose state it
// does not touch.
func (s *Session) askBeside(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
	if a, ok := s.beside.known(q); ok {
		return a, nil
	}
	asker := s.asker()
	if asker == nil {
		return viewer.Answer{}, nobodyFor(q.Kind)
	}
	a, err := asker.Ask(ctx, q)
	if err == nil {
		s.beside.given(q, a)
	}
	return a, err
}

// emitBeside passes on what such a login has to say to a person.
func (s *Session) emitBeside(ev viewer.Event) {
	if _, is := ev.(viewer.Notice); is {
		s.emit(ev)
	}
}

// close ends everything beside the session.
func (d *side) close() {
	d.mu.Lock()
	fs, login := d.fs, d.login
	d.fs, d.login = nil, nil
	d.mu.Unlock()
	if fs != nil {
		fs.Close()
	}
	if login != nil {
		login.Close()
	}
}
