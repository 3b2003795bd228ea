package pane

import (
	"image"
	"sync"
	"time"

	"deskvnc/viewer"
)

// followPoll is how often the pointer is looked for while a button is held.
const followPoll = 10 * time.Millisecond

// A follower follows the pointer outside the picture while a button is held.
//
// The toolkit tells of it only for some buttons, and may stop at any time: when
// it changes the pointer's shape, its library gives up the grab of the mouse
// that a held button makes, and motion and release outside the window go to
// nobody. So the window system is asked. Over the picture the toolkit's events
// are enough, and in order.
type follower struct {
	stop  chan struct{}
	quiet int // looks in a row that found a button up which the toolkit has not told of
}

// How many such looks make it certain that the toolkit will not tell of the
// release: outside the picture, and over it, where another window may lie and
// have got it.
const (
	quietOutside = 4
	quietInside  = 12
)

// follow begins to follow the pointer, if it is not followed already.
func (s *surface) follow() {
	if s.follower != nil || s.source == nil || s.mouse.held == 0 {
		return
	}
	f := &follower{stop: make(chan struct{})}
	s.follower = f
	var mu sync.Mutex // guards the three below
	var at image.Point
	var held, known viewer.Buttons
	post := s.fence.Target(func() {
		if s.follower != f {
			return
		}
		mu.Lock()
		p, h, k := at, held, known
		mu.Unlock()
		to, inside := s.atWindow(p)
		if s.mouse.held&k&^h == 0 {
			f.quiet = 0
		} else {
			f.quiet++
		}
		switch {
		case f.quiet >= quietInside, f.quiet >= quietOutside && !inside:
			s.mouse.set(h, k, to)
			s.strayed = s.mouse.held == 0
		case !inside:
			s.mouse.move(to)
		}
		if s.mouse.held == 0 {
			s.stopFollowing()
		}
	})
	source := s.source
	go func() {
		tick := time.NewTicker(followPoll)
		defer tick.Stop()
		for {
			select {
			case <-f.stop:
				return
			case <-tick.C:
			}
			p, h, k, ok := source.Pointer()
			if !ok { // nobody knows any more: nothing is held
				h, k, p = 0, draggable|viewer.Right, image.Pt(-1, -1)
			}
			mu.Lock()
			at, held, known = p, h, k
			mu.Unlock()
			post.Post()
			if !ok {
				return
			}
		}
	}()
}

// stopFollowing ends it.
func (s *surface) stopFollowing() {
	if s.follower != nil {
		close(s.follower.stop)
		s.follower = nil
	}
}
