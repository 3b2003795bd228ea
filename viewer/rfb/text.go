package rfb

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText makes one line for a person of bytes from a machine: UTF-8 or
// else Latin-1, without control and formatting characters, at most limit
// bytes.
func cleanText(b []byte, limit int) string {
	if len(b) > limit {
		b = b[:limit]
		// A letter cut in two would make all of it look like Latin-1.
		for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
			if c := b[len(b)-i]; utf8.RuneStart(c) {
				if !utf8.FullRune(b[len(b)-i:]) {
					b = b[:len(b)-i]
				}
				break
			}
		}
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
	return strings.Join(strings.Fields(s), " ")
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
