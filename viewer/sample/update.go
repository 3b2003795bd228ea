package sample

import (
	"encoding/binary"
	"image"
	"sync"
	"time"
)

// The encodings and pseudo-encodings (RFC 6143 7.7 and 7.8; the last two
// from the community's rfbproto).
const (
	encRaw                 = 0
	encCopyRect            = 1
	encHextile             = 5
	encZRLE                = 16
	encCursor              = -239
	encDesktopSize         = -223
	encDesktopName         = -307
	encExtendedDesktopSize = -308
)

// The server messages (RFC 6143 7.6).
const (
	msgUpdate        = 0
	msgBell          = 2
	msgServerCutText = 3
)

// maxPiece bounds the pixels of one rectangle sent; larger ones go in pieces,
// so that a client draws the first while the next is encoded.
const maxPiece = 128 << 10

// An encoder turns updates into bytes. What outlives one update is the zlib
// stream alone; the memory is lent by encoders.
type encoder struct {
	buf    []byte   // what is to be written
	pixels []uint32 // of the piece being encoded
	zrle   zrle
}

// encoders lend their memory to the writers, which mostly wait.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// write sends what there is to send until the connection or the reader ends.
func (c *client) write(gone <-chan struct{}) {
	var u update
	for {
		select {
		case <-gone:
			return
		case <-c.wake:
		}
		c.d.mu.Lock()
		some := c.take(&u)
		c.d.mu.Unlock()
		if !some {
			continue
		}
		if err := c.send(&u); err != nil {
			return
		}
		clear(u.view.tiles) // lets go of tiles that nobody shows any more
	}
}

// flush writes what the encoder holds.
func (c *client) flush(e *encoder) error {
	c.conn.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := c.conn.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// send writes one update.
func (c *client) send(u *update) error {
	e := encoders.Get().(*encoder)
	e.buf = e.buf[:0]
	defer encoders.Put(e)
	for range u.bells {
		e.buf = append(e.buf, msgBell)
	}
	if u.cut != nil {
		text := latin1(*u.cut)
		e.buf = append(e.buf, msgServerCutText, 0, 0, 0)
		e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(len(text)))
		e.buf = append(e.buf, text...)
	}
	if !u.answer {
		return c.flush(e)
	}
	pieces := 0
	for _, r := range u.rects {
		pieces += len(rows(r))
	}
	n := len(u.copies) + pieces
	for _, more := range []bool{u.size != nil, u.cursor, u.name} {
		if more {
			n++
		}
	}
	e.buf = append(e.buf, msgUpdate, 0)
	e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(n))
	if u.size != nil {
		e.size(u)
	}
	if u.name {
		e.header(image.Rectangle{}, encDesktopName)
		e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(len(c.d.name)))
		e.buf = append(e.buf, c.d.name...)
	}
	if u.cursor {
		e.cursor(u.format)
	}
	for _, m := range u.copies {
		src := m.dst.Min.Sub(m.by)
		e.header(m.dst, encCopyRect)
		e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(src.X))
		e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(src.Y))
	}
	for _, r := range u.rects {
		for _, p := range rows(r) {
			if err := e.encode(&c.stream, u, p); err != nil {
				return err
			}
			if len(e.buf) >= 64<<10 {
				if err := c.flush(e); err != nil {
					return err
				}
			}
		}
	}
	return c.flush(e)
}

// rows cuts r into pieces of at most maxPiece pixels, of whole rows of ZRLE
// tiles.
func rows(r image.Rectangle) []image.Rectangle {
	tall := max(maxPiece/r.Dx()/tileSide, 1) * tileSide
	var out []image.Rectangle
	for y := r.Min.Y; y < r.Max.Y; y += tall {
		out = append(out, image.Rect(r.Min.X, y, r.Max.X, min(y+tall, r.Max.Y)))
	}
	return out
}

// header appends a rectangle's header.
func (e *encoder) header(r image.Rectangle, encoding int32) {
	for _, v := range [...]int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(v))
	}
	e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(encoding))
}

// size appends the rectangle that tells a size.
func (e *encoder) size(u *update) {
	if !u.ext {
		e.header(image.Rect(0, 0, u.w, u.h), encDesktopSize)
		return
	}
	for _, v := range [...]int{u.size.reason, u.size.status, u.w, u.h} {
		e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(v))
	}
	ext := int32(encExtendedDesktopSize)
	e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(ext))
	e.buf = append(e.buf, 1, 0, 0, 0) // one screen
	// Its id is not 0: libvncclient takes that for none.
	e.buf = append(e.buf, 0, 0, 0, 1, 0, 0, 0, 0)
	e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(u.w))
	e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(u.h))
	e.buf = append(e.buf, 0, 0, 0, 0)
}

// encode appends one piece of the picture.
func (e *encoder) encode(s *stream, u *update, r image.Rectangle) error {
	e.header(r, u.pixels)
	switch u.pixels {
	case encZRLE:
		return e.encodeZRLE(s, u, r)
	case encHextile:
		e.encodeHextile(u, r)
	default:
		row := e.scratch(r.Dx())
		for y := r.Min.Y; y < r.Max.Y; y++ {
			u.view.gather(row, r.Min.X, y, r.Dx(), 1)
			e.buf = u.format.pixels(e.buf, row)
		}
	}
	return nil
}

// scratch lends room for n pixels.
func (e *encoder) scratch(n int) []uint32 {
	if cap(e.pixels) < n {
		e.pixels = make([]uint32, n)
	}
	return e.pixels[:n]
}
