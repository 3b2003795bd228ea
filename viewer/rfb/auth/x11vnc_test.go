package auth

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

// startX11vnc starts x11vnc with OpenSSL on the screen of an Xtigervnc, and
// waits until it listens.
func startX11vnc(t *testing.T, weak bool, args ...string) viewer.Target {
	t.Helper()
	program := need(t, "x11vnc")
	_, display, _ := startTiger(t, freePort(t), "None")
	port := freePort(t)
	cmd := exec.Command(program, append([]string{"-display", display, "-rfbport", strconv.Itoa(port), "-localhost", "-no6",
		"-forever", "-shared", "-noshm", "-noxdamage", "-norc", "-timeout", "60"}, args...)...)
	ready := make(chan error, 1)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// OpenSSL 3 leaves ciphers without a certificate, and x11vnc's own group of
	// 1024 bits, out by default.
	if weak {
		cmd.Env = append(os.Environ(), "OPENSSL_CONF="+writeFile(t, "openssl.cnf", []byte(
			"openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = any\n[any]\nCipherString = ALL:aNULL:@SECLEVEL=0\n")))
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // x11vnc prints PORT=n when it listens
		defer close(ended)
		var all strings.Builder
		told := false
		for b := make([]byte, 4096); ; {
			n, err := out.Read(b)
			all.Write(b[:n])
			if !told && strings.Contains(all.String(), "PORT=") {
				told = true
				ready <- nil
			}
			if err != nil {
				if !told {
					ready <- errors.New("x11vnc ended: " + all.String())
				}
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	return viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port}
}

// x11vnc's own TLS, which is OpenSSL's: VeNCrypt with and without a
// certificate, and the older security type TLS.
func TestX11vnc(t *testing.T) {
	pem := writeFile(t, "both.pem", newPair(t, 2048, nil, nil).pemOfBoth)
	tests := []struct {
		name   string
		args   []string
		kinds  string
		chosen string
	}{
		{"X509Vnc", []string{"-vencrypt", "nodh:force", "-anontls", "never", "-passwd", "abcdefgh"}, "certificate vnc-password", "VeNCrypt, X509Vnc"},
		{"X509None", []string{"-vencrypt", "nodh:force", "-anontls", "never"}, "certificate", "VeNCrypt, X509None"},
		{"TLSVnc", []string{"-vencrypt", "nox509:force", "-anontls", "never", "-passwd", "abcdefgh"}, "vnc-password", "VeNCrypt, TLSVnc"},
		{"TLSNone", []string{"-vencrypt", "nox509:force", "-anontls", "never"}, "", "VeNCrypt, TLSNone"},
		{"TLS with a password", []string{"-vencrypt", "never", "-anontls", "force", "-passwd", "abcdefgh"}, "vnc-password", "TLS, VNC password"},
		{"TLS without", []string{"-vencrypt", "never", "-anontls", "force"}, "", "TLS, None"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target := startX11vnc(t, true, append([]string{"-ssl", pem}, tt.args...)...)
			cl := newClient("abcdefgh")
			if err := cl.connect(t, target); err != nil {
				t.Fatal(err)
			}
			if got := cl.kinds(); got != tt.kinds {
				t.Errorf("got the questions %q, want %q", got, tt.kinds)
			}
			if got := cl.chosen[len(cl.chosen)-1]; got != tt.chosen {
				t.Errorf("got %q, want %q", got, tt.chosen)
			}
		})
	}
}

// With OpenSSL's defaults x11vnc offers TLS without a certificate and then
// cannot do it: the error says what to do, and no password has been asked for.
func TestX11vncWithoutAnonymousTLS(t *testing.T) {
	pem := writeFile(t, "both.pem", newPair(t, 2048, nil, nil).pemOfBoth)
	target := startX11vnc(t, false, "-ssl", pem, "-vencrypt", "nox509:force", "-anontls", "never", "-passwd", "abcdefgh")
	cl := newClient("abcdefgh")
	err := cl.connect(t, target)
	if viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), "give its VNC server a certificate") || len(cl.asked) != 0 {
		t.Errorf("got %v after the questions %q", err, cl.kinds())
	}
}

// The Tight type of TightVNC itself.
func TestTightVNC(t *testing.T) {
	program := need(t, "Xtightvnc")
	if _, err := os.Stat("/usr/share/fonts/X11/misc/fonts.dir"); err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatal("xfonts-base, without which Xtightvnc does not start, is not installed and DESKVNC_PEERS=required")
		}
		t.Skip("SKIPPED: xfonts-base, without which Xtightvnc does not start, is not installed")
	}
	port := freePort(t)
	display := ":" + strconv.Itoa(port) // of no other server
	start(t, exec.Command(program, display, "-localhost", "-rfbport", strconv.Itoa(port), "-geometry", "64x48", "-depth", "24",
		"-rfbauth", passwordFile(t, "abcdefgh"), "-nolisten", "tcp"))
	target := viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port}
	waitFor(t, target)
	for password, want := range map[string]viewer.Kind{"abcdefgh": "", "wrong": viewer.Denied} {
		cl := newClient(password)
		cl.only = TypeTight
		if err := cl.connect(t, target); viewer.KindOf(err) != want {
			t.Errorf("%s: got %v, want kind %q", password, err, want)
		}
	}
}

// waitFor waits until a server listens that does not tell when it does.
func waitFor(t *testing.T, target viewer.Target) {
	t.Helper()
	for end := time.Now().Add(hang); ; {
		c, err := net.Dial("tcp", target.HostPort())
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}
