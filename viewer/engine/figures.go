package engine

import "deskvnc/viewer"

// Figures is what was measured of the connection; ok is false when it is not
// connected, measures nothing, or has nothing yet.
func (s *Session) Figures() (f viewer.Figures, ok bool) {
	m, err := connected[viewer.Measured](s, "figures")
	if err != nil {
		return f, false
	}
	return m.Figures()
}
