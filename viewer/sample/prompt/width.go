package prompt

import "unicode"

// wide are the ranges of characters that take two columns.
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60},
	{0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
}

// runeWidth is the columns that a character takes.
func runeWidth(r rune) int {
	switch {
	case r < ' ' || r == 0x7f:
		return 2 // shown as ^X
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// visible shows control characters as ^X, so that a text cannot steer the
// terminal.
func visible(r rune) string {
	switch {
	case r < ' ':
		return "^" + string(r+'@')
	case r == 0x7f:
		return "^?"
	case r >= 0x80 && r < 0xa0:
		return "\ufffd"
	}
	return string(r)
}
