// Package inflate decodes zlib streams that arrive in segments, as the
// rectangles of RFB bring them: each segment ends on a flush, and all of its
// output is there once it has been given.
//
// The output stays in one buffer behind the last 32 KiB of history and is read
// in place, so that nothing is copied from a window and no match is cut in
// two. RFC 1950 and 1951.
package inflate

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The buffer: history, room for output, and slack for stores that overshoot.
const (
	historySize = 32 << 10
	bufferSize  = 256 << 10
	// Slack is the number of readable bytes behind what [Reader.Need] returns.
	Slack = 32
	// overshoot is what one step of the fast loop may write past its start:
	// two literals, a match of 258 and the last 16-byte store.
	overshoot = 2 + 258 + 16
	// MaxNeed is the largest piece of output that can be asked for at once.
	MaxNeed = bufferSize - historySize - overshoot - Slack
)

// Errors of a stream.
var (
	ErrTooLong = errors.New("the compressed data inflates to more than the rectangle can need")
	ErrEnded   = errors.New("compressed data after the end of its stream")
)

// A CorruptError says at which rule a stream broke.
type CorruptError string

func (e CorruptError) Error() string { return "corrupt compressed data: " + string(e) }

// The states of a stream.
const (
	stateZlib    = 0 // the two bytes of the zlib header come next
	stateBlock   = 1 // a block header comes next
	stateStored  = 2 // inside a stored block
	stateHuffman = 3 // inside a block of codes
	stateEnd     = 4 // after the last block
)

// A Reader is one zlib stream. Use it from one goroutine. The zero value is
// ready for use.
type Reader struct {
	buf   []byte
	r, w  int   // output not read yet is buf[r:w]
	total int   // history available, at most historySize
	left  int64 // output that the segment may still make

	state  int
	final  bool       // the block is the last
	stored int        // bytes left of a stored block
	lit    *litTable  // of the block: own ones or the fixed ones
	dist   *distTable // as lit
	own    *tables    // made for the first block with codes of its own

	src   []byte // the segment; bits of it before in are in hold
	in    int
	hold  uint64
	bits  uint   // valid bits of hold
	late  bool   // the stream had ended before the segment came
	spent bool   // the segment was cut: it has no more output
	carry []byte // input that the cut left over, from the byte of its first bit
	skip  uint   // bits of carry[0] that are used already
}

// Reset starts a new stream.
func (z *Reader) Reset() {
	z.r, z.w, z.total, z.left = 0, 0, 0, 0
	z.state, z.final, z.stored = stateZlib, false, 0
	z.src, z.in, z.hold, z.bits, z.spent = nil, 0, 0, 0, false
	z.carry, z.skip = z.carry[:0], 0
}

// Begin starts a segment, which may make at most limit bytes of output. Output
// of the one before that was not read is dropped.
func (z *Reader) Begin(limit int64) {
	if z.buf == nil {
		z.buf = make([]byte, bufferSize)
	}
	z.r, z.left, z.late = z.w, limit, z.state == stateEnd
}

// Feed gives the segment, or the next piece of it once Need has returned less
// than it was asked for. The Reader reads src until then, or until
// [Reader.End] has returned. A segment may be cut anywhere.
func (z *Reader) Feed(src []byte) {
	z.src, z.in, z.hold, z.bits, z.spent = src, 0, 0, 0, false
	if len(z.carry) > 0 {
		// A cut inside of a code or a header: start again from there.
		z.src = append(z.carry, src...)
		skip := z.skip
		z.carry, z.skip = nil, 0
		z.refill()
		z.drop(skip)
	}
}

// Need returns the output that is there and not read yet, at least n bytes of
// it unless what was fed has no more. The slice is valid until the next Need
// that waits for more, or Feed, and has [Slack] readable bytes behind it.
func (z *Reader) Need(n int) ([]byte, error) {
	if z.w-z.r < n && !z.spent {
		if err := z.more(n); err != nil {
			return nil, err
		}
	}
	return z.buf[z.r:z.w], nil
}

// Skip marks n bytes of what Need returned as read.
func (z *Reader) Skip(n int) { z.r += n }

// End inflates what is left of what was fed, so that the stream stands where
// the next segment goes on, and drops it.
func (z *Reader) End() error {
	for {
		z.r = z.w
		if err := z.more(1); err != nil {
			return err
		}
		if z.r == z.w {
			break
		}
	}
	return nil
}

