package x11

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// A TooLargeError says that the text on the clipboard is over a bound.
type TooLargeError struct{ Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the text on the clipboard is larger than %d MiB", e.Limit>>20)
}

// TooLarge tells this error from others.
func (e *TooLargeError) TooLarge() bool { return true }

// ErrNoText says that what is on the clipboard is no text, or that nothing is.
var ErrNoText = errors.New("there is no text on the clipboard")

// A selection reads the clipboard, in pieces when its owner sends it so, and
// never more than it was told to.
type selection struct {
	conn                        *xgb.Conn
	window                      xproto.Window // ours, never shown
	clipboard, utf8, prop, incr xproto.Atom

	reading sync.Mutex // one read at a time

	mu    sync.Mutex
	told  chan xproto.SelectionNotifyEvent // of the read that runs; nil for none
	more  chan struct{}                    // a piece has come; one place
	ended chan struct{}                    // the connection has ended
}

// prepare makes the window and the names.
func (s *selection) prepare(c *xgb.Conn) error {
	s.conn, s.ended = c, make(chan struct{})
	id, err := xproto.NewWindowId(c)
	if err != nil {
		return fmt.Errorf("x11: %w", err)
	}
	s.window = id
	screen := xproto.Setup(c).DefaultScreen(c)
	if err := xproto.CreateWindowChecked(c, 0, id, screen.Root, -10, -10, 1, 1, 0, xproto.WindowClassInputOnly, 0,
		xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange}).Check(); err != nil {
		return fmt.Errorf("x11: window for the clipboard: %v", err)
	}
	for name, to := range map[string]*xproto.Atom{"CLIPBOARD": &s.clipboard, "UTF8_STRING": &s.utf8, "DESKVNC_CLIPBOARD": &s.prop, "INCR": &s.incr} {
		r, err := xproto.InternAtom(c, false, uint16(len(name)), name).Reply()
		if err != nil || r == nil {
			return fmt.Errorf("x11: name %s: %v", name, err)
		}
		*to = r.Atom
	}
	return nil
}

// end tells a read that runs that there will be no answer.
func (s *selection) end() { close(s.ended) }

func (s *selection) notify(ev xproto.SelectionNotifyEvent) {
	s.mu.Lock()
	told := s.told
	s.mu.Unlock()
	if told != nil && ev.Requestor == s.window && ev.Selection == s.clipboard {
		select {
		case told <- ev:
		default:
		}
	}
}

func (s *selection) property(ev xproto.PropertyNotifyEvent) {
	s.mu.Lock()
	more := s.more
	s.mu.Unlock()
	if more != nil && ev.Window == s.window && ev.Atom == s.prop && ev.State == xproto.PropertyNewValue {
		select {
		case more <- struct{}{}:
		default:
		}
	}
}

// Clipboard reads the text on the clipboard, at most limit bytes. It waits for
// the program that owns it, so it is not for the goroutine of the widgets.
func (h *Helper) Clipboard(ctx context.Context, limit int) (string, error) {
	s := &h.clip
	s.reading.Lock()
	defer s.reading.Unlock()
	told, more := make(chan xproto.SelectionNotifyEvent, 1), make(chan struct{}, 1)
	s.mu.Lock()
	s.told, s.more = told, more
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.told, s.more = nil, nil
		s.mu.Unlock()
	}()
	xproto.DeleteProperty(s.conn, s.window, s.prop)
	xproto.ConvertSelection(s.conn, s.window, s.clipboard, s.utf8, s.prop, xproto.TimeCurrentTime)
	select {
	case ev := <-told:
		if ev.Property == xproto.AtomNone {
			return "", ErrNoText
		}
	case <-s.ended:
		return "", errSilent
	case <-ctx.Done():
		return "", ctx.Err()
	}
	for len(more) > 0 { // of the property that has just been told of
		<-more
	}
	data, kind, err := s.piece(limit)
	switch {
	case err != nil:
		return "", err
	case kind == s.utf8:
		return text(data)
	case kind != s.incr:
		return "", ErrNoText // some owners answer with a picture all the same
	}
	var all []byte
	for {
		select {
		case <-more:
		case <-s.ended:
			return "", errSilent
		case <-ctx.Done():
			return "", ctx.Err()
		}
		data, _, err := s.piece(limit - len(all))
		if errors.As(err, new(*TooLargeError)) {
			err = &TooLargeError{limit}
		}
		if err != nil {
			return "", err
		}
		if len(data) == 0 {
			return text(all)
		}
		all = append(all, data...)
	}
}

// text is data as text, if it is.
func text(data []byte) (string, error) {
	if !utf8.Valid(data) {
		return "", ErrNoText
	}
	return string(data), nil
}

// piece takes the property's value and deletes it, which asks for the next
// piece.
func (s *selection) piece(limit int) ([]byte, xproto.Atom, error) {
	r, err := xproto.GetProperty(s.conn, false, s.window, s.prop, xproto.GetPropertyTypeAny, 0, uint32(limit+3)/4+1).Reply()
	if err != nil || r == nil {
		return nil, 0, fmt.Errorf("x11: clipboard: %v", err)
	}
	if len(r.Value) > limit || r.BytesAfter > 0 {
		xproto.DeleteProperty(s.conn, s.window, s.prop)
		return nil, 0, &TooLargeError{Limit: limit}
	}
	xproto.DeleteProperty(s.conn, s.window, s.prop)
	if r.Type == s.incr {
		return nil, r.Type, nil
	}
	return r.Value, r.Type, nil
}
