package plane

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
)

// need returns the path of a program, or skips the test without it, or fails
// it where peers are required.
func need(t testing.TB, program string) string {
	t.Helper()
	p, err := exec.LookPath(program)
	switch {
	case err == nil:
		return p
	case os.Getenv("DESKVNC_PEERS") == "required":
		t.Fatalf("%s is not installed and DESKVNC_PEERS=required", program)
	}
	t.Skipf("SKIPPED: %s is not installed; .ci/install test installs it", program)
	return ""
}

// started runs a program until the end of the test; ended is closed when it
// ends by itself.
func started(t testing.TB, cmd *exec.Cmd) (ended <-chan struct{}) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		cmd.Wait() // how it ended does not matter
		close(done)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() // it may have ended
		<-done
	})
	return done
}

// newTiger is a plane over a real VNC server with a terminal on its screen
// that writes what it is given to a file. It returns the file's path; ended is
// closed when the terminal has gone.
func newTiger(t *testing.T) (d *desk, file string, ended <-chan struct{}) {
	t.Helper()
	server, term := need(t, "Xtigervnc"), need(t, "xterm")
	told, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	x := exec.Command(server, "-displayfd", "3", "-rfbport", strconv.Itoa(port), "-geometry", "800x600", "-depth", "24",
		"-localhost", "-SecurityTypes", "None", "-AlwaysShared", "-noreset")
	x.ExtraFiles = []*os.File{tell}
	died := started(t, x)
	tell.Close()
	told.SetReadDeadline(time.Now().Add(30 * time.Second))
	buf := make([]byte, 16)
	n, err := told.Read(buf)
	if err != nil {
		<-died
		t.Fatalf("Xtigervnc did not start: %v", err)
	}
	display := ":" + strings.TrimSpace(string(buf[:n]))
	greets(t, port)

	dir := t.TempDir()
	file = filepath.Join(dir, "typed")
	cmd := exec.Command(term, "-geometry", "130x45+0+0", "-u8", "-e", "sh", "-c", "stty -ixon; cat > "+file)
	cmd.Env = append(os.Environ(), "DISPLAY="+display, "LC_ALL=C.UTF-8")
	ended = started(t, cmd)

	d = &desk{TB: t, library: &library{saved: []viewer.Target{{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port, HostID: "tiger"}}}}
	d.engine = engine.New(engine.Config{Drivers: drivers.Registry()})
	d.plane = New(Config{Engine: d.engine, Hosts: d.library, Version: "test"})
	t.Cleanup(func() {
		d.plane.Close()
		d.engine.Close()
	})
	return d, file, ended
}

// greets waits until a VNC server answers at a port. While it starts it takes
// connections and drops them.
func greets(t *testing.T, port int) {
	t.Helper()
	for range 300 {
		if c, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			c.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err = io.ReadFull(c, make([]byte, 12))
			c.Close()
			if err == nil {
				return
			}
		}
		time.Sleep(20 * time.Millisecond) // nothing tells when it listens
	}
	t.Fatal("the VNC server never answered")
}

// What an agent types into a real program arrives there, character for
// character, and a chord is a chord.
func TestTypingIntoARealTerminal(t *testing.T) {
	d, file, ended := newTiger(t)
	g := d.atSample("a")
	for i := 0; ; i++ { // until the terminal is on the screen
		if i == 60 {
			t.Fatal("the terminal never appeared")
		}
		if img := g.ok("dvv_screen", `{"scale":1}`).decoded(); img.At(300, 300) != img.At(799, 599) {
			break
		}
		g.ok("dvv_wait", `{"until":"screen-changed","timeoutMs":1000}`)
	}
	g.ok("dvv_wait", `{"until":"screen-stable","quietMs":300}`)
	g.ok("dvv_control", `{"action":"acquire","reason":"typing"}`)
	// There is no window manager: the focus is where the pointer is.
	gen := g.ok("dvv_screen", `{}`).get("observation.geometry.generation")
	g.ok("dvv_click", fmt.Sprintf(`{"action":"click","x":300,"y":300,"generation":%v}`, gen))
	g.ok("dvv_wait", `{"until":"screen-stable","quietMs":200}`)

	lines := []string{"Hello_World-42 (a>b) & {x}~$#", "ABC abc XYZ xyz", `"quoted" \ back|slash`, "é ß ÿ €", "日本 ✓"}
	text := strings.Join(lines, `\n`) + `\r\n`
	text = strings.NewReplacer(`\ back`, `\\ back`, `"`, `\"`).Replace(text)
	g.ok("dvv_screen", `{}`)
	want := 0
	for _, l := range lines {
		want += len([]rune(l)) + 1
	}
	g.ok("dvv_type", `{"text":"`+text+`"}`).is("outcome", "delivered", "progress.count", want+1)
	g.ok("dvv_key", `{"keys":"ctrl+d"}`).is("resolved.0", "ctrl => ControlLeft")
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the terminal never got the end of its input")
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.Join(lines, "\n")+"\n" {
		t.Errorf("typed:\n got %q\nwant %q", got, strings.Join(lines, "\n")+"\n")
	}
}
