package term

import (
	"time"

	"deskvnc/viewer/grid"
)

// Blinking goes on while the screen has the keyboard and for a while after
// something has happened, so that a window left alone does nothing.
const (
	blinkTime  = 530 * time.Millisecond
	blinkTimes = 20
)

// A blink is the blinking of the cursor and of text.
type blink struct {
	timer *time.Timer
	left  int // changes until it rests
}

// stir shows what blinks, and has it blink for a while from now.
func (s *Screen) stir() {
	s.blink.left = blinkTimes
	if s.paint.off {
		s.paint.off = false
		s.paint.blinking()
	}
}

// beginBlinking waits for the next change, if anything blinks.
func (s *Screen) beginBlinking() {
	if s.blink.timer != nil || !s.focused || !s.shown || s.blink.left <= 0 || !s.paint.blinks() {
		return
	}
	s.blink.timer = time.AfterFunc(blinkTime, func() { s.config.Fence.Go(s.blinked) })
}

func (s *Screen) stopBlinking() {
	if s.blink.timer != nil {
		s.blink.timer.Stop()
		s.blink.timer = nil
	}
	if s.paint.off {
		s.paint.off = false
		s.paint.blinking()
	}
}

// blinked changes what is seen.
func (s *Screen) blinked() {
	s.blink.timer = nil
	if !s.focused || !s.shown || s.closed {
		return
	}
	s.blink.left--
	s.paint.off = !s.paint.off && s.blink.left > 0
	s.paint.blinking()
	s.show()
}

// blinks reports whether anything that can be seen blinks.
func (p *painter) blinks() bool {
	v := &p.view
	if v.Caret.Visible && v.Caret.Blink && v.Caret.Y < v.Rows {
		return true
	}
	for i := range v.Cells {
		if v.Cells[i].Attr&grid.Blink != 0 {
			return true
		}
	}
	return false
}

// blinking has the rows drawn that have blinking text.
func (p *painter) blinking() {
	for y := range min(p.view.Rows, len(p.dirty)) {
		for _, c := range p.view.Row(y) {
			if c.Attr&grid.Blink != 0 {
				p.dirty[y] = true
				break
			}
		}
	}
}
