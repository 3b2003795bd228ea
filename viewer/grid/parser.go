package grid

// The states of the parser, after the state diagram of the VT500 series.
type state uint8

const (
	ground state = iota
	escape
	escapeMiddle
	csiEntry
	csiParam
	csiMiddle
	csiIgnore
	dcsEntry
	dcsParam
	dcsMiddle
	dcsIgnore // the body is dropped
	dcsText
	oscText
	dropText // SOS, PM, APC: dropped
)

const (
	// maxParams is the number of parameters, with their parts, that one
	// sequence keeps; what comes after them is dropped.
	maxParams = 32
	// maxParam is the greatest value of one; a greater one counts as this.
	maxParam = 65535
	// maxText bounds the text of one OSC or DCS sequence. Of a longer one
	// nothing is done.
	maxText = 1<<20 + 1<<10
)

// A parser is where the terminal stands within a sequence.
type parser struct {
	state state
	// esc: an ESC came within a text; a backslash ends the text, anything else
	// begins another sequence.
	esc bool

	need   int // bytes of a character that are still to come
	lo, hi byte
	acc    rune

	prefix  byte // one of < = > ? or 0
	middle  [2]byte
	middles int
	param   [maxParams]int32 // -1 where none is given
	part    [maxParams]bool  // follows a colon
	params  int              // the last one is being read; 0 before the first
	full    bool

	final    byte // of a DCS
	text     []byte
	overlong bool
}

func (p *parser) reset() { *p = parser{text: p.text[:0]} }

// begin forgets the last sequence.
func (p *parser) begin(s state) {
	p.state, p.esc = s, false
	p.prefix, p.middles, p.params, p.full = 0, 0, 0, false
}

// beginText starts the text of an OSC or DCS.
func (p *parser) beginText(s state) {
	p.state, p.esc, p.overlong = s, false, false
	if cap(p.text) > 64<<10 {
		p.text = nil
	}
	p.text = p.text[:0]
}

// feed takes bytes under the lock, and returns those for which it should be
// taken anew.
func (t *Terminal) feed(b []byte) []byte {
	t.work = 0
	for len(b) > 0 && t.work < maxWork {
		switch t.parser.state {
		case ground:
			b = t.plain(b)
		case oscText, dcsText, dcsIgnore, dropText:
			b = t.body(b)
		default:
			t.step(b[0])
			b = b[1:]
		}
	}
	return b
}

// plain takes text outside sequences, as much as there is.
func (t *Terminal) plain(b []byte) []byte {
	p := &t.parser
	for len(b) > 0 && p.state == ground {
		c := b[0]
		if p.need > 0 {
			if c < p.lo || c > p.hi {
				p.need = 0
				t.print(replacement)
				continue
			}
			b = b[1:]
			p.acc = p.acc<<6 | rune(c&0x3f)
			p.lo, p.hi = 0x80, 0xbf
			if p.need--; p.need == 0 {
				t.character(p.acc)
			}
			continue
		}
		switch {
		case c >= 0x20 && c < 0x7f:
			n := 1
			for n < len(b) && b[n] >= 0x20 && b[n] < 0x7f {
				n++
			}
			t.ascii(b[:n])
			b = b[n:]
		case c == 0x1b:
			p.begin(escape)
			return b[1:]
		case c < 0x20:
			t.control(c)
			b = b[1:]
		case c == 0x7f:
			b = b[1:]
		case c >= 0xe1 && c <= 0xec && len(b) >= 3 && b[1]&0xc0 == 0x80 && b[2]&0xc0 == 0x80:
			t.character(rune(c&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f))
			b = b[3:]
		default:
			t.lead(c)
			b = b[1:]
		}
	}
	return b
}

const replacement = 0xfffd

// lead takes the first byte of a character that is not ASCII. Of bad UTF-8
// each longest part that could have begun a character is one replacement
// (Unicode, section 3.9), however the bytes are cut.
func (t *Terminal) lead(c byte) {
	p := &t.parser
	p.lo, p.hi = 0x80, 0xbf
	switch {
	case c >= 0xc2 && c <= 0xdf:
		p.need, p.acc = 1, rune(c&0x1f)
	case c >= 0xe0 && c <= 0xef:
		p.need, p.acc = 2, rune(c&0x0f)
		switch c {
		case 0xe0:
			p.lo = 0xa0
		case 0xed:
			p.hi = 0x9f // no surrogates
		}
	case c >= 0xf0 && c <= 0xf4:
		p.need, p.acc = 3, rune(c&0x07)
		switch c {
		case 0xf0:
			p.lo = 0x90
		case 0xf4:
			p.hi = 0x8f
		}
	default:
		t.print(replacement)
	}
}

// character takes a decoded one that is not ASCII.
func (t *Terminal) character(r rune) {
	if r >= 0xa0 {
		t.print(r)
	}
	// Controls of eight bits do nothing, as in tmux and xterm with UTF-8.
}

