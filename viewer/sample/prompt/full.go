package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"deskvnc/viewer/sample/tree"
)

// wholeScreen gives a command all of the terminal, and its keys, until it is
// done.
func (c *call) wholeScreen(do func(k *keyboard, out io.Writer) int) int {
	out := channel{c.ctx, c.term.out}
	c.term.setRaw(true)
	io.WriteString(out, "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J")
	st := do(&keyboard{t: c.term}, out)
	c.term.setRaw(false)
	// Also after the command was ended.
	c.term.out.offer([]byte("\x1b[m\x1b[?25h\x1b[?1049l"))
	return st
}

// runLess shows a text page by page. Without a terminal it is cat.
func runLess(c *call) int {
	if len(c.args) > 1 {
		return c.usage()
	}
	if !c.atTerminal() {
		return runCat(c)
	}
	if _, typed := c.in.(typist); typed && len(c.args) == 0 {
		return c.usage()
	}
	var text []string
	size, name := 0, "text"
	st := c.each(func(n string, r io.Reader) {
		if n != "" {
			name = n
		}
		c.lines(r, func(line string, _ bool) bool {
			size += len(line) + 16
			text = append(text, line)
			return size <= maxTail
		})
	})
	if st != 0 || c.ctx.Err() != nil {
		return st
	}
	p := &pager{name: printable(name), text: text, whole: size <= maxTail}
	return c.wholeScreen(func(k *keyboard, out io.Writer) int { return p.loop(c, k, out) })
}

// A pager shows lines of a text, each cut at the right edge.
type pager struct {
	name   string
	text   []string
	whole  bool
	top    int
	find   string
	notice string
	typing bool // a text to look for is being typed
	typed  string
}

func (p *pager) loop(c *call, k *keyboard, out io.Writer) int {
	for {
		cols, rows := c.term.Size()
		page := max(1, rows-1)
		p.top = max(0, min(p.top, len(p.text)-page))
		p.draw(out, cols, page)
		pressed, err := c.keyOrSize(k)
		if err != nil {
			return 0
		}
		if pressed == nil {
			continue
		}
		if p.typing {
			p.search(pressed)
			continue
		}
		p.notice = ""
		name := pressed.name
		if name == "" {
			name = string(pressed.r)
		}
		switch name {
		case "q", "Q", "\x03":
			return 0
		case "down", "j", "\r", "e":
			p.top++
		case "up", "k", "y":
			p.top--
		case " ", "f", "page down", "\x06":
			p.top += page
		case "b", "page up", "\x02":
			p.top -= page
		case "d", "\x04":
			p.top += page / 2
		case "u", "\x15":
			p.top -= page / 2
		case "g", "<", "home":
			p.top = 0
		case "G", ">", "end":
			p.top = len(p.text)
		case "/":
			p.typing, p.typed = true, ""
		case "n":
			p.next(p.top + 1)
		}
	}
}

// search takes a key of the text to look for.
func (p *pager) search(k *key) {
	switch {
	case k.r == '\r' || k.r == '\n':
		p.typing = false
		if p.typed != "" {
			p.find = p.typed
		}
		p.next(p.top)
	case k.r == 0x03 || k.name == "escape":
		p.typing = false
	case k.r == 0x7f || k.r == 0x08:
		if p.typed == "" {
			p.typing = false
			break
		}
		r := []rune(p.typed)
		p.typed = string(r[:len(r)-1])
	case k.name == "" && k.r >= ' ' && len(p.typed) < 200:
		p.typed += string(k.r)
	}
}

func (p *pager) next(from int) {
	if p.find == "" {
		return
	}
	for i := from; i < len(p.text); i++ {
		if strings.Contains(p.text[i], p.find) {
			p.top = i
			return
		}
	}
	p.notice = "not found: " + p.find
}

func (p *pager) draw(out io.Writer, cols, page int) {
	var b strings.Builder
	b.WriteString("\x1b[?25l\x1b[H")
	for y := range page {
		line := "~"
		if n := p.top + y; n < len(p.text) {
			line = cut(p.text[n], cols)
		}
		b.WriteString(line + "\x1b[K\r\n")
	}
	last := min(len(p.text), p.top+page)
	state := fmt.Sprintf("%s lines %d-%d/%d", p.name, min(p.top+1, len(p.text)), last, len(p.text))
	if last == len(p.text) {
		state += " (END)"
		if !p.whole {
			state += ", cut at 8 MiB"
		}
	}
	switch {
	case p.typing:
		b.WriteString(cut("/"+p.typed, cols-1) + "\x1b[K\x1b[?25h")
	case p.notice != "":
		b.WriteString("\x1b[7m" + cut(p.notice, cols-1) + "\x1b[m\x1b[K")
	default:
		b.WriteString("\x1b[7m" + cut(state, cols-1) + "\x1b[m\x1b[K")
	}
	io.WriteString(out, b.String())
}

// keyOrSize waits for a key; nil means that the size has changed instead.
func (c *call) keyOrSize(k *keyboard) (*key, error) { return c.keyWithin(k, nil) }

var errTick = errors.New("tick")

