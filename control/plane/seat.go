package plane

import (
	"sync"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/control/wheel"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/frame"
)

// A seat is one attachment at one limb: what it has seen there, and the
// picture it pays for.
type seat struct {
	a       *Attachment
	limb    *limb
	session *engine.Session
	origin  grant.Origin

	mu      sync.Mutex
	gone    bool
	wants   bool          // the picture was asked for, so that it is paid for when there is room
	release func()        // ends the watching; nil without a mirror
	reader  *frame.Reader // what changed since the attachment last looked; nil without a mirror
	// geometry is the generation of the last observation served; 0 for none.
	geometry uint32
	// seen is the picture that was last returned; looked is false for none.
	seen   frame.Generations
	looked bool
	// screen is the text of the terminal that was last returned, and sized its
	// geometry generation; nil for none.
	screen []string
	sized  uint32
	// acted says that the attachment sent input since it last looked.
	acted bool
	// interrupted are the acts that were cut off since the wheel was last got.
	interrupted []uint64
}

// party is the seat at the wheel.
func (s *seat) party() wheel.Party {
	return wheel.Party{ID: s.a.id, Authority: s.a.authority, Kind: wheel.Agent, Label: s.a.label}
}

// perceive pays for the picture. It may be called again.
func (s *seat) perceive() *control.Refused {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wants = true
	if s.release != nil || s.gone || isTerminal(s.session) { // a terminal has no picture
		return nil
	}
	release, err := s.session.Inspect()
	if err != nil {
		return control.Refuse(control.BudgetRefused, "there is no room for the picture of this machine: "+reason(err))
	}
	s.release, s.reader = release, s.session.Frame().Reader()
	return nil
}

// mirror is the reader of the picture that the seat pays for; nil for none.
func (s *seat) mirror() *frame.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader
}

// drop ends the seat: the picture is no longer paid for.
func (s *seat) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	if s.release != nil {
		s.release()
		s.reader.Close()
	}
	s.release, s.reader = nil, nil
}

// dead reports whether the session has ended.
func (s *seat) dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// served notes the geometry generation of an observation that was served.
func (s *seat) served(generation uint32) {
	s.mu.Lock()
	s.geometry = generation
	s.mu.Unlock()
}

// saw notes the picture that was returned. An older one than was seen already
// changes nothing.
func (s *seat) saw(g frame.Generations) {
	s.mu.Lock()
	if !s.looked || g.Content >= s.seen.Content {
		s.seen, s.looked = g, true
	}
	s.geometry = max(s.geometry, g.Geometry)
	s.mu.Unlock()
}

// blind forgets what was seen.
func (s *seat) blind() {
	s.mu.Lock()
	s.seen, s.looked, s.geometry = frame.Generations{}, false, 0
	s.screen, s.sized = nil, 0
	s.mu.Unlock()
}

// view is what the fences compare with.
func (s *seat) view() (seen frame.Generations, looked bool, geometry uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen, s.looked, s.geometry
}

// act notes that the attachment sent input; looked tells whether it did since
// it last looked, and forgets it.
func (s *seat) act() {
	s.mu.Lock()
	s.acted = true
	s.mu.Unlock()
}

func (s *seat) look() (acted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	acted, s.acted = s.acted, false
	return acted
}

// cutOff notes an interrupted act.
func (s *seat) cutOff(intent uint64) {
	s.mu.Lock()
	if s.interrupted = append(s.interrupted, intent); len(s.interrupted) > maxInterrupted {
		s.interrupted = s.interrupted[1:]
	}
	s.mu.Unlock()
}

// maxInterrupted bounds the interrupted acts that are remembered.
const maxInterrupted = 16

// takes forgets the interrupted acts: the wheel was got anew.
func (s *seat) takes() {
	s.mu.Lock()
	s.interrupted = nil
	s.mu.Unlock()
}

func (s *seat) cut() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]uint64(nil), s.interrupted...)
}
