package main

import (
	"runtime"

	"fyne.io/fyne/v2"
)

// calm makes the toolkit do without its small animations: the fading cursor of
// a text field alone repaints the whole window for half of the time, which on
// a screen without a graphics card is an eighth of a processor for nothing.
//
// Elsewhere than on Linux the toolkit counts on its own settings.
func calm(a fyne.App) {
	if runtime.GOOS == "linux" {
		fyne.SetCurrentApp(calmApp{a})
	}
}

type calmApp struct{ fyne.App }

// Settings are the toolkit's.
func (c calmApp) Settings() fyne.Settings { return calmSettings{c.App.Settings()} }

type calmSettings struct{ fyne.Settings }

// ShowAnimations is no.
func (calmSettings) ShowAnimations() bool { return false }
