package rfb

import (
	"image"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/rect"
)

// Tune changes how the picture is asked for: at once, and all of it is asked
// for once more. A machine that takes fences is told of other colours in
// mid-stream; any other first answers what it was asked for before.
func (s *Session) Tune(p viewer.Picture) error {
	w, err := wishOf(p)
	if err != nil {
		return err
	}
	if p.Colors == viewer.ColorsServer {
		if err := s.out.own.native().Prepare(); err != nil {
			return err
		}
	}
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	switch {
	case s.out.end != nil:
		return s.out.end
	case s.out.sealed:
		return errClosed
	}
	o := s.out
	o.wish = w
	o.pace = pace{on: w.auto && !o.steady, bare: o.pace.bare}
	o.refine = image.Rectangle{}
	o.wires.failed = false
	o.requests.whole = o.requests.demand
	o.wake()
	return nil
}

// Steady keeps the quality from following the connection while it is on. What
// was drawn with losses by then is asked for once more.
func (s *Session) Steady(on bool) {
	o := s.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.steady == on {
		return
	}
	o.steady = on
	if !o.wish.auto {
		return
	}
	again := on && (o.pace.losing() || !o.pace.lossy.Empty())
	o.pace = pace{on: !on, bare: o.pace.bare}
	o.refine = image.Rectangle{}
	if again && o.requests.demand {
		o.requests.whole = true
	}
	o.wake()
}

// Tuned is how the picture is asked for.
func (s *Session) Tuned() viewer.Picture {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	return s.out.wish.picture
}

// enough is the number of pixels by which a machine has shown whether it has
// Tight, and JPEG with it.
const enough = 64 * 64

// ended takes note of an update that has been drawn. It is called by the
// drawer, or by the read loop when there is nothing to draw.
func (s *Session) ended(e drawn) {
	now := time.Now()
	jpeg := s.counts[rect.TypeTight].Load() > 0 || s.counts[rect.TypeJPEG].Load() > 0
	o := s.out
	o.mu.Lock()
	o.settleButtons()
	o.wires.ended(e.area, o.size, now)
	o.pace.bare = !jpeg && (o.pace.bare || e.pixels >= enough && e.encoding != rect.TypeCopyRect)
	load := float64(e.took-e.waited) / float64(max(e.took, 1))
	o.pace.sample(e.bytes, e.took, load, now)
	o.pace.drawn(e.area, e.pixels, now)
	s.figures.update(e, now, s.queue.Busy())
	o.ping.wanted = o.requests.demand
	grey := o.wish.levels.grey && o.pace.bare && !s.greyTold
	s.greyTold = s.greyTold || grey
	o.mu.Unlock()
	o.wake()
	if grey {
		s.emit(viewer.Notice{Text: "the machine sends no pictures in shades of grey: it is asked for fewer colours instead"})
	}
}
