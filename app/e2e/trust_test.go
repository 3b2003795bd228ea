package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"image"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// certify writes a new certificate of a machine and its key to two files.
func certify(t *testing.T, cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "lab machine"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Colours of the dark look that tell its buttons and words apart.
var (
	primary = [3]uint8{0x4c, 0x8d, 0xf6} // what is offered
	danger  = [3]uint8{0xec, 0x6a, 0x5e} // what may do harm
)

// button waits for a button of a colour in a part of the screen and gives its
// middle. It is as large as a button: words and lines of the colour are not
// meant.
func (w *window) button(t *testing.T, c [3]uint8, in image.Rectangle) (at image.Point) {
	t.Helper()
	const wide, high = 30, 5 // above the words of a button
	eventually(t, func() string {
		img := picture(t, w.display)
		is := func(x, y int) bool {
			r, g, b, _ := img.At(x, y).RGBA()
			return [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)} == c
		}
		for y := in.Min.Y; y < in.Max.Y-high; y++ {
			run := 0
			for x := in.Min.X; x < in.Max.X; x++ {
				if !is(x, y) || !is(x, y+high) {
					run = 0
				} else if run++; run == wide {
					at = image.Pt(x-wide/2, y+high)
					return ""
				}
			}
		}
		return fmt.Sprintf("no button of the colour %02x is on the screen", c)
	})
	return at
}

// click clicks on a place of the screen.
func (w *window) click(t *testing.T, at image.Point) {
	t.Helper()
	w.do(t, "mousemove", "--sync", strconv.Itoa(at.X), strconv.Itoa(at.Y))
	w.do(t, "click", "1")
}

// TestCertificate has a real server show a certificate: at first sight the
// window asks, what was trusted is not asked about again, and another
// certificate is a loud stop that is not passed by a slip.
func TestCertificate(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "Xtigervnc", "xsetroot")
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, cert, key)
	server := newVNC(t, "-SecurityTypes", "X509None", "-X509Cert", cert, "-X509Key", key)
	h := newHouse(t, t.TempDir(), "unix:path=/nonexistent")
	w, cmd := h.enter(t)
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))

	// First sight: nothing is shown before the person trusts it. Return, meant
	// for a machine, is no answer.
	w.goTo(t, server.port)
	yes := w.button(t, primary, image.Rect(400, 200, 900, 700))
	if s, _ := state(t, a); s == "connected" {
		t.Error("connected before the certificate was trusted")
	}
	keep(t, w.display, "certificate-first.png")
	w.do(t, "key", "Return")
	if got := find(picture(t, w.display), remoteRed, remoteGreen, remoteBlue); !got.Empty() {
		t.Errorf("Return trusts a certificate: the desktop shows at %v", got)
	}
	w.click(t, yes)
	untilState(t, a, "connected")
	w.pane(t)
	w.leave(t, cmd)

	// Another day: trusted already.
	w, _ = h.enter(t)
	a = newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	w.goTo(t, server.port)
	untilState(t, a, "connected")
	w.pane(t)

	// The machine shows another one.
	stop(server.cmd)
	certify(t, cert, key)
	server.restart(t)
	eventually(t, func() string { // the words are that loud; the button waits for a tick
		if got := find(picture(t, w.display), danger[0], danger[1], danger[2]); got.Dx() < 100 || got.Dy() < 50 {
			return fmt.Sprintf("the change is not said loudly: %v", got)
		}
		return ""
	})
	keep(t, w.display, "certificate-changed.png")
	if s, _ := state(t, a); s == "connected" {
		t.Error("connected in spite of another certificate")
	}
	w.do(t, "key", "Escape")
	untilState(t, a, "disconnected")
	if got := find(picture(t, w.display), remoteRed, remoteGreen, remoteBlue); got.Dx() > 100 && w.live(t, a) {
		t.Error("the refused machine is shown as if it were live")
	}
}

// live reports whether the only session is connected.
func (w *window) live(t *testing.T, a *agent) bool {
	t.Helper()
	s, _ := state(t, a)
	return s == "connected"
}
