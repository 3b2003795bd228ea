package grid

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// osc does an operating system command. End is the first byte of what ended
// it; the answer ends the same way.
func (t *Terminal) osc(text []byte, end byte) {
	num, rest, _ := bytes.Cut(text, []byte{';'})
	n := 0
	if len(num) == 0 || len(num) > 5 {
		return
	}
	for _, c := range num {
		if c < '0' || c > '9' {
			return
		}
		n = n*10 + int(c-'0')
	}
	switch n {
	case 0, 2:
		t.setTitle(cleanTitle(rest))
	case 4:
		t.oscPalette(rest, end)
	case 7:
		if d := cleanTitle(rest); d != t.dir {
			t.dir = d
			t.event(Event{Kind: Directory, Text: d})
		}
	case 8:
		t.oscLink(rest)
	case 9:
		// A number of its own means something else than a message.
		if len(rest) > 0 && !(rest[0] >= '0' && rest[0] <= '9' && (len(rest) == 1 || rest[1] == ';')) {
			t.event(Event{Kind: Notify, Text: cleanTitle(rest)})
		}
	case 10, 11, 12:
		// Further colours belong to the numbers that follow.
		for ; n <= 12; n++ {
			var spec []byte
			var more bool
			spec, rest, more = bytes.Cut(rest, []byte{';'})
			t.oscColor(n, spec, end)
			if !more {
				break
			}
		}
	case 52:
		t.oscClipboard(rest)
	case 104:
		t.oscResetPalette(rest)
	case 110, 111, 112:
		t.setSpecial(n-100, Default)
	case 777:
		if msg, ok := bytes.CutPrefix(rest, []byte("notify;")); ok {
			t.event(Event{Kind: Notify, Text: cleanTitle(bytes.Replace(msg, []byte{';'}, []byte(": "), 1))})
		}
	}
}

// oscLink does OSC 8: what is written from now on is a link.
func (t *Terminal) oscLink(rest []byte) {
	params, uri, ok := bytes.Cut(rest, []byte{';'})
	if !ok {
		return
	}
	k := linkKey{}
	if len(uri) > 0 && len(uri) <= maxLink && plainURI(uri) {
		k.uri = string(uri)
		for p := range bytes.SplitSeq(params, []byte{':'}) {
			if id, ok := bytes.CutPrefix(p, []byte("id=")); ok && len(id) <= maxLinkID {
				k.id = strings.ToValidUTF8(string(id), "")
			}
		}
	}
	t.link = k
	t.setExtra()
}

// plainURI reports whether an address is printable ASCII, as OSC 8 demands.
func plainURI(b []byte) bool {
	for _, c := range b {
		if c <= 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// oscClipboard does OSC 52: a request to put text on the clipboard.
func (t *Terminal) oscClipboard(rest []byte) {
	where, data, ok := bytes.Cut(rest, []byte{';'})
	if !ok || bytes.Equal(data, []byte{'?'}) {
		return
	}
	name := ""
	for _, c := range where {
		if (c == 'c' || c == 'p' || c == 's') && strings.IndexByte(name, c) < 0 {
			name += string(rune(c))
		}
	}
	if name == "" {
		name = "c"
	}
	text, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		text, err = base64.RawStdEncoding.DecodeString(string(data))
	}
	if err != nil || len(text) > maxClipboard {
		return
	}
	t.event(Event{Kind: Clipboard, Name: name, Text: strings.ToValidUTF8(string(text), "\ufffd")})
}
