package frame

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// JPEG encodes an opaque picture; quality is 1 to 100.
func JPEG(img *image.RGBA, quality int) ([]byte, error) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: min(max(quality, 1), 100)}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// pngWriter is the working memory of one PNG encoding.
type pngWriter struct {
	z     *zlib.Writer
	out   bytes.Buffer
	row   []byte // filter byte and samples
	index palette
}

var pngWriters = sync.Pool{New: func() any {
	z, err := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return &pngWriter{z: z}
}}

const pngSignature = "\x89PNG\r\n\x1a\n"

// PNG colour types (PNG specification, 11.2.2).
const (
	pngTrueColour = 2
	pngIndexed    = 3
)

// PNG encodes an opaque picture without loss: with a palette when it has at
// most 256 colours, else as 24-bit colour. It is made for speed: screens
// compress well even so.
func PNG(img *image.RGBA) ([]byte, error) {
	e := pngWriters.Get().(*pngWriter)
	defer pngWriters.Put(e)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	e.out.Reset()
	e.out.WriteString(pngSignature)

	indexed := e.index.collect(img)
	colour := byte(pngTrueColour)
	if indexed {
		colour = pngIndexed
	}
	var head [13]byte
	binary.BigEndian.PutUint32(head[0:], uint32(w))
	binary.BigEndian.PutUint32(head[4:], uint32(h))
	head[8], head[9] = 8, colour
	e.chunk("IHDR", head[:])
	if indexed {
		e.chunk("PLTE", e.index.rgb())
	}

	// The length of IDAT is filled in when it is known.
	at := e.out.Len()
	e.out.WriteString("\x00\x00\x00\x00IDAT")
	e.z.Reset(&e.out)
	var err error
	if indexed {
		err = e.indexedRows(img)
	} else {
		err = e.colourRows(img)
	}
	if err != nil {
		return nil, err
	}
	if err := e.z.Close(); err != nil {
		return nil, err
	}
	data := e.out.Bytes()[at:]
	binary.BigEndian.PutUint32(data, uint32(len(data)-8))
	e.out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data[4:])))
	e.chunk("IEND", nil)
	return bytes.Clone(e.out.Bytes()), nil
}

func (e *pngWriter) chunk(name string, data []byte) {
	b := binary.BigEndian.AppendUint32(e.out.AvailableBuffer(), uint32(len(data)))
	b = append(append(b, name...), data...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	e.out.Write(b)
}

// colourRows writes 24-bit rows, each as the difference to the one above it
// (filter type 2, Up): screens repeat themselves from row to row.
func (e *pngWriter) colourRows(img *image.RGBA) error {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	e.row = grow(e.row, 1+3*w)
	var above []byte
	for y := range h {
		src := img.Pix[y*img.Stride:][:w*4]
		out := e.row[1:]
		if above == nil {
			e.row[0] = 0
			for x := 0; x < w; x++ {
				s, o := src[x*4:][:4], out[x*3:][:3]
				o[0], o[1], o[2] = s[0], s[1], s[2]
			}
		} else {
			e.row[0] = 2
			for x := 0; x < w; x++ {
				s, a, o := src[x*4:][:4], above[x*4:][:4], out[x*3:][:3]
				o[0], o[1], o[2] = s[0]-a[0], s[1]-a[1], s[2]-a[2]
			}
		}
		above = src
		if _, err := e.z.Write(e.row); err != nil {
			return err
		}
	}
	return nil
}

// indexedRows writes one byte a pixel, unfiltered: differences of palette
// numbers mean nothing.
func (e *pngWriter) indexedRows(img *image.RGBA) error {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	e.row = grow(e.row, 1+w)
	e.row[0] = 0
	for y := range h {
		e.index.translate(e.row[1:], img.Pix[y*img.Stride:][:w*4])
		if _, err := e.z.Write(e.row); err != nil {
			return err
		}
	}
	return nil
}

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// palette numbers the colours of a picture that has at most 256.
type palette struct {
	keys   [paletteSlots]uint32 // colour with alpha, so never 0; 0 is free
	number [paletteSlots]uint8
	list   []uint32
}

const paletteSlots = 1024 // a power of two, well above 256

func slot(c uint32) uint32 { return (c * 0x9e3779b1) >> 22 }

// collect numbers the colours of img and reports whether they were few enough.
func (p *palette) collect(img *image.RGBA) bool {
	clear(p.keys[:])
	p.list = p.list[:0]
	w, h := img.Rect.Dx(), img.Rect.Dy()
	var last uint32
	for y := range h {
		row := img.Pix[y*img.Stride:][:w*4]
		for len(row) >= 4 {
			c := binary.LittleEndian.Uint32(row) | 0xff000000
			row = row[4:]
			if c == last {
				continue
			}
			last = c
			s := slot(c)
			for p.keys[s] != c && p.keys[s] != 0 {
				s = (s + 1) % paletteSlots
			}
			if p.keys[s] == 0 {
				if len(p.list) == 256 {
					return false
				}
				p.keys[s], p.number[s] = c, uint8(len(p.list))
				p.list = append(p.list, c)
			}
		}
	}
	return len(p.list) > 0
}

// translate turns pixels into their numbers.
func (p *palette) translate(dst, src []byte) {
	var last uint32
	var n uint8
	for i := range dst {
		c := binary.LittleEndian.Uint32(src[i*4:]) | 0xff000000
		if c != last {
			s := slot(c)
			for p.keys[s] != c {
				s = (s + 1) % paletteSlots
			}
			last, n = c, p.number[s]
		}
		dst[i] = n
	}
}

func (p *palette) rgb() []byte {
	b := make([]byte, 0, 3*len(p.list))
	for _, c := range p.list {
		b = append(b, byte(c), byte(c>>8), byte(c>>16))
	}
	return b
}
