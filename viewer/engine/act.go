package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deskvnc/viewer"
)

// connected returns the live session with ability A, or an error that says
// why there is none.
func connected[A any](s *Session, op string) (A, error) {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	var none A
	if live == nil {
		return none, &viewer.Error{Op: op, Kind: viewer.Closed, Err: errors.New("the session is not connected")}
	}
	a, ok := live.(A)
	if !ok {
		return none, &viewer.Error{Op: op, Kind: viewer.Unsupported, Err: fmt.Errorf("a %s session cannot do this", s.target.Protocol)}
	}
	return a, nil
}

// Watch says that somebody looks at the picture, until release is called:
// while anybody does, pixels are asked for. An error of kind Limit means that
// all pictures together would be too large.
func (s *Session) Watch() (release func(), err error) {
	if err := s.engine.room(s); err != nil {
		return nil, err
	}
	s.watch(1)
	var once sync.Once
	return func() { once.Do(func() { s.watch(-1) }) }, nil
}

// Inspect is Watch for those who act by what they see: as long as anybody
// inspects, no pixel is sent again only to look better.
func (s *Session) Inspect() (release func(), err error) {
	watched, err := s.Watch()
	if err != nil {
		return nil, err
	}
	s.inspect(1)
	var once sync.Once
	return func() { once.Do(func() { s.inspect(-1); watched() }) }, nil
}

func (s *Session) inspect(n int) {
	s.mu.Lock()
	s.inspecting += n
	s.mu.Unlock()
	s.watch(0)
}

// Glance is Watch for those who look now and then only, as at a small picture:
// as long as nobody watches, changes are asked for every few seconds. A Watch
// that begins finds the picture as it is a moment later.
func (s *Session) Glance() (release func(), err error) {
	if err := s.engine.room(s); err != nil {
		return nil, err
	}
	s.glance(1)
	var once sync.Once
	return func() { once.Do(func() { s.glance(-1) }) }, nil
}

func (s *Session) glance(n int) {
	s.mu.Lock()
	s.glancing += n
	s.mu.Unlock()
	s.watch(0)
}

func (s *Session) watch(n int) {
	s.lastRead.Store(time.Now().UnixNano())
	s.mu.Lock()
	s.watching += n
	s.mu.Unlock()
	s.demand()
}

// demand tells the connection whether anybody looks.
func (s *Session) demand() {
	s.demanding.Lock()
	defer s.demanding.Unlock()
	s.mu.Lock()
	on, sparse, steady, live := s.watching+s.glancing > 0, s.watching == 0, s.inspecting > 0, s.live
	s.mu.Unlock()
	if d, ok := live.(viewer.Sparer); ok {
		d.Spare(sparse)
	}
	if d, ok := live.(viewer.Steadier); ok {
		d.Steady(steady)
	}
	if d, ok := live.(viewer.Desktop); ok {
		d.Demand(on)
	}
}

// Watched reports whether anybody looks at the picture.
func (s *Session) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watching+s.glancing > 0
}

// Refresh asks for the whole picture once more.
func (s *Session) Refresh() {
	if d, err := connected[viewer.Desktop](s, "refresh"); err == nil {
		d.Refresh()
	}
}

// Post queues input; see [viewer.Inputter].
func (s *Session) Post(in ...viewer.Input) error {
	i, err := connected[viewer.Inputter](s, "input")
	if err != nil {
		return err
	}
	return i.Post(in...)
}

// Queued is the number of inputs not written yet; 0 when not connected.
func (s *Session) Queued() int {
	i, err := connected[viewer.Inputter](s, "input")
	if err != nil {
		return 0
	}
	return i.Queued()
}

// Flush waits until all input posted before has been written.
func (s *Session) Flush(ctx context.Context) error {
	i, err := connected[viewer.Inputter](s, "input")
	if err != nil {
		return err
	}
	return i.Flush(ctx)
}

// ReleaseAll lets go of everything held down; see [viewer.Releaser].
func (s *Session) ReleaseAll(ctx context.Context) error {
	r, err := connected[viewer.Releaser](s, "release")
	if err != nil {
		return err
	}
	return r.ReleaseAll(ctx)
}

// Resize asks for another size of the remote screen; see [viewer.Resizer]. A
// terminal that is not connected begins with that size.
func (s *Session) Resize(ctx context.Context, w, h int) error {
	if s.resizeGrid(w, h) {
		return nil
	}
	r, err := connected[viewer.Resizer](s, "resize")
	if err != nil {
		return err
	}
	return r.Resize(ctx, w, h)
}

// SetClipboard puts text on the remote clipboard; see [viewer.Clipboard].
func (s *Session) SetClipboard(ctx context.Context, text string) (lost int, err error) {
	c, err := connected[viewer.Clipboard](s, "clipboard")
	if err != nil {
		return 0, err
	}
	return c.SetClipboard(ctx, text)
}

// Encrypted reports whether the connection is protected on its way; false when
// not connected.
func (s *Session) Encrypted() bool {
	e, err := connected[viewer.Encrypter](s, "encryption")
	return err == nil && e.Encrypted()
}

// Signals tells what the connection carries; nil when not connected.
func (s *Session) Signals() map[viewer.SignalName]viewer.Signal {
	g, err := connected[viewer.Signaller](s, "signals")
	if err != nil {
		return nil
	}
	return g.Signals()
}

// Reconnect drops the connection, or the attempt or pause in progress, and
// makes a new one. It returns at once.
func (s *Session) Reconnect() {
	s.mu.Lock()
	drop := s.drop
	s.mu.Unlock()
	select {
	case s.again <- struct{}{}:
	default:
	}
	if drop != nil {
		drop()
	}
}

// Close ends the session, letting go of held input first, and takes it off
// the engine's list. It waits until all has stopped, at most a few seconds.
func (s *Session) Close() {
	s.cancel()
	select {
	case <-s.done:
	case <-time.After(closeWait):
	}
}
