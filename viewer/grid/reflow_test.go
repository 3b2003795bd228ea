package grid

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A resized is a case of resizing: what is fed at 20 by 6, and the sizes after
// it. Own says why we do not do as tmux does.
type resized struct {
	name  string
	in    string
	sizes [][2]int
	own   string
}

const alphabet = "abcdefghijklmnopqrstuvwxyz"

var resizes = []resized{
	{"narrower", alphabet[:18] + "\r\nsecond", [][2]int{{10, 6}}, ""},
	{"wider", alphabet + "\r\nsecond", [][2]int{{40, 6}}, ""},
	{"there-and-back", alphabet + "\r\nsecond line here\r\n$ ", [][2]int{{7, 6}, {20, 6}}, ""},
	{"wider-and-back", alphabet + alphabet + "\r\n$ ", [][2]int{{60, 6}, {20, 6}}, ""},
	{"full-narrower", "1 " + alphabet[:15] + "\r\n2 " + alphabet[:15] + "\r\n3 " + alphabet[:15] + "\r\n4 " + alphabet[:15] + "\r\n5 " + alphabet[:15] + "\r\n6$ ", [][2]int{{9, 6}}, ""},
	{"full-wider", "1 " + alphabet + "\r\n2 " + alphabet + "\r\n3 " + alphabet + "\r\n4 " + alphabet + "\r\n5$ ", [][2]int{{40, 6}}, ""},
	{"history", "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9$ ", [][2]int{{20, 9}}, ""},
	{"history-taller-than-all", "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8$ ", [][2]int{{20, 15}}, ""},
	{"lower", "1\r\n2\r\n3\r\n4\r\n5\r\n6$ ", [][2]int{{20, 3}}, ""},
	{"lower-with-blanks", "1\r\n2$ ", [][2]int{{20, 3}}, ""},
	{"lower-and-back", "1\r\n2\r\n3\r\n4\r\n5\r\n6$ ", [][2]int{{20, 3}, {20, 6}}, ""},
	{"both-at-once", alphabet + "\r\n2\r\n3\r\n4\r\n5\r\n6$ ", [][2]int{{13, 4}}, ""},
	{"both-larger", alphabet + "\r\n2\r\n3\r\n4\r\n5\r\n6$ ", [][2]int{{30, 12}}, ""},
	{"wide-characters", "日本語の文章はここにあります終", [][2]int{{9, 6}, {20, 6}}, ""},
	{"trailing-spaces", "abc      def   \r\n$ ", [][2]int{{8, 6}}, ""},
	{"empty-lines", "a\r\n\r\n\r\nb$ ", [][2]int{{10, 6}}, ""},
	{"cursor-in-the-middle", alphabet + csi + "1;5H", [][2]int{{10, 6}},
		"the cursor stays with its character; tmux 3.3a puts it at the start of the next row"},
	{"prompt-at-top", alphabet[:18] + "\r\n$ ", [][2]int{{5, 6}}, ""},
	{"many-lines", strings.Repeat(alphabet+"\r\n", 20) + "$ ", [][2]int{{10, 6}, {33, 8}, {20, 6}}, ""},
	{"cleared", "1\r\n2\r\n3" + csi + "H" + csi + "2Jx$ ", [][2]int{{20, 9}}, ""},
	{"colours", csi + "31m" + alphabet + csi + "m\r\n$ ", [][2]int{{8, 6}}, ""},
}

// textOf are the rows of the scrollback and the screen down to the last one
// with text, and where the cursor is among them.
func textOf(g *Terminal) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for i := range g.ring.n + g.rows {
		r := g.mainRow(i)
		out = append(out, strings.TrimRight(string(g.appendText(nil, r, 0, len(r.cells))), " "))
	}
	at := g.ring.n + g.y
	return trimmed(out, g.x, at)
}

func trimmed(rows []string, x, y int) []string {
	n := len(rows)
	for n > 0 && rows[n-1] == "" {
		n--
	}
	return append(rows[:n:n], fmt.Sprintf("%d,%d", x, y))
}

const reflowFile = "testdata/reflow.txt"

// tmuxResized is what a tmux of its own has after a case.
func tmuxResized(t *testing.T, r resized) []string {
	t.Helper()
	s := startTmux(t, 20, 6)
	s.feed([]byte(r.in))
	for _, k := range r.sizes {
		s.run("resize-window", "-x", strconv.Itoa(k[0]), "-y", strconv.Itoa(k[1]))
		s.feed(nil) // it has taken what came before
	}
	var x, y, history int
	pos := s.run("display-message", "-p", "#{cursor_x} #{cursor_y} #{history_size}")
	if _, err := fmt.Sscan(pos, &x, &y, &history); err != nil {
		t.Fatalf("tmux says %q", pos)
	}
	out := strings.Split(strings.TrimSuffix(s.run("capture-pane", "-p", "-S", "-"), "\n"), "\n")
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return trimmed(out, x, y+history)
}

func resizedAsTmux(t *testing.T, r resized, tmux []string) {
	t.Helper()
	g := New(Options{Cols: 20, Rows: 6})
	g.Write([]byte(r.in))
	for _, k := range r.sizes {
		g.Resize(k[0], k[1])
		if b := broken(g); b != "" {
			t.Fatal(b)
		}
	}
	got := textOf(g)
	if d := same(strings.Join(got, "\n"), strings.Join(tmux, "\n")); (d == "") != (r.own == "") {
		t.Errorf("ours and tmux: %s\nours: %q\ntmux: %q", d, got, tmux)
	}
}

// TestReflow holds resizing to what tmux did.
func TestReflow(t *testing.T) {
	if *update {
		var b strings.Builder
		for _, r := range resizes {
			fmt.Fprintf(&b, "%s\n", r.name)
			for _, row := range tmuxResized(t, r) {
				fmt.Fprintln(&b, strconv.Quote(row))
			}
		}
		if err := os.WriteFile(reflowFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := readGoldens(t, reflowFile)
	for _, r := range resizes {
		t.Run(r.name, func(t *testing.T) {
			if want[r.name] == nil {
				t.Fatal("no golden: run go test -run TestReflow -update")
			}
			resizedAsTmux(t, r, want[r.name])
		})
	}
}

// TestReflowTmux holds it to the tmux that is installed.
func TestReflowTmux(t *testing.T) {
	peer(t, "tmux")
	for _, r := range resizes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			resizedAsTmux(t, r, tmuxResized(t, r))
		})
	}
}
