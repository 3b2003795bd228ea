package rfb_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// modesSector is a boot sector that goes on to another video mode, at first by
// itself and then with each key: 1024 x 768, 800 x 600, text, and again. It
// fills the first line of a graphics mode.
func modesSector() []byte {
	b := []byte{
		0x31, 0xc0, 0x8e, 0xd8, // xor ax, ax; mov ds, ax
		0xfc,             // cld
		0xbe, 0x40, 0x7c, // start: mov si, modes
		// next:
		0xad,       // lodsw
		0x89, 0xc3, // mov bx, ax
		0x3d, 0x03, 0x00, // cmp ax, 3
		0x74, 0x0b, // je text
		0xb8, 0x02, 0x4f, // mov ax, 4f02h: set a VESA mode
		0xcd, 0x10, // int 10h
		0x31, 0xc0, 0xcd, 0x16, // xor ax, ax; int 16h: wait for a key
		0xeb, 0xed, // jmp next
		// text:
		0xcd, 0x10, // int 10h: mode 3, ah is 0
		0x31, 0xc0, 0xcd, 0x16, // xor ax, ax; int 16h
		0xeb, 0xe2, // jmp start
	}
	b = append(b, make([]byte, 512-len(b))...)
	copy(b[0x40:], []byte{
		0x05, 0x01, // 105h: 1024 x 768 in 256 colours
		0x03, 0x01, // 103h: 800 x 600
		0x03, 0x00, // text
	})
	b[510], b[511] = 0x55, 0xaa
	return b
}

// The view follows a machine from one mode to another, also by a screen of
// number 0, and a refused size is said and harmless (C072, C074).
func TestQEMUModes(t *testing.T) {
	dir := t.TempDir()
	disk, socket := filepath.Join(dir, "disk"), filepath.Join(dir, "vnc")
	if err := os.WriteFile(disk, modesSector(), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, exec.Command(need(t, "qemu-system-x86_64"), "-nodefaults", "-vga", "std", "-m", "32", "-display", "none",
		"-drive", "file="+disk+",format=raw,if=ide,snapshot=on", "-vnc", "unix:"+socket))
	target, err := viewer.ParseTarget("unix:"+socket, viewer.VNC)
	if err != nil {
		t.Fatal(err)
	}
	listens(t, target)
	l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
	l.Look(t)
	size := func(want string) {
		t.Helper()
		l.Until(t, "a screen of "+want, func() bool {
			w, h := l.Frame.Size()
			return fmt.Sprintf("%dx%d", w, h) == want
		})
		l.Look(t)
		if r, ok := l.Session.(viewer.Resizer); ok {
			if err := r.Resize(t.Context(), 1111, 777); err != nil && viewer.KindOf(err) != viewer.Unsupported {
				t.Errorf("asking for another size: %v", err)
			}
		}
	}
	size("1024x768")
	for _, want := range []string{"800x600", "720x400", "1024x768", "800x600"} {
		l.Post(t, press(viewer.Key{Sym: ' ', Scan: 0x39})...)
		size(want)
	}
	if err := l.Err(); err != nil {
		t.Error(err)
	}
}

// QEMU's own encryption: with a certificate and without, and logins that this
// viewer cannot do, which are named.
func TestQEMUEncrypted(t *testing.T) {
	dir := t.TempDir()
	_, args := certificate(t)
	for i, name := range []string{"server-cert.pem", "server-key.pem"} {
		b, err := os.ReadFile(args[1+2*i])
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{name, map[int]string{0: "ca-cert.pem", 1: "ca-key.pem"}[i]} {
			if err := os.WriteFile(filepath.Join(dir, n), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, object, vnc string
		kind              viewer.Kind
		reason            string
	}{
		{"TLSNone", "tls-creds-anon,id=tls0,endpoint=server", ",tls-creds=tls0", "", ""},
		{"X509None", "tls-creds-x509,id=tls0,endpoint=server,verify-peer=off,sanity-check=off,dir=" + dir, ",tls-creds=tls0", "", ""},
		{"a client's certificate is wanted", "tls-creds-x509,id=tls0,endpoint=server,verify-peer=on,sanity-check=off,dir=" + dir, ",tls-creds=tls0", "any", ""},
		{"SASL", "", ",sasl=on", viewer.Unsupported, "SASL"},
		{"SASL inside of TLS", "tls-creds-anon,id=tls0,endpoint=server", ",tls-creds=tls0,sasl=on", viewer.Unsupported, "SASL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "vnc")
			line := []string{"-S", "-nodefaults", "-vga", "std", "-m", "32", "-display", "none", "-vnc", "unix:" + socket + c.vnc}
			if c.object != "" {
				line = append(line, "-object", c.object)
			}
			start(t, exec.Command(need(t, "qemu-system-x86_64"), line...))
			target, err := viewer.ParseTarget("unix:"+socket, viewer.VNC)
			if err != nil {
				t.Fatal(err)
			}
			target.User = "bob"
			listens(t, target)
			l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
				if q.Kind != viewer.AskCertificate {
					t.Errorf("asked for %s", q.Kind)
				}
				return viewer.Answer{Accept: true}, nil
			}), nil)
			if c.kind != "" {
				tidy(t, "login", 0, err)
				if c.kind != "any" && viewer.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.reason) {
					t.Errorf("got %v, want the kind %q with %q", err, c.kind, c.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l.Look(t)
			if e, ok := l.Session.(viewer.Encrypter); !ok || !e.Encrypted() {
				t.Error("it does not count as encrypted")
			}
		})
	}
}
