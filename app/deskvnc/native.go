package main

import (
	"errors"
	"fmt"
	"io"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"

	"deskvnc/app/ui"
	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/keyboard"
	"deskvnc/app/ui/x11"
)

// connectNative connects the window to the window system under it; end, when
// it is not nil, takes that back. The error says that there is no window at
// all: the toolkit goes on without one.
func connectNative(win fyne.Window, w *ui.Window, gate *fence.Fence, stderr io.Writer) (end func(), err error) {
	n, ok := win.(driver.NativeWindow)
	if !ok {
		return nil, nil
	}
	n.RunNative(func(context any) {
		c, ok := context.(driver.X11WindowContext)
		if !ok {
			return
		}
		if c.WindowHandle == 0 {
			err = errors.New("the window could not be opened: the display offers no OpenGL (GLX). Start the X server with the GLX extension, or use dvv, the command line")
			return
		}
		taken, changed := gate.Target(w.LetGo), gate.Target(w.Shared)
		h, fault := x11.Dial("", uint32(c.WindowHandle), x11.Events{
			Taken:     taken.Post,
			Visible:   func(on bool) { gate.Go(func() { w.SetVisible(on) }) },
			Clipboard: changed.Post,
			Key: func(code int, s keyboard.Stroke, down bool) {
				gate.Go(func() { w.GrabbedKey(code, s, down) })
			},
		})
		if fault != nil {
			fmt.Fprintf(stderr, "deskvnc: keys are as good as the toolkit tells: %v\n", fault)
			return
		}
		w.SetDisplay(h)
		end = h.Close
	})
	return end, err
}
