package term

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"deskvnc/viewer/grid"
)

const (
	left   = desktop.MouseButtonPrimary
	middle = desktop.MouseButtonTertiary
)

func TestOnlyRowsThatChangeAreDrawn(t *testing.T) {
	l := newLab(t, 80, 24)
	l.write("one\r\ntwo\r\n")
	before := l.Stats()
	l.write("x")
	if got := l.Stats().Rows - before.Rows; got != 1 {
		t.Errorf("a character drew %d rows, want 1", got)
	}
	before = l.Stats()
	l.write("\x1b[1;1Hy")
	if got := l.Stats().Rows - before.Rows; got != 2 {
		t.Errorf("a character elsewhere drew %d rows, want 2: its own and where the cursor was", got)
	}
	before = l.Stats()
	l.Redraw()
	if got := l.Stats(); got != before {
		t.Errorf("drawn again without a change: %+v, before %+v", got, before)
	}
	l.SetShown(false)
	l.write("hidden")
	if got := l.Stats(); got != before {
		t.Error("drawn while it was not shown")
	}
}

// What is drawn bit by bit must be what is drawn at once.
func TestDrawnInPiecesAsAtOnce(t *testing.T) {
	l := newLab(t, 60, 16)
	r := rand.New(rand.NewPCG(7, 9))
	pieces := []string{
		"plain text ", "\x1b[1mbold\x1b[0m", "\x1b[7mrev\x1b[0m", "\r\n", "\x1b[44m\x1b[K\x1b[0m", "日本", "e\u0301", "─┼", "\x1b[5mblink\x1b[0m", "\x1b[4:3mcurl\x1b[0m",
		"\x1b[H", "\x1b[8;20H", "\x1b[2;9r\x1b[9H\n\x1b[r", "\x1b[?25l", "\x1b[?25h", "\x1b[3 q", "\x1b[?5h", "\x1b[?5l", "\x1b[M", "\x1b[L", "\x1b[?1049h", "\x1b[?1049l",
		"\x1b]11;#223344\a", "\x1b]111\a", "\x1b]8;;https://example.org\aa link\x1b]8;;\a", "\x1b[?2026h", "\x1b[?2026l",
	}
	for i := range 600 {
		for range r.IntN(6) {
			fmt.Fprint(l.grid, pieces[r.IntN(len(pieces))])
		}
		switch r.IntN(12) {
		case 0:
			l.press(r.IntN(60), r.IntN(16), 0.3, left, 0)
			l.drag(r.IntN(60), r.IntN(16), 0.7)
			l.release(1, 1, left)
		case 1:
			l.scroll(r.IntN(9) - 4)
		case 2:
			l.FocusGained()
		case 3:
			l.FocusLost()
		case 4:
			l.blinked()
		case 5:
			l.paint.update()
		case 6:
			l.grid.Resize(30+r.IntN(40), 5+r.IntN(20))
		case 7:
			l.hoverLink(image.Pt(r.IntN(60), r.IntN(16)))
		}
		l.settle()
		l.Redraw()
		got := bytes.Clone(l.paint.image.Pix)
		l.paint.all()
		l.paint.paint(func(int) {})
		if !bytes.Equal(got, l.paint.image.Pix) {
			t.Fatalf("step %d: drawn in pieces it is not what it is drawn at once", i)
		}
	}
}

func TestCellsThatFit(t *testing.T) {
	l := newLab(t, 80, 24)
	cell := l.paint.glyphs.cell
	want := image.Pt((800-2*margin-12)/cell.X, (500-2*margin)/cell.Y)
	if l.Cells() != want || l.placed == 0 {
		t.Errorf("got %v, told %d times, want %v", l.Cells(), l.placed, want)
	}
	before := l.placed
	l.chord("LeftControl", "LeftShift", "=")
	if l.TextSize() != UsualSize+1 || l.placed != before+1 || len(l.resized) != 1 {
		t.Errorf("larger text: size %v, told %d times, resized %v", l.TextSize(), l.placed, l.resized)
	}
	l.chord("LeftControl", "LeftShift", "-")
	l.chord("LeftControl", "LeftShift", "-")
	l.chord("LeftControl", "LeftShift", "0")
	if l.TextSize() != UsualSize || l.Cells() != want {
		t.Errorf("usual text: size %v and %v cells, want %v", l.TextSize(), l.Cells(), want)
	}
}

