package term

import (
	"image"
	"math"
)

// arms are the lines of the characters from U+2500 on: to the left, up, right
// and down; 0 is none, 1 light, 2 heavy, 3 double. Those drawn otherwise are
// empty.
var arms = [128]string{
	"1010", "2020", "0101", "0202", "", "", "", "", "", "", "", "", "0011", "0021", "0012", "0022",
	"1001", "2001", "1002", "2002", "0110", "0120", "0210", "0220", "1100", "2100", "1200", "2200", "0111", "0121", "0211", "0112",
	"0212", "0221", "0122", "0222", "1101", "2101", "1201", "1102", "1202", "2201", "2102", "2202", "1011", "2011", "1021", "2021",
	"1012", "2012", "1022", "2022", "1110", "2110", "1120", "2120", "1210", "2210", "1220", "2220", "1111", "2111", "1121", "2121",
	"1211", "1112", "1212", "2211", "1221", "2112", "1122", "2221", "2122", "2212", "1222", "2222", "", "", "", "",
	"3030", "0303", "0031", "0013", "0033", "3001", "1003", "3003", "0130", "0310", "0330", "3100", "1300", "3300", "0131", "0313",
	"0333", "3101", "1303", "3303", "3031", "1013", "3033", "3130", "1310", "3330", "3131", "1313", "3333", "", "", "",
	"", "", "", "", "1000", "0100", "0010", "0001", "2000", "0200", "0020", "0002", "1020", "0102", "2010", "0201",
}

// quadrants are the quarters that U+2596 and those after it fill: 1 is the
// upper left one, 2 the upper right one, 4 and 8 those below.
var quadrants = [10]uint8{4, 8, 1, 13, 9, 7, 11, 2, 6, 14}

// drawShape draws the characters that must meet their neighbours without a
// gap: lines, blocks, braille and the arrows of status lines. It reports false
// for every other one.
func drawShape(m *image.Alpha, r rune) bool {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	switch {
	case r >= 0x2500 && r < 0x2580:
		drawLines(m, int(r-0x2500))
	case r >= 0x2580 && r < 0x25a0:
		drawBlock(m, int(r-0x2580))
	case r >= 0x2800 && r < 0x2900:
		side := max(1, min(w/4, h/8))
		for i, p := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
			if int(r-0x2800)>>i&1 != 0 {
				x, y := (4*p[0]+2)*w/8-(side+1)/2+w%2, (2*p[1]+1)*h/8-side/2
				box(m, x, y, x+side, y+side, 255)
			}
		}
	case r == 0xe0b0 || r == 0xe0b2:
		cover(m, func(x, y float64) bool {
			if r == 0xe0b2 {
				x = float64(w) - x
			}
			return x/float64(w) <= 1-math.Abs(2*y/float64(h)-1)
		})
	case r == 0xe0b1 || r == 0xe0b3:
		t := float64(lineWidth(w)) / 2
		cover(m, func(x, y float64) bool {
			if r == 0xe0b3 {
				x = float64(w) - x
			}
			return math.Abs(x-float64(w)*(1-math.Abs(2*y/float64(h)-1))) <= 1.2*t
		})
	default:
		return false
	}
	return true
}

// lineWidth is the thickness of a light line in a cell.
func lineWidth(w int) int { return max(1, (w+3)/8) }

// box fills a rectangle, as far as it lies on the mask.
func box(m *image.Alpha, x0, y0, x1, y1 int, a uint8) {
	x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, m.Rect.Dx()), min(y1, m.Rect.Dy())
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			m.Pix[y*m.Stride+x] = a
		}
	}
}

// cover fills what lies inside, with soft edges.
func cover(m *image.Alpha, inside func(x, y float64) bool) {
	const n = 4
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			hits := 0
			for i := range n * n {
				if inside(float64(x)+(float64(i%n)+0.5)/n, float64(y)+(float64(i/n)+0.5)/n) {
					hits++
				}
			}
			if a := uint8(hits * 255 / (n * n)); a > m.Pix[y*m.Stride+x] {
				m.Pix[y*m.Stride+x] = a
			}
		}
	}
}

func drawBlock(m *image.Alpha, i int) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	part := func(all, eighths int) int { return (all*eighths + 4) / 8 }
	switch {
	case i == 0:
		box(m, 0, 0, w, part(h, 4), 255)
	case i <= 8:
		box(m, 0, h-part(h, i), w, h, 255)
	case i <= 15:
		box(m, 0, 0, part(w, 16-i), h, 255)
	case i == 16:
		box(m, part(w, 4), 0, w, h, 255)
	case i <= 19:
		box(m, 0, 0, w, h, uint8(64*(i-16)))
	case i == 20:
		box(m, 0, 0, w, part(h, 1), 255)
	case i == 21:
		box(m, w-part(w, 1), 0, w, h, 255)
	default:
		q := quadrants[i-22]
		x, y := part(w, 4), part(h, 4)
		for bit, r := range [4]image.Rectangle{{image.Pt(0, 0), image.Pt(x, y)}, {image.Pt(x, 0), image.Pt(w, y)}, {image.Pt(0, y), image.Pt(x, h)}, {image.Pt(x, y), image.Pt(w, h)}} {
			if q>>bit&1 != 0 {
				box(m, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, 255)
			}
		}
	}
}

