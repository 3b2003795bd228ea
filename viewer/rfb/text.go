package rfb

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// keptBytes bounds a text for a person that is kept of what a machine sends:
// its name, its reasons.
const keptBytes = 4 << 10

// maxSaid bounds what is repeated of a machine's words.
const maxSaid = 500

// said marks the machine's own words as such, so that nobody takes them for
// ours: one line, in quotation marks that they cannot close.
func said(text string) string {
	return `the machine says: "` + strings.ReplaceAll(cleanText([]byte(text), maxSaid), `"`, "'") + `"`
}

// cleanText makes one line for a person of at most [keptBytes] bytes from a
// machine: UTF-8 or else Latin-1, without control and formatting characters,
// at most limit bytes.
func cleanText(b []byte, limit int) string {
	if len(b) >= keptBytes {
		b = whole(b[:keptBytes])
	}
	s := string(b)
	if !utf8.ValidString(s) {
		s = fromLatin1(b)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = string(whole([]byte(s[:limit])))
	}
	return s
}

// whole drops a letter at the end of b that was cut in two.
func whole(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// fromLatin1 reads b as ISO 8859-1, the protocol's character set for text.
func fromLatin1(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

// cutText reads the protocol's own clipboard text: ISO 8859-1, or UTF-8, which
// neatvnc (wayvnc) and others send all the same. A text of ISO 8859-1 that is
// valid UTF-8 too is next to none.
func cutText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return fromLatin1(b)
}

// toLatin1 writes text as ISO 8859-1 with the protocol's line ends (a line
// feed alone), and counts the characters that it cannot carry.
func toLatin1(text string) (b []byte, lost int) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	b = make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			r = '?'
			lost++
		}
		b = append(b, byte(r))
	}
	return b, lost
}
