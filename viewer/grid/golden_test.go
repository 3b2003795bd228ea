package grid

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// An item is something that is fed to us and to others.
type item struct {
	name string
	in   []byte
	small
}

// cuts is the number of places at which each recording is cut.
const cuts = 7

// items are the small cases, and the recordings cut at seven places each.
func items(t testing.TB) []item {
	t.Helper()
	var all []item
	for _, s := range smalls {
		all = append(all, item{s.name, []byte(s.in), s})
	}
	names, err := filepath.Glob("testdata/recordings/*.bin")
	if err != nil || len(names) == 0 {
		t.Fatal("no recordings")
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(n), ".bin")
		for i := range cuts {
			k := len(b) * (i + 1) / (cuts + 1)
			for k < len(b) && !utf8.RuneStart(b[k]) {
				k++
			}
			all = append(all, item{fmt.Sprintf("%s-%d", base, i+1), b[:k], small{follow: "both"}})
		}
	}
	return append(all, pages(t)...)
}

// pages are what vttest had drawn each time it waited for a key: its screens
// for the cursor, scrolling and erasing, character sets, inserting and
// deleting, and the sequences of ECMA-48.
func pages(t testing.TB) []item {
	t.Helper()
	var all []item
	names, err := filepath.Glob("testdata/vttest/*.bin")
	if err != nil || len(names) == 0 {
		t.Fatal("no vttest recordings")
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(n, ".bin")
		cuts, err := os.ReadFile(base + ".cuts")
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range strings.Fields(string(cuts)) {
			k, err := strconv.Atoi(c)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("vttest-%s-%d", filepath.Base(base), i+1)
			s := small{follow: "both"}
			if o, ok := pageFollow[name]; ok {
				s = o
			}
			all = append(all, item{name, b[:k], s})
		}
	}
	return all
}

const goldenFile = "testdata/goldens.txt"

// readGoldens are the screens that tmux and xterm showed, by "name/peer". Each
// has a row of the file for each of theirs, quoted, and one for the cursor.
func readGoldens(t testing.TB, file string) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	name := ""
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if line[0] != '"' {
			name = line
			if all[name] != nil {
				t.Fatalf("%s comes twice", name)
			}
			continue
		}
		s, err := strconv.Unquote(line)
		if err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
		all[name] = append(all[name], s)
	}
	return all
}

// A glyph is one character of a screen with what it looks like.
type glyph struct {
	text   string
	fg, bg Color
	attr   Attr
}

// ours are the rows of a terminal, each as its glyphs without blanks at the
// end, and its cursor.
func ours(g *Terminal) (rows [][]glyph, cursor string) {
	var v View
	g.Update(&v)
	for y := range v.Rows {
		var row []glyph
		for _, c := range v.Row(y) {
			if c.Attr&Tail != 0 {
				continue
			}
			row = append(row, glyph{v.Text(c), c.FG, c.BG, c.Attr & look})
		}
		rows = append(rows, row)
	}
	return rows, fmt.Sprintf("%d,%d", v.Caret.X, v.Caret.Y)
}

