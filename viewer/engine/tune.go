package engine

import "deskvnc/viewer"

// Tune changes how the picture is asked for, now and when the connection is
// made anew; see [viewer.Tuner].
func (s *Session) Tune(p viewer.Picture) error {
	t, err := connected[viewer.Tuner](s, "quality")
	if err != nil {
		return err
	}
	if err := t.Tune(p); err != nil {
		return err
	}
	s.mu.Lock()
	s.tuned = &p
	s.mu.Unlock()
	return nil
}

// Tuned is how the picture is asked for. The error says why it cannot be
// changed; the picture is then what was wished for.
func (s *Session) Tuned() (viewer.Picture, error) {
	t, err := connected[viewer.Tuner](s, "quality")
	if err != nil {
		return s.wished().Picture, err
	}
	return t.Tuned(), nil
}

// wished is the target of the next connection: as it was opened, and tuned
// since.
func (s *Session) wished() viewer.Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.target
	if s.tuned != nil {
		t.Picture = *s.tuned
	}
	return t
}
