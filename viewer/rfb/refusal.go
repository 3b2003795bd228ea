package rfb

import "strings"

// misplacedReason finds the reason of a refused login in what has arrived
// behind a result of 0. The neatvnc of before version 0.6, that of wayvnc,
// refuses as if it listed no security types: a count of 0 and a counted reason,
// of which the first four bytes read as success, and of which it sends the
// length right but seldom the text. A machine that has let us in says nothing
// before ClientInit.
func misplacedReason(rest []byte) (reason string, ok bool) {
	const shortest = 4 // under that it may be anything
	if len(rest) <= shortest || int(rest[0]) != len(rest)-1 {
		return "", false
	}
	text := string(rest[1:])
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", true
	}
	return text, true
}
