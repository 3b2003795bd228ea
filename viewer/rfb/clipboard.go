package rfb

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"deskvnc/viewer"
)

// maxTextBytes bounds one clipboard text, either way; a machine may claim
// 2 GiB.
const maxTextBytes = 16 << 20

// A clipboard is what is known of the machine's, guarded by the outbox.
type clipboard struct {
	extended bool   // the machine has told what it can
	actions  uint32 // that it takes for text
	unasked  int    // the largest text that it takes without asking

	text   string // ours, as it was set last
	have   bool   // there is one, and the machine may ask for it
	lossy  bool   // it went out with characters lost
	wanted bool   // the machine's text is to be asked for
}

// An announcement replaces an older one that is not written yet, and a text an
// older text.
type textKind uint8

const (
	textPlain    textKind = iota // a whole text
	textAnnounce                 // word that there is one
)

// SetClipboard puts text on the machine's clipboard. A machine that knows the
// extended clipboard gets all of it, now or when it asks. The protocol's own
// message carries Latin-1; what is outside of it becomes a question mark.
func (s *Session) SetClipboard(ctx context.Context, text string) (lost int, err error) {
	text = lineFeeds(text)
	s.out.mu.Lock()
	if s.out.sealed || s.out.end != nil {
		s.out.mu.Unlock()
		return 0, errClosed
	}
	n, lost, err := s.out.setClipboard(text)
	s.out.mu.Unlock()
	s.out.wake()
	if err != nil {
		return 0, err
	}
	return lost, s.out.wait(ctx, n)
}

// setClipboard queues what tells the machine of a text, and returns the number
// to wait for. The caller holds the lock.
func (o *outbox) setClipboard(text string) (n uint64, lost int, err error) {
	c := &o.clip
	largest := maxTextBytes
	if c.can(clipProvide) && c.unasked > 0 && !c.can(clipNotify) {
		largest = c.unasked // libvncserver breaks off at more
	}
	if wireText(text) > largest {
		// What was announced before is no longer on the clipboard here.
		c.text, c.have, c.lossy = "", false, false
		o.announce()
		return 0, 0, &viewer.Error{Op: "rfb.SetClipboard", Kind: viewer.Limit,
			Err: fmt.Errorf("a clipboard text of %d bytes was not sent: at most %d are", len(text), largest)}
	}
	c.text, c.have, c.lossy = text, true, false
	switch {
	case c.can(clipProvide) && wireText(text) <= c.unasked && !c.can(clipNotify):
		// libvncserver says so for programs, such as x11vnc, that then drop such a
		// text: the plain message goes before it.
		latin1, _ := toLatin1(text)
		return o.setText(append(appendCutText(nil, latin1), provide(text)...), textPlain), 0, nil
	case c.can(clipProvide) && wireText(text) <= c.unasked:
		return o.setText(provide(text), textPlain), 0, nil
	case c.can(clipNotify):
		return o.setText(appendExtended(nil, clipNotify|clipText, nil), textAnnounce), 0, nil
	}
	latin1, lost := toLatin1(text)
	c.lossy = lost > 0
	return o.setText(appendCutText(nil, latin1), textPlain), lost, nil
}

// setText queues a clipboard message in the place of an older one of its kind
// that is not written yet, and returns its number.
func (o *outbox) setText(message []byte, kind textKind) uint64 {
	for i := range o.queue {
		if o.queue[i].text != nil && o.queue[i].kind == kind {
			o.queue = append(o.queue[:i], o.queue[i+1:]...)
			break
		}
	}
	o.counter++
	o.queue = append(o.queue, entry{n: o.counter, text: message, kind: kind})
	return o.counter
}

// readCutText reads a ServerCutText (RFC 6143 7.6.4), or the extended message
// under its number, whose length is below zero. A text that is too large is
// passed over, and said so: the session goes on.
func (s *Session) readCutText() error {
	b, err := s.conn.Peek(7) // padding, length
	if err != nil {
		return err
	}
	n := int(int32(binary.BigEndian.Uint32(b[3:])))
	if err := s.conn.Discard(7); err != nil {
		return err
	}
	if n < 0 {
		return s.readExtended(-n)
	}
	if n > maxTextBytes {
		s.tooLarge(n)
		return s.conn.Discard(n)
	}
	text, err := s.readBytes(n)
	if err == nil && n > 0 {
		s.emit(viewer.CutText{Text: lineFeeds(cutText(text))})
	}
	return err
}

// readBytes reads n bytes into memory that grows as they arrive: a claim alone
// allocates nothing.
func (s *Session) readBytes(n int) ([]byte, error) {
	var all []byte
	for left := n; left > 0; {
		b, err := s.conn.Some(left)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
		left -= len(b)
		if err := s.conn.Discard(len(b)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *Session) tooLarge(n int) {
	s.emit(viewer.Notice{Text: fmt.Sprintf("a text of %d bytes on the machine's clipboard was not taken: at most %d are", n, maxTextBytes)})
}

// lineFeeds makes the ends of lines a line feed alone.
func lineFeeds(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// wireText is the size of a text in an extended message: with two bytes for
// the end of a line, and a NUL at the end.
func wireText(text string) int { return len(text) + strings.Count(text, "\n") + 1 }

// fromWire reads the text of an extended message: UTF-8 up to a NUL.
func fromWire(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return lineFeeds(strings.ToValidUTF8(text, string(utf8.RuneError)))
}