// keyWithin also gives nil when tick fires.
func (c *call) keyWithin(k *keyboard, tick <-chan time.Time) (*key, error) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-c.term.changed:
			cancel(errTick)
		case <-tick:
			cancel(errTick)
		case <-stop:
		}
	}()
	pressed, err := k.next(ctx)
	close(stop)
	<-ended
	tickled := context.Cause(ctx) == errTick
	cancel(nil)
	switch {
	case err == nil:
		return &pressed, nil
	case tickled && c.ctx.Err() == nil && !errors.Is(err, io.EOF):
		return nil, nil
	}
	return nil, err
}

// runTop shows a picture that moves once a second.
func runTop(c *call) int {
	if !c.atTerminal() {
		c.out.printf("%s", c.topText(80, 12, 0))
		return 0
	}
	return c.wholeScreen(func(k *keyboard, out io.Writer) int {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for n := 0; ; n++ {
			cols, rows := c.term.Size()
			lines := strings.Split(strings.TrimSuffix(c.topText(cols, rows, n), "\n"), "\n")
			io.WriteString(out, "\x1b[H"+strings.Join(lines[:min(len(lines), rows)], "\x1b[K\r\n")+"\x1b[K\x1b[J")
			pressed, err := c.keyWithin(k, tick.C)
			if err != nil || pressed != nil && (pressed.r == 'q' || pressed.r == 0x03) {
				return 0
			}
		}
	})
}

// topText is the picture of top: what is true of the sample, and a wave.
func (c *call) topText(cols, rows, n int) string {
	used, nodes := c.tree.Used()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cut(fmt.Sprintf("top - %s, logged in for %s, q ends", time.Now().Format("15:04:05"), time.Since(c.began).Round(time.Second)), cols))
	wide := max(1, min(40, cols-30))
	full := int(used * int64(wide) / tree.MaxBytes)
	fmt.Fprintf(&b, "Written \x1b[32m%s\x1b[90m%s\x1b[m %s\n", strings.Repeat("█", full), strings.Repeat("░", wide-full), human(used)+" of "+human(tree.MaxBytes))
	fmt.Fprintf(&b, "%s\n\n", cut(fmt.Sprintf("Nodes   %d of %d", nodes, tree.MaxNodes), cols))
	fmt.Fprintf(&b, "\x1b[7m%s\x1b[m\n", cut(fmt.Sprintf("%6s %-8s %-10s %s%s", "PID", "USER", "COMMAND", "WAVE", strings.Repeat(" ", cols)), cols))
	for i := range max(1, min(rows-6, 20)) {
		v := (1 + math.Sin(float64(n)/3+float64(i)/2.5)) / 2
		bar := int(v * float64(max(1, min(30, cols-30))))
		fmt.Fprintf(&b, "%6d %-8s %-10s \x1b[38;5;%dm%s\x1b[m\n", shellPID+i, userName, fmt.Sprintf("sample-%d", i+1), 34+i%6*36%180, strings.Repeat("▇", bar))
	}
	return b.String()
}

// runChart prints what a terminal can show.
func runChart(c *call) int {
	var b strings.Builder
	b.WriteString("16 colours\n")
	for i := range 16 {
		fmt.Fprintf(&b, "\x1b[48;5;%dm %2d \x1b[m", i, i)
	}
	b.WriteString("\n256 colours\n")
	for y := range 6 {
		for x := range 36 {
			fmt.Fprintf(&b, "\x1b[48;5;%dm  ", 16+y*36+x)
		}
		b.WriteString("\x1b[m\n")
	}
	for i := range 24 {
		fmt.Fprintf(&b, "\x1b[48;5;%dm   ", 232+i)
	}
	b.WriteString("\x1b[m\nTrue colour\n")
	for x := range 72 {
		fmt.Fprintf(&b, "\x1b[48;2;%d;%d;%dm ", 255-x*255/71, x*255/71, 128+x*127/71)
	}
	b.WriteString("\x1b[m\nAttributes\n")
	for _, a := range []struct{ code, name string }{{"1", "bold"}, {"2", "dim"}, {"3", "italic"}, {"4", "underline"}, {"4:3", "curly"},
		{"5", "blink"}, {"7", "reverse"}, {"9", "strike"}, {"53", "overline"}} {
		fmt.Fprintf(&b, "\x1b[%sm%s\x1b[m ", a.code, a.name)
	}
	b.WriteString("\nBoxes     ┌─┬─┐ ╔═╦═╗ ╭─╮ ▁▂▃▄▅▆▇█ ░▒▓ ⠁⠃⠇⡇⣇⣧⣷⣿\n")
	b.WriteString("          │ │ │ ║ ║ ║ │ │ ←↑→↓ ✓✗ ●○ ■□\n")
	b.WriteString("          └─┴─┘ ╚═╩═╝ ╰─╯ ∑∏√∞≈≠≤≥\n")
	b.WriteString("Wide      日本語 한국어 中文 ｆｕｌｌ\n")
	b.WriteString("Marks     e\u0301 n\u0303 a\u030a o\u0308  (each one column)\n")
	b.WriteString("Emoji     🐿 🌍 👋 🎉\n")
	b.WriteString("Others    Ελληνικά Русский עברית ไทย\n")
	b.WriteString("A link    \x1b]8;;https://example.com/\x1b\\example.com\x1b]8;;\x1b\\\n")
	io.WriteString(c.out, b.String())
	return 0
}
