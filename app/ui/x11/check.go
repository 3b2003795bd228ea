package x11

import (
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// Check reports whether a window with OpenGL can be opened on a display;
// empty means the one of DISPLAY.
func Check(display string) error {
	quiet.Do(func() { xgb.Logger = log.New(io.Discard, "", 0) })
	c, err := xgb.NewConnDisplay(display)
	if err != nil {
		return fmt.Errorf("the display cannot be connected to: %w", err)
	}
	defer c.Close()
	glx, err := xproto.QueryExtension(c, uint16(len("GLX")), "GLX").Reply()
	switch {
	case err != nil || glx == nil:
		return fmt.Errorf("the display does not answer: %v", err)
	case !glx.Present:
		return errors.New("the display offers no OpenGL: its X server has no GLX extension")
	}
	return nil
}