// more inflates until n bytes are unread, the buffer is full, or the segment
// has been used up.
func (z *Reader) more(n int) error {
	if n > MaxNeed {
		return fmt.Errorf("%d bytes are asked for in one piece, more than %d", n, MaxNeed)
	}
	limit := len(z.buf) - overshoot - Slack
	if z.r+n > limit || z.w >= limit {
		// Slide: keep the history and what is unread.
		from := min(z.r, max(z.w-historySize, 0))
		copy(z.buf, z.buf[from:z.w])
		z.r, z.w = z.r-from, z.w-from
	}
	for z.w-z.r < n && !z.spent {
		again, err := z.step(limit)
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// step does one piece of work: a header, or output up to limit. again is false
// when the segment has been used up.
func (z *Reader) step(limit int) (again bool, err error) {
	switch z.state {
	case stateZlib:
		return z.zlibHeader()
	case stateBlock:
		return z.blockHeader()
	case stateStored:
		return z.copyStored(limit)
	case stateHuffman:
		return z.codes(limit)
	}
	return false, z.trailer()
}

// trailer lets the checksum pass, and what else the segment brings with it. A
// segment that begins after the end and is more than a rest of the checksum is
// a fault.
func (z *Reader) trailer() error {
	n := z.available()
	z.in, z.bits, z.hold = len(z.src), 0, 0
	if z.stored += n; z.late && z.stored > 4 {
		return ErrEnded
	}
	return nil
}

// available is the number of whole bytes of input not used yet.
func (z *Reader) available() int { return len(z.src) - z.in + int(z.bits/8) }

// refill makes at least 56 bits valid, or all that is left of the segment.
func (z *Reader) refill() {
	if len(z.src)-z.in >= 8 {
		z.hold |= binary.LittleEndian.Uint64(z.src[z.in:]) << (z.bits & 63)
		z.in += int((63 - z.bits) >> 3)
		z.bits |= 56
		return
	}
	// Bits above z.bits may be the low bits of the byte at in: put it there
	// again, whole.
	z.hold &= 1<<(z.bits&63) - 1
	for z.bits < 56 && z.in < len(z.src) {
		z.hold |= uint64(z.src[z.in]) << (z.bits & 63)
		z.in++
		z.bits += 8
	}
}

func (z *Reader) drop(n uint) {
	z.hold >>= n & 63
	z.bits -= n
}

// mark is a place in the input.
type mark struct {
	in   int
	hold uint64
	bits uint
}

func (z *Reader) mark() mark { return mark{z.in, z.hold, z.bits} }

// cut ends the segment at a place from which the next one goes on.
func (z *Reader) cut(m mark) {
	// The place in bits from the start of src.
	at := m.in*8 - int(m.bits)
	z.carry = append(z.carry[:0], z.src[at/8:]...)
	z.skip = uint(at % 8)
	z.in, z.hold, z.bits, z.spent = len(z.src), 0, 0, true
}

// zlibHeader reads the two bytes at the start (RFC 1950 2.2).
func (z *Reader) zlibHeader() (bool, error) {
	m := z.mark()
	z.refill()
	if z.bits < 16 {
		z.cut(m)
		return false, nil
	}
	cmf, flg := z.hold&0xff, z.hold>>8&0xff
	switch {
	case cmf&15 != 8 || cmf>>4 > 7 || (cmf<<8|flg)%31 != 0:
		return false, CorruptError("it does not begin as a zlib stream")
	case flg&0x20 != 0:
		return false, CorruptError("it needs a preset dictionary")
	}
	z.drop(16)
	z.state = stateBlock
	return true, nil
}

// blockHeader reads the head of a block (RFC 1951 3.2.3). A head that is cut
// by the end of the segment is read again with the next one.
func (z *Reader) blockHeader() (bool, error) {
	m := z.mark()
	z.refill()
	if z.bits < 3 {
		z.cut(m)
		return false, nil
	}
	z.final = z.hold&1 != 0
	kind := z.hold >> 1 & 3
	z.drop(3)
	switch kind {
	case 0:
		z.drop(z.bits & 7) // to the next byte
		z.refill()
		if z.bits < 32 {
			z.cut(m)
			return false, nil
		}
		n, complement := uint16(z.hold), uint16(z.hold>>16)
		if n != ^complement {
			return false, CorruptError("the length of a stored block does not match its complement")
		}
		z.drop(32)
		// Whole bytes in the hold are given back.
		z.in -= int(z.bits / 8)
		z.hold, z.bits = 0, 0
		z.stored = int(n)
		z.state = stateStored
	case 1:
		f := fixed()
		z.lit, z.dist = &f.lit, &f.dist
		z.state = stateHuffman
	case 2:
		if z.own == nil {
			z.own = &tables{}
		}
		z.lit, z.dist = &z.own.lit, &z.own.dist
		ok, err := z.dynamicHeader()
		if err != nil {
			return false, err
		}
		if !ok {
			z.cut(m)
			return false, nil
		}
		z.state = stateHuffman
	default:
		return false, CorruptError("a block of the reserved type")
	}
	return true, nil
}

// endBlock goes on after a block.
func (z *Reader) endBlock() {
	z.state = stateBlock
	if z.final {
		z.state, z.stored = stateEnd, 0
		z.drop(z.bits & 7)
	}
}

// copyStored copies bytes of a stored block.
func (z *Reader) copyStored(limit int) (bool, error) {
	n := min(z.stored, len(z.src)-z.in, limit-z.w)
	if int64(n) > z.left {
		return false, ErrTooLong
	}
	copy(z.buf[z.w:], z.src[z.in:z.in+n])
	z.wrote(n)
	z.in += n
	if z.stored -= n; z.stored == 0 {
		z.endBlock()
		return true, nil
	}
	return z.in < len(z.src), nil
}

// wrote notes n bytes of output.
func (z *Reader) wrote(n int) {
	z.w += n
	z.left -= int64(n)
	z.total = min(z.total+n, historySize)
}
