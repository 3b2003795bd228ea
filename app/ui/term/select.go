package term

import (
	"fmt"
	"image"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deskvnc/viewer"
	"deskvnc/viewer/grid"
)

// begin starts a selection at a cell: of characters, of words at the second
// click, of lines at the third.
func (s *Screen) begin(at image.Point, part float64, extend, block bool) {
	m, pos := &s.mouse, s.pos(at)
	now := time.Now()
	if !extend && now.Sub(m.clicked) < doubleTime && m.clickedAt == pos && m.epoch == s.paint.view.Epoch {
		m.clicks++
	} else if !extend {
		m.clicks = 1
	}
	m.clicked, m.clickedAt = now, pos
	m.selecting = true
	if extend && !s.paint.chosen.Empty() && m.epoch == s.paint.view.Epoch {
		s.to(at, part)
		return
	}
	m.epoch, m.block, m.by = s.paint.view.Epoch, block, (max(m.clicks, 1)-1)%3+1
	m.anchor = s.unitAt(at, part)
	chosen := grid.Span{}
	if m.by > 1 {
		chosen = m.anchor
	}
	s.choose(chosen)
}

// unitAt is what a selection is made of at a cell: the place between two
// characters, a word, or a line.
func (s *Screen) unitAt(at image.Point, part float64) grid.Span {
	pos, epoch := s.pos(at), s.paint.view.Epoch
	switch s.mouse.by {
	case 2:
		if w, ok := s.grid.Word(epoch, pos); ok {
			return w
		}
	case 3:
		if l, ok := s.grid.Line(epoch, pos); ok {
			return l
		}
	}
	if part >= 0.5 {
		pos.Col++
	}
	return grid.Span{From: pos, To: pos}
}

// to extends the selection to a cell.
func (s *Screen) to(at image.Point, part float64) {
	m := &s.mouse
	if m.epoch != s.paint.view.Epoch {
		s.stopDragging()
		return
	}
	end := s.unitAt(at, part)
	chosen := grid.Span{From: m.anchor.From, To: m.anchor.To, Block: m.block}
	if m.block {
		chosen.To = end.To
		if chosen.To.Row < chosen.From.Row {
			chosen.From.Row, chosen.To.Row = chosen.To.Row, chosen.From.Row
		}
	} else {
		if end.From.Before(chosen.From) {
			chosen.From = end.From
		}
		if chosen.To.Before(end.To) {
			chosen.To = end.To
		}
	}
	s.choose(chosen)
}

// choose selects a span.
func (s *Screen) choose(span grid.Span) {
	if span == s.paint.chosen {
		return
	}
	s.paint.mark(s.paint.chosen)
	s.paint.chosen = span
	s.paint.mark(span)
	s.show()
}

// extend follows the pointer with the selection; outside, the view moves on.
func (s *Screen) extend() {
	m := &s.mouse
	if !m.selecting {
		return
	}
	at, part, outside := s.cell(m.last)
	s.to(at, part)
	if outside == 0 {
		s.stopEdge()
		return
	}
	if m.edge == nil && m.selecting {
		m.edge = time.AfterFunc(edgeTime, func() {
			s.config.Fence.Go(func() {
				m.edge = nil
				if _, _, out := s.cell(m.last); m.selecting && out != 0 {
					s.scroll(-min(max(out, -8), 8))
					s.extend()
				}
			})
		})
	}
}

func (s *Screen) stopEdge() {
	if s.mouse.edge != nil {
		s.mouse.edge.Stop()
		s.mouse.edge = nil
	}
}

// stopDragging ends the drawing of a selection.
func (s *Screen) stopDragging() {
	s.stopEdge()
	s.mouse.selecting = false
}

// SelectAll selects everything, the scrollback too.
func (s *Screen) SelectAll() {
	epoch, all := s.grid.All()
	if epoch != s.paint.view.Epoch {
		return
	}
	s.mouse.epoch, s.mouse.by, s.mouse.block, s.mouse.anchor = epoch, 1, false, all
	s.choose(all)
}

// Selected is the text that is selected; empty for none.
func (s *Screen) Selected() string {
	if s.paint.chosen.Empty() {
		return ""
	}
	text, _ := s.grid.Text(s.paint.view.Epoch, s.paint.chosen)
	return text
}

