package rfbtest

import (
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"slices"
	"sync"
)

// A Desktop is a small polite machine: it answers requests with what changed,
// in Raw, follows SetDesktopSize, and keeps the inputs it gets.
type Desktop struct {
	*Server

	mu      sync.Mutex // guards below
	changed *sync.Cond // for viewers that wait for changes
	picture *image.RGBA
	inputs  []string
	texts   []string
	got     *sync.Cond // for tests that wait for inputs
	viewers map[*deskViewer]struct{}
}

// deskViewer is one connection to a Desktop.
type deskViewer struct {
	dirty     image.Rectangle
	asked     bool // a request waits for its answer
	whole     bool // it asks for everything
	extended  bool // the client knows ExtendedDesktopSize
	own       bool // its own request changed the size
	announce  bool // the size must be told
	requests  int
	gone      bool
	encodings []int32
}

// NewDesktop starts a black desktop of w times h pixels.
func NewDesktop(w, h int) (*Desktop, error) {
	d := &Desktop{picture: image.NewRGBA(image.Rect(0, 0, w, h)), viewers: map[*deskViewer]struct{}{}}
	d.changed, d.got = sync.NewCond(&d.mu), sync.NewCond(&d.mu)
	draw.Draw(d.picture, d.picture.Rect, image.Black, image.Point{}, draw.Src)
	s, err := Serve(d.serve)
	if err != nil {
		return nil, err
	}
	d.Server = s
	return d, nil
}

// Paint fills a rectangle.
func (d *Desktop) Paint(r image.Rectangle, c color.RGBA) {
	d.mu.Lock()
	defer d.mu.Unlock()
	draw.Draw(d.picture, r, image.NewUniform(c), image.Point{}, draw.Src)
	for v := range d.viewers {
		v.dirty = v.dirty.Union(r.Intersect(d.picture.Rect))
	}
	d.changed.Broadcast()
}

// Resize changes the size from the machine's side.
func (d *Desktop) Resize(w, h int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resize(w, h, nil)
}

func (d *Desktop) resize(w, h int, by *deskViewer) {
	picture := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(picture, picture.Rect, image.Black, image.Point{}, draw.Src)
	draw.Draw(picture, picture.Rect, d.picture, image.Point{}, draw.Src)
	d.picture = picture
	for v := range d.viewers {
		v.dirty, v.announce, v.own = picture.Rect, true, v == by
	}
	d.changed.Broadcast()
}

// Inputs waits for n inputs, as [Message.String] writes them, and returns them
// all.
func (d *Desktop) Inputs(n int) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.inputs) < n {
		d.got.Wait()
	}
	return slices.Clone(d.inputs)
}

// Seen returns the inputs so far.
func (d *Desktop) Seen() []string { return d.Inputs(0) }

// Texts waits for n clipboard texts and returns them all.
func (d *Desktop) Texts(n int) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.texts) < n {
		d.got.Wait()
	}
	return slices.Clone(d.texts)
}

// Requests is the number of update requests so far.
func (d *Desktop) Requests() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for v := range d.viewers {
		n += v.requests
	}
	return n
}

func (d *Desktop) serve(c *Conn) error {
	d.mu.Lock()
	size := d.picture.Rect.Size()
	d.mu.Unlock()
	if err := c.Hello(Init{Width: size.X, Height: size.Y, Name: "desktop"}); err != nil {
		return nil // a client that goes away is no fault
	}
	v := &deskViewer{}
	d.mu.Lock()
	v.dirty = d.picture.Rect
	d.viewers[v] = struct{}{}
	d.mu.Unlock()
	var writer sync.WaitGroup
	writer.Add(1)
	go func() {
		defer writer.Done()
		d.answer(c, v)
	}()
	for {
		m, err := c.Next()
		if err != nil {
			break
		}
		d.take(v, m)
	}
	d.mu.Lock()
	delete(d.viewers, v)
	v.gone = true
	d.changed.Broadcast()
	d.mu.Unlock()
	writer.Wait()
	return nil
}

func (d *Desktop) take(v *deskViewer, m Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch m.Type {
	case SetEncodings:
		v.encodings = m.Encodings()
		v.extended = slices.Contains(v.encodings, -308)
		v.announce = v.extended
	case UpdateRequest:
		v.requests++
		v.asked = true
		v.whole = v.whole || !m.Incremental()
		d.changed.Broadcast()
	case KeyEvent, PointerEvent:
		d.inputs = append(d.inputs, m.String())
		d.got.Broadcast()
	case ClientCutText:
		d.texts = append(d.texts, string(m.Body[7:]))
		d.got.Broadcast()
	case SetDesktopSize:
		d.resize(int(binary.BigEndian.Uint16(m.Body[1:])), int(binary.BigEndian.Uint16(m.Body[3:])), v)
	}
}

// answer sends an update for each request, once there is something to send.
func (d *Desktop) answer(c *Conn, v *deskViewer) {
	for {
		d.mu.Lock()
		for !v.gone && !(v.asked && (v.whole || v.announce || !v.dirty.Empty())) {
			d.changed.Wait()
		}
		if v.gone {
			d.mu.Unlock()
			return
		}
		var rects [][]byte
		size := d.picture.Rect.Size()
		if v.announce || v.whole && v.extended {
			reason := 0
			if v.own {
				reason = 1
			}
			if v.extended {
				rects = append(rects, Rect(reason, 0, size.X, size.Y, -308, Screens([5]int{7, 0, 0, size.X, size.Y})...))
			} else {
				rects = append(rects, Rect(0, 0, size.X, size.Y, -223))
			}
		}
		if v.whole {
			v.dirty = d.picture.Rect
		}
		if r := v.dirty; !r.Empty() {
			var pix []byte
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					p := d.picture.RGBAAt(x, y)
					pix = append(pix, p.B, p.G, p.R, 0)
				}
			}
			rects = append(rects, Rect(r.Min.X, r.Min.Y, r.Dx(), r.Dy(), 0, pix...))
		}
		v.asked, v.whole, v.announce, v.own, v.dirty = false, false, false, false, image.Rectangle{}
		d.mu.Unlock()
		if c.Send(Update(rects...)) != nil {
			c.Close()
			return
		}
	}
}
