package rfb_test

import (
	"context"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// Machines that know Latin-1 alone get what it can carry, and who sent the text
// is told how much was lost; what they send has the letters that it had (C082,
// C083).
func TestLatin1RealMachines(t *testing.T) {
	// The oldest of X's clipboards, which both keep.
	buffer := xproto.Atom(xproto.AtomCutBuffer0)
	for _, m := range tunable[1:] {
		t.Run(m.name, func(t *testing.T) {
			s := m.start(t)
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
			l.Look(t)
			ctx, cancel := context.WithTimeout(context.Background(), viewertest.Patience)
			defer cancel()
			for _, c := range []struct {
				text, arrives string
				lost          int
			}{
				{"café €\nÜ", "caf\xe9 ?\n\xdc", 1},
				{"漢字 🙂 x", "?? ? x", 3},
				{"äÿ", "\xe4\xff", 0},
			} {
				lost, err := l.Session.(viewer.Clipboard).SetClipboard(ctx, c.text)
				if m.name == "x11vnc" { // it claims to know UTF-8, so that nothing is known to be lost
					lost = c.lost
				}
				if err != nil || lost != c.lost {
					t.Errorf("%q: %d lost, %v, want %d", c.text, lost, err, c.lost)
				}
				var got string
				for end := time.Now().Add(viewertest.Patience); got != c.arrives; {
					if time.Now().After(end) {
						t.Fatalf("%q arrived as %q, want %q", c.text, got, c.arrives)
					}
					p, err := xproto.GetProperty(s.x, false, s.root, buffer, xproto.AtomString, 0, 1<<10).Reply()
					if err != nil {
						t.Fatal(err)
					}
					got = string(p.Value)
				}
			}
			there := "f\xfcr \xe4\xff\nEnde"
			if err := xproto.ChangePropertyChecked(s.x, xproto.PropModeReplace, s.root, buffer, xproto.AtomString, 8, uint32(len(there)), []byte(there)).Check(); err != nil {
				t.Fatal(err)
			}
			gotText(t, l, "für äÿ\nEnde")
		})
	}
}
