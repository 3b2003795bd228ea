package sample

import (
	"bufio"
	"encoding/binary"
	"image"
	"net"
	"time"

	"deskvnc/viewer"
)

const (
	// helloTime is how long a client may take to log in.
	helloTime = 15 * time.Second
	// writeTime is how long a client may leave what was sent to it unread.
	writeTime = 15 * time.Second
	// maxCopies bounds the moves that wait for a client; beyond it, the place
	// they moved to is sent as pixels.
	maxCopies = 8
	// maxWant bounds the rectangles of the requests that wait for an answer.
	maxWant = 8
)

// A client is one viewer of a desktop. One goroutine reads, one writes.
type client struct {
	d    *desktop
	conn net.Conn
	wake chan struct{} // one place: there may be something to send

	// owned by the reader
	mask    uint8 // buttons held
	control bool  // a Control key is held

	// guarded by d.mu
	format *pixelFormat
	encs   encodings
	w, h   int    // the size that the client knows of
	asked  bool   // a request waits
	want   region // of the picture, by that request
	damage region // not sent yet
	copies []move // not sent yet; they come before the damage
	cursor bool   // the shape has to be sent
	name   bool   // the name has to be sent
	size   *sizeNews
	bells  int
	cut    *string

	stream stream // owned by the writer
}

// A move is a part of the picture that went to dst from dst less by.
type move struct {
	dst image.Rectangle
	by  image.Point
}

// Why a size is told, and what came of asking for one (ExtendedDesktopSize).
const (
	sizeByServer = 0
	sizeByThis   = 1
	sizeByOther  = 2

	sizeInvalid = 3
)

// sizeNews is a size to be told.
type sizeNews struct{ reason, status int }

// serve is one connection from its first byte to its last.
func serve(conn net.Conn, d *desktop, password viewer.Secret) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(helloTime))
	r := bufio.NewReader(conn)
	alone, err := handshake(r, conn, password)
	if err != nil {
		return
	}
	c := &client{d: d, conn: conn, wake: make(chan struct{}, 1), format: nativeFormat}
	c.encs.pixels = encRaw
	if !d.attach(c, alone) {
		return
	}
	defer d.detach(c)
	if _, err := conn.Write(c.serverInit()); err != nil {
		return
	}
	conn.SetDeadline(time.Time{})
	gone, wrote := make(chan struct{}), make(chan struct{})
	go func() {
		c.write(gone)
		conn.Close() // ends the reader as well
		close(wrote)
	}()
	c.read(r)
	close(gone)
	conn.Close() // ends the writer as well
	<-wrote
}

// serverInit is the ServerInit message (RFC 6143 7.3.2).
func (c *client) serverInit() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(c.w))
	b = binary.BigEndian.AppendUint16(b, uint16(c.h))
	b = append(b, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.d.name)))
	return append(b, c.d.name...)
}

// read handles client messages until one is bad or the connection ends.
func (c *client) read(r *bufio.Reader) {
	var m message
	for readMessage(r, &m) == nil {
		c.handle(&m)
	}
}

func (c *client) handle(m *message) {
	switch m.kind {
	case msgKeyEvent:
		if m.sym == keyControlL || m.sym == keyControlR {
			c.control = m.down
		} else if m.down {
			c.d.key(m.sym, c.control)
		}
	case msgPointerEvent:
		pressed := m.mask &^ c.mask
		c.mask = m.mask
		if pressed&1 != 0 {
			c.d.press(m.at)
		}
		if pressed&(1<<3) != 0 {
			c.d.wheel(m.at, -1)
		}
		if pressed&(1<<4) != 0 {
			c.d.wheel(m.at, 1)
		}
	case msgClientCutText:
		c.d.paste(m.text)
	case msgSetDesktopSize:
		if m.screens != 1 {
			m.w = 0 // no size at all: refused
		}
		c.d.resize(c, m.w, m.h)
	default:
		c.d.mu.Lock()
		c.setting(m)
		c.d.mu.Unlock()
	}
}

