package grid

import (
	"fmt"
	"strings"
	"testing"
)

// readAll reads from a cursor to the end, in parts.
func readAll(t *testing.T, g *Terminal, from Cursor, maxBytes int) (text string, next Cursor, lost uint64) {
	t.Helper()
	for range 100_000 {
		p := g.Read(from, maxBytes)
		text += p.Text
		lost += p.Lost
		if !p.More {
			return text, p.Next, lost
		}
		if p.Next == from {
			t.Fatal("a read does not go on")
		}
		from = p.Next
	}
	t.Fatal("reading does not end")
	return
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d of many that are longer than the screen\r\n", i)
	}
	return b.String()
}

func asRead(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func TestReadInParts(t *testing.T) {
	g := New(Options{Cols: 20, Rows: 6})
	g.Write([]byte(lines(1, 50) + "日本語 e\u0301 end"))
	want := asRead(lines(1, 50)) + "日本語 e\u0301 end"
	for _, n := range []int{1, 2, 7, 30, 64, 1 << 20} {
		got, _, lost := readAll(t, g, Cursor{}, n)
		if got != want || lost != 0 {
			t.Errorf("in parts of %d: lost %d, %s", n, lost, same(got, want))
		}
	}
}

func TestReadWhatIsNew(t *testing.T) {
	g := New(Options{Cols: 20, Rows: 6})
	g.Write([]byte("$ "))
	p := g.Read(Cursor{}, 1000)
	if p.Text != "$" || !p.Unfinished {
		t.Fatalf("got %+v", p)
	}
	if again := g.Read(p.Next, 1000); again.Text != "" || again.Next != p.Next {
		t.Fatalf("nothing is new, got %+v", again)
	}
	g.Write([]byte("seq\r\n1\r\n2\r\n$ "))
	if p = g.Read(p.Next, 1000); p.Text != "$ seq\n1\n2\n$" {
		t.Fatalf("got %q", p.Text)
	}
	g.Write([]byte("\r10%"))
	g.Write([]byte("\r20%"))
	if p = g.Read(p.Next, 1000); p.Text != "20%" {
		t.Fatalf("a line written over: got %q", p.Text)
	}
	c, err := ParseCursor(p.Next.String())
	if err != nil || c != p.Next {
		t.Fatalf("%v came back as %v: %v", p.Next, c, err)
	}
	for _, bad := range []string{"1", "1.2", "a.b.c", "-1.0.0", "1.2.3.4", "1.2.99999999999999999999"} {
		if _, err := ParseCursor(bad); err == nil {
			t.Errorf("%q was taken for a cursor", bad)
		}
	}
}

// TestReadAcrossResize reads on with a cursor of another width.
func TestReadAcrossResize(t *testing.T) {
	g := New(Options{Cols: 20, Rows: 6})
	g.Write([]byte(lines(1, 40)))
	first := g.Read(Cursor{}, 333)
	for i, cols := range []int{7, 100, 33, 2, 20} {
		g.Resize(cols, 4+i)
		rest, _, lost := readAll(t, g, first.Next, 100)
		if got, want := first.Text+rest, asRead(lines(1, 40)); got != want || lost != 0 {
			t.Errorf("at %d columns: lost %d, %s", cols, lost, same(got, want))
		}
		if b := broken(g); b != "" {
			t.Fatal(b)
		}
	}
}

// TestReadLost says how many lines the scrollback no longer holds, and never
// gives a number twice, whatever the program erases.
func TestReadLost(t *testing.T) {
	g := New(Options{Cols: 80, Rows: 4, Scrollback: 10})
	g.Write([]byte(lines(1, 100)))
	text, _, lost := readAll(t, g, Cursor{}, 1<<20)
	if want := asRead(lines(88, 100)); text != want || lost != 87 {
		t.Fatalf("lost %d, %s", lost, same(text, want))
	}
	g = New(Options{Cols: 80, Rows: 4})
	var all string
	var at Cursor
	step := func(s string) {
		g.Write([]byte(s))
		p := g.Read(at, 1<<20)
		all += p.Text + "|"
		at = p.Next
	}
	step("one\r\ntwo\r\n")
	step("\x1b[H\x1b[2J\x1b[3J")
	step("three\r\n")
	step("\x1bcfour\r\n")
	step("\x1b[H\x1b[Jfive\r\n")
	for _, w := range []string{"one", "two", "three", "four", "five"} {
		if strings.Count(all, w) != 1 {
			t.Errorf("%q came %d times in %q", w, strings.Count(all, w), all)
		}
	}
}

// TestReadLongLine reads one line that is longer than the scrollback.
func TestReadLongLine(t *testing.T) {
	g := New(Options{Cols: 10, Rows: 3, Scrollback: 5})
	for i := range 40 {
		fmt.Fprintf(g, "%010d", i)
	}
	p := g.Read(Cursor{}, 1000)
	if !strings.HasSuffix(p.Text, "0000000038"+"0000000039") || !strings.HasPrefix(p.Text, "0000000032") {
		t.Fatalf("got %q", p.Text)
	}
	g.Resize(25, 3)
	if q := g.Read(Cursor{}, 1000); !strings.HasSuffix(p.Text, q.Text) || q.Text == "" {
		t.Fatalf("after a resize: %q is no end of %q", q.Text, p.Text)
	}
}

// TestReadBehindAlternate: a program on the alternate screen hides nothing of
// the main one.
func TestReadBehindAlternate(t *testing.T) {
	g := New(Options{Cols: 40, Rows: 4})
	g.Write([]byte(lines(1, 9) + "$ vim\x1b[?1049h\x1b[HEDITOR\r\nEDITOR\r\n"))
	p := g.Read(Cursor{}, 1<<20)
	if !p.Alternate || strings.Contains(p.Text, "EDITOR") || !strings.HasSuffix(p.Text, "$ vim") {
		t.Fatalf("got %+v", p)
	}
	s := g.Screen()
	if !s.Alternate || s.Lines[0] != "EDITOR" || s.Lines[2] != "" {
		t.Fatalf("got %+v", s)
	}
	g.Resize(33, 7)
	g.Write([]byte("\x1b[?1049l"))
	if text, _, _ := readAll(t, g, Cursor{}, 100); text != asRead(lines(1, 9))+"$ vim" {
		t.Fatalf("got %q", text)
	}
}

func TestScreen(t *testing.T) {
	g := New(Options{Cols: 10, Rows: 3})
	g.Write([]byte("\x1b]2;a \x1b]0;t\u202eitle\x07\x1b[?2004h\x1b[?1002hab\x1b[8msecret日\x1b[mc"))
	s := g.Screen()
	if s.Lines[0] != "ab" || s.Lines[1] != "c" || !s.Wrapped[0] || s.X != 1 || s.Y != 1 || !s.Visible {
		t.Errorf("got %+v", s)
	}
	if s.Title != "title" || !s.Modes.BracketedPaste || s.Modes.Mouse != MouseDrags || s.String() != "ab\nc" {
		t.Errorf("got %+v", s)
	}
}
