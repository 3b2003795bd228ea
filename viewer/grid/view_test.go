package grid

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func changedRows(v *View) (out []int) {
	for y, c := range v.Changed {
		if c {
			out = append(out, y)
		}
	}
	return out
}

func viewText(v *View, y int) string {
	var b strings.Builder
	for _, c := range v.Row(y) {
		if c.Attr&Tail == 0 {
			b.WriteString(v.Text(c))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func TestUpdateCopiesWhatChanged(t *testing.T) {
	g := New(Options{Cols: 10, Rows: 4})
	var v View
	if !g.Update(&v) || !v.Resized || len(changedRows(&v)) != 4 {
		t.Fatalf("the first update: %+v", v)
	}
	if g.Update(&v) || v.Resized || changedRows(&v) != nil {
		t.Fatal("nothing changed")
	}
	g.Write([]byte("\x1b[3;2Hx"))
	if !g.Update(&v) || fmt.Sprint(changedRows(&v)) != "[2]" || viewText(&v, 2) != " x" || v.Caret.X != 2 || v.Caret.Y != 2 {
		t.Fatalf("rows %v changed, %q, %+v", changedRows(&v), viewText(&v, 2), v.Caret)
	}
	g.Write([]byte("\x1b[4;1H\n"))
	if !g.Update(&v) || viewText(&v, 1) != " x" || viewText(&v, 2) != "" {
		t.Fatal("a scrolled screen")
	}
	g.Write([]byte("\x1b[?25l\x1b[3 q"))
	if !g.Update(&v) || changedRows(&v) != nil || v.Caret.Visible || v.Caret.Shape != Underscore || !v.Caret.Blink {
		t.Fatalf("the cursor: %+v", v.Caret)
	}
	g.Write([]byte("\x1b]4;1;#ff0000\x07"))
	if !g.Update(&v) || !v.ColorsChanged || v.Colors.Palette[1] != RGB(255, 0, 0) {
		t.Fatal("colours")
	}
}

// TestViewStaysWhereItIs: a view that is scrolled back shows the same rows
// while more come, until the scrollback drops them.
func TestViewStaysWhereItIs(t *testing.T) {
	g := New(Options{Cols: 20, Rows: 4, Scrollback: 50})
	for i := range 20 {
		fmt.Fprintf(g, "line %d\r\n", i)
	}
	var v View
	v.Scroll(5)
	g.Update(&v)
	first := viewText(&v, 0)
	if v.Back != 5 || first != "line 12" || v.Scrollback != 17 {
		t.Fatalf("back %d of %d, %q", v.Back, v.Scrollback, first)
	}
	for i := range 30 {
		fmt.Fprintf(g, "more %d\r\n", i)
		g.Update(&v)
		if got := viewText(&v, 0); got != first || changedRows(&v) != nil {
			t.Fatalf("after %d more: %q, rows %v changed", i, got, changedRows(&v))
		}
	}
	for range 100 {
		g.Write([]byte("x\r\n"))
	}
	g.Update(&v)
	if v.Back != 50 || viewText(&v, 0) != "x" {
		t.Errorf("the rows are gone: back %d, %q", v.Back, viewText(&v, 0))
	}
	v.Scroll(-1000)
	g.Update(&v)
	if v.Back != 0 {
		t.Errorf("back %d", v.Back)
	}
}

// TestHeldOutput: a program that draws between mode 2026 is seen when it is
// done, or after a bound.
func TestHeldOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Cols: 10, Rows: 2})
		var v View
		g.Update(&v)
		g.Write([]byte("\x1b[?2026hhalf"))
		if g.Update(&v) || v.Held <= 0 || viewText(&v, 0) != "" {
			t.Fatalf("shown while held: %q", viewText(&v, 0))
		}
		if g.Screen().Lines[0] != "half" {
			t.Error("text is not held back")
		}
		g.Write([]byte(" done\x1b[?2026l"))
		if !g.Update(&v) || viewText(&v, 0) != "half done" {
			t.Fatalf("got %q", viewText(&v, 0))
		}
		g.Write([]byte("\x1b[?2026h\r\nnever"))
		g.Write([]byte("\x1b[?2026h again"))
		g.Update(&v)
		time.Sleep(v.Held)
		if !g.Update(&v) || v.Held != 0 {
			t.Error("held for ever")
		}
	})
}

