package auth

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/trust"
)

// account makes a user of this system, with a password, until the end of the
// test.
func account(t *testing.T) (user, password string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can make a user to log in as")
	}
	user, password = fmt.Sprintf("dvtest%d", os.Getpid()), "pässword of more than eight bytes"
	if out, err := exec.Command(need(t, "useradd"), "-M", "-s", "/usr/sbin/nologin", user).CombinedOutput(); err != nil {
		t.Fatalf("useradd: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("userdel", user).CombinedOutput(); err != nil {
			t.Errorf("userdel: %v: %s", err, out)
		}
	})
	cmd := exec.Command(need(t, "chpasswd"))
	cmd.Stdin = strings.NewReader(user + ":" + password + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("chpasswd: %v: %s", err, out)
	}
	return user, password
}

// Every security type that Xtigervnc has: the login, and a picture after it.
func TestTigerVNC(t *testing.T) {
	pw := []string{"-rfbauth", passwordFile(t, "abcdefgh")}
	x509 := newPair(t, 2048, nil, nil).args()
	tests := []struct {
		types  string
		args   []string
		plain  bool
		kinds  string
		chosen string
	}{
		{"None", nil, false, "", "None"},
		{"VncAuth", pw, false, "vnc-password", "VNC password"},
		{"TLSNone", nil, false, "", "VeNCrypt, TLSNone"},
		{"TLSVnc", pw, false, "vnc-password", "VeNCrypt, TLSVnc"},
		{"X509None", x509, false, "certificate", "VeNCrypt, X509None"},
		{"X509Vnc", append(pw, x509...), false, "certificate vnc-password", "VeNCrypt, X509Vnc"},
		{"TLSPlain", nil, true, "password", "VeNCrypt, TLSPlain"},
		{"X509Plain", x509, true, "certificate password", "VeNCrypt, X509Plain"},
		{"Plain", nil, true, "password", "VeNCrypt, Plain"},
		// The strongest of several.
		{"VncAuth,TLSVnc", pw, false, "vnc-password", "VeNCrypt, TLSVnc"},
		{"VncAuth,TLSVnc,X509Vnc", append(pw, x509...), false, "certificate vnc-password", "VeNCrypt, X509Vnc"},
		{"None,VncAuth,TLSNone", pw, false, "", "VeNCrypt, TLSNone"},
	}
	for _, tt := range tests {
		t.Run(tt.types, func(t *testing.T) {
			cl := newClient("abcdefgh")
			args := tt.args
			if tt.plain {
				cl.user, cl.password = account(t)
				args = append([]string{"-PlainUsers", cl.user, "-pam_service", "tigervnc"}, args...)
			}
			target, _, _ := startTiger(t, freePort(t), tt.types, args...)
			if err := cl.connect(t, target); err != nil {
				t.Fatal(err)
			}
			if got := cl.kinds(); got != tt.kinds {
				t.Errorf("got the questions %q, want %q", got, tt.kinds)
			}
			if got := cl.chosen[len(cl.chosen)-1]; got != tt.chosen {
				t.Errorf("got %q, want %q", got, tt.chosen)
			}
			anonymous := strings.Contains(strings.Join(cl.notices, "\n"), "nothing proves which machine")
			if want := strings.Contains(tt.chosen, "TLSN") || strings.Contains(tt.chosen, "TLSV") || strings.Contains(tt.chosen, "TLSP"); anonymous != want {
				t.Errorf("got a notice about TLS without a certificate: %v, want %v", anonymous, want)
			}
		})
	}
}

func TestTigerVNCRefuses(t *testing.T) {
	pw := []string{"-rfbauth", passwordFile(t, "abcdefgh")}
	for _, types := range []string{"VncAuth", "TLSVnc", "X509Vnc"} {
		t.Run(types, func(t *testing.T) {
			target, _, _ := startTiger(t, freePort(t), types, append(newPair(t, 2048, nil, nil).args(), pw...)...)
			cl := newClient("wrong")
			if err := cl.connect(t, target); viewer.KindOf(err) != viewer.Denied {
				t.Errorf("got %v, want kind denied", err)
			}
			if n := strings.Count(cl.kinds(), "vnc-password"); n != 1 {
				t.Errorf("asked %d times for a password on one connection, want once", n)
			}
			cl = newClient("abcdefgh")
			if err := cl.connect(t, target); err != nil {
				t.Errorf("the right password afterwards: %v", err)
			}
		})
	}
	t.Run("X509Plain", func(t *testing.T) {
		user, _ := account(t)
		target, _, _ := startTiger(t, freePort(t), "X509Plain", append(newPair(t, 2048, nil, nil).args(), "-PlainUsers", user, "-pam_service", "tigervnc")...)
		cl := newClient("wrong")
		cl.user = user
		if err := cl.connect(t, target); viewer.KindOf(err) != viewer.Denied {
			t.Errorf("got %v, want kind denied", err)
		}
		if strings.Contains(fmt.Sprint(cl.asked, cl.notices), "wrong") {
			t.Error("the password is in what was asked or told")
		}
	})
}

