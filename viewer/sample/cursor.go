package sample

import "image"

// arrow is the pointer's shape: # is black, . white, anything else clear. Its
// tip, the top left pixel, is the hot spot.
var arrow = [...]string{
	"#          ",
	"##         ",
	"#.#        ",
	"#..#       ",
	"#...#      ",
	"#....#     ",
	"#.....#    ",
	"#......#   ",
	"#.......#  ",
	"#........# ",
	"#.....#####",
	"#..#..#    ",
	"#.# #..#   ",
	"##  #..#   ",
	"#    #..#  ",
	"     #..#  ",
	"      ##   ",
}

// cursor appends the pointer's shape (RFC 6143 7.8.1).
func (e *encoder) cursor(f *pixelFormat) {
	w, h := len(arrow[0]), len(arrow)
	e.header(image.Rect(0, 0, w, h), encCursor)
	var mask []byte
	for _, row := range arrow {
		bits := make([]byte, (w+7)/8)
		for x := range w {
			col := uint32(0x10131c)
			if row[x] == '.' {
				col = 0xffffff
			}
			e.buf = f.pixel(e.buf, col)
			if row[x] != ' ' {
				bits[x/8] |= 0x80 >> (x % 8)
			}
		}
		mask = append(mask, bits...)
	}
	e.buf = append(e.buf, mask...)
}