// Copy puts the selected text on the clipboard.
func (s *Screen) Copy() {
	if text := s.Selected(); text != "" {
		s.config.Copy(text)
		return
	}
	s.config.Said("Nothing is selected.", false)
}

// Paste sends the text on the clipboard to the program.
func (s *Screen) Paste() { s.config.Clipboard(s.PasteText) }

// PasteSelection sends the selected text to the program, or without one the
// text on the clipboard.
func (s *Screen) PasteSelection() {
	if text := s.Selected(); text != "" {
		s.PasteText(text)
		return
	}
	s.Paste()
}

// PasteText sends text to the program. What has more than one line, or hidden
// characters, is shown first.
func (s *Screen) PasteText(text string) {
	clean, hidden := cleaned(text)
	send := func() {
		s.bottom()
		s.config.Input(viewer.Paste{Text: clean})
		s.GrabFocus()
	}
	switch lines := strings.Count(strings.TrimSuffix(clean, "\n"), "\n") + 1; {
	case clean == "":
		s.config.Said("There is no text to paste.", false)
	case len(clean) > viewer.MaxPost:
		s.config.Said(fmt.Sprintf("The text is larger than %d MiB and was not pasted.", viewer.MaxPost>>20), true)
	case lines > 1 || strings.HasSuffix(clean, "\n") || hidden > 0:
		q := Question{Title: fmt.Sprintf("Paste %d lines?", lines), Text: preview(clean), Yes: "Paste", Do: send}
		if lines == 1 {
			q.Title = "Paste this line?"
		}
		if strings.Contains(clean, "\n") {
			q.Detail = "A program that does not expect a paste runs each line as it comes."
		}
		if hidden > 0 {
			q.Detail = strings.TrimSpace(fmt.Sprintf("%d hidden characters were taken out. %s", hidden, q.Detail))
		}
		s.config.Ask(q)
	default:
		send()
	}
}

// Clean is text without what a person does not see; see cleaned.
func Clean(text string) string { clean, _ := cleaned(text); return clean }

// Preview is the beginning of a text that somebody else wrote, for a person to
// look over.
func Preview(text string) string { return preview(text) }

// cleaned is text without what a person does not see: control characters and
// marks that turn the direction of text. Line ends become one kind.
func cleaned(text string) (clean string, hidden int) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f {
			hidden++
			return -1
		}
		return r
	}, text), hidden
}

// The bounds of the text that is shown before it is pasted.
const (
	previewLines = 12
	previewRunes = 160
)

// preview is the beginning of a text, cut to what a person can look over.
func preview(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	more := ""
	if n := len(lines) - previewLines; n > 0 {
		lines, more = lines[:previewLines], fmt.Sprintf("\n… and %d more lines", n)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if r := []rune(l); len(r) > previewRunes {
			l = string(r[:previewRunes]) + "…"
		}
		out[i] = strings.ReplaceAll(l, "\t", "    ")
	}
	return strings.Join(out, "\n") + more
}

// openLink asks whether to open the address of a link, and shows all of it.
func (s *Screen) openLink(address string) {
	plain, refused := webAddress(address)
	if refused != "" {
		s.config.Said(refused, true)
		return
	}
	s.config.Ask(Question{
		Title: "Open this address in the browser?", Text: plain, Detail: "The program in the terminal chose it; the text of a link can say something else.",
		Yes: "Open", Do: func() { s.config.Open(plain) },
	})
}

// maxAddress bounds the address of a link that is opened.
const maxAddress = 2048

// webAddress is an address as it is shown and opened: of the web, and in plain
// characters, so that none looks like another. Otherwise it says why it is not
// opened.
func webAddress(address string) (plain, refused string) {
	const broken = "This link is not an address that can be opened."
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxAddress || strings.ContainsFunc(address, unicode.IsControl):
		return "", broken
	case u.Scheme != "http" && u.Scheme != "https":
		return "", "Only links of the web are opened, and this one is of the kind " + strconv.QuoteToASCII(u.Scheme) + "."
	case u.Hostname() == "":
		return "", "This link names no machine."
	case u.User != nil:
		return "", "This link carries a user name, which can hide where it leads; it is not opened."
	case strings.ContainsFunc(u.Host, unprintable):
		return "", "The name of the machine in this link has characters that can look like others; it is not opened."
	}
	var b strings.Builder
	for _, c := range []byte(u.String()) {
		if c <= ' ' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }
