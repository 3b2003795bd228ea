package shell

import (
	"context"
	"fmt"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

// maxSide bounds the columns and the rows of a terminal.
const maxSide = 1000

// Resize gives the terminal columns and rows, and tells the program.
func (s *Session) Resize(_ context.Context, cols, rows int) error {
	if cols < 1 || rows < 1 || cols > maxSide || rows > maxSide {
		return &viewer.Error{Op: "shell.Resize", Kind: viewer.Invalid, Err: fmt.Errorf("a terminal of %d columns and %d rows is not possible: use 1 to %d", cols, rows, maxSide)}
	}
	if s.channel == nil {
		return nil
	}
	s.sizing.Lock()
	defer s.sizing.Unlock()
	s.mu.Lock()
	told := s.size
	s.mu.Unlock()
	s.grid.Resize(cols, rows)
	cols, rows = s.grid.Size()
	if told == [2]int{cols, rows} {
		return nil
	}
	err := send(s.channel, "window-change", ssh.Marshal(struct{ Cols, Rows, Width, Height uint32 }{uint32(cols), uint32(rows), 0, 0}))
	if err != nil {
		return &viewer.Error{Op: "shell.Resize", Kind: viewer.Closed, Err: err}
	}
	s.mu.Lock()
	s.size = [2]int{cols, rows}
	s.mu.Unlock()
	s.emit(viewer.Resized{Width: cols, Height: rows})
	return nil
}

// Signals tells what a terminal carries.
func (s *Session) Signals() map[viewer.SignalName]viewer.Signal {
	none := func(why string) viewer.Signal { return viewer.Signal{Availability: viewer.Absent, Reason: why} }
	const picture = "a terminal has no picture"
	out := map[viewer.SignalName]viewer.Signal{
		viewer.SignalAltScreen: {Availability: viewer.Live}, viewer.SignalResize: {Availability: viewer.Live},
		viewer.SignalCopyRect: none(picture), viewer.SignalScreenLayout: none(picture), viewer.SignalContentHint: none(picture),
		viewer.SignalFence: none("SSH has no fences"), viewer.SignalErrInfo: none("SSH has no such reports"),
		viewer.SignalLEDState: none("SSH tells nothing of lock keys"), viewer.SignalWindows: none("a terminal has no windows"),
		viewer.SignalCursorPosition: none("a terminal has no pointer of its own"), viewer.SignalCursorShape: none("a terminal has no pointer of its own"),
	}
	if s.target.Settings().NoShell {
		gone := none("this session was opened without a terminal")
		out[viewer.SignalAltScreen], out[viewer.SignalResize] = gone, gone
	}
	return out
}
