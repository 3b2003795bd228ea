package sample

import (
	"encoding/binary"
	"image"
	"testing"
	"time"
)

// BenchmarkClick is a click on the pad until its new colour has arrived.
func BenchmarkClick(b *testing.B) {
	for name, encoding := range map[string]int32{"raw": encRaw, "hextile": encHextile, "zrle": encZRLE} {
		b.Run(name, func(b *testing.B) {
			m := start(b, Options{})
			h := dial(b, m.Targets()[0])
			h.login(1)
			h.init()
			h.encodings(encoding)
			all := image.Rect(0, 0, DefaultWidth, DefaultHeight)
			at := centre(PadRect(DefaultWidth, DefaultHeight))
			h.request(0, all)
			h.conn.SetDeadline(time.Time{})
			h.skip(encoding)
			b.ResetTimer()
			for b.Loop() {
				h.request(1, all)
				h.click(at)
				h.skip(encoding)
			}
		})
	}
}

// skip reads past an update in one encoding, of 32 bits a pixel.
func (h *hand) skip(encoding int32) {
	b := h.hear(4)
	for range binary.BigEndian.Uint16(b[2:]) {
		hd := h.hear(12)
		w, ht := int(binary.BigEndian.Uint16(hd[4:])), int(binary.BigEndian.Uint16(hd[6:]))
		switch encoding {
		case encRaw:
			h.r.Discard(4 * w * ht)
		case encZRLE:
			h.r.Discard(int(binary.BigEndian.Uint32(h.hear(4))))
		case encHextile:
			skipHextile(h, w, ht)
		}
	}
}

// skipHextile reads past a Hextile rectangle of 32 bits a pixel.
func skipHextile(h *hand, w, ht int) {
	for y := 0; y < ht; y += 16 {
		for x := 0; x < w; x += 16 {
			k := h.hear(1)[0]
			if k&hexRaw != 0 {
				h.r.Discard(4 * min(16, w-x) * min(16, ht-y))
				continue
			}
			if k&hexBackground != 0 {
				h.r.Discard(4)
			}
			if k&hexForeground != 0 {
				h.r.Discard(4)
			}
			if k&hexSubrects != 0 {
				n := int(h.hear(1)[0])
				if k&hexColoured != 0 {
					n *= 3
				}
				h.r.Discard(2 * n)
			}
		}
	}
}

// BenchmarkWhole is the encoding of the whole desktop.
func BenchmarkWhole(b *testing.B) {
	for name, encoding := range map[string]int32{"raw": encRaw, "hextile": encHextile, "zrle": encZRLE} {
		b.Run(name, func(b *testing.B) {
			p := newPicture(newScene("sample", DefaultWidth, DefaultHeight, time.Now()))
			c := &client{conn: &counter{}}
			u := &update{answer: true, format: nativeFormat, pixels: encoding,
				rects: []image.Rectangle{image.Rect(0, 0, p.w, p.h)}, view: p.freeze(nil)}
			for b.Loop() {
				if err := c.send(u); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(c.conn.(*counter).n)/float64(b.N), "bytes/op")
		})
	}
}

type counter struct {
	sink
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return len(b), nil
}
