package grid

import "testing"

func TestCountsBytesAndSizes(t *testing.T) {
	g := New(Options{Cols: 80, Rows: 24})
	g.Write([]byte("a\x1b[31mé"))
	if got := g.Written(); got != 8 {
		t.Errorf("got %d bytes, want 8", got)
	}
	g.Resize(80, 24) // no change
	g.Resize(81, 24)
	g.Resize(80, 24)
	if c, r, n := g.Shape(); c != 80 || r != 24 || n != 2 {
		t.Errorf("got %d x %d, changed %d times", c, r, n)
	}
}
