package rect

import (
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
)

func TestRRE(t *testing.T) {
	testDrawings(t, TypeRRE, []drawing{
		{"a background", vnc.Rectangle{X: 1, Y: 1, Width: 3, Height: 2}, "\x00\x00\x00\x00" + red, "...../.RRR./.RRR./...../"},
		{"two on it, one over the other", vnc.Rectangle{X: 1, Width: 4, Height: 4},
			"\x00\x00\x00\x03" + white + // three on white
				red + "\x00\x00\x00\x01\x00\x03\x00\x02" + // at 0,1: 3 x 2
				blue + "\x00\x01\x00\x00\x00\x01\x00\x04" + // at 1,0: 1 x 4
				green + "\x00\x03\x00\x03\x00\x01\x00\x01", // at 3,3: 1 x 1
			".WBWW/.RBRW/.RBRW/.WBWG/"},
		{"one without area on it", vnc.Rectangle{X: 1, Width: 1, Height: 1}, "\x00\x00\x00\x01" + red + blue + "\x00\x01\x00\x00\x00\x00\x00\x01", ".R.../...../...../...../"},
		{"without area", vnc.Rectangle{X: 5, Y: 4}, "\x00\x00\x00\x00" + red, "...../...../...../...../"},
	})
	r := vnc.Rectangle{X: 90, Y: 90, Width: 9, Height: 9}
	testFaults(t, TypeRRE, []fault{
		{"out of the screen", vnc.Rectangle{X: 97, Y: 97, Width: 4, Height: 3}, "\x00\x00\x00\x00" + red, viewer.Malformed, "out of the screen"},
		{"more than there are pixels", r, "\x20\x00\x00\x01" + red + "12345678", viewer.Limit, "536870913 rectangles on one of 9 x 9"},
		{"4 billion", r, "\xff\xff\xff\xff" + red + "12345678", viewer.Limit, "4294967295 rectangles"},
		{"one without area has none on it", vnc.Rectangle{}, "\x00\x00\x00\x01" + red, viewer.Limit, "1 rectangles on one of 0 x 0"},
		{"out of its rectangle", r, "\x00\x00\x00\x01" + red + blue + "\x00\x08\x00\x08\x00\x02\x00\x01", viewer.Malformed, "2 x 1 at 8,8"},
		{"far out of its rectangle", r, "\x00\x00\x00\x01" + red + blue + "\xff\xff\xff\xff\xff\xff\xff\xff", viewer.Malformed, "65535 x 65535 at 65535,65535"},
	})
}

func TestCoRRE(t *testing.T) {
	testDrawings(t, TypeCoRRE, []drawing{
		{"a background", vnc.Rectangle{X: 1, Y: 1, Width: 3, Height: 2}, "\x00\x00\x00\x00" + red, "...../.RRR./.RRR./...../"},
		{"two on it", vnc.Rectangle{X: 1, Width: 4, Height: 4},
			"\x00\x00\x00\x02" + white + red + "\x00\x01\x03\x02" + blue + "\x01\x00\x01\x04", ".WBWW/.RBRW/.RBRW/.WBWW/"},
	})
	r := vnc.Rectangle{X: 90, Y: 90, Width: 9, Height: 9}
	testFaults(t, TypeCoRRE, []fault{
		{"more than there are pixels", r, "\x00\x00\x00\x52" + red + "12345678", viewer.Limit, "82 rectangles on one of 9 x 9"},
		{"out of its rectangle", r, "\x00\x00\x00\x01" + red + blue + "\x00\x00\x0a\x01", viewer.Malformed, "10 x 1 at 0,0"},
	})
}

func FuzzRRE(f *testing.F) {
	f.Add(uint8(1), uint8(0), uint8(4), uint8(4), []byte("\x00\x00\x00\x02"+white+red+"\x00\x00\x00\x01\x00\x03\x00\x02"+blue+"\x00\x01\x00\x00\x00\x01\x00\x04"))
	fuzzRect(f, TypeRRE, nil)
}

func FuzzCoRRE(f *testing.F) {
	f.Add(uint8(1), uint8(0), uint8(4), uint8(4), []byte("\x00\x00\x00\x02"+white+red+"\x00\x01\x03\x02"+blue+"\x01\x00\x01\x04"))
	fuzzRect(f, TypeCoRRE, nil)
}
