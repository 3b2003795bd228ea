package rfb

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"deskvnc/viewer"
)

// The flags of an extended clipboard message (community document, Extended
// Clipboard): the low half are formats, the high byte what it does.
const (
	clipText = 1 << 0

	clipFormats = 0xffff
	clipCaps    = 1 << 24
	clipRequest = 1 << 25
	clipPeek    = 1 << 26
	clipNotify  = 1 << 27
	clipProvide = 1 << 28
	clipActions = clipCaps | clipRequest | clipPeek | clipNotify | clipProvide
)

const (
	// maxUnasked is the largest text that the machine may send without being
	// asked; of a larger one it tells, and it is asked for.
	maxUnasked = 1 << 20
	// maxClipMessage bounds an extended message: a text that zlib could not
	// make smaller, the other formats of its machine not counted.
	maxClipMessage = maxTextBytes + maxTextBytes/8 + 4<<10
)

// can reports whether the machine takes an action on text.
func (c *clipboard) can(action uint32) bool { return c.extended && c.actions&action != 0 }

// readExtended reads an extended message of n bytes.
func (s *Session) readExtended(n int) error {
	if n < 4 {
		return &viewer.Error{Op: "rfb.CutText", Kind: viewer.Malformed, Err: fmt.Errorf("an extended clipboard message of %d bytes", n)}
	}
	b, err := s.conn.Peek(4)
	if err != nil {
		return err
	}
	flags := binary.BigEndian.Uint32(b)
	if err := s.conn.Discard(4); err != nil {
		return err
	}
	rest := &io.LimitedReader{R: s.conn, N: int64(n - 4)}
	switch {
	case flags&clipCaps != 0: // it comes with all the other actions set
		err = s.clipboardCaps(flags, rest)
	case flags&clipProvide != 0:
		s.clipboardText(flags, rest)
	case flags&clipRequest != 0:
		s.clipboardAsked(flags)
	case flags&clipPeek != 0:
		s.out.update(func() { s.out.announce() })
	case flags&clipNotify != 0:
		s.out.update(func() { s.out.clip.wanted = flags&clipText != 0 })
	}
	if err != nil {
		return err
	}
	return s.conn.Discard(int(rest.N))
}

// clipboardCaps takes what the machine can, and tells it what we can. A text
// that went out with losses before is sent once more.
func (s *Session) clipboardCaps(flags uint32, rest io.Reader) error {
	var sizes [16 * 4]byte // of each format
	b := sizes[:4*bits.OnesCount32(flags&clipFormats)]
	if _, err := io.ReadFull(rest, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return &viewer.Error{Op: "rfb.CutText", Kind: viewer.Malformed, Err: errors.New("the machine's clipboard abilities are cut short")}
		}
		return err
	}
	s.out.update(func() {
		c := &s.out.clip
		c.extended, c.actions, c.unasked = flags&clipText != 0, flags&clipActions, 0
		if c.extended {
			c.unasked = int(min(binary.BigEndian.Uint32(b), maxTextBytes)) // the first format is text
		}
		own := binary.BigEndian.AppendUint32(nil, maxUnasked)
		s.out.hello = appendExtended(s.out.hello, clipActions|clipText, own)
		if c.extended && c.have && c.lossy {
			_, _, _ = s.out.setClipboard(c.text) // one that is too large stays as it was sent
		}
	})
	return nil
}

// clipboardText takes the machine's text.
func (s *Session) clipboardText(flags uint32, rest *io.LimitedReader) {
	if flags&clipText == 0 {
		return
	}
	if rest.N > maxClipMessage {
		s.tooLarge(int(rest.N))
		return
	}
	text, size, err := inflateText(rest)
	switch {
	case size > maxTextBytes:
		s.tooLarge(size)
	case err != nil:
		s.emit(viewer.Notice{Text: "the text on the machine's clipboard was not taken: " + err.Error()})
	case text != "":
		s.emit(viewer.CutText{Text: text})
	}
}

// errUnreadable is a text that is badly packed, or ends too early. The
// connection keeps its own errors, and gives them at the next read.
var errUnreadable = errors.New("the text is badly packed")

// inflateText reads the first format of a packed message: its size, and text.
func inflateText(r io.Reader) (text string, size int, err error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return "", 0, errUnreadable
	}
	var head [4]byte
	if _, err := io.ReadFull(z, head[:]); err != nil {
		return "", 0, errUnreadable
	}
	size = int(binary.BigEndian.Uint32(head[:]))
	if size > maxTextBytes {
		return "", size, nil
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, z, int64(size)); err != nil {
		return "", size, errUnreadable
	}
	return fromWire(b.Bytes()), size, nil
}

// clipboardAsked answers the machine's request for our text.
func (s *Session) clipboardAsked(flags uint32) {
	if flags&clipText == 0 {
		return
	}
	s.out.mu.Lock()
	text, have := s.out.clip.text, s.out.clip.have
	s.out.mu.Unlock()
	if !have {
		s.out.update(func() { s.out.announce() })
		return
	}
	message := provide(text) // takes a moment for a long one
	s.out.update(func() {
		if s.out.end == nil && !s.out.sealed && s.out.clip.text == text {
			s.out.setText(message, textPlain)
		}
	})
}

// announce queues word of the formats that we have. The caller holds the lock.
func (o *outbox) announce() {
	if o.end != nil || o.sealed || !o.clip.can(clipNotify) {
		return
	}
	formats := uint32(0)
	if o.clip.have {
		formats = clipText
	}
	o.setText(appendExtended(nil, clipNotify|formats, nil), textAnnounce)
}

// provide is the message that carries a text. Its zlib stream is flushed and
// not finished: libvncserver 0.9.14 breaks off at the end of a stream.
func provide(text string) []byte {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\x00", ""), "\n", "\r\n")
	var packed bytes.Buffer
	z, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed) // the level is a known one
	_, _ = z.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text)+1)))
	_, _ = io.WriteString(z, text) // a buffer takes everything
	_, _ = z.Write([]byte{0})
	_ = z.Flush()
	return appendExtended(nil, clipProvide|clipText, packed.Bytes())
}

// appendExtended is an extended ClientCutText.
func appendExtended(b []byte, flags uint32, body []byte) []byte {
	b = append(b, msgClientCutText, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(-int32(4+len(body))))
	b = binary.BigEndian.AppendUint32(b, flags)
	return append(b, body...)
}
