package grid

// A charset is what the bytes 0x20 to 0x7e stand for.
type charset byte

// The character sets, by the byte that designates them.
const (
	setASCII    charset = 'B'
	setBritish  charset = 'A'
	setGraphics charset = '0'
)

// charsets are the sets designated and the ones in use.
type charsets struct {
	g      [4]charset
	gl     uint8 // which of g
	single uint8 // for one character only: 2 or 3, or 0
}

func (s *charsets) reset() { *s = charsets{g: [4]charset{setASCII, setASCII, setASCII, setASCII}} }

// plain reports whether ASCII stands for itself.
func (s *charsets) plain() bool { return s.single == 0 && s.g[s.gl] == setASCII }

// graphics are the characters of DEC Special Graphics from 0x5f on.
var graphics = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate is what a byte stands for.
func (s *charsets) translate(c byte) rune {
	g := s.g[s.gl]
	if s.single != 0 {
		g, s.single = s.g[s.single], 0
	}
	switch {
	case g == setGraphics && c >= 0x5f:
		return graphics[c-0x5f]
	case g == setBritish && c == '#':
		return '£'
	}
	return rune(c)
}

// designate handles ESC ( and its kin. A set that is not known counts as ASCII.
func (t *Terminal) designate(g int, final byte) {
	switch c := charset(final); c {
	case setGraphics, setBritish:
		t.set.g[g] = c
	default:
		t.set.g[g] = setASCII
	}
}
