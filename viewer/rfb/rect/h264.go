//go:build cgo && openh264

package rect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// TypeH264 is the registered number of Open H.264.
const TypeH264 = 50

// Video are the encodings of this build that are video.
var Video = []int32{TypeH264}

func video(c *Canvas) []vnc.Encoding { return []vnc.Encoding{NewH264(c)} }

const (
	// maxVideoBytes bounds the data of one rectangle.
	maxVideoBytes = 4 << 20
	// maxVideoStreams is how many streams, each of one rectangle, are decoded
	// side by side, as the encoding asks for.
	maxVideoStreams = 64
	// maxVideoPixels bounds the pictures of all streams together: a stream keeps
	// up to 16 of its own.
	maxVideoPixels = 16 << 20
)

// The flags of a rectangle.
const (
	videoReset    = 1 // the rectangle's stream begins anew
	videoResetAll = 2 // all of them do
)

// H264 is encoding 50: for each place and size of a rectangle a stream of
// H.264. The community's RFB document describes it.
type H264 struct {
	c       *Canvas
	streams []videoStream // the one used last at the end
}

// A videoStream is the stream of one rectangle.
type videoStream struct {
	r vnc.Rectangle // place and size only
	d *h264Decoder
}

// NewH264 returns the decoder for c.
func NewH264(c *Canvas) *H264 { return &H264{c: c} }

// Type returns 50.
func (*H264) Type() int32 { return TypeH264 }

// Read draws one rectangle, if its data completes a picture.
func (d *H264) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.c.check(r); err != nil {
		return nil, err
	}
	b, err := d.c.Conn.Peek(8)
	if err != nil {
		return nil, err
	}
	n, flags := int64(binary.BigEndian.Uint32(b)), binary.BigEndian.Uint32(b[4:])
	if n > maxVideoBytes {
		return nil, &viewer.Error{Op: "rfb.H264", Kind: viewer.Limit,
			Err: fmt.Errorf("a picture of %d bytes is more than the %d MiB that one may have", n, maxVideoBytes>>20)}
	}
	if err := d.c.Conn.Discard(8); err != nil {
		return nil, err
	}
	d.reset(r, flags)
	src, err := d.c.Conn.Peek(int(n))
	if err != nil {
		return nil, err
	}
	if n > 0 && r.Width > 0 && r.Height > 0 {
		if err := d.draw(r, src); err != nil {
			return nil, err
		}
	}
	return d, d.c.Conn.Discard(int(n))
}

// reset ends streams.
func (d *H264) reset(r *vnc.Rectangle, flags uint32) {
	d.streams = slices.DeleteFunc(d.streams, func(s videoStream) bool {
		end := flags&videoResetAll != 0 || flags&videoReset != 0 && s.on(r)
		if end {
			s.d.close()
		}
		return end
	})
}

func (s *videoStream) on(r *vnc.Rectangle) bool {
	return s.r.X == r.X && s.r.Y == r.Y && s.r.Width == r.Width && s.r.Height == r.Height
}

// stream is the decoder of a rectangle. The stream that was not used for the
// longest time makes room for a new one.
func (d *H264) stream(r *vnc.Rectangle) (*h264Decoder, error) {
	if i := slices.IndexFunc(d.streams, func(s videoStream) bool { return s.on(r) }); i >= 0 {
		s := d.streams[i]
		d.streams = append(slices.Delete(d.streams, i, i+1), s)
		return s.d, nil
	}
	pixels := int(r.Width) * int(r.Height)
	if pixels > maxVideoPixels {
		return nil, &viewer.Error{Op: "rfb.H264", Kind: viewer.Limit,
			Err: fmt.Errorf("a video of %d x %d is more than the %d Mpixel that all videos may have", r.Width, r.Height, maxVideoPixels>>20)}
	}
	for _, s := range d.streams {
		pixels += int(s.r.Width) * int(s.r.Height)
	}
	for len(d.streams) == maxVideoStreams || pixels > maxVideoPixels {
		s := d.streams[0]
		pixels -= int(s.r.Width) * int(s.r.Height)
		s.d.close()
		d.streams = slices.Delete(d.streams, 0, 1)
	}
	dec, err := newH264Decoder()
	if err != nil {
		return nil, err
	}
	d.streams = append(d.streams, videoStream{vnc.Rectangle{X: r.X, Y: r.Y, Width: r.Width, Height: r.Height}, dec})
	return dec, nil
}

func (d *H264) draw(r *vnc.Rectangle, src []byte) error {
	w, h := int(r.Width), int(r.Height)
	// The decoder allocates what a stream says: it may be a little larger than
	// its rectangle, in whole blocks.
	if err := checkH264(src, (w+63)&^63, (h+63)&^63); err != nil {
		return malformed("rfb.H264", "a video of %d x %d: %w", w, h, err)
	}
	dec, err := d.stream(r)
	if err != nil {
		return err
	}
	p, err := dec.decode(src)
	if err != nil {
		return malformed("rfb.H264", "a video of %d x %d: %w", w, h, err)
	}
	if p.y == nil { // no picture yet
		return nil
	}
	if p.w < w || p.h < h {
		return malformed("rfb.H264", "a video of %d x %d: %w", w, h, fmt.Errorf("the picture is of %d x %d", p.w, p.h))
	}
	px := d.c.Frame.Lock()
	for y := range h {
		at := (int(r.Y)+y)*px.Stride + int(r.X)*bpp
		videoRow(px.Pix[at:at+w*bpp], p.y[y*p.stride:], p.cb[y/2*p.half:], p.cr[y/2*p.half:], d.c.Order)
	}
	d.c.Frame.Touch(int(r.X), int(r.Y), w, h, frame.Painted)
	d.c.Frame.Unlock()
	return nil
}

// videoRow draws pixels of luminance from 16 to 235 and colour differences of
// half the width (ITU-R BT.601), in 16-bit fixed point.
func videoRow(row, ys, cbs, crs []byte, o frame.Order) {
	at0, at1, at2 := o.R*8&31, o.G*8&31, o.B*8&31
	for x := 0; len(row) >= bpp; x, row = x+1, row[bpp:] {
		l := (int32(ys[x])-16)*76309 + 1<<15
		b, r := int32(cbs[x/2])-128, int32(crs[x/2])-128
		binary.LittleEndian.PutUint32(row, clamp(l+104597*r)<<at0|clamp(l-25675*b-53279*r)<<at1|clamp(l+132201*b)<<at2)
	}
}

var errH264Header = errors.New("the H.264 stream has a header that ends too early")

// checkH264 refuses data with a sequence header of more than w times h pixels
// (ITU-T H.264 7.3.2.1.1).
func checkH264(src []byte, w, h int) error {
	for i := 0; i+3 < len(src); i++ {
		kind := src[i+3] & 31 // 15 is that of a scalable stream
		if src[i] != 0 || src[i+1] != 0 || src[i+2] != 1 || kind != 7 && kind != 15 {
			continue
		}
		sw, sh, ok := h264Size(src[i+4:])
		if !ok {
			return errH264Header
		}
		if sw > int64(w) || sh > int64(h) {
			return fmt.Errorf("the H.264 stream is of %d x %d", sw, sh)
		}
	}
	return nil
}