func drawLines(m *image.Alpha, i int) {
	if s := arms[i]; s != "" {
		drawArms(m, s[0]-'0', s[1]-'0', s[2]-'0', s[3]-'0')
		return
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	t := lineWidth(w)
	fw, fh := float64(w), float64(h)
	switch {
	case i < 0x0c || i >= 0x4c && i <= 0x4f: // dashes
		n := 3
		if i >= 0x4c {
			n = 2
		} else if i >= 0x08 {
			n = 4
		}
		if i&1 != 0 {
			t *= 2
		}
		gap := max(1, w/8)
		for k := range n {
			if i&2 == 0 {
				box(m, k*w/n+gap/2, (h-t)/2, (k+1)*w/n-(gap+1)/2, (h-t)/2+t, 255)
			} else {
				box(m, (w-t)/2, k*h/n+gap/2, (w-t)/2+t, (k+1)*h/n-(gap+1)/2, 255)
			}
		}
	case i <= 0x70: // round corners
		cx, cy := float64((w-t)/2)+float64(t)/2, float64((h-t)/2)+float64(t)/2
		right, down := i == 0x6d || i == 0x70, i == 0x6d || i == 0x6e
		r := math.Min(cx, cy)
		cover(m, func(x, y float64) bool {
			dx, dy := x-cx, y-cy
			if !right {
				dx = -dx
			}
			if !down {
				dy = -dy
			}
			half := float64(t) / 2
			switch {
			case dx < -half || dy < -half:
				return false
			case dx > r:
				return math.Abs(dy) <= half
			case dy > r:
				return math.Abs(dx) <= half
			}
			return math.Abs(math.Hypot(dx-r, dy-r)-r) <= half
		})
	default: // diagonals
		length := math.Hypot(fw, fh)
		cover(m, func(x, y float64) bool {
			falling := math.Abs(x*fh-y*fw) / length
			rising := math.Abs((fw-x)*fh-y*fw) / length
			half := float64(t) * 0.6
			return i != 0x72 && rising <= half || i != 0x71 && falling <= half
		})
	}
}

// drawArms draws lines from the middle of the cell to its edges.
func drawArms(m *image.Alpha, left, up, right, down uint8) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	t := lineWidth(w)
	gap := t // between the lines of a double one
	thick := func(a uint8) int { return t * int(min(a, 2)) * b2i(a != 3) }
	xl, xr := (w-t)/2-gap, (w-t)/2+gap
	yl, yr := (h-t)/2-gap, (h-t)/2+gap
	// along draws the two opposite arms a (towards 0) and b of one direction;
	// c and d are those across, also towards 0 first. put fills from..to along
	// the direction, at..at+t across it.
	along := func(a, b, c, d uint8, size, across, lo, hi, alo, ahi int, put func(from, to, at, t int)) {
		mid, double := (size-t)/2, func(v uint8) bool { return v == 3 }
		rail := func(first bool, near, far uint8, at int, self, other uint8) {
			// near is the arm across on the rail's side.
			if first {
				end := mid + t
				switch {
				case double(near):
					end = lo + t
				case double(far), double(other):
					end = hi + t
				}
				put(0, end, at, t)
				return
			}
			start := mid
			switch {
			case double(near):
				start = hi
			case double(far), double(other):
				start = lo
			}
			put(start, size, at, t)
		}
		if double(a) {
			rail(true, c, d, alo, a, b)
			rail(true, d, c, ahi, a, b)
		} else if a != 0 {
			k := thick(a)
			var end int
			switch {
			case double(c) && double(d) && b == 0:
				end = lo + t
			case double(c) || double(d):
				end = hi + t
			default:
				v := max(thick(c), thick(d), min(k, thick(b)))
				if c == 0 && d == 0 {
					v = max(thick(b), t)
				}
				end = (size-v)/2 + v
			}
			put(0, end, (across-k)/2, k)
		}
		if double(b) {
			rail(false, c, d, alo, b, a)
			rail(false, d, c, ahi, b, a)
		} else if b != 0 {
			k := thick(b)
			var start int
			switch {
			case double(c) && double(d) && a == 0:
				start = hi
			case double(c) || double(d):
				start = lo
			default:
				v := max(thick(c), thick(d), min(k, thick(a)))
				if c == 0 && d == 0 {
					v = max(thick(a), t)
				}
				start = (size - v) / 2
			}
			put(start, size, (across-k)/2, k)
		}
	}
	along(left, right, up, down, w, h, xl, xr, yl, yr, func(from, to, at, k int) { box(m, from, at, to, at+k, 255) })
	along(up, down, left, right, h, w, yl, yr, xl, xr, func(from, to, at, k int) { box(m, at, from, at+k, to, 255) })
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
