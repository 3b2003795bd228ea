package sample

import (
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
