package main

import (
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"

	"deskvnc/app/ui"
	"deskvnc/app/ui/fence"
)

// connectNative connects the window to the window system under it. The error
// says that there is no window at all: the toolkit goes on without one.
func connectNative(win fyne.Window, w *ui.Window, gate *fence.Fence) (end func(), err error) {
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
	})
	return end, err
}
