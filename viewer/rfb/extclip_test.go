package rfb_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// The flags of an extended clipboard message.
const (
	clipText    = 1 << 0
	clipHTML    = 1 << 2
	clipCaps    = 1 << 24
	clipRequest = 1 << 25
	clipPeek    = 1 << 26
	clipNotify  = 1 << 27
	clipProvide = 1 << 28
	clipAll     = clipCaps | clipRequest | clipPeek | clipNotify | clipProvide
)

// extended is an extended ServerCutText.
func extended(flags uint32, body ...byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{3, 0, 0, 0}, uint32(-int32(4+len(body))))
	return append(binary.BigEndian.AppendUint32(b, flags), body...)
}

// caps tells what a machine can, and the largest text that it takes unasked.
func caps(actions, unasked uint32) []byte {
	return extended(clipCaps|actions|clipText|clipHTML, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, unasked), 77)...)
}

// packed is a text as it is provided, with the size that is claimed.
func packed(claim int, text string) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(binary.BigEndian.AppendUint32(nil, uint32(claim)))
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

func provides(text string) []byte {
	return extended(clipProvide|clipText, packed(len(text)+1, text+"\x00")...)
}

// said reads the client's next clipboard message: "text ...", or its flags
// and what it provides.
func said(c *rfbtest.Conn) (string, error) {
	m, err := c.Until(rfbtest.ClientCutText)
	if err != nil {
		return "", err
	}
	if int32(binary.BigEndian.Uint32(m.Body[3:])) >= 0 {
		return fmt.Sprintf("text %s", m.Body[7:]), nil
	}
	flags := binary.BigEndian.Uint32(m.Body[7:])
	body := m.Body[11:]
	switch {
	case flags&clipCaps != 0:
		return fmt.Sprintf("caps %x %d", flags, binary.BigEndian.Uint32(body)), nil
	case flags&clipProvide != 0:
		z, err := zlib.NewReader(bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(z)
		if err != io.ErrUnexpectedEOF { // flushed, and not finished
			return "", fmt.Errorf("the stream ends with %v", err)
		}
		if n := int(binary.BigEndian.Uint32(text)); n != len(text)-4 {
			return "", fmt.Errorf("%d bytes are claimed, %d sent", n, len(text)-4)
		}
		return fmt.Sprintf("provide %q", text[4:]), nil
	}
	return map[uint32]string{clipRequest: "request", clipPeek: "peek", clipNotify: "notify"}[flags&clipAll] + fmt.Sprintf(" %d", flags&0xffff), nil
}

// hears is a step of a script: what the client says next of clipboards.
func hears(want ...string) func(*rfbtest.Conn) error {
	return func(c *rfbtest.Conn) error {
		for _, w := range want {
			if got, err := said(c); err != nil || got != w {
				return fmt.Errorf("got %.80q, %v, want %.80q", got, err, w)
			}
		}
		return nil
	}
}

const ownCaps = "caps 1f000001 1048576"

// talk opens a session with a machine that runs a script, and returns when
// the script has come to the channel's end.
func talk(t *testing.T, script ...any) (*viewertest.Live, chan struct{}) {
	t.Helper()
	ready := make(chan struct{})
	script = append(script, func(*rfbtest.Conn) error { close(ready); return nil }, live)
	s := serve(t, func(c *rfbtest.Conn) error {
		if err := c.Hello(smallInit); err != nil {
			return err
		}
		return say(script...)(c)
	})
	return viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil), ready
}

// A machine that only tells is asked; abilities are answered; a text that
// comes unasked is taken (C085, C092).
func TestExtendedClipboardFromTheMachine(t *testing.T) {
	l, done := talk(t, caps(clipRequest|clipNotify|clipProvide, 0), hears(ownCaps),
		extended(clipNotify|clipText|clipHTML), hears("request 1"), provides("€ 漢字 🙂\r\nzwei\rdrei"),
		extended(clipNotify|clipHTML), // a picture of text only: not for us
		extended(clipNotify),          // nothing any more
		provides("unasked"),
		extended(clipProvide|clipHTML, packed(3, "<b>")...),
		extended(clipProvide|clipText|clipHTML, packed(3, "two\x00\x00\x00\x03<b>")...),
		extended(clipProvide|clipText, packed(9, "cut\x00 there")...),
		extended(clipProvide|clipText, packed(4, "a\xff\xfeb")...),
		extended(clipProvide|clipText, packed(0, "")...),
		provides(strings.Repeat("0123456789abcde\r\n", 200<<10)), "\x02")
	<-done
	l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
	var got []string
	for _, e := range l.Events() {
		if c, ok := e.(viewer.CutText); ok {
			got = append(got, c.Text)
		}
	}
	want := []string{"€ 漢字 🙂\nzwei\ndrei", "unasked", "two", "cut", "a\ufffdb", strings.Repeat("0123456789abcde\n", 200<<10)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %.200q, want %.200q", got, want)
	}
}

