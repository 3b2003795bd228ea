package sshdial

import (
	"strings"
	"unicode"
)

// The bounds of text from a machine that is shown.
const (
	maxLine   = 300  // characters of one line
	maxBanner = 4000 // characters of a banner
)

// cleanLine makes one line of text from a machine.
func cleanLine(s string, limit int) string {
	return strings.Join(strings.Fields(cleanText(s, limit)), " ")
}

// cleanText takes everything out of a machine's text that is not to be seen,
// except line ends, and cuts it.
func cleanText(s string, limit int) string {
	if len(s) > 8*limit {
		s = s[:8*limit]
	}
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "?")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return strings.TrimRight(s, " \n")
}
