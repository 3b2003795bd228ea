package rfb_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// Text goes both ways between this viewer and the programs on the screen of
// x11vnc, which sends none in the first 15 seconds of a viewer.
func TestX11VNCClipboard(t *testing.T) {
	xclip := need(t, "xclip")
	s := startX11VNC(t)
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	for _, text := range []string{"words from there", "and more"} {
		cmd := exec.Command(xclip, "-display", s.display, "-selection", "clipboard", "-quiet", "-i")
		cmd.Stdin = strings.NewReader(text)
		start(t, cmd)
		gotText(t, l, text)
	}
	for _, text := range []string{"grüße from here", "two\nlines"} {
		setClipboard(t, l, text)
		latin1 := strings.NewReplacer("ü", "\xfc", "ß", "\xdf").Replace(text)
		for _, selection := range []string{"clipboard", "primary"} {
			for end := time.Now().Add(viewertest.Patience); ; time.Sleep(50 * time.Millisecond) {
				out, _ := exec.Command(xclip, "-display", s.display, "-selection", selection, "-o", "-t", "STRING").Output()
				if string(out) == latin1 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("%s: pasted %q, want %q", selection, out, latin1)
				}
			}
		}
	}
}
