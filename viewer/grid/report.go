package grid

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// reply keeps an answer for the program. One for which there is no room is
// dropped whole.
func (t *Terminal) reply(s string) {
	if len(t.replies)+len(s) <= maxReplies {
		t.replies = append(t.replies, s...)
	}
}

func (t *Terminal) replyf(format string, args ...any) {
	t.reply(fmt.Sprintf(format, args...))
}

// Replies takes the answers that the program must be sent, in order; nil for
// none.
func (t *Terminal) Replies() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.replies
	t.replies = nil
	return r
}

// status does DSR.
func (t *Terminal) status(n int, private bool) {
	y, x := t.y+1, t.x+1
	if t.mode.origin {
		y, x = y-t.top, x-t.left
	}
	switch {
	case private && n == 6: // DECXCPR
		t.replyf("\x1b[?%d;%d;1R", y, x)
	case private && n == 15:
		t.reply("\x1b[?13n") // no printer
	case private && n == 25:
		t.reply("\x1b[?20n") // keys may be defined, though nothing comes of it
	case private && n == 26:
		t.reply("\x1b[?27;1;0;0n")
	case private:
	case n == 5:
		t.reply("\x1b[0n")
	case n == 6: // CPR
		t.replyf("\x1b[%d;%dR", y, x)
	}
}

// window does XTWINOPS: what asks is answered, what would move or size the
// window is not done. A title is not told: it would be typed to the program.
func (t *Terminal) window() {
	p := &t.parser
	switch p.arg(0, 0) {
	case 11:
		t.reply("\x1b[1t")
	case 13:
		t.reply("\x1b[3;0;0t")
	case 14:
		if t.cellW > 0 && t.cellH > 0 {
			t.replyf("\x1b[4;%d;%dt", t.cellH*t.rows, t.cellW*t.cols)
		}
	case 16:
		if t.cellW > 0 && t.cellH > 0 {
			t.replyf("\x1b[6;%d;%dt", t.cellH, t.cellW)
		}
	case 18:
		t.replyf("\x1b[8;%d;%dt", t.rows, t.cols)
	case 19:
		t.replyf("\x1b[9;%d;%dt", t.rows, t.cols)
	case 20:
		t.reply("\x1b]L\x1b\\")
	case 21:
		t.reply("\x1b]l\x1b\\")
	case 22:
		if n := p.arg(1, 0); n == 0 || n == 2 {
			t.pushTitle()
		}
	case 23:
		if n := p.arg(1, 0); n == 0 || n == 2 {
			t.popTitle()
		}
	}
}

// dcs does a device control string.
func (t *Terminal) dcs(text []byte) {
	p := &t.parser
	if p.prefix != 0 || p.middles != 1 {
		return
	}
	switch {
	case p.middle[0] == '$' && p.final == 'q': // DECRQSS
		t.settings(string(text))
	case p.middle[0] == '+' && p.final == 'q': // XTGETTCAP
		t.termcap(text)
	}
}

// settings answers DECRQSS: 1 with the setting, or 0 for what is not known.
func (t *Terminal) settings(what string) {
	var s string
	switch what {
	case "m":
		s = t.sgrText() + "m"
	case "r":
		s = fmt.Sprintf("%d;%dr", t.top+1, t.bot+1)
	case "s":
		s = fmt.Sprintf("%d;%ds", t.left+1, t.rgt+1)
	case " q":
		s = fmt.Sprintf("%d q", max(1, t.mode.cursorStyle))
	case "\"q":
		n := 0
		if t.pen.Attr&protected != 0 {
			n = 1
		}
		s = strconv.Itoa(n) + "\"q"
	case "\"p":
		s = "62;1\"p"
	case "t":
		s = strconv.Itoa(t.rows) + "t"
	default:
		t.reply("\x1bP0$r\x1b\\")
		return
	}
	t.reply("\x1bP1$r" + s + "\x1b\\")
}

// sgrText is the SGR that gives the pen as it is.
func (t *Terminal) sgrText() string {
	var b strings.Builder
	b.WriteByte('0')
	for _, k := range []struct {
		a Attr
		n string
	}{{Bold, "1"}, {Dim, "2"}, {Italic, "3"}, {Blink, "5"}, {Reverse, "7"}, {Conceal, "8"}, {Strike, "9"}, {Overline, "53"}} {
		if t.pen.Attr&k.a != 0 {
			b.WriteString(";" + k.n)
		}
	}
	switch u := t.pen.Attr.Underline(); u {
	case NoUnderline:
	case SingleUnderline:
		b.WriteString(";4")
	default:
		fmt.Fprintf(&b, ";4:%d", u)
	}
	for _, k := range []struct {
		c          Color
		n, low, hi int
	}{{t.pen.FG, 38, 30, 90}, {t.pen.BG, 48, 40, 100}, {t.underline, 58, 0, 0}} {
		if i, ok := k.c.Index(); ok {
			switch {
			case i < 8 && k.low > 0:
				fmt.Fprintf(&b, ";%d", k.low+int(i))
			case i < 16 && k.hi > 0:
				fmt.Fprintf(&b, ";%d", k.hi+int(i)-8)
			default:
				fmt.Fprintf(&b, ";%d:5:%d", k.n, i)
			}
		} else if r, g, bl, ok := k.c.RGB(); ok {
			fmt.Fprintf(&b, ";%d:2::%d:%d:%d", k.n, r, g, bl)
		}
	}
	return b.String()
}

// termcap answers XTGETTCAP for the few names that programs ask for.
func (t *Terminal) termcap(text []byte) {
	for name := range bytes.SplitSeq(text, []byte{';'}) {
		if len(name) > 64 {
			return
		}
		var value string
		switch strings.ToUpper(string(name)) {
		case "436F", "636F6C6F7273": // Co, colors
			value = "323536" // 256
		case "544E", "6E616D65": // TN, name
			value = "787465726D2D323536636F6C6F72" // xterm-256color
		case "524742": // RGB
			value = "382F382F38" // 8/8/8
		default:
			t.reply("\x1bP0+r\x1b\\")
			return
		}
		t.reply("\x1bP1+r" + strings.ToUpper(string(name)) + "=" + value + "\x1b\\")
	}
}

// maxHold is how long a program may hold back its output from views (mode
// 2026).
const maxHold = 200 * time.Millisecond

func (t *Terminal) hold(on bool) {
	switch {
	case !on:
		t.syncEnd = time.Time{}
	case t.syncEnd.IsZero() || !t.now().Before(t.syncEnd):
		t.syncEnd = t.now().Add(maxHold)
	}
}

func (t *Terminal) held() bool {
	return !t.syncEnd.IsZero() && t.now().Before(t.syncEnd)
}