// Our text is told of and given when it is asked for: always the newest, with
// the protocol's ends of lines and a NUL, in a stream that is
// not finished (C086, C090).
func TestExtendedClipboardToTheMachine(t *testing.T) {
	given := make(chan struct{})
	l, done := talk(t, caps(clipRequest|clipNotify|clipProvide|clipPeek, 0), hears(ownCaps),
		extended(clipPeek), hears("notify 0"), extended(clipRequest|clipText), hears("notify 0"), "\x02",
		hears("notify 1", "notify 1"), extended(clipRequest|clipText), hears(`provide "second € \r\nline\r\n\x00"`),
		extended(clipPeek), hears("notify 1"), extended(clipRequest|clipHTML), extended(clipRequest|clipText),
		hears(`provide "second € \r\nline\r\n\x00"`), func(*rfbtest.Conn) error { close(given); return nil },
		hears("notify 0"), extended(clipRequest|clipText), hears("notify 0"))
	l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
	setClipboard(t, l, "first")
	setClipboard(t, l, "second € \r\nline\n\x00")
	<-given
	// A text that is too large is not sent, and the one before it no longer
	// either (C087, C088).
	_, err := l.Session.(viewer.Clipboard).SetClipboard(context.Background(), strings.Repeat("x", 16<<20+1))
	if viewer.KindOf(err) != viewer.Limit {
		t.Errorf("got %v, want the kind %q", err, viewer.Limit)
	}
	<-done
}

// A machine that takes texts unasked gets the short ones at once.
func TestExtendedClipboardUnasked(t *testing.T) {
	l, done := talk(t, caps(clipRequest|clipNotify|clipProvide, 10), hears(ownCaps), "\x02",
		hears(`provide "123456789\x00"`, "notify 1"), extended(clipRequest|clipText), hears(`provide "1234567890\x00"`))
	l.Event(t, "the bell", func(e viewer.Event) bool { _, ok := e.(viewer.Bell); return ok })
	setClipboard(t, l, "123456789")
	setClipboard(t, l, "1234567890")
	<-done
}

// A text that was set before the machine told what it can, and lost something,
// is told of anew.
func TestExtendedClipboardComesLate(t *testing.T) {
	l, done := talk(t, hears("text 5 ?"), caps(clipRequest|clipNotify|clipProvide, 0), hears(ownCaps, "notify 1"),
		extended(clipRequest|clipText), hears(`provide "5 €\x00"`))
	if lost, err := l.Session.(viewer.Clipboard).SetClipboard(context.Background(), "5 €"); lost != 1 || err != nil {
		t.Errorf("got %d lost, %v, want 1", lost, err)
	}
	<-done
}

// What cannot be taken is passed over with a notice, and the session goes on
// (C087).
func TestClipboardTextsThatAreNotTaken(t *testing.T) {
	bomb := packed(1<<31, "")
	for name, c := range map[string]struct {
		wire []byte
		want string
	}{
		"too large":            {append(binary.BigEndian.AppendUint32([]byte{3, 0, 0, 0}, 16<<20+1), make([]byte, 16<<20+1)...), "16777217 bytes"},
		"too large, extended":  {extended(clipProvide|clipText, bomb...), "2147483648 bytes"},
		"packed too large":     {extended(clipProvide|clipText, make([]byte, 20<<20)...), "20971520 bytes"},
		"less than it claims":  {extended(clipProvide|clipText, packed(50, "short")...), "badly packed"},
		"not packed":           {extended(clipProvide|clipText, []byte("plain text")...), "badly packed"},
		"nothing":              {extended(clipProvide | clipText), "badly packed"},
		"an end in the middle": {extended(clipProvide|clipText, packed(9, "123456789")[:12]...), "badly packed"},
	} {
		t.Run(name, func(t *testing.T) {
			l, done := talk(t, c.wire, provides("next"))
			<-done
			gotText(t, l, "next")
			l.Event(t, "a notice of "+c.want, func(e viewer.Event) bool {
				n, ok := e.(viewer.Notice)
				return ok && strings.Contains(n.Text, c.want)
			})
		})
	}
}

func TestClipboardAbilitiesCutShort(t *testing.T) {
	l, done := talk(t, extended(clipCaps|clipText|clipHTML, 0, 0, 0, 9))
	<-done
	l.Wait(t)
	if viewer.KindOf(l.Err()) != viewer.Malformed {
		t.Errorf("got %v, want the kind %q", l.Err(), viewer.Malformed)
	}
}
