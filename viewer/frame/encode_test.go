package frame

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"
)

// picture makes a screen-like test picture: flat areas, a gradient, noise.
func picture(w, h int, colours int) *image.RGBA {
	rng := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			var c color.RGBA
			switch {
			case x < w/2:
				c = color.RGBA{40, 44, 52, 255}
				if (x/7+y/13)%5 == 0 {
					c = color.RGBA{220, 220, uint8(rng.IntN(3)), 255}
				}
			case y < h/2:
				c = color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), 128, 255}
			default:
				v := uint8(rng.IntN(256))
				c = color.RGBA{v, v ^ 0x55, uint8(rng.IntN(256)), 255}
			}
			if colours > 0 {
				c = color.RGBA{uint8(int(c.R) * colours / 256 * (255 / colours)), 0, 7, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func TestPNGIsLossless(t *testing.T) {
	for _, tt := range []struct {
		name          string
		w, h, colours int
	}{{"colour", 313, 200, 0}, {"indexed", 313, 200, 16}, {"one pixel", 1, 1, 0}, {"column", 1, 90, 0}, {"row", 90, 1, 0}, {"255 colours", 64, 64, 255}} {
		t.Run(tt.name, func(t *testing.T) {
			src := picture(tt.w, tt.h, tt.colours)
			b, err := PNG(src)
			if err != nil {
				t.Fatal(err)
			}
			got, err := png.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if _, indexed := got.(*image.Paletted); indexed != (tt.colours > 0 || tt.w*tt.h < 257) {
				t.Errorf("indexed %v with %d colours", indexed, tt.colours)
			}
			for y := range tt.h {
				for x := range tt.w {
					r, g, bl, a := got.At(x, y).RGBA()
					w := src.RGBAAt(x, y)
					if uint8(r>>8) != w.R || uint8(g>>8) != w.G || uint8(bl>>8) != w.B || a != 0xffff {
						t.Fatalf("pixel %d,%d: got %v, want %v", x, y, got.At(x, y), w)
					}
				}
			}
		})
	}
}

func TestJPEGHasSize(t *testing.T) {
	b, err := JPEG(picture(64, 48, 0), 80)
	if err != nil {
		t.Fatal(err)
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil || c.Width != 64 || c.Height != 48 {
		t.Errorf("got %v, %v; want 64x48", c, err)
	}
}

func TestShrinkIsTheAreaMean(t *testing.T) {
	src := picture(97, 61, 0)
	for _, tt := range []struct{ w, h int }{{97, 61}, {48, 30}, {24, 15}, {1, 1}, {96, 60}, {97, 20}, {13, 61}} {
		got := Shrink(nil, src, tt.w, tt.h)
		if got.Rect.Dx() != tt.w || got.Rect.Dy() != tt.h {
			t.Fatalf("size %v, want %dx%d", got.Rect, tt.w, tt.h)
		}
		worst := 0.0
		for y := range tt.h {
			for x := range tt.w {
				want := areaMean(src, x, y, tt.w, tt.h)
				o := got.Pix[y*got.Stride+x*4:]
				for c := range 3 {
					worst = max(worst, math.Abs(float64(o[c])-want[c]))
				}
				if o[3] != 0xff {
					t.Fatalf("pixel %d,%d is not opaque", x, y)
				}
			}
		}
		// Weights are rounded to 1/64 and 1/128 of a box.
		if worst > 4 {
			t.Errorf("%dx%d: off by %.2f levels", tt.w, tt.h, worst)
		}
	}
}

// areaMean is the definition, in floating point.
func areaMean(src *image.RGBA, x, y, w, h int) (mean [3]float64) {
	sx, sy := float64(src.Rect.Dx())/float64(w), float64(src.Rect.Dy())/float64(h)
	x0, x1, y0, y1 := float64(x)*sx, float64(x+1)*sx, float64(y)*sy, float64(y+1)*sy
	for j := int(y0); float64(j) < y1-1e-9; j++ {
		for i := int(x0); float64(i) < x1-1e-9; i++ {
			a := (min(x1, float64(i+1)) - max(x0, float64(i))) * (min(y1, float64(j+1)) - max(y0, float64(j)))
			for c := range 3 {
				mean[c] += a * float64(src.Pix[j*src.Stride+i*4+c])
			}
		}
	}
	for c := range 3 {
		mean[c] /= sx * sy
	}
	return mean
}

func BenchmarkPNG(b *testing.B) {
	for _, bm := range []struct {
		name string
		img  *image.RGBA
	}{{"colour-1456x819", picture(1456, 819, 0)}, {"indexed-1456x819", picture(1456, 819, 16)}} {
		b.Run(bm.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				d, err := PNG(bm.img)
				if err != nil {
					b.Fatal(err)
				}
				n = len(d)
			}
			b.ReportMetric(float64(n), "bytes")
		})
		b.Run(bm.name+"-std", func(b *testing.B) {
			n := 0
			for b.Loop() {
				var buf bytes.Buffer
				if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, bm.img); err != nil {
					b.Fatal(err)
				}
				n = buf.Len()
			}
			b.ReportMetric(float64(n), "bytes")
		})
	}
}

func BenchmarkShrink(b *testing.B) {
	src := picture(1920, 1080, 0)
	var dst *image.RGBA
	b.Run("1456", func(b *testing.B) {
		for b.Loop() {
			dst = Shrink(dst, src, 1456, 819)
		}
	})
	b.Run("quarter", func(b *testing.B) {
		for b.Loop() {
			dst = Shrink(dst, src, 480, 270)
		}
	})
}
