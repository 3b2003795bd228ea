package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// apart starts a server that is reached through a cable which can be pulled:
// a network namespace of its own. It needs root.
func apart(t *testing.T) (host string, pull func()) {
	t.Helper()
	need(t, "ip", "Xtigervnc")
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: a network namespace needs root")
	}
	id := strconv.Itoa(os.Getpid() % 100000)
	ns, near, far := "dv"+id, "dva"+id, "dvb"+id
	if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no network namespace can be made here: %s", out)
	}
	t.Cleanup(func() {
		exec.Command("ip", "netns", "del", ns).Run()
		exec.Command("ip", "link", "del", near).Run()
	})
	for _, args := range []string{
		"link add " + near + " type veth peer name " + far,
		"link set " + far + " netns " + ns,
		"addr add 10.201.77.1/30 dev " + near,
		"link set " + near + " up",
		"-n " + ns + " addr add 10.201.77.2/30 dev " + far,
		"-n " + ns + " link set " + far + " up",
		"-n " + ns + " link set lo up",
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: ip %s: %s", args, out)
		}
	}
	// No socket among the files, which both namespaces see: the number may be
	// another server's out here.
	at := ":" + strconv.Itoa(7000+os.Getpid()%1000)
	start(t, exec.Command("ip", "netns", "exec", ns, "Xtigervnc", at, "-nolisten", "unix", "-rfbport", "5900", "-SecurityTypes", "None",
		"-AlwaysShared", "-geometry", "800x500", "-depth", "24", "-noreset"))
	const address = "10.201.77.2"
	eventually(t, func() string {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(address, "5900"), time.Second)
		if err != nil {
			return err.Error()
		}
		c.Close()
		return ""
	})
	run(t, at, "ip", "netns", "exec", ns, "xsetroot", "-solid", fmt.Sprintf("#%02x%02x%02x", remoteRed, remoteGreen, remoteBlue))
	return address, func() {
		if out, err := exec.Command("ip", "-n", ns, "link", "set", far, "down").CombinedOutput(); err != nil {
			t.Fatalf("pulling the cable: %s", out)
		}
	}
}

// TestCableIsPulled loses the machine without a word, in full screen: the
// window stays alive, its chord leaves full screen, and it says that the
// connection is lost (C125).
func TestCableIsPulled(t *testing.T) {
	need(t, "Xvfb", "openbox", "xdotool", "import", "xsetroot")
	address, pull := apart(t)
	w := newWindow(t)
	a := newAgent(t, w.env, "--connect", strconv.Itoa(w.control))
	w.do(t, "type", "--delay", "5", address)
	w.do(t, "key", "Return")
	untilState(t, a, "connected")
	small := w.pane(t)
	w.do(t, "key", "ctrl+alt+shift+f")
	eventually(t, func() string {
		if got := find(picture(t, w.display), remoteRed, remoteGreen, remoteBlue); got.Dx() <= small.Dx()+50 {
			return fmt.Sprintf("full screen shows the picture in %v", got)
		}
		return ""
	})
	pull()
	w.do(t, "key", "a") // the person notices nothing yet
	w.do(t, "key", "ctrl+alt+shift+f")
	eventually(t, func() string {
		if got := find(picture(t, w.display), remoteRed, remoteGreen, remoteBlue); got.Dx() > small.Dx()+50 {
			return fmt.Sprintf("full screen cannot be left: the picture is in %v", got)
		}
		return ""
	})
	untilState(t, a, "reconnecting") // within a minute, which is how long that waits
	w.settled(t)
	keep(t, w.display, "cable.png")
	// And it can be closed.
	w.do(t, "key", "ctrl+alt+shift+w")
	eventually(t, func() string {
		if s, _ := state(t, a); s == "reconnecting" {
			return "the lost session cannot be closed"
		}
		return ""
	})
}
