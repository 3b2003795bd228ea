package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"deskvnc/app/ui/look"
	"deskvnc/viewer"
)

// tunnelNames are the directions for a person.
var tunnelNames = map[viewer.Direction]string{viewer.TunnelLocal: "Local", viewer.TunnelRemote: "Remote", viewer.TunnelSOCKS: "SOCKS5"}

// tunnelKinds are what a new tunnel can be.
var tunnelKinds = []struct {
	name string
	d    viewer.Direction
}{{"Local: a port here leads there", viewer.TunnelLocal}, {"Remote: a port there leads here", viewer.TunnelRemote}, {"SOCKS5: a proxy here", viewer.TunnelSOCKS}}

// showTunnels lists the tunnels of a session until the card is closed.
func (w *Window) showTunnels(t *tab) {
	list := container.NewVBox()
	fault := look.NewParagraph("", theme.ColorNameError, theme.SizeNameText)
	fault.Hide()
	say := func(err error) {
		look.SetParagraph(fault, "", theme.ColorNameError)
		fault.Hide()
		if err != nil {
			look.SetParagraph(fault, sentence(viewer.Reason(err)), theme.ColorNameError)
			fault.Show()
		}
	}
	var shown string
	var paint func()
	paint = func() {
		all := t.session.Tunnels()
		if now := fmt.Sprint(all); now == shown && shown != "" {
			return
		} else {
			shown = now
		}
		list.RemoveAll()
		for _, s := range all {
			text, color := tunnelText(s), look.ColorMuted
			if s.Err != nil {
				color = theme.ColorNameError
			}
			head := look.NewText(tunnelNames[s.Direction]+"  "+tunnelEnds(s), theme.ColorNameForeground, theme.SizeNameText, true)
			end := look.NewButton("", theme.DeleteIcon(), func() { say(t.session.CloseTunnel(s.ID)); paint() }, nil)
			list.Add(container.NewBorder(nil, nil, nil, end, container.NewVBox(head, look.NewParagraph(text, color, theme.SizeNameCaptionText))))
		}
		if len(all) == 0 {
			list.Add(look.NewParagraph("None yet.", look.ColorMuted, theme.SizeNameText))
		}
	}
	escape := func() { w.closeModal(); w.FocusPane() }
	listen, to := newCardEntry(escape), newCardEntry(escape)
	listen.SetPlaceHolder("Port, or host:port")
	to.SetPlaceHolder("host:port")
	kind := widget.NewSelect(nil, nil)
	for _, k := range tunnelKinds {
		kind.Options = append(kind.Options, k.name)
	}
	kind.OnChanged = func(string) {
		if tunnelKinds[max(kind.SelectedIndex(), 0)].d == viewer.TunnelSOCKS {
			to.SetText("")
			to.Disable()
		} else {
			to.Enable()
		}
	}
	kind.SetSelectedIndex(0)
	var pop *widget.PopUp
	open := func() {
		spec := viewer.Tunnel{Direction: tunnelKinds[kind.SelectedIndex()].d, Listen: strings.TrimSpace(listen.Text), To: strings.TrimSpace(to.Text)}
		w.background.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), tunnelTime)
			defer cancel()
			_, err := t.session.OpenTunnel(ctx, spec)
			w.fence.Go(func() {
				if w.modal != pop {
					return
				}
				say(err)
				if err == nil {
					listen.SetText("")
					to.SetText("")
				}
				paint()
			})
		})
	}
	listen.OnSubmitted, to.OnSubmitted = func(string) { open() }, func(string) { open() }
	add := look.NewChoice("Add", widget.MediumImportance, open)
	paint()
	scroll := container.NewVScroll(list)
	scroll.SetMinSize(fyne.NewSize(400, max(min(190, w.win.Canvas().Size().Height-300), 50)))
	w.showModal("Tunnels of "+t.title(), container.NewBorder(nil, container.NewVBox(fault, look.Framed(kind), container.NewBorder(nil, nil, nil, add, container.NewGridWithColumns(2, listen, to))), nil, nil, scroll))
	pop = w.modal
	w.keepPainted(paint)
}

// tunnelTime bounds how long a tunnel may take to be opened.
const tunnelTime = 30 * time.Second

// tunnelEnds is from where to where a tunnel leads.
func tunnelEnds(s viewer.TunnelState) string {
	at := s.Address
	if at == "" {
		at = s.Listen
	}
	if s.To == "" {
		return at
	}
	return at + " → " + s.To
}

// tunnelText is how a tunnel stands.
func tunnelText(s viewer.TunnelState) string {
	text := fmt.Sprintf("%d open, %d in all  ·  %s sent, %s received", s.Open, s.Connections, amount(s.Sent), amount(s.Received))
	if s.Err != nil {
		text = sentence(viewer.Reason(s.Err)) + "\n" + text
	}
	return text
}

// amount is a number of bytes for a person.
func amount(n int64) string { return strings.TrimSuffix(rate(float64(n)), "/s") }