// setting is a message that changes what the client wants. The caller holds
// d.mu.
func (c *client) setting(m *message) {
	switch m.kind {
	case msgSetPixelFormat:
		c.format = m.format
		c.cursor = c.encs.cursor
	case msgSetEncodings:
		old := c.encs
		c.encs = m.encodings
		c.cursor = c.encs.cursor && (c.cursor || !old.cursor)
		c.name = c.encs.name && (c.name || !old.name)
		if c.encs.extendedSize && !old.extendedSize {
			c.size = &sizeNews{reason: sizeByServer}
		}
		if c.w != c.d.pic.w || c.h != c.d.pic.h {
			c.sized(sizeByServer, 0) // it changed before this client could be told
		}
	case msgUpdateRequest:
		r := m.rect.Intersect(image.Rect(0, 0, c.w, c.h))
		if !m.incremental {
			c.damage.add(r)
		}
		c.asked = true
		c.want.add(r)
		if len(c.want.rects) > maxWant {
			c.want.clear()
			c.want.add(image.Rect(0, 0, c.w, c.h))
		}
		c.notify()
	}
}

// The methods below are called with d.mu held.

// notify wakes the writer.
func (c *client) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// damaged marks r as not yet sent.
func (c *client) damaged(r image.Rectangle) {
	c.damage.add(r.Intersect(image.Rect(0, 0, c.w, c.h)))
}

// moved marks that dst now shows what was at dst less by.
func (c *client) moved(dst image.Rectangle, by image.Point) {
	all := image.Rect(0, 0, c.w, c.h)
	src := dst.Sub(by)
	if !c.encs.copyRect || len(c.copies) == maxCopies || !dst.In(all) || !src.In(all) || dst.Empty() {
		c.damaged(dst)
		return
	}
	// What the client lacks at the source, it will lack at the destination.
	stale := c.damage.rects
	for _, r := range append([]image.Rectangle(nil), stale...) {
		c.damage.add(r.Intersect(src).Add(by))
	}
	c.copies = append(c.copies, move{dst, by})
}

// sized has the present size told, if the client can be told.
func (c *client) sized(reason, status int) {
	if c.encs.extendedSize {
		// A refusal must not hide that the size did change before it.
		if c.size == nil || status == 0 || c.size.status != 0 {
			c.size = &sizeNews{reason, status}
		}
	} else if c.encs.size && status == 0 {
		c.size = &sizeNews{reason, status}
	}
}

// ring has the bell rung.
func (c *client) ring() { c.bells = min(c.bells+1, 8) }

// tell sends clipboard text.
func (c *client) tell(text string) { c.cut = &text }

// An update is what one turn of the writer sends.
type update struct {
	bells  int
	cut    *string
	answer bool // a FramebufferUpdate follows, of what is below
	format *pixelFormat
	pixels int32 // the encoding
	size   *sizeNews
	w, h   int // the size to be told
	ext    bool
	cursor bool
	name   bool
	copies []move
	rects  []image.Rectangle
	view   view
}

// take moves what can be sent now into u and reports whether there is any.
func (c *client) take(u *update) bool {
	*u = update{bells: c.bells, cut: c.cut, format: c.format, pixels: c.encs.pixels, ext: c.encs.extendedSize,
		copies: u.copies[:0], rects: u.rects[:0], view: view{tiles: u.view.tiles[:0]}}
	c.bells, c.cut = 0, nil
	if !c.asked {
		return u.bells > 0 || u.cut != nil
	}
	if c.size != nil {
		// No pixels with it: the client asks anew, knowing the size.
		u.answer, u.size, u.w, u.h = true, c.size, c.d.pic.w, c.d.pic.h
		if u.w != c.w || u.h != c.h {
			c.w, c.h = u.w, u.h
			c.copies = c.copies[:0]
			c.damage.clear()
			c.damage.add(image.Rect(0, 0, c.w, c.h))
		}
		c.size, c.asked = nil, false
		c.want.clear()
		return true
	}
	if len(c.copies) > 0 {
		if len(c.want.rects) == 1 && c.want.rects[0] == image.Rect(0, 0, c.w, c.h) {
			u.copies = append(u.copies, c.copies...)
		} else {
			for _, m := range c.copies {
				c.damage.add(m.dst)
			}
		}
		c.copies = c.copies[:0]
	}
	u.rects = c.damage.cut(&c.want, u.rects)
	u.cursor, u.name = c.cursor, c.name
	if len(u.rects) > 0 || len(u.copies) > 0 || u.cursor || u.name {
		u.answer = true
		c.cursor, c.name, c.asked = false, false, false
		c.want.clear()
		if len(u.rects) > 0 {
			u.view = c.d.pic.freeze(u.view.tiles)
		}
	}
	return u.answer || u.bells > 0 || u.cut != nil
}
