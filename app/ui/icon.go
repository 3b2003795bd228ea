package ui

import (
	_ "embed"

	"fyne.io/fyne/v2"
)

//go:embed icon.png
var iconPNG []byte

// Icon is the program's icon.
var Icon fyne.Resource = fyne.NewStaticResource("icon.png", iconPNG)
