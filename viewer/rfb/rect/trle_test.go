package rect

import (
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
)

func TestTRLE(t *testing.T) {
	testDrawings(t, TypeTRLE, []drawing{
		{"raw", vnc.Rectangle{X: 2, Width: 3, Height: 1}, "\x00" + cRed + cGrn + cBlue, "..RGB/...../...../...../"},
		{"one colour", vnc.Rectangle{X: 2, Width: 3, Height: 2}, "\x01" + cRed, "..RRR/..RRR/...../...../"},
		{"two colours", vnc.Rectangle{Width: 5, Height: 2}, "\x02" + cRed + cBlue + "\xa8\x50", "BRBRB/RBRBR/...../...../"},
		{"three colours", vnc.Rectangle{Width: 5, Height: 1}, "\x03" + cRed + cBlue + cGrn + "\x18\x80", "RBGRG/...../...../...../"},
		{"five colours", vnc.Rectangle{Width: 3, Height: 2}, "\x05" + cRed + cBlue + cGrn + cRed + cBlue + "\x01\x20\x34\x00", "RBG../RBR../...../...../"},
		{"runs", vnc.Rectangle{Width: 5, Height: 2}, "\x80" + cRed + "\x05" + cBlue + "\x00" + cGrn + "\x02", "RRRRR/RBGGG/...../...../"},
		{"runs of a palette", vnc.Rectangle{Width: 5, Height: 2}, "\x82" + cRed + cBlue + "\x00\x81\x06\x00\x01", "RBBBB/BBBRB/...../...../"},
		{"without area", vnc.Rectangle{X: 5, Y: 4}, "", "...../...../...../...../"},
	})
	r := vnc.Rectangle{Width: 20, Height: 3} // tiles of 16 and of 4
	testFaults(t, TypeTRLE, []fault{
		{"out of the screen", vnc.Rectangle{X: 97, Y: 97, Width: 4, Height: 3}, "", viewer.Malformed, "out of the screen"},
		{"type 17", r, "\x11", viewer.Malformed, "type 17"},
		{"type 126", r, "\x7e", viewer.Malformed, "type 126"},
		{"a palette again without one", r, "\x7f", viewer.Malformed, "type 127 after a palette of 0"},
		{"runs of a palette without one", r, "\x81", viewer.Malformed, "type 129 after a palette of 0"},
		{"a palette too large to be packed", r, "\x91" + rep(cRed, 17) + "\x80\x2f" + "\x7f", viewer.Malformed, "type 127 after a palette of 17"},
		{"index beyond the palette", vnc.Rectangle{Width: 4, Height: 1}, "\x03" + cRed + cRed + cRed + "\x1b", viewer.Malformed, "index 3 into a palette of 3"},
		{"index beyond a palette used again", vnc.Rectangle{Width: 17, Height: 1}, "\x82" + cRed + cBlue + "\x80\x0f" + "\x81\x02", viewer.Malformed, "index 2 into a palette of 2"},
		{"run longer than its tile", vnc.Rectangle{Width: 3, Height: 1}, "\x80" + cRed + "\x03", viewer.Malformed, "a run of 4 pixels where 3 are left"},
		{"run that never ends", r, "\x80" + cRed + rep("\xff", 100), viewer.Malformed, "where 48 are left"},
	})
}

// The palette of a tile is used again by the next ones, packed or in runs,
// and also after tiles that have none; one colour is a palette of one.
func TestTRLEPaletteAgain(t *testing.T) {
	const w = 16 * 8
	for _, chunk := range []int{1, 1 << 20} {
		c := canvas(t, w, 1, []byte(""+
			"\x02"+cRed+cBlue+"\xff\x00"+ // 8 blue, 8 red
			"\x7f\x0f\x0f"+ // packed again
			"\x81\x80\x0b\x81\x03"+ // runs: 12 red, 4 blue
			"\x80"+cGrn+"\x0f"+ // 16 green, a run that brings its own
			"\x7f\xf0\xf0"+ // packed again
			"\x01"+cGrn+"\x7f"+ // one colour, and the same again
			"\x81\x80\x0f"), chunk) // and in a run
		if _, err := NewTRLE(c).Read(nil, &vnc.Rectangle{Width: w, Height: 1}, c.Conn); err != nil {
			t.Fatal(err)
		}
		want := "BBBBBBBBRRRRRRRR" + "RRRRBBBBRRRRBBBB" + "RRRRRRRRRRRRBBBB" + "GGGGGGGGGGGGGGGG" +
			"BBBBRRRRBBBBRRRR" + rep("G", 48) + "/"
		if got := picture(c); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if rest, err := c.Conn.Some(1); err == nil {
			t.Errorf("%d bytes are left", len(rest))
		}
	}
}

func FuzzTRLE(f *testing.F) {
	for _, s := range []string{
		"\x00" + cRed + cGrn + cBlue, "\x01" + cRed, "\x02" + cRed + cBlue + "\xa8\x50",
		"\x03" + cRed + cBlue + cGrn + "\x18\x80", "\x05" + rep(cRed, 5) + "\x01\x20\x34\x00",
		"\x80" + cRed + "\x05" + cBlue + "\x00" + cGrn + "\x02", "\x82" + cRed + cBlue + "\x00\x81\x06\x00\x01",
	} {
		f.Add(uint8(0), uint8(0), uint8(5), uint8(2), []byte(s))
		f.Add(uint8(3), uint8(0), uint8(40), uint8(2), []byte(rep(s+"\x7f\x00\x00\x00\x00\x81\x00\x81\x08", 4)))
	}
	fuzzRect(f, TypeTRLE, nil)
}