// Trouble with a certificate has its own question, with the fingerprint, and
// comes before any password.
func TestCertificateTrouble(t *testing.T) {
	authority := newPair(t, 2048, nil, func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.Subject.CommonName = true, true, "Test Authority"
	})
	pw := []string{"-rfbauth", passwordFile(t, "abcdefgh")}
	tests := []struct {
		name    string
		pair    *pair
		kinds   string
		problem string
	}{
		{"issued for itself", newPair(t, 2048, nil, nil), "certificate vnc-password", "the machine issued it for itself"},
		{"expired", newPair(t, 2048, authority, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), "certificate vnc-password", "expired"},
		{"for another machine", newPair(t, 2048, authority, func(c *x509.Certificate) { c.IPAddresses = nil }), "certificate vnc-password", "not issued for 127.0.0.1"},
		{"weak", newPair(t, 1024, nil, nil), "certificate vnc-password", "too short"},
		{"properly issued", newPair(t, 2048, authority, nil), "vnc-password", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target, _, _ := startTiger(t, freePort(t), "X509Vnc", append(tt.pair.args(), pw...)...)
			cl := newClient("abcdefgh")
			cl.judge.Roots.AddCert(authority.cert)
			if err := cl.connect(t, target); err != nil {
				t.Fatal(err)
			}
			if got := cl.kinds(); got != tt.kinds {
				t.Errorf("got the questions %q, want %q", got, tt.kinds)
			}
			if tt.problem == "" {
				return
			}
			q := cl.asked[0]
			if got := strings.Join(q.Key.Problems, "; "); !strings.Contains(got, tt.problem) {
				t.Errorf("got the problems %q, want %q", got, tt.problem)
			}
			out, err := exec.Command(need(t, "openssl"), "x509", "-in", tt.pair.certFile, "-noout", "-fingerprint", "-sha256").Output()
			if err != nil || !bytes.Contains(out, []byte(q.Key.Fingerprint)) {
				t.Errorf("openssl prints %s (%v), the question shows %s", out, err, q.Key.Fingerprint)
			}
			// Refused: no password is asked for.
			no := newClient("abcdefgh")
			no.key = viewer.Answer{}
			if err := no.connect(t, target); viewer.KindOf(err) != viewer.Untrusted || no.kinds() != "certificate" {
				t.Errorf("refusing it: got %v after the questions %q", err, no.kinds())
			}
		})
	}
}

// The first use asks once; another certificate at the same place is a stop
// with both fingerprints, also where new ones are accepted by themselves.
func TestChangedCertificate(t *testing.T) {
	pw := []string{"-rfbauth", passwordFile(t, "abcdefgh")}
	first, second := newPair(t, 2048, nil, nil), newPair(t, 2048, nil, nil)
	pins := trust.Folder(filepath.Join(t.TempDir(), "pins"))
	again := func(answer viewer.Answer) *client {
		cl := newClient("abcdefgh")
		cl.judge.Pins, cl.key = pins, answer
		return cl
	}
	port := freePort(t)
	target, _, server := startTiger(t, port, "X509Vnc", append(first.args(), pw...)...)
	for i, want := range []string{"certificate vnc-password", "vnc-password"} {
		cl := again(viewer.Answer{Accept: true, Save: true})
		if err := cl.connect(t, target); err != nil || cl.kinds() != want {
			t.Fatalf("connection %d: got %v after the questions %q, want %q", i+1, err, cl.kinds(), want)
		}
	}
	stop(server)
	target, _, server = startTiger(t, port, "X509Vnc", append(second.args(), pw...)...)
	cl := again(viewer.Answer{Accept: true, Save: true})
	err := cl.connect(t, target)
	if viewer.KindOf(err) != viewer.Untrusted || cl.kinds() != "certificate" {
		t.Fatalf("changed: got %v after the questions %q", err, cl.kinds())
	}
	for _, p := range []*pair{first, second} {
		if fp := trust.CertificateKey([]*x509.Certificate{p.cert}).Fingerprint(); !strings.Contains(err.Error(), fp) {
			t.Errorf("%v: want it to show %s", err, fp)
		}
	}
	cl = again(viewer.Answer{Accept: true, Replace: true})
	if err := cl.connect(t, target); err != nil {
		t.Fatal(err)
	}
	// A pinned machine that no longer proves anything is stopped as well.
	stop(server)
	target, _, _ = startTiger(t, port, "TLSVnc,VncAuth", pw...)
	cl = again(viewer.Answer{Accept: true, Save: true})
	if err := cl.connect(t, target); viewer.KindOf(err) != viewer.Untrusted || cl.kinds() != "certificate" {
		t.Errorf("without a certificate: got %v after the questions %q", err, cl.kinds())
	}
}

// Where encryption is required, a machine without it is told apart from one
// with a wrong password, and nothing is sent.
func TestRequireEncryption(t *testing.T) {
	pw := []string{"-rfbauth", passwordFile(t, "abcdefgh")}
	for types, want := range map[string]string{"VncAuth": "it offers only VNC password", "Plain": "of VeNCrypt it offers only Plain", "TLSVnc,VncAuth": ""} {
		target, _, _ := startTiger(t, freePort(t), types, append([]string{"-PlainUsers", "*"}, pw...)...)
		target.RequireEncryption = true
		cl := newClient("abcdefgh")
		err := cl.connect(t, target)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: got %v", types, err)
		case want != "" && (viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), want) || len(cl.asked) != 0):
			t.Errorf("%s: got %v after the questions %q, want %q", types, err, cl.kinds(), want)
		}
	}
}

// A user name that is known is passed on; without one it is asked for.
func TestUserName(t *testing.T) {
	user, password := account(t)
	target, _, _ := startTiger(t, freePort(t), "X509Plain", append(newPair(t, 2048, nil, nil).args(), "-PlainUsers", user, "-pam_service", "tigervnc")...)
	cl := newClient(password)
	if err := cl.connect(t, target); viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), "user name") {
		t.Errorf("without: got %v, want that a user name is missing", err)
	}
	target.User = user
	cl = newClient(password)
	if err := cl.connect(t, target); err != nil {
		t.Errorf("with: %v", err)
	}
	if q := cl.asked[len(cl.asked)-1]; q.Name != user {
		t.Errorf("got a question that names %q, want %q", q.Name, user)
	}
}