func TestKeysStayOrGo(t *testing.T) {
	l := newLab(t, 40, 10)
	for _, c := range []struct {
		keys  string
		stays bool
	}{
		{"LeftControl C", false}, {"LeftControl LeftShift C", true}, {"LeftControl LeftShift V", true}, {"LeftControl LeftShift B", false}, {"LeftShift Prior", true},
		{"Prior", false}, {"LeftAlt C", false}, {"LeftControl LeftAlt LeftShift C", false}, {"LeftControl =", false},
	} {
		l.took()
		names := strings.Fields(c.keys)
		l.chord(names...)
		downs := 0
		for _, s := range l.took() {
			if strings.HasSuffix(s, "true") {
				downs++
			}
		}
		if want := len(names); c.stays && downs != want-1 || !c.stays && downs != want {
			t.Errorf("%s: %d keys went to the program", c.keys, downs)
		}
		if l.keys.Held() != 0 || len(l.local.held2()) != 0 {
			t.Errorf("%s: something is still held", c.keys)
		}
	}
	l.write("\x1b[?1049h")
	l.took()
	l.chord("LeftShift", "Prior")
	if got := l.took(); len(got) != 4 {
		t.Errorf("Shift+Page Up with the whole screen taken: got %q", got)
	}
}

// held2 are all keys that are down.
func (l *localKeys) held2() (out []int) {
	for c := range l.mods {
		out = append(out, c)
	}
	for c := range l.kept {
		out = append(out, c)
	}
	return out
}

func TestScrolledBackStays(t *testing.T) {
	l := newLab(t, 40, 10)
	for i := range 50 {
		l.write("line %d\r\n", i)
	}
	l.chord("LeftShift", "Prior")
	top := l.firstRow()
	l.write("more\r\nand more\r\n")
	if got := l.firstRow(); got != top {
		t.Errorf("scrolled back, the first row went from %q to %q", top, got)
	}
	l.took()
	l.chord("a")
	if l.paint.view.Back != 0 {
		t.Error("a key did not bring back what the program shows now")
	}
	l.Scrolled(&fyne.ScrollEvent{PointEvent: fyne.PointEvent{AbsolutePosition: l.point(3, 3, 0)}, Scrolled: fyne.NewDelta(0, 50)})
	if got := l.paint.view.Back; got != 2*wheelRows {
		t.Errorf("two clicks of the wheel: %d rows back", got)
	}
	l.bottom()
	l.took()
	l.write("\x1b[?1049h\x1b[?1007h")
	l.Scrolled(&fyne.ScrollEvent{PointEvent: fyne.PointEvent{AbsolutePosition: l.point(3, 3, 0)}, Scrolled: fyne.NewDelta(0, 25)})
	if got := l.took(); !reflect.DeepEqual(got, []string{"at 3,3:0 wheel -1"}) {
		t.Errorf("the wheel on the other screen: %q", got)
	}
}

func (l *lab) firstRow() string {
	var b strings.Builder
	for _, c := range l.paint.view.Row(0) {
		b.WriteString(l.paint.view.Text(c))
	}
	return strings.TrimSpace(b.String())
}

func TestSelecting(t *testing.T) {
	l := newLab(t, 20, 6)
	l.write("first words here\r\nsecond /etc/hosts x\r\nthird 日本語 end\r\nfourth")
	mark := func(want string) {
		t.Helper()
		if got := l.Selected(); got != want {
			t.Errorf("selected %q, want %q", got, want)
		}
	}
	l.press(6, 0, 0.1, left, 0)
	l.drag(6, 1, 0.1)
	l.release(6, 1, left)
	mark("words here\nsecond")
	l.press(3, 2, 0.1, left, fyne.KeyModifierShift) // extends
	l.release(3, 2, left)
	mark("words here\nsecond /etc/hosts x\nthi")
	l.later()
	l.press(9, 1, 0.1, left, 0)
	l.release(9, 1, left)
	mark("")
	l.press(9, 1, 0.1, left, 0) // a double click
	mark("/etc/hosts")
	l.drag(2, 0, 0.2) // goes on by words
	l.release(2, 0, left)
	mark("first words here\nsecond /etc/hosts")
	l.later()
	for range 3 {
		l.press(1, 2, 0.1, left, 0)
		l.release(1, 2, left)
	}
	mark("third 日本語 end")
	l.later()
	l.press(1, 0, 0.1, left, fyne.KeyModifierAlt)
	l.drag(5, 2, 0.1)
	l.release(5, 2, left)
	mark("irst\necon\nhird")
	l.chord("LeftControl", "LeftShift", "C")
	if want := []string{"irst\necon\nhird"}; !reflect.DeepEqual(l.copied, want) {
		t.Errorf("copied %q, want %q", l.copied, want)
	}
	if len(l.took()) != 4 { // Ctrl and Shift, down and up
		t.Error("selecting sent something to the program")
	}
	l.press(0, 0, 0, middle, 0)
	if len(l.asked) != 1 || l.asked[0].Text != "irst\necon\nhird" {
		t.Errorf("the middle button asked %+v", l.asked)
	}
}

