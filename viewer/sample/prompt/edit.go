package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// An editor edits one line after the other at a terminal.
type editor struct {
	s      *Shell
	t      *Terminal
	k      keyboard
	out    io.Writer
	ctx    context.Context // of the login
	prompt string
	cols   int // width of the prompt

	text   []rune
	at     int    // the caret, in text
	row    int    // of the caret on the screen, from the prompt's
	killed []rune // the last that was cut out
	past   int    // the line of the history that is shown; len(history): a new one
	own    []rune // the new one meanwhile
	tabbed bool   // the last key was Tab, and it could do nothing
}

// errInterrupted says that the line was given up with Ctrl+C.
var errInterrupted = errors.New("interrupted")

// line reads a line. The error is io.EOF for Ctrl+D on an empty one.
func (e *editor) line() (string, error) {
	e.prompt = "\x1b[1;32m" + userName + "@" + hostName + "\x1b[m:\x1b[1;34m" + printable(e.s.shortDir()) + "\x1b[m$ "
	e.cols = textWidth(userName+"@"+hostName+":"+e.s.shortDir()) + 2
	e.text, e.at, e.row, e.past, e.own, e.tabbed = nil, 0, 0, len(e.s.history), nil, false
	io.WriteString(e.out, "\x1b[?2004h")
	defer io.WriteString(e.out, "\x1b[?2004l")
	e.draw()
	for {
		k, err := e.k.next(e.ctx)
		if err != nil {
			return "", err
		}
		tabbed := e.tabbed
		e.tabbed = false
		switch {
		case k.r == '\r' || k.r == '\n':
			e.at = len(e.text)
			e.draw()
			io.WriteString(e.out, "\r\n")
			return string(e.text), nil
		case k.r == 0x03:
			e.at = len(e.text)
			e.draw()
			io.WriteString(e.out, "^C\r\n")
			return "", errInterrupted
		case k.r == 0x04 && len(e.text) == 0:
			return "", io.EOF
		case k.r == '\t':
			e.complete(tabbed)
		case k.name == "paste":
			e.insert([]rune(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(k.text)))
		case k.name == "" && k.r >= ' ' && k.r != 0x7f:
			e.insert([]rune{k.r})
		default:
			e.act(k)
		}
	}
}

// act does what a key means that writes no character.
func (e *editor) act(k key) {
	name := k.name
	if name == "" {
		name = controls[k.r]
	}
	switch name {
	case "left":
		e.move(max(e.at-1, 0))
	case "right":
		e.move(min(e.at+1, len(e.text)))
	case "home":
		e.move(0)
	case "end":
		e.move(len(e.text))
	case "word left":
		e.move(e.wordLeft())
	case "word right":
		e.move(e.wordRight())
	case "rub":
		e.cut(max(e.at-1, 0), e.at, false)
	case "delete":
		e.cut(e.at, min(e.at+1, len(e.text)), false)
	case "kill to start":
		e.cut(0, e.at, true)
	case "kill to end":
		e.cut(e.at, len(e.text), true)
	case "rub blank word":
		from := e.at
		for from > 0 && unicode.IsSpace(e.text[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(e.text[from-1]) {
			from--
		}
		e.cut(from, e.at, true)
	case "rub word":
		e.cut(e.wordLeft(), e.at, true)
	case "kill word":
		e.cut(e.at, e.wordRight(), true)
	case "yank":
		e.insert(e.killed)
	case "up":
		e.recall(e.past - 1)
	case "down":
		e.recall(e.past + 1)
	case "clear":
		io.WriteString(e.out, "\x1b[H\x1b[2J")
		e.row = 0
		e.draw()
	}
}

// controls are the keys with Ctrl.
var controls = map[rune]string{
	0x01: "home", 0x02: "left", 0x04: "delete", 0x05: "end", 0x06: "right", 0x08: "rub", 0x0b: "kill to end", 0x0c: "clear", 0x0e: "down",
	0x10: "up", 0x15: "kill to start", 0x17: "rub blank word", 0x19: "yank", 0x7f: "rub",
}

func (e *editor) wordLeft() int {
	at := e.at
	for at > 0 && !inWord(e.text[at-1]) {
		at--
	}
	for at > 0 && inWord(e.text[at-1]) {
		at--
	}
	return at
}

func (e *editor) wordRight() int {
	at := e.at
	for at < len(e.text) && !inWord(e.text[at]) {
		at++
	}
	for at < len(e.text) && inWord(e.text[at]) {
		at++
	}
	return at
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func (e *editor) move(to int) {
	if to != e.at {
		e.at = to
		e.draw()
	}
}

// maxTyped bounds the characters of a line.
const maxTyped = maxLine / 4

func (e *editor) insert(r []rune) {
	if len(r) == 0 || len(e.text)+len(r) > maxTyped {
		io.WriteString(e.out, "\a")
		return
	}
	end := e.at == len(e.text)
	e.text = slices.Insert(e.text, e.at, r...)
	e.at += len(r)
	cols, _ := e.t.Size()
	if w := runeWidth(r[0]); end && len(r) == 1 && w == 1 && e.cols+textWidth(string(e.text)) < cols {
		io.WriteString(e.out, string(r)) // nothing else changes
		return
	}
	e.draw()
}

func (e *editor) cut(from, to int, keep bool) {
	if from == to {
		io.WriteString(e.out, "\a")
		return
	}
	if keep {
		e.killed = slices.Clone(e.text[from:to])
	}
	e.text = slices.Delete(e.text, from, to)
	e.at = from
	e.draw()
}

// recall shows a line of the history.
func (e *editor) recall(n int) {
	if n < 0 || n > len(e.s.history) {
		io.WriteString(e.out, "\a")
		return
	}
	if e.past == len(e.s.history) {
		e.own = e.text
	}
	e.past = n
	if n == len(e.s.history) {
		e.text = e.own
	} else {
		e.text = []rune(e.s.history[n])
	}
	e.at = len(e.text)
	e.draw()
}

// draw shows the prompt and the line anew.
func (e *editor) draw() {
	cols, _ := e.t.Size()
	var b strings.Builder
	if e.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", e.row)
	}
	b.WriteString("\r\x1b[J" + e.prompt)
	row, col := e.cols/cols, e.cols%cols
	caretRow, caretCol := row, col
	step := func(w int) {
		if col+w > cols {
			row, col = row+1, 0
		}
		col += w
	}
	for i, r := range e.text {
		if i == e.at {
			caretRow, caretCol = row, col
		}
		v := visible(r)
		b.WriteString(v)
		if len(v) > 1 && v[0] == '^' {
			step(1)
			step(1)
		} else {
			step(runeWidth(r))
		}
	}
	if e.at == len(e.text) {
		caretRow, caretCol = row, col
	}
	if col == cols { // the terminal waits with the new row
		b.WriteString("\r\n")
		row, col = row+1, 0
	}
	if caretCol >= cols {
		caretRow, caretCol = caretRow+1, 0
	}
	if row > caretRow {
		fmt.Fprintf(&b, "\x1b[%dA", row-caretRow)
	}
	b.WriteByte('\r')
	if caretCol > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", caretCol)
	}
	e.row = caretRow
	io.WriteString(e.out, b.String())
}
