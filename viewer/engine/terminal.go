package engine

import (
	"context"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
)

// The size of a terminal that no window shows.
const (
	usualCols = 120
	usualRows = 40
)

// lostTime bounds the wait between the end of a command's channel and that of
// its connection.
const lostTime = time.Second

// newGrid is the screen of characters of a target; nil when it has none.
func newGrid(t viewer.Target) *grid.Terminal {
	if t.Protocol != viewer.SSH || t.Settings().NoShell {
		return nil
	}
	return grid.New(grid.Options{Cols: usualCols, Rows: usualRows, Scrollback: t.Settings().Scrollback})
}

// Grid is the terminal of the session, the same for its whole life; nil for
// desktops.
func (s *Session) Grid() *grid.Terminal { return s.grid }

// resizeGrid changes the size of a terminal that is not connected. It reports
// false for every other session.
func (s *Session) resizeGrid(cols, rows int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grid == nil || s.live != nil || cols < 1 || rows < 1 {
		return false
	}
	s.grid.Resize(cols, rows)
	return true
}

// fit tells the program of a terminal that has just been connected the size
// that was asked for meanwhile.
func (s *Session) fit() {
	if s.grid == nil {
		return
	}
	cols, rows := s.grid.Size()
	if r, err := connected[viewer.Resizer](s, "resize"); err == nil {
		_ = r.Resize(s.ctx, cols, rows) // an end of the connection is noticed anyway
	}
}

// Run runs a command beside what the session shows; see [viewer.Runner]. When
// it ends with the connection, the session's state says so by then.
func (s *Session) Run(ctx context.Context, c viewer.Command) (viewer.Ran, error) {
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	r, err := connected[viewer.Runner](s, "run")
	if err != nil {
		return viewer.Ran{}, err
	}
	ran, err := r.Run(ctx, c)
	if ran.Lost && over != nil {
		t := time.NewTimer(lostTime)
		defer t.Stop()
		select {
		case <-over:
		case <-ctx.Done():
		case <-t.C: // it was the command's channel alone
		}
	}
	return ran, err
}

// ended tells those who wait for it that the state knows of the end of the last
// connection.
func (s *Session) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		close(s.over)
		s.over = nil
	}
}
