package grid

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

var update = flag.Bool("update", false, "write the width table and the goldens anew")

// wantWidth is the width that go-runewidth gives, with what we hold otherwise:
// a soft hyphen shows, as in xterm and tmux, and the vowels and finals of
// Hangul join the consonant before them.
func wantWidth(c *runewidth.Condition, r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff, bidi(r):
		return 0
	case r >= 0xd800 && r <= 0xdfff:
		return 1 // not a character; the decoder gives none
	}
	return c.RuneWidth(r)
}

// TestWidthTable holds the table to the library that it was filled from, so
// that a new version of either is seen.
func TestWidthTable(t *testing.T) {
	c := &runewidth.Condition{StrictEmojiNeutral: true}
	if *update {
		writeWidths(t, c)
		return
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if got, want := runeWidth(r), wantWidth(c, r); got != want {
			t.Errorf("U+%04X: got width %d, want %d", r, got, want)
		}
	}
}

func writeWidths(t *testing.T, c *runewidth.Condition) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package grid\n\n// Filled by go test -run TestWidthTable -update.\n")
	for _, k := range []struct {
		name, doc string
		w         int
	}{{"zeroWidth", "the marks, which take no cell of their own", 0}, {"doubleWidth", "the characters of two cells", 2}} {
		fmt.Fprintf(&b, "\n// %s are %s.\nvar %s = [...]span{\n", k.name, k.doc, k.name)
		on := 0
		for r := rune(0x300); r <= utf8.MaxRune; r++ {
			if wantWidth(c, r) != k.w {
				continue
			}
			lo := r
			for r < utf8.MaxRune && wantWidth(c, r+1) == k.w {
				r++
			}
			fmt.Fprintf(&b, "{%#x, %#x},", lo, r)
			if on++; on%6 == 0 {
				b.WriteByte('\n')
			}
		}
		b.WriteString("\n}\n")
	}
	out, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("width_table.go", out, 0o644); err != nil {
		t.Fatal(err)
	}
}
