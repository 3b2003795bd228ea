package rfb_test

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

func TestContract(t *testing.T) {
	viewertest.Suite{Driver: rfb.New(rfb.Options{}), Machine: func(t *testing.T) viewertest.Peer {
		return newDesktopPeer(t)
	}}.Run(t)
}

// desktopPeer makes a Peer of rfbtest's desktop.
type desktopPeer struct{ d *rfbtest.Desktop }

func newDesktopPeer(t *testing.T) desktopPeer {
	t.Helper()
	d, err := rfbtest.NewDesktop(320, 240)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return desktopPeer{d}
}

func (p desktopPeer) Target(testing.TB) viewer.Target { return p.d.Target() }

func (p desktopPeer) Paint(_ testing.TB, r image.Rectangle, c color.RGBA) { p.d.Paint(r, c) }

func (p desktopPeer) Kill(testing.TB) { p.d.Drop() }

// Seen makes presses and releases of the masks on the wire.
func (p desktopPeer) Seen(t testing.TB, n int) []viewertest.Seen {
	t.Helper()
	guard := time.AfterFunc(viewertest.Patience, func() { panic("the desktop waits for inputs in vain") })
	defer guard.Stop()
	for raw := 0; ; raw++ {
		inputs := p.d.Inputs(raw)
		raw = len(inputs)
		if seen := edges(t, inputs); len(seen) >= n {
			return seen
		}
	}
}

func edges(t testing.TB, inputs []string) (seen []viewertest.Seen) {
	mask := 0
	for _, in := range inputs {
		var now, x, y int
		var sym uint32
		var way string
		if n, _ := fmt.Sscanf(in, "pointer %d at %d,%d", &now, &x, &y); n == 3 {
			for b := range 8 {
				if bit := 1 << b; (now^mask)&bit != 0 {
					seen = append(seen, viewertest.Seen{Down: now&bit != 0, Button: b + 1, X: x, Y: y})
				}
			}
			mask = now
		} else if n, _ := fmt.Sscanf(in, "key %s %v", &way, &sym); n == 2 {
			seen = append(seen, viewertest.Seen{Down: way == "down", Sym: sym})
		} else {
			t.Fatalf("cannot read %q", in)
		}
	}
	return seen
}

func (p desktopPeer) Clip(t testing.TB, want string) {
	texts := p.d.Texts(1)
	got := latin1(texts[len(texts)-1])
	if got != want {
		t.Errorf("the clipboard has %q, want %q", got, want)
	}
}

func latin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}
