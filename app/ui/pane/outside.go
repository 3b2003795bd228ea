package pane

import (
	"image"
	"sync"
	"time"

	"deskvnc/viewer"
)

// outsidePoll is how often the pointer is looked for while a button is held
// outside; the toolkit tells nothing then.
const outsidePoll = 10 * time.Millisecond

// An outside follows the pointer while it is where no events come from.
type outside struct {
	stop chan struct{}
	done chan struct{}
}

// startOutside begins to follow the pointer.
func (s *surface) startOutside() {
	if s.outside != nil {
		return
	}
	o := &outside{stop: make(chan struct{}), done: make(chan struct{})}
	s.outside = o
	var mu sync.Mutex // guards the three below
	var at image.Point
	var held, known viewer.Buttons
	post := s.fence.Target(func() {
		if s.outside != o {
			return
		}
		mu.Lock()
		p, h, k := at, held, known
		mu.Unlock()
		s.mouse.set(h, k, s.atPixel(p))
		if s.mouse.held == 0 {
			s.stopOutside()
		}
	})
	source := s.source
	go func() {
		defer close(o.done)
		tick := time.NewTicker(outsidePoll)
		defer tick.Stop()
		for {
			select {
			case <-o.stop:
				return
			case <-tick.C:
			}
			p, h, k, ok := source.Pointer()
			if !ok {
				h, k = 0, draggable|viewer.Right // nobody knows any more: nothing is held
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

// stopOutside ends it.
func (s *surface) stopOutside() {
	if s.outside != nil {
		close(s.outside.stop)
		s.outside = nil
	}
}
