package grid

import (
	"strings"
	"testing"
)

func TestSelectedText(t *testing.T) {
	g := New(Options{Cols: 10, Rows: 6})
	g.Write([]byte("first line that wraps\r\nsecond  \r\n日本語 x\r\nlast"))
	epoch, all := g.All()
	top := all.From.Row
	at := func(y, x int) Pos { return Pos{top + int64(y), x} }
	for _, k := range []struct {
		name string
		s    Span
		want string
	}{
		{"all", all, "first line that wraps\nsecond\n日本語 x\nlast"},
		{"part", Span{From: at(0, 6), To: at(1, 5)}, "line that"},
		{"over a wrap", Span{From: at(0, 6), To: at(2, 1)}, "line that wraps"},
		{"ends with a space", Span{From: at(0, 0), To: at(0, 6)}, "first "},
		{"over a line's end", Span{From: at(3, 2), To: at(4, 2)}, "cond\n日"},
		{"half of a wide character", Span{From: at(4, 1), To: at(4, 3)}, "日本"},
		{"block", Span{From: at(3, 1), To: at(5, 4), Block: true}, "eco\n日本\nast"},
		{"block the other way", Span{From: at(3, 4), To: at(5, 1), Block: true}, "eco\n日本\nast"},
		{"outside", Span{From: Pos{-5, 0}, To: Pos{top + 99, 0}}, "first line that wraps\nsecond\n日本語 x\nlast"},
	} {
		got, ok := g.Text(epoch, k.s)
		if got = strings.TrimRight(got, "\n"); got != k.want || !ok {
			t.Errorf("%s: got %q, want %q", k.name, got, k.want)
		}
	}
	g.Resize(20, 6)
	if _, ok := g.Text(epoch, all); ok {
		t.Error("places hold after lines were laid out anew")
	}
}

func TestWordsAndLines(t *testing.T) {
	g := New(Options{Cols: 10, Rows: 6})
	g.Write([]byte("see /usr/share/doc-1.2 (now) größe 日本語"))
	epoch, all := g.All()
	for _, k := range []struct {
		y, x int
		want string
	}{
		{0, 0, "see"}, {0, 5, "/usr/share/doc-1.2"}, {1, 3, "/usr/share/doc-1.2"}, {0, 3, " "}, {2, 4, "now"}, {2, 3, "("}, {3, 2, "größe"}, {3, 7, "日本語"},
	} {
		s, ok := g.Word(epoch, Pos{all.From.Row + int64(k.y), k.x})
		got, _ := g.Text(epoch, s)
		if got != k.want || !ok {
			t.Errorf("at %d,%d: got %q, want %q", k.x, k.y, got, k.want)
		}
	}
	s, _ := g.Line(epoch, Pos{all.From.Row + 1, 3})
	if got, _ := g.Text(epoch, s); got != "see /usr/share/doc-1.2 (now) größe 日本語" {
		t.Errorf("the line is %q", got)
	}
	if s.Has(Pos{all.From.Row + 1, 3}) != true || s.Has(Pos{all.From.Row + 5, 3}) {
		t.Error("what is in the span")
	}
}

func TestFind(t *testing.T) {
	g := New(Options{Cols: 10, Rows: 4, Scrollback: 2000})
	for range 600 {
		g.Write([]byte("nothing in here\r\n"))
	}
	g.Write([]byte("a Needle over two rows, NEEDLE GRÖSSE\r\n"))
	for range 600 {
		g.Write([]byte("nothing in here\r\n"))
	}
	g.Write([]byte("日本 needle"))
	epoch, all := g.All()
	find := func(text string, matchCase, expression bool, back bool) (out []string) {
		q, err := NewQuery(text, matchCase, expression)
		if err != nil {
			t.Fatal(err)
		}
		at := Pos{all.From.Row - 1, 0}
		if back {
			at = all.To
		}
		for {
			s, ok := g.Find(q, epoch, at, back)
			if !ok {
				return out
			}
			text, _ := g.Text(epoch, s)
			out = append(out, text)
			at = s.From
		}
	}
	for _, k := range []struct {
		text                        string
		matchCase, expression, back bool
		want                        string
	}{
		{"needle", false, false, false, "Needle,NEEDLE,needle"},
		{"needle", false, false, true, "needle,NEEDLE,Needle"},
		{"needle", true, false, false, "needle"},
		{"grösse", false, false, false, "GRÖSSE"},
		{"two rows, n", false, false, false, "two rows, N"},
		{`n[e]+dle\b`, false, true, false, "Needle,NEEDLE,needle"},
		{`本 n`, true, true, true, "本 n"},
		{"absent", false, false, false, ""},
	} {
		if got := strings.Join(find(k.text, k.matchCase, k.expression, k.back), ","); got != k.want {
			t.Errorf("%q: got %q, want %q", k.text, got, k.want)
		}
	}
	q, err := NewQuery("nothing", false, false)
	if err != nil {
		t.Fatal(err)
	}
	var v View
	g.Update(&v)
	if m := g.Matches(q, epoch, v.Top, v.Top+3, 100); len(m) != 1 {
		t.Errorf("%d matches in the view, want 1: %v", len(m), m)
	}
	for _, bad := range []string{"", strings.Repeat("x", maxQuery+1)} {
		if _, err := NewQuery(bad, false, false); err == nil {
			t.Errorf("a query of %d bytes", len(bad))
		}
	}
	if _, err := NewQuery("(", false, true); err == nil {
		t.Error("a broken expression")
	}
}
