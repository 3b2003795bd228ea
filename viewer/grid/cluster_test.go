package grid

import (
	"strings"
	"testing"
)

// TestClusters: with mode 2027 a grapheme cluster is one character, without
// it each code point takes the cells that wcwidth gives it.
func TestClusters(t *testing.T) {
	for _, k := range []struct {
		name, in string
		on, off  int // columns that it takes
		cells    string
	}{
		{"joined", "👩\u200d👩\u200d👧", 2, 6, "👩\u200d👩\u200d👧"},
		{"flag", "🇩🇪", 2, 2, "🇩🇪"},
		{"two flags", "🇩🇪🇫🇷", 4, 4, "🇩🇪|🇫🇷"},
		{"style", "❤\ufe0f", 2, 1, "❤\ufe0f"},
		{"keycap", "1\ufe0f\u20e3", 2, 1, "1\ufe0f\u20e3"},
		{"tone", "👍🏽", 2, 4, "👍🏽"},
		{"mark", "e\u0301x", 2, 2, "e\u0301|x"},
		{"not joined", "a\u200db", 2, 2, "a\u200d|b"},
		{"tone alone", "x🏽", 3, 3, "x|🏽"},
		{"wide", "日本", 4, 4, "日|本"},
	} {
		for _, on := range []bool{true, false} {
			mode, want := "\x1b[?2027h", k.on
			if !on {
				mode, want = "", k.off
			}
			g := New(Options{Cols: 20, Rows: 3})
			for _, c := range []byte(mode + k.in) {
				g.Write([]byte{c})
			}
			var v View
			g.Update(&v)
			if v.Caret.X != want {
				t.Errorf("%s, mode %v: takes %d columns, want %d", k.name, on, v.Caret.X, want)
			}
			var cells []string
			for _, c := range v.Row(0)[:v.Caret.X] {
				if c.Attr&Tail == 0 {
					cells = append(cells, v.Text(c))
				}
			}
			if got := strings.Join(cells, "|"); on && got != k.cells {
				t.Errorf("%s: cells %q, want %q", k.name, got, k.cells)
			}
			if b := broken(g); b != "" {
				t.Errorf("%s: %s", k.name, b)
			}
		}
	}
}

// TestClusterAtTheEdge: a character that becomes wide in the last column moves
// to the next row.
func TestClusterAtTheEdge(t *testing.T) {
	g := New(Options{Cols: 5, Rows: 3})
	g.Write([]byte("\x1b[?2027habcd❤\ufe0fx"))
	s := g.Screen()
	if s.Lines[0] != "abcd" || s.Lines[1] != "❤\ufe0fx" || s.X != 3 || !s.Wrapped[0] {
		t.Errorf("got %q, cursor at %d", s.Lines, s.X)
	}
	g.Resize(20, 3)
	if s := g.Screen(); s.Lines[0] != "abcd❤\ufe0fx" {
		t.Errorf("joined again: %q", s.Lines)
	}
	if b := broken(g); b != "" {
		t.Error(b)
	}
}

// TestMarksAreBounded: one cell holds so many marks and no more.
func TestMarksAreBounded(t *testing.T) {
	g := New(Options{Cols: 10, Rows: 2})
	g.Write([]byte("a" + strings.Repeat("\u0301", 1000) + "b"))
	want := "a" + strings.Repeat("\u0301", maxMarks-1) + "b"
	if got := g.Screen().Lines[0]; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