// glyphText is the text of a row. An xterm prints blanks for what is concealed,
// and U+FFFF for the right half of a wide character.
func glyphText(row []glyph, xterm bool) string {
	var b strings.Builder
	for _, g := range row {
		switch {
		case xterm && g.text == "\uffff":
			continue
		case xterm && g.attr&Conceal != 0:
			g.text = " "
		}
		b.WriteString(g.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// acs is what tmux writes for line drawing between SO and SI.
var acs = map[rune]string{'`': "◆", 'a': "▒", 'b': "␉", 'c': "␌", 'd': "␍", 'e': "␊", 'f': "°", 'g': "±", 'h': "␤", 'i': "␋", 'j': "┘", 'k': "┐",
	'l': "┌", 'm': "└", 'n': "┼", 'o': "⎺", 'p': "⎻", 'q': "─", 'r': "⎼", 's': "⎽", 't': "├", 'u': "┤", 'v': "┴", 'w': "┬", 'x': "│", 'y': "≤",
	'z': "≥", '{': "π", '|': "≠", '}': "£", '~': "·"}

// tmuxGlyphs reads one row as tmux captures it: text, SGR, SO and SI. It knows
// what tmux writes and nothing more, and shares no code with the terminal.
func tmuxGlyphs(t testing.TB, pen *glyph, line string) []glyph {
	t.Helper()
	var row []glyph
	drawing := false
	for len(line) > 0 {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			end := strings.IndexByte(rest, 'm')
			if end < 0 {
				t.Fatalf("tmux wrote %q", line)
			}
			tmuxSGR(t, pen, rest[:end])
			line = rest[end+1:]
			continue
		}
		if rest, ok := strings.CutPrefix(line, "\x1b]8;"); ok {
			_, line, _ = strings.Cut(rest, "\x1b\\")
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		line = line[n:]
		switch {
		case r == 0x0e:
			drawing = true
		case r == 0x0f:
			drawing = false
		case drawing && acs[r] != "":
			row = append(row, glyph{acs[r], pen.fg, pen.bg, pen.attr})
		default:
			row = append(row, glyph{string(r), pen.fg, pen.bg, pen.attr})
		}
	}
	return row
}

func tmuxSGR(t testing.TB, pen *glyph, params string) {
	t.Helper()
	if params == "" {
		*pen = glyph{}
		return
	}
	p := strings.Split(params, ";")
	num := func(i int) int {
		n, err := strconv.Atoi(p[i])
		if err != nil {
			t.Fatalf("tmux wrote SGR %q", params)
		}
		return n
	}
	attrs := map[int]Attr{1: Bold, 2: Dim, 3: Italic, 4: underline0, 5: Blink, 7: Reverse, 8: Conceal, 9: Strike, 53: Overline}
	for i := 0; i < len(p); i++ {
		if style, ok := strings.CutPrefix(p[i], "4:"); ok {
			n, _ := strconv.Atoi(style)
			pen.attr = pen.attr&^(7<<8) | Attr(n)<<8
			continue
		}
		if p[i] == "5:3" { // what tmux 3.3a writes for 53
			pen.attr |= Overline
			continue
		}
		n := num(i)
		switch {
		case n == 0:
			*pen = glyph{}
		case attrs[n] != 0:
			pen.attr |= attrs[n]
		case n >= 30 && n <= 37:
			pen.fg = Indexed(uint8(n - 30))
		case n >= 90 && n <= 97:
			pen.fg = Indexed(uint8(n - 82))
		case n >= 40 && n <= 47:
			pen.bg = Indexed(uint8(n - 40))
		case n >= 100 && n <= 107:
			pen.bg = Indexed(uint8(n - 92))
		case n == 39:
			pen.fg = Default
		case n == 49:
			pen.bg = Default
		case n == 58:
			i += map[int]int{5: 2, 2: 4}[num(i+1)]
		case n == 38 || n == 48:
			var c Color
			if num(i+1) == 5 {
				c = Indexed(uint8(num(i + 2)))
				i += 2
			} else {
				c = RGB(uint8(num(i+2)), uint8(num(i+3)), uint8(num(i+4)))
				i += 4
			}
			if n == 38 {
				pen.fg = c
			} else {
				pen.bg = c
			}
		default:
			t.Fatalf("tmux wrote SGR %q", params)
		}
	}
}

// differs says where our screen has another text, or the cursor is elsewhere,
// than a peer's, which ends with its cursor; empty when nowhere. With attrs
// characters that show must look the same too.
func differs(t testing.TB, g *Terminal, peer []string, attrs bool) string {
	t.Helper()
	rows, cursor := ours(g)
	if len(peer) != len(rows)+1 {
		t.Fatalf("the golden has %d rows, we have %d", len(peer)-1, len(rows))
	}
	var pen glyph
	for y, row := range rows {
		theirs := tmuxGlyphs(t, &pen, peer[y])
		if a, b := glyphText(row, !attrs), glyphText(theirs, !attrs); a != b {
			return fmt.Sprintf("row %d: we have %q, it has %q", y, a, b)
		}
		if !attrs {
			continue
		}
		var marked []glyph // theirs, with marks joined as in our cells
		for _, o := range theirs {
			if n := len(marked); n > 0 && runeWidth([]rune(o.text)[0]) == 0 {
				marked[n-1].text += o.text
				continue
			}
			marked = append(marked, o)
		}
		for x, o := range row {
			if strings.TrimSpace(o.text) == "" || x >= len(marked) {
				continue
			}
			if o != marked[x] {
				return fmt.Sprintf("row %d, character %d: we have %+v, it has %+v", y, x, o, marked[x])
			}
		}
	}
	// Where a character would wrap next, tmux says that its cursor is after the
	// last column.
	if theirs := peer[len(rows)]; theirs != cursor {
		w, _ := g.Size()
		if theirs != strings.Replace(cursor, fmt.Sprintf("%d,", w-1), fmt.Sprintf("%d,", w), 1) {
			return fmt.Sprintf("our cursor is at %s, its is at %s", cursor, theirs)
		}
	}
	return ""
}

// TestGoldens holds every item to what tmux and xterm showed. A small case
// says whom it follows; that must be so, for each of them.
func TestGoldens(t *testing.T) {
	if *update {
		writeGoldens(t)
	}
	want := readGoldens(t, goldenFile)
	for _, it := range items(t) {
		t.Run(it.name, func(t *testing.T) {
			g := New(Options{})
			g.Write(it.in)
			tmux, xterm := want[it.name+"/tmux"], want[it.name+"/xterm"]
			if tmux == nil || xterm == nil {
				t.Fatal("no golden: run go test -run TestGoldens -update")
			}
			dt, dx := differs(t, g, tmux, true), differs(t, g, xterm, false)
			got := map[[2]bool]string{{true, true}: "both", {true, false}: "tmux", {false, true}: "xterm", {false, false}: "own"}[[2]bool{dt == "", dx == ""}]
			if got != it.follow {
				t.Errorf("we follow %q, want %q\ntmux: %s\nxterm: %s", got, it.follow, dt, dx)
			}
			if (it.follow == "both") != (it.why == "") {
				t.Error("a case that does not follow both says why, and no other")
			}
		})
	}
}

func writeGoldens(t *testing.T) {
	display := startX(t)
	var b strings.Builder
	put := func(name string, rows []string) {
		fmt.Fprintln(&b, name)
		for i, r := range rows {
			if i < len(rows)-1 && !strings.Contains(r, "\x1b") {
				r = strings.TrimRight(r, " ")
			}
			fmt.Fprintln(&b, strconv.Quote(r))
		}
	}
	for _, it := range items(t) {
		put(it.name+"/tmux", fedToTmux(t, 80, 24, it.in))
		put(it.name+"/xterm", fedToXterm(t, display, 80, 24, it.in))
	}
	if err := os.WriteFile(goldenFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTmux holds every item to the tmux that is installed, and so the goldens
// to it.
func TestTmux(t *testing.T) {
	peer(t, "tmux")
	for _, it := range items(t) {
		if it.follow != "both" && it.follow != "tmux" {
			continue
		}
		t.Run(it.name, func(t *testing.T) {
			t.Parallel()
			g := New(Options{})
			g.Write(it.in)
			if d := differs(t, g, fedToTmux(t, 80, 24, it.in), true); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestCuts feeds every item byte by byte and at random places: the grid is the
// same.
func TestCuts(t *testing.T) {
	for _, it := range items(t) {
		whole := New(Options{})
		whole.Write(it.in)
		want := dump(whole)
		bytewise := New(Options{})
		for i := range it.in {
			bytewise.Write(it.in[i : i+1])
		}
		if d := same(want, dump(bytewise)); d != "" {
			t.Errorf("%s: byte by byte: %s", it.name, d)
		}
		for seed := range 4 {
			cut := New(Options{})
			n := seed*7 + 2
			for b := it.in; len(b) > 0; n = n*31%97 + 1 {
				k := min(n, len(b))
				cut.Write(b[:k])
				b = b[k:]
			}
			if d := same(want, dump(cut)); d != "" {
				t.Errorf("%s: in cuts: %s", it.name, d)
			}
		}
		if b := broken(whole); b != "" {
			t.Errorf("%s: %s", it.name, b)
		}
	}
}
