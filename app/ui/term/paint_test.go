package term

import (
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"deskvnc/viewer/grid"
)

// sheet is text that shows all that can be drawn.
const sampleText = "\x1b[1mbold\x1b[0m \x1b[3mitalic\x1b[0m \x1b[1;3mboth\x1b[0m \x1b[2mdim\x1b[0m \x1b[4msingle\x1b[0m \x1b[4:2mdouble\x1b[0m \x1b[4:3mcurly\x1b[0m \x1b[4:4mdotted\x1b[0m \x1b[4:5mdashed\x1b[0m \x1b[9mstrike\x1b[0m \x1b[53mover\x1b[0m \x1b[7mreverse\x1b[0m \x1b[8mhidden\x1b[0m|\r\n" +
	"\x1b[31mred \x1b[32mgreen \x1b[33myellow \x1b[34mblue \x1b[35mmagenta \x1b[36mcyan\x1b[0m \x1b[41;97mon red\x1b[0m \x1b[38;5;208mindexed\x1b[0m \x1b[38;2;120;200;255mtrue\x1b[0m \x1b[4;58;5;196mcolour of line\x1b[0m\r\n" +
	"┌─┬┐ ╔═╦╗ ┏━┳┓ ╒═╤╕ ╓─╥╖ ╭─╮ ├─┼┤ ╠═╬╣ ┣━╋┫ ╞═╪╡ ╟─╫╢ │╱╲╳ ┄┅┆┇┈┉╌╍\r\n" +
	"└─┴┘ ╚═╩╝ ┗━┻┛ ╘═╧╛ ╙─╨╜ ╰─╯ ▀▄█▌▐░▒▓▁▂▃▄▅▆▇█▏▎▍▌▋▊▉ ▖▗▘▙▚▛▜▝▞▟ ⠁⠃⠇⡇⣇⣧⣷⣿ \ue0b0\ue0b1\ue0b2\ue0b3\r\n" +
	"日本語 中文 한국어 | é e\u0301 ä a\u0308\u0323 ñ | 😀 🚀 ❤ ✓ → ≤ λ Ω Ж א ا\r\n"

func paintedSample(tb testing.TB, size float64, scheme string) *painter {
	t := grid.New(grid.Options{Cols: 100, Rows: 12})
	fmt.Fprint(t, sampleText)
	s := schemeOf(scheme, true)
	found := make(chan struct{})
	g := newGlyphs(size, nil)
	if installed(func() { close(found) }) == nil {
		<-found
	}
	g.complement(true)
	p := newPainter(t, g, s)
	p.focused = true
	p.update()
	p.paint(func(int) {})
	return p
}

func TestLookAtIt(t *testing.T) {
	test.NewTempApp(t)
	dir := os.Getenv("TERM_PICTURES")
	if dir == "" {
		t.Skip("set TERM_PICTURES to a folder")
	}
	for _, size := range []float64{14, 28} {
		for _, s := range Schemes {
			p := paintedSample(t, size, s.ID)
			f, err := os.Create(fmt.Sprintf("%s/%s-%g.png", dir, s.ID, size))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, p.image); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
}

func BenchmarkPaintAll(b *testing.B) {
	test.NewTempApp(b)
	t := grid.New(grid.Options{Cols: 120, Rows: 40})
	var text [2]string
	for i := range text {
		var s strings.Builder
		s.WriteString("\x1b[H")
		for y := range 40 {
			for x := range 120 {
				if x%9 == 0 {
					fmt.Fprintf(&s, "\x1b[38;5;%dm", (x+y+i)%256)
				}
				s.WriteByte(byte(33 + (x*7+y*3+i)%90))
			}
		}
		text[i] = s.String()
	}
	p := newPainter(t, newGlyphs(14, nil), schemeOf("dark", true))
	rows := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		fmt.Fprint(t, text[i%2])
		b.StartTimer()
		p.update()
		p.paint(func(int) { rows++ })
	}
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
}
