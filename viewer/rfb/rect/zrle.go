package rect

import (
	"encoding/binary"
	"errors"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/inflate"
)

const (
	zrleTile   = 64
	zrlePixels = zrleTile * zrleTile
	// cpixel is the size of a compressed pixel: the formats in use have their
	// colours in the low three bytes (RFC 6143 7.7.5).
	cpixel = 3
	// zrlePalette is the largest palette, of a run-length tile.
	zrlePalette = 127
	// zrleTileBytes is the most that one tile can need: its type (in ZYWRLE two
	// of them), and either runs of one pixel or a palette and two bytes a pixel.
	zrleTileBytes = 2 + max(4*zrlePixels, zrlePalette*cpixel+2*zrlePixels)
	// zrlePiece is how much compressed data is fed at once.
	zrlePiece = 128 << 10
)

// zrleOutput bounds the inflated size of a rectangle: what its tiles can need
// when each of them is as long as one can be.
func zrleOutput(w, h int) int64 {
	tiles := int64((w+zrleTile-1)/zrleTile) * int64((h+zrleTile-1)/zrleTile)
	return tiles*(2+zrlePalette*cpixel) + 4*int64(w)*int64(h)
}

// ZRLE is encoding 16: tiles of 64 x 64, each raw, of one colour, of a small
// palette or of runs, in one zlib stream for the whole connection (RFC 6143
// 7.7.6).
type ZRLE struct {
	c *Canvas
	z inflate.Reader

	left  int // compressed bytes of the rectangle not fed yet
	piece int // compressed bytes that are fed and not discarded
	level int // of the transform while a rectangle of ZYWRLE is read, or 0

	painter zrlePainter
}

// NewZRLE returns the decoder for c, with a new zlib stream.
func NewZRLE(c *Canvas) *ZRLE { return &ZRLE{c: c} }

// Type returns 16.
func (*ZRLE) Type() int32 { return TypeZRLE }

// Read draws one rectangle.
func (d *ZRLE) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.c.check(r); err != nil {
		return nil, err
	}
	b, err := d.c.Conn.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(b))
	if err := d.c.Conn.Discard(4); err != nil {
		return nil, err
	}
	w, h := int(r.Width), int(r.Height)
	limit := zrleOutput(w, h)
	if n > deflateBound(limit) {
		return nil, &viewer.Error{Op: "rfb.ZRLE", Kind: viewer.Limit, Err: inflate.ErrTooLong}
	}
	d.left, d.piece = int(n), 0
	d.z.Begin(limit)
	if err := d.feed(); err != nil {
		return nil, err
	}
	if w > 0 && h > 0 {
		err = d.tiles(int(r.X), int(r.Y), w, h)
	}
	if err == nil {
		err = d.end()
	}
	if err != nil {
		return nil, zrleError(err)
	}
	return d, nil
}

func (*ZRLE) queued() {}

// zrleError gives errors of the inflater their Kind.
func zrleError(err error) error {
	var corrupt inflate.CorruptError
	switch {
	case errors.Is(err, inflate.ErrTooLong):
		return &viewer.Error{Op: "rfb.ZRLE", Kind: viewer.Limit, Err: err}
	case errors.As(err, &corrupt), errors.Is(err, inflate.ErrEnded):
		return &viewer.Error{Op: "rfb.ZRLE", Kind: viewer.Malformed, Err: err}
	}
	return err
}

// feed gives the inflater the next piece of the rectangle's data. The one
// before has been used up.
func (d *ZRLE) feed() error {
	if err := d.c.Conn.Discard(d.piece); err != nil {
		return err
	}
	d.piece = min(d.left, zrlePiece)
	src, err := d.c.Conn.Peek(d.piece)
	if err != nil {
		d.piece = 0
		return err
	}
	d.left -= d.piece
	d.z.Feed(src)
	return nil
}

// end takes the rest of the data, so that the stream stands at the next
// rectangle. Some machines send more than the tiles need.
func (d *ZRLE) end() error {
	err := d.z.End()
	for err == nil && d.left > 0 {
		if err = d.feed(); err == nil {
			err = d.z.End()
		}
	}
	if err != nil {
		return err
	}
	return d.c.Conn.Discard(d.piece)
}

// tiles gives the painter what the rectangle inflates to, in pieces as large as
// the inflater has them.
func (d *ZRLE) tiles(x, y, w, h int) error {
	j := job{p: &d.painter, x: x, y: y, w: w, h: h, first: true, part: true, a: d.level}
	for j.part {
		out, err := d.z.Need(zrleTileBytes)
		if err != nil {
			return err
		}
		if len(out) < zrleTileBytes {
			if d.left > 0 {
				if err := d.feed(); err != nil {
					return err
				}
				continue
			}
			j.part = false
		}
		if err := d.c.put(&j, nil, out); err != nil {
			return err
		}
		d.z.Skip(len(out))
		j.first = false
	}
	return nil
}
