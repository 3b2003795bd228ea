package rfb

import (
	"image"
	"slices"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/native"
	"deskvnc/viewer/rfb/rect"
)

// readable reports whether an encoding can be decoded in a format: all in the
// whole format of the session, fewer in others.
func (o *outbox) readable(number int32, f pixelFormat) bool {
	return f == o.full || slices.Contains(native.Encodings, number) || slices.Contains(rect.Video, number)
}

// formatOf is the pixel format for colours.
func (o *outbox) formatOf(c viewer.Colors) pixelFormat {
	switch c {
	case viewer.ColorsHigh:
		return highColours
	case viewer.ColorsLow:
		return lowColours
	case viewer.ColorsServer:
		return o.own
	}
	return o.full
}

// levels are what to ask for now, by what is wished and by what the machine
// has shown.
func (o *outbox) levels() levels {
	l := o.wish.levels
	switch {
	case o.wish.auto:
		l = o.pace.levels()
	case o.pace.bare:
		l.colours = withoutJPEG[o.wish.picture.Quality]
	}
	if o.wish.picture.Colors == viewer.ColorsServer {
		l.colours = viewer.ColorsServer
	} else {
		l.colours = fewer(l.colours, o.wish.picture.Colors)
	}
	return l
}

// wireOf is the wire for levels.
func (o *outbox) wireOf(l levels) wire {
	w := wire{format: o.formatOf(l.colours)}
	if slices.Contains(o.wish.encodings, rect.TypeZYWRLE) && o.readable(rect.TypeZYWRLE, w.format) {
		w.wave = l.quality
	}
	return w
}

// encodings is the list to tell for levels. While the wire changes it has only
// what is read the same before and after.
func (o *outbox) encodings(l levels) []int32 {
	w := &o.wires
	var list []int32
	for _, n := range o.wish.encodings {
		if o.readable(n, w.now.format) && o.readable(n, w.next.format) && (n != rect.TypeZYWRLE || w.now.wave == w.next.wave) {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		list = slices.Clone(native.Encodings)
	}
	list = append(append(list, l.numbers()...), pseudoEncodings...)
	if o.requests.looked {
		list = append(list, typeMoreButtons)
	}
	return list
}

// takePlan appends what changes how pixels are asked for, and a request for
// what was drawn with losses; or tells in how long to look again.
func (o *outbox) takePlan(b []byte, now time.Time) ([]byte, time.Duration) {
	if o.wish.encodings == nil {
		return b, 0 // the session has not begun
	}
	area, wait := o.pace.due(now, o.requests.demand)
	if !area.Empty() {
		o.refine = area
		_, wait = o.pace.due(now, true)
	}
	if !o.pace.refine {
		o.refine = image.Rectangle{}
	}
	l := o.levels()
	o.wires.next = o.wireOf(l)
	if f := o.wires.next.format; !o.requests.looked && !o.requests.inFlight {
		// Nothing is on its way that it could change.
		if o.wires.now = o.wires.next; f != o.format {
			b, o.format = f.appendSet(b), f
		}
	}
	if list := o.encodings(l); !slices.Equal(list, o.told) {
		if o.requests.looked && !slices.Contains(o.told, typeMoreButtons) {
			o.held.buttons = buttonsAsked
		}
		b, o.told = appendSetEncodings(b, list), list
	}
	o.quality = l.quality
	b, more := o.takeWire(b, now)
	if area := o.refine.Intersect(image.Rect(0, 0, o.size[0], o.size[1])); !area.Empty() && o.wires.settled() {
		b = appendAreaRequest(b, area)
		o.refine = image.Rectangle{}
	}
	return b, sooner(wait, more)
}

// useWire makes the read loop decode by a wire from here on.
func (s *Session) useWire(w wire) error {
	s.canvas.Quality = w.wave
	if s.used == w.format {
		return nil
	}
	var f *native.Format
	if w.format != s.out.full {
		f = w.format.native()
		f.Order = s.order
		if err := f.Prepare(); err != nil {
			return err
		}
	}
	s.used, s.native = w.format, f
	for n, e := range s.decoders {
		if f == nil || s.out.readable(n, w.format) {
			s.update.encodings[n] = e
		} else {
			delete(s.update.encodings, n) // it would be misread
		}
	}
	if f != nil {
		for _, e := range native.Decoders(&s.canvas, f, s.streams) {
			s.update.encodings[e.Type()] = e
		}
	}
	return nil
}
