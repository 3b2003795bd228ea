package ui

// remoteText takes what the far side has put on its clipboard: the shown
// session's goes on the clipboard here.
func (w *Window) remoteText(t *tab, text string) {
	if w.selected == t && text != "" {
		w.config.App.Clipboard().SetContent(text)
	}
}