// step takes one byte within a sequence.
func (t *Terminal) step(c byte) {
	p := &t.parser
	switch {
	case c == 0x18 || c == 0x1a: // CAN, SUB
		p.state = ground
		return
	case c == 0x1b:
		p.begin(escape)
		return
	case c < 0x20:
		if p.state < dcsEntry {
			t.control(c)
		}
		return
	case c >= 0x7f:
		return
	}
	switch p.state {
	case escape, escapeMiddle:
		t.escapeStep(c)
	case csiEntry, csiParam, csiMiddle, csiIgnore:
		if c >= 0x40 {
			ignore := p.state == csiIgnore
			p.state = ground
			if !ignore {
				t.csi(c)
			}
			return
		}
		if !p.collect(c, p.state == csiEntry, p.state == csiMiddle) {
			p.state = csiIgnore
		} else if p.state != csiIgnore {
			p.state = after(c, csiParam, csiMiddle)
		}
	case dcsEntry, dcsParam, dcsMiddle:
		if c >= 0x40 {
			p.final = c
			p.beginText(dcsText)
			return
		}
		if !p.collect(c, p.state == dcsEntry, p.state == dcsMiddle) {
			p.beginText(dcsIgnore)
		} else {
			p.state = after(c, dcsParam, dcsMiddle)
		}
	}
}

func after(c byte, param, middle state) state {
	if c < 0x30 {
		return middle
	}
	return param
}

// collect takes one byte between the introducer and the final; false when it
// may not stand there.
func (p *parser) collect(c byte, first, middle bool) bool {
	switch {
	case c < 0x30:
		if p.middles == len(p.middle) {
			return false
		}
		p.middle[p.middles] = c
		p.middles++
	case middle:
		return false
	case c >= 0x3c:
		if !first {
			return false
		}
		p.prefix = c
	default:
		if p.params == 0 {
			p.params, p.param[0], p.part[0] = 1, -1, false
		}
		if c == ';' || c == ':' {
			if p.params == maxParams {
				p.full = true
				return true
			}
			p.param[p.params], p.part[p.params] = -1, c == ':'
			p.params++
			return true
		}
		if p.full {
			return true
		}
		n := &p.param[p.params-1]
		*n = min(max(*n, 0)*10+int32(c-'0'), maxParam)
	}
	return true
}

// escapeStep takes the byte after ESC, or after its intermediates.
func (t *Terminal) escapeStep(c byte) {
	p := &t.parser
	if c < 0x30 {
		if p.middles < len(p.middle) {
			p.middle[p.middles] = c
		}
		p.middles++
		p.state = escapeMiddle
		return
	}
	p.state = ground
	if p.middles > 0 {
		t.escMiddle(c)
		return
	}
	switch c {
	case '[':
		p.begin(csiEntry)
	case ']':
		p.beginText(oscText)
	case 'P':
		p.begin(dcsEntry)
	case 'X', '^', '_':
		p.beginText(dropText)
	default:
		t.esc(c)
	}
}

// body takes the text of a sequence up to its end.
func (t *Terminal) body(b []byte) []byte {
	p := &t.parser
	if p.esc {
		p.esc = false
		if b[0] == '\\' {
			t.endText(0x1b)
			return b[1:]
		}
		// Another sequence begins; the text is dropped.
		p.begin(escape)
		return b
	}
	n := 0
	for n < len(b) && b[n] != 0x1b && b[n] != 0x07 && b[n] != 0x18 && b[n] != 0x1a {
		n++
	}
	if p.state == oscText || p.state == dcsText {
		if len(p.text)+n > maxText {
			p.overlong = true
			p.text = p.text[:0]
		}
		if !p.overlong {
			p.text = append(p.text, b[:n]...)
		}
	}
	if n == len(b) {
		return nil
	}
	switch b[n] {
	case 0x1b:
		p.esc = true
	case 0x07:
		if p.state == oscText {
			t.endText(0x07)
		} else if p.state == dcsText && !p.overlong {
			p.text = append(p.text, 0x07)
		}
	default:
		p.state = ground
	}
	return b[n+1:]
}

// endText does what a whole OSC or DCS asks for. End is the first byte of what
// ended it.
func (t *Terminal) endText(end byte) {
	p := &t.parser
	s, text := p.state, p.text
	p.state = ground
	if p.overlong {
		return
	}
	switch s {
	case oscText:
		t.osc(text, end)
	case dcsText:
		t.dcs(text)
	}
}

// arg is parameter i, or def when it is not given or 0 and def is not.
func (p *parser) arg(i, def int) int {
	if i >= p.params || p.param[i] < 0 || p.param[i] == 0 && def != 0 {
		return def
	}
	return int(p.param[i])
}