// TestSteadyStateAllocatesNothing: neither writing nor copying does, with a
// full scrollback.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, data := range map[string][]byte{"log": plainLog(32 << 10), "colours": colours256(32 << 10), "wide and marks": cjk(32 << 10)} {
		g := New(Options{Cols: 120, Rows: 40, Scrollback: 200})
		var v View
		for range 40 {
			g.Write(data)
			g.Update(&v)
		}
		if n := testing.AllocsPerRun(50, func() { g.Write(data); g.Update(&v) }); n > 0 {
			t.Errorf("%s: %v allocations for 32 KiB", name, n)
		}
	}
}

// TestViewSurvivesSweeps: when the tables of marks and links are swept, what
// cells show stays the same.
func TestViewSurvivesSweeps(t *testing.T) {
	g := New(Options{Cols: 30, Rows: 5, Scrollback: 10})
	g.Write([]byte("e\u0301\u0323 \x1b]8;;http://kept.example/\x07link\x1b]8;;\x07\x1b[3;1H"))
	var v View
	g.Update(&v)
	for i := range 60_000 {
		fmt.Fprintf(g, "\x1b[3;1H%c%c%c\x1b]8;;http://x.example/%d\x07x\x1b]8;;\x07", 'a'+i%26, 0x300+i%100, 0x300+i/100%100, i)
		if i%5000 == 0 {
			g.Update(&v)
			if got := viewText(&v, 0); got != "e\u0301\u0323 link" {
				t.Fatalf("after %d: %q", i, got)
			}
			if x := v.Extra(v.Row(0)[3]); x.Link != "http://kept.example/" {
				t.Fatalf("after %d: %+v", i, x)
			}
		}
	}
	if b := broken(g); b != "" {
		t.Fatal(b)
	}
	if g.clusters.gen == 0 || g.extras.gen == 0 {
		t.Error("nothing was swept: the test proves nothing")
	}
	g.Update(&v)
	if x := v.Extra(v.Row(2)[1]); x.Link != "http://x.example/59999" {
		t.Errorf("the last link: %+v", x)
	}
}

// TestConcurrentUse lets a writer, a resizer, painters and readers at one
// terminal; the race detector watches.
func TestConcurrentUse(t *testing.T) {
	g := New(Options{Cols: 80, Rows: 24, Scrollback: 300})
	data := append(plainLog(20_000), append(cjk(20_000), recordings(t)...)...)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	run := func(f func(i int)) {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					f(i)
				}
			}
		})
	}
	q, err := NewQuery("request", false, false)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var v View
		run(func(i int) {
			v.Scroll(i%9 - 4)
			g.Update(&v)
			for y := range v.Rows {
				viewText(&v, y)
			}
		})
	}
	var at Cursor
	run(func(i int) { at = g.Read(at, 500).Next })
	run(func(i int) { _ = g.Screen().String() })
	run(func(i int) {
		epoch, all := g.All()
		g.Find(q, epoch, all.From, false)
		g.Text(epoch, all)
		g.Word(epoch, all.To)
	})
	run(func(i int) { g.Resize(40+i%80, 10+i%30); g.SetCellSize(i%20, i%30) })
	w := g.Watch()
	for range 3 {
		for b := data; len(b) > 0; {
			n := min(len(b), 777)
			g.Write(b[:n])
			g.Replies()
			g.Events()
			b = b[n:]
		}
	}
	<-w.Wake()
	w.Close()
	close(stop)
	wg.Wait()
	if b := broken(g); b != "" {
		t.Fatal(b)
	}
}