func TestSelectionLeavesTheView(t *testing.T) {
	l := newLab(t, 20, 5)
	for i := range 30 {
		l.write("line %d\r\n", i)
	}
	l.press(0, 2, 0, left, 0)
	l.drag(0, -3, 0) // above the first row: the view moves back by itself
	l.until("the selection to reach the first line", func() bool { return strings.HasPrefix(l.Selected(), "line 0\n") })
	l.release(0, 0, left)
	if l.mouse.edge != nil || l.mouse.selecting {
		t.Error("the view still moves after the button is up")
	}
}

func TestMouseIsTheProgramsUnlessShift(t *testing.T) {
	l := newLab(t, 20, 5)
	l.write("some text\x1b[?1002h\x1b[?1006h")
	l.took()
	l.press(2, 0, 0.1, left, 0)
	l.drag(4, 1, 0.1)
	l.release(4, 1, left)
	if got, want := l.took(), []string{"at 2,0:1 wheel 0", "at 4,1:1 wheel 0", "at 4,1:0 wheel 0"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	l.press(0, 0, 0.1, left, fyne.KeyModifierShift)
	l.drag(4, 0, 0.1)
	l.release(4, 0, left)
	if got := l.took(); got != nil || l.Selected() != "some" {
		t.Errorf("with Shift: sent %q, selected %q", got, l.Selected())
	}
	l.press(2, 0, 0.1, left, 0)
	l.FocusLost()
	if l.left != 1 || l.mouse.held != 0 {
		t.Errorf("held when the keyboard went: left %d, held %v", l.left, l.mouse.held)
	}
}

func TestPasting(t *testing.T) {
	for _, c := range []struct {
		name, text, sent, shown string
	}{
		{"a word", "word", "paste word", ""},
		{"two lines", "one\r\ntwo", "paste one\ntwo", "one\ntwo"},
		{"a line with its end", "rm -rf x\n", "paste rm -rf x\n", "rm -rf x"},
		{"hidden", "ls\x1b[201~\u202e x", "paste ls[201~ x", "ls[201~ x"},
		{"nothing", "\x00\x07", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, 20, 5)
			l.clip = c.text
			l.Paste()
			if c.shown != "" {
				if len(l.sent) != 0 || len(l.asked) != 1 || l.asked[0].Text != c.shown {
					t.Fatalf("sent %q, asked %+v", l.sent, l.asked)
				}
				l.asked[0].Do()
			} else if len(l.asked) != 0 {
				t.Fatalf("asked %+v", l.asked)
			}
			if got := strings.Join(l.sent, "|"); got != c.sent {
				t.Errorf("sent %q, want %q", got, c.sent)
			}
		})
	}
	long := preview(strings.Repeat("line\n", 100))
	if strings.Count(long, "\n") != previewLines || !strings.HasSuffix(long, "and 88 more lines") {
		t.Errorf("the preview of 100 lines: %q", long)
	}
}

