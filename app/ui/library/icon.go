package library

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// starIcon marks a favourite; the toolkit has none.
var starIcon fyne.Resource = theme.NewWarningThemedResource(fyne.NewStaticResource("star.svg", []byte(
	`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24"><path fill="#000000" d="M12 2.5l2.9 6.2 6.6.8-4.9 4.6 1.3 6.7L12 17.5l-5.9 3.3 1.3-6.7L2.5 9.5l6.6-.8z"/></svg>`)))
