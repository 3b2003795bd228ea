package rect

import (
	"encoding/binary"
	"fmt"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
)

// TypeJPEG is the registered number of JPEG.
const TypeJPEG = 21

// maxJPEGBytes bounds one JPEG, which says nowhere how long it is.
const maxJPEGBytes = 4 << 20

// maxJPEGTables bounds the tables of either sort that later pictures may use
// again.
const maxJPEGTables = 64 << 10

// JPEG is encoding 21: a JPEG file. One without quantization or Huffman tables
// uses those of an earlier one. The community's RFB document describes it.
type JPEG struct {
	c       *Canvas
	painter picturePainter

	quantization, huffman []byte // segments of the last picture that had them
	whole                 []byte // a picture with the tables it lacks
}

// NewJPEG returns the decoder for c.
func NewJPEG(c *Canvas) *JPEG {
	return &JPEG{c: c, painter: picturePainter{c: c, op: "rfb.JPEG", p: &jpegDecoder{}}}
}

// Type returns 21.
func (*JPEG) Type() int32 { return TypeJPEG }

// Read draws one rectangle.
func (d *JPEG) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.c.check(r); err != nil {
		return nil, err
	}
	n, err := d.scan()
	if err != nil {
		return nil, err
	}
	src, err := d.c.Conn.Peek(n)
	if err != nil {
		return nil, err
	}
	j, err := d.painter.job(r)
	if err != nil {
		return nil, err
	}
	src = d.complete(src)
	if j.w > 0 && j.h > 0 {
		if err := d.c.put(&j, nil, src); err != nil {
			return nil, err
		}
	}
	return d, d.c.Conn.Discard(n)
}

func (*JPEG) queued() {}

// peek makes n bytes of the picture available.
func (d *JPEG) peek(n int) ([]byte, error) {
	if n > maxJPEGBytes {
		return nil, &viewer.Error{Op: "rfb.JPEG", Kind: viewer.Limit,
			Err: fmt.Errorf("a JPEG of more than the %d MiB that one may have", maxJPEGBytes>>20)}
	}
	return d.c.Conn.Peek(n)
}

// scan finds the end of the picture and returns its length. It never asks for
// more than the picture has.
func (d *JPEG) scan() (int, error) {
	b, err := d.peek(2)
	if err != nil {
		return 0, err
	}
	if b[0] != 0xff || b[1] != jpegSOI {
		return 0, malformed("rfb.JPEG", "it is no JPEG")
	}
	for at := 2; ; {
		if b, err = d.peek(at + 2); err != nil {
			return 0, err
		}
		if b[at] != 0xff {
			return 0, malformed("rfb.JPEG", "no marker where one has to be")
		}
		marker := b[at+1]
		switch {
		case marker == 0xff: // padding
			at++
			continue
		case marker == jpegEOI:
			return at + 2, nil
		case marker == jpegTEM || marker&^7 == jpegRST0:
			at += 2
			continue
		}
		if b, err = d.peek(at + 4); err != nil {
			return 0, err
		}
		n := int(binary.BigEndian.Uint16(b[at+2:]))
		if n < 2 {
			return 0, malformed("rfb.JPEG", "a segment of %d bytes", n)
		}
		at += 2 + n
		if marker == jpegSOS {
			if at, err = d.entropy(at); err != nil {
				return 0, err
			}
		}
	}
}

// entropy finds the marker that ends the coded data from byte at on.
func (d *JPEG) entropy(at int) (int, error) {
	for {
		// At least a marker has to come.
		if _, err := d.peek(at + 2); err != nil {
			return 0, err
		}
		b := d.c.Conn.Buffered()
		for ; at+2 <= len(b); at++ {
			if b[at] == 0xff && b[at+1] != 0 && b[at+1] != 0xff && b[at+1]&^7 != jpegRST0 {
				return at, nil
			}
		}
	}
}

// complete returns the picture with the tables it lacks, and keeps those it
// has. Its segments have been checked by scan.
func (d *JPEG) complete(src []byte) []byte {
	newQuantization, newHuffman := false, false
	for at := 2; at+4 <= len(src); {
		marker := src[at+1]
		if marker == 0xff {
			at++
			continue
		}
		if marker == jpegSOS || marker == jpegEOI {
			break
		}
		if marker == jpegTEM || marker&^7 == jpegRST0 {
			at += 2
			continue
		}
		n := 2 + int(binary.BigEndian.Uint16(src[at+2:]))
		if at+n > len(src) {
			break
		}
		switch marker {
		case jpegDQT:
			d.quantization = keepTable(d.quantization, src[at:at+n], newQuantization)
			newQuantization = true
		case jpegDHT:
			d.huffman = keepTable(d.huffman, src[at:at+n], newHuffman)
			newHuffman = true
		}
		at += n
	}
	if newQuantization && newHuffman || len(d.quantization)+len(d.huffman) == 0 {
		return src
	}
	d.whole = append(d.whole[:0], src[:2]...)
	if !newQuantization {
		d.whole = append(d.whole, d.quantization...)
	}
	if !newHuffman {
		d.whole = append(d.whole, d.huffman...)
	}
	d.whole = append(d.whole, src[2:]...)
	return d.whole
}

// keepTable keeps a segment, beside the others of the same picture or instead
// of those of the one before. A picture that brings more than can be used
// again is drawn all the same.
func keepTable(kept, segment []byte, more bool) []byte {
	if !more {
		kept = kept[:0]
	}
	if len(kept)+len(segment) > maxJPEGTables {
		return kept
	}
	return append(kept, segment...)
}
