package auth

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/trust"
)

// A newer system is one with servers of later versions than this one may have:
// its root folder is in DESKVNC_NEWER (.ci/newer makes one), or it is this
// system itself.
type newer struct{ root string }

// newerSystem returns a system whose Xtigervnc knows the RSA-AES types.
func newerSystem(t testing.TB) newer {
	t.Helper()
	n := newer{os.Getenv("DESKVNC_NEWER")}
	if n.root == "" {
		need(t, "Xtigervnc")
	} else if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can enter the system in DESKVNC_NEWER")
	}
	help, _ := n.command("Xtigervnc", "-help").CombinedOutput() // it ends with 1
	if !bytes.Contains(help, []byte("RSAKey")) {
		t.Skip("SKIPPED: this Xtigervnc is older than 1.13, which has RSA-AES; .ci/newer DIR makes a system with a newer one, for DESKVNC_NEWER")
	}
	return n
}

// command is a program inside the system.
func (n newer) command(program string, args ...string) *exec.Cmd {
	if n.root == "" {
		return exec.Command(program, args...)
	}
	return exec.Command("chroot", append([]string{n.root, program}, args...)...)
}

// dir makes a folder of the system, and says what it is called inside.
func (n newer) dir(t testing.TB) (outside, inside string) {
	t.Helper()
	outside, err := os.MkdirTemp(filepath.Join(n.root, "/tmp"), "dv")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	return outside, strings.TrimPrefix(outside, n.root)
}

// startTiger starts the system's Xtigervnc.
func (n newer) startTiger(t testing.TB, types string, args ...string) viewer.Target {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	port := freePort(t)
	cmd := n.command("Xtigervnc", append([]string{"-displayfd", "3", "-geometry", "64x48", "-depth", "24", "-localhost",
		"-rfbport", strconv.Itoa(port), "-SecurityTypes", types}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	start(t, cmd)
	w.Close()
	_ = r.SetReadDeadline(time.Now().Add(hang))
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Fatalf("Xtigervnc did not tell its display: %v", err)
	}
	return viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port}
}

// copyIn copies files into a folder of the system.
func copyIn(t testing.TB, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The RSA-AES types of TigerVNC itself: the login, the key that is shown, and
// a picture through the encryption.
func TestTigerVNCRSAAES(t *testing.T) {
	n := newerSystem(t)
	out, in := n.dir(t)
	server := newPair(t, 2048, nil, nil)
	copyIn(t, out, server.keyFile, passwordFile(t, "abcdefgh"))
	args := []string{"-RSAKey", in + "/key.pem", "-PasswordFile", in + "/passwd", "-RequireUsername=0"}
	fingerprint := trust.RSAKey(2048, rsaWire(&server.key.PublicKey), "").Fingerprint()
	for types, want := range map[string]struct {
		chosen string
		sealed bool
	}{
		"RA2": {"RA2", true}, "RA2ne": {"RA2ne", false}, "RA2_256": {"RA2-256", true}, "RA2ne_256": {"RA2ne-256", false},
		"VncAuth,RA2ne,RA2":                        {"RA2", true},
		"None,VncAuth,RA2,RA2ne,RA2_256,RA2ne_256": {"RA2-256", true},
	} {
		t.Run(types, func(t *testing.T) {
			target := n.startTiger(t, types, args...)
			for password, kind := range map[string]viewer.Kind{"abcdefgh": "", "wrong": viewer.Denied} {
				cl := newClient(password)
				err := cl.connect(t, target)
				if viewer.KindOf(err) != kind {
					t.Fatalf("%s: got %v, want kind %q", password, err, kind)
				}
				if got := cl.kinds(); got != "host-key vnc-password" {
					t.Errorf("got the questions %q", got)
				}
				if got := cl.chosen[len(cl.chosen)-1]; got != want.chosen {
					t.Errorf("got %q, want %q", got, want.chosen)
				}
				if got := cl.asked[0].Key.Fingerprint; got != fingerprint {
					t.Errorf("got the fingerprint %s, want %s", got, fingerprint)
				}
				if err == nil && cl.sealed != want.sealed {
					t.Errorf("counts as encrypted: %v", cl.sealed)
				}
			}
			strict := target
			strict.RequireEncryption = true
			if err := newClient("abcdefgh").connect(t, strict); (err == nil) != want.sealed {
				t.Errorf("encryption is required: got %v", err)
			}
		})
	}
	t.Run("a user and a password", func(t *testing.T) {
		if n.root == "" && os.Getuid() != 0 {
			t.Skip("SKIPPED: only root can make a user to log in as")
		}
		user, password := "dvra"+hex.EncodeToString([]byte{byte(os.Getpid()), byte(os.Getpid() >> 8)}), "pässword of more than eight bytes"
		run := func(stdin string, args ...string) {
			t.Helper()
			cmd := n.command(args[0], args[1:]...)
			cmd.Stdin = strings.NewReader(stdin)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", args[0], err, out)
			}
		}
		run("", "useradd", "-M", "-s", "/usr/sbin/nologin", user)
		t.Cleanup(func() { run("", "userdel", user) })
		run(user+":"+password+"\n", "chpasswd")
		target := n.startTiger(t, "RA2_256", "-RSAKey", in+"/key.pem", "-RequireUsername=1", "-PlainUsers", user, "-pam_service", "tigervnc")
		for p, kind := range map[string]viewer.Kind{password: "", "wrong": viewer.Denied} {
			cl := newClient(p)
			cl.user = user
			if err := cl.connect(t, target); viewer.KindOf(err) != kind {
				t.Errorf("got %v, want kind %q", err, kind)
			}
			if got := cl.kinds(); got != "host-key password" {
				t.Errorf("got the questions %q", got)
			}
		}
	})
	t.Run("another key", func(t *testing.T) {
		pins := trust.Folder(filepath.Join(t.TempDir(), "pins"))
		port := viewer.Target{}
		for i, want := range []viewer.Kind{"", viewer.Untrusted} {
			if i == 1 {
				copyIn(t, out, newPair(t, 2048, nil, nil).keyFile)
			}
			target := n.startTiger(t, "RA2", args...)
			if i == 0 {
				port = target
			}
			cl := newClient("abcdefgh")
			cl.judge.Pins, cl.key = pins, viewer.Answer{Accept: true, Save: true}
			// The same machine to the judge, wherever it listens now.
			real := target
			target.Address, target.Port = port.Address, port.Port
			if err := cl.reach(t, real, target); viewer.KindOf(err) != want {
				t.Errorf("login %d: got %v, want kind %q", i, err, want)
			}
		}
	})
}

// reach is connect to a place for the target of another.
func (cl *client) reach(t testing.TB, place, target viewer.Target) error {
	t.Helper()
	c, err := dialOnce(place)
	if err != nil {
		t.Fatal(err)
	}
	return cl.over(c, target)
}
