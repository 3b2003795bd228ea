package sample

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"io"
	"net"
	"testing"
	"time"

	"deskvnc/viewer"
)

// A hand is a client written byte by byte, for what real viewers do not say.
type hand struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func dial(t testing.TB, target viewer.Target) *hand {
	t.Helper()
	conn, err := net.Dial("tcp", target.HostPort())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(hang))
	return &hand{t, conn, bufio.NewReader(conn)}
}

func (h *hand) say(b ...byte) {
	h.t.Helper()
	if _, err := h.conn.Write(b); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hand) hear(n int) []byte {
	h.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(h.r, b); err != nil {
		h.t.Fatalf("reading %d bytes: %v", n, err)
	}
	return b
}

func (h *hand) expect(want ...byte) {
	h.t.Helper()
	if got := h.hear(len(want)); !bytes.Equal(got, want) {
		h.t.Fatalf("got % x, want % x", got, want)
	}
}

// ended reports that the server has closed the connection.
func (h *hand) ended() {
	h.t.Helper()
	if n, err := io.Copy(io.Discard, h.r); err != nil {
		if e, ok := err.(net.Error); ok && e.Timeout() {
			h.t.Fatalf("still open after %d bytes", n)
		}
	}
}

// login says hello by version 3.8 and no password.
func (h *hand) login(shared byte) {
	h.t.Helper()
	h.expect([]byte("RFB 003.008\n")...)
	h.say([]byte("RFB 003.008\n")...)
	h.expect(1, 1)
	h.say(1)
	h.expect(0, 0, 0, 0)
	h.say(shared)
}

// init reads ServerInit.
func (h *hand) init() (w, ht int, name string) {
	h.t.Helper()
	b := h.hear(24)
	n := binary.BigEndian.Uint32(b[20:])
	return int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:])), string(h.hear(int(n)))
}

func u16(v ...int) (b []byte) {
	for _, v := range v {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func (h *hand) encodings(list ...int32) {
	b := append([]byte{msgSetEncodings, 0}, u16(len(list))...)
	for _, v := range list {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	h.say(b...)
}

func (h *hand) request(incremental byte, r image.Rectangle) {
	h.say(append([]byte{msgUpdateRequest, incremental}, u16(r.Min.X, r.Min.Y, r.Dx(), r.Dy())...)...)
}

func (h *hand) pointer(at image.Point, mask byte) {
	h.say(append([]byte{msgPointerEvent, mask}, u16(at.X, at.Y)...)...)
}

func (h *hand) click(at image.Point) {
	h.pointer(at, 1)
	h.pointer(at, 0)
}

// A got is one rectangle of an update.
type got struct {
	rect     image.Rectangle
	encoding int32
	data     []byte
}

// update reads a FramebufferUpdate of Raw, CopyRect and pseudo rectangles.
func (h *hand) update(size int) (out []got) {
	h.t.Helper()
	b := h.hear(4)
	if b[0] != msgUpdate {
		h.t.Fatalf("got message %d, want an update", b[0])
	}
	for range binary.BigEndian.Uint16(b[2:]) {
		b := h.hear(12)
		v := func(i int) int { return int(binary.BigEndian.Uint16(b[i:])) }
		g := got{rect: image.Rect(v(0), v(2), v(0)+v(4), v(2)+v(6)), encoding: int32(binary.BigEndian.Uint32(b[8:]))}
		area := g.rect.Dx() * g.rect.Dy()
		switch g.encoding {
		case encRaw:
			g.data = h.hear(area * size)
		case encCopyRect:
			g.data = h.hear(4)
		case encDesktopSize:
		case encExtendedDesktopSize:
			g.data = h.hear(4)
			g.data = append(g.data, h.hear(16*int(g.data[0]))...)
		case encCursor:
			g.data = h.hear(area*size + (g.rect.Dx()+7)/8*g.rect.Dy())
		case encDesktopName:
			g.data = h.hear(int(binary.BigEndian.Uint32(h.hear(4))))
		default:
			h.t.Fatalf("got encoding %d", g.encoding)
		}
		out = append(out, g)
	}
	return out
}

// pixels sums up the pixels of an update's rectangles, by encoding.
func pixels(gs []got, encoding int32) (n int) {
	for _, g := range gs {
		if g.encoding == encoding {
			n += g.rect.Dx() * g.rect.Dy()
		}
	}
	return n
}

// bell waits until all that was said has been done.
func (h *hand) bell() {
	h.t.Helper()
	h.say(msgKeyEvent, 1, 0, 0, 0, 0, 0xff, 0xc6)
	h.expect(msgBell)
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
