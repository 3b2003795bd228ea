package rfb_test

import (
	"fmt"
	"net"
	"os/exec"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/viewertest"
)

// A virtual machine that is not started shows a text. It is the same in Raw
// and in every other encoding that QEMU has, TightPNG among them (C045).
func TestQEMUEncodings(t *testing.T) {
	port := 0
	for port < 5900 { // QEMU takes displays, from port 5900 on
		port = freePort(t)
	}
	start(t, exec.Command(need(t, "qemu-system-x86_64"), "-S", "-nodefaults", "-vga", "std", "-m", "32", "-display", "none",
		"-vnc", fmt.Sprintf("127.0.0.1:%d", port-5900)))
	target := viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port}
	for end := time.Now().Add(viewertest.Patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", target.HostPort())
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal("QEMU does not listen")
		}
	}
	open := func(encoding int32) *viewertest.Live {
		l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{encoding}}), target, nil)
		l.Look(t)
		used(t, l, encoding)
		return l
	}
	raw := open(rect.TypeRaw)
	want := raw.Frame.Checksum()
	w, h := raw.Frame.Size()
	black := uint32(2166136261) // FNV-1a of zeros
	for range w * h * 3 {
		black *= 16777619
	}
	if want == black {
		t.Fatal("there is no text")
	}
	for _, n := range []int32{rect.TypeHextile, rect.TypeZlib, rect.TypeZRLE, rect.TypeTight, rect.TypeTightPNG} {
		if got := open(n).Frame.Checksum(); got != want {
			t.Errorf("encoding %d: got the picture %08x, want %08x", n, got, want)
		}
	}
}