func TestFinding(t *testing.T) {
	l := newLab(t, 40, 6)
	for i := range 100 {
		l.write("entry %d of Log\r\n", i)
	}
	l.FindText("entry 1")
	f := l.finder
	if got := f.count.Value(); got != "11 of 11" {
		t.Errorf("got %q, want the last of eleven", got)
	}
	if row := l.rowText(l.paint.current.From); !strings.HasPrefix(row, "entry 19 ") {
		t.Errorf("went to %q", row)
	}
	f.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if got := f.count.Value(); got != "10 of 11" {
		t.Errorf("after Return %q", got)
	}
	f.step(false)
	f.step(false) // begins anew
	if got := f.count.Value(); got != "1 of 11" {
		t.Errorf("past the last one %q", got)
	}
	f.letter.OnTapped()
	f.entry.SetText("log")
	if got := f.count.Value(); got != "Not found" {
		t.Errorf("with regard to case %q", got)
	}
	f.regex.OnTapped()
	f.entry.SetText("entry [45]0")
	if got := f.count.Value(); got != "2 of 2" {
		t.Errorf("a pattern: %q", got)
	}
	f.entry.SetText("(")
	if got := f.count.Value(); got != "No pattern" {
		t.Errorf("a broken pattern: %q", got)
	}
	f.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if l.Finding() || len(l.paint.found) != 0 || l.win.Canvas().Focused() != fyne.Focusable(l.Screen) {
		t.Error("Escape did not end the search and give the keyboard back")
	}
}

func (l *lab) rowText(p grid.Pos) string {
	text, _ := l.grid.Text(l.paint.view.Epoch, grid.Span{From: grid.Pos{Row: p.Row}, To: grid.Pos{Row: p.Row, Col: 100}})
	return text
}

func TestLinks(t *testing.T) {
	l := newLab(t, 60, 5)
	l.write("\x1b]8;;https://example.org/a%%20b\aclick\x1b]8;;\a and \x1b]8;;javascript:alert(1)\aevil\x1b]8;;\a")
	l.hoverLink(image.Pt(1, 0))
	if l.paint.link.Empty() || l.paint.link.To.Col != 5 {
		t.Errorf("under the pointer: %+v", l.paint.link)
	}
	l.press(1, 0, 0.5, left, fyne.KeyModifierControl)
	if len(l.asked) != 1 || l.asked[0].Text != "https://example.org/a%20b" || len(l.opened) != 0 {
		t.Fatalf("asked %+v, opened %q", l.asked, l.opened)
	}
	l.asked[0].Do()
	if len(l.opened) != 1 {
		t.Error("yes did not open it")
	}
	l.press(11, 0, 0.5, left, fyne.KeyModifierControl)
	if len(l.asked) != 1 || len(l.said) != 1 {
		t.Errorf("an address that is none of the web: asked %+v, said %q", l.asked, l.said)
	}
}

func TestWebAddress(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org/":                   "https://example.org/",
		"http://10.0.0.1:8080/a?b=c d#e":         "http://10.0.0.1:8080/a?b=c%20d#e",
		"https://example.org/ü?q=ü":              "https://example.org/%C3%BC?q=%C3%BC",
		"https://example.org/\u202egpj.exe":      "https://example.org/%E2%80%AEgpj.exe",
		"https://bank.example@evil.example/":     "",
		"https://exаmple.org/":                   "", // one letter is Cyrillic
		"file:///etc/passwd":                     "",
		"https:///x":                             "",
		"ssh://host":                             "",
		"https://a/\x00":                         "",
		"https://a/" + strings.Repeat("b", 3000): "",
	} {
		got, refused := webAddress(in)
		if got != want || (got == "") != (refused != "") {
			t.Errorf("%q: got %q and %q, want %q", in, got, refused, want)
		}
	}
}

func TestBlinkingRests(t *testing.T) {
	l := newLab(t, 20, 5)
	l.write("\x1b[1 qtext")
	l.FocusGained()
	l.win.Canvas().Focus(l.Screen)
	if l.blink.timer == nil {
		t.Fatal("the cursor does not blink with the keyboard")
	}
	off := 0
	for range 3 * blinkTimes {
		l.stopTimer()
		l.blinked()
		if l.paint.off {
			off++
		}
	}
	if off == 0 || l.paint.off || l.blink.timer != nil {
		t.Errorf("was off %d times, is off %v, waits %v", off, l.paint.off, l.blink.timer != nil)
	}
	l.chord("a")
	l.Redraw()
	if l.blink.timer == nil {
		t.Error("does not blink again after a key")
	}
	l.FocusLost()
	if l.blink.timer != nil || !l.paint.caret.hollow {
		t.Error("without the keyboard the cursor is to be hollow and still")
	}
}

func (l *lab) stopTimer() {
	if l.blink.timer != nil {
		l.blink.timer.Stop()
		l.blink.timer = nil
	}
}
