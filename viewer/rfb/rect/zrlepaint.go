package rect

import (
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/inflate"
)

// A zrlePainter draws the tiles of ZRLE and ZYWRLE.
type zrlePainter struct {
	tile tilePainter
	wave *wavelet // made for the first rectangle of ZYWRLE

	tx, ty int    // the next tile of a rectangle that comes in pieces
	rest   []byte // the start of a tile of which the end has not come
}

// paint draws the tiles that data completes. a is the level of ZYWRLE, or 0.
func (d *zrlePainter) paint(px frame.Pixels, j *job, _, data []byte) error {
	if j.first {
		d.tx, d.ty, d.rest = 0, 0, d.rest[:0]
	}
	if n := len(d.rest); n > 0 {
		// The tile that was cut, with as much behind it as it can need.
		k := min(len(data), zrleTileBytes)
		joined := append(d.rest, data[:k]...)
		all := k < zrleTileBytes
		stop := n
		if all {
			stop = len(joined)
		}
		used, err := d.tiles(px, j, joined, stop, j.part || !all)
		if err != nil {
			return err
		}
		if all {
			d.rest = append(d.rest[:0], joined[used:]...)
			return nil
		}
		data = data[max(used-n, 0):] // less than n only after the last tile
		d.rest = d.rest[:0]
	}
	used, err := d.tiles(px, j, data, len(data), j.part)
	if err != nil {
		return err
	}
	if j.part && d.ty < j.h {
		if d.rest == nil {
			d.rest = make([]byte, 0, 2*zrleTileBytes+inflate.Slack)
		}
		d.rest = append(d.rest, data[used:]...)
	}
	return nil
}

// tiles draws the tiles that begin before stop, and returns how much of src
// they took. If there is more to come, it stops where a tile might be cut.
func (d *zrlePainter) tiles(px frame.Pixels, j *job, src []byte, stop int, more bool) (int, error) {
	at := 0
	for ; d.ty < j.h; d.ty += zrleTile {
		th := min(zrleTile, j.h-d.ty)
		for ; d.tx < j.w; d.tx += zrleTile {
			if more && (at >= stop || len(src)-at < zrleTileBytes) {
				return at, nil
			}
			pix, tw := px.Pix[(j.y+d.ty)*px.Stride+(j.x+d.tx)*bpp:], min(zrleTile, j.w-d.tx)
			var n int
			var err error
			if j.a == 0 {
				n, err = d.tile.draw(pix, px.Stride, tw, th, src[at:])
			} else {
				if d.wave == nil {
					d.wave = &wavelet{}
				}
				d.wave.level = j.a
				n, err = d.wave.draw(&d.tile, pix, px.Stride, tw, th, src[at:])
			}
			if err != nil {
				return at, err
			}
			at += n
		}
		d.tx = 0
	}
	return at, nil
}
