package sample

import (
	"bufio"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
)

// hang is how long a test waits before it calls something hung.
const hang = 60 * time.Second

// missing skips a test whose peer is not installed, or fails it where peers
// are required.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("DESKVNC_PEERS") == "required" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("SKIPPED, NOTHING TESTED: %s is missing", what)
}

// peerDir is where the peer was built, if it was.
var peerDir string

// peerProgram builds the viewer on libvncclient, once.
var peerProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sample-peer")
	if err != nil {
		return "", err
	}
	peerDir = dir
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "libvncclient").Output()
	if err != nil {
		return dir, err
	}
	args := append([]string{"-O2", "-o", filepath.Join(dir, "peer"), "testdata/peer.c"}, strings.Fields(string(flags))...)
	out, err := exec.Command("gcc", args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if peerDir != "" {
		os.RemoveAll(peerDir)
	}
	os.Exit(code)
}

// A peer is a running viewer of another make.
type peer struct {
	t       *testing.T
	in      io.WriteCloser
	lines   chan string
	picture string // the last line about the picture
}

func startPeer(t *testing.T, target viewer.Target, encodings string, bits int, env ...string) *peer {
	t.Helper()
	dir, err := peerProgram()
	if err != nil {
		missing(t, "gcc with libvncserver-dev: "+err.Error())
	}
	cmd := exec.Command(filepath.Join(dir, "peer"), fmt.Sprint(target.Port), encodings, fmt.Sprint(bits))
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, in: in, lines: make(chan string, 4096)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		<-ended
		cmd.Wait()
	})
	return p
}

func (p *peer) do(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatalf("peer: %v", err)
	}
}

func (p *peer) click(at image.Point) {
	p.do("pointer %d %d 1", at.X, at.Y)
	p.do("pointer %d %d 0", at.X, at.Y)
}

func (p *peer) typed(sym uint32) {
	p.do("key %d 1", sym)
	p.do("key %d 0", sym)
}

// until waits for a line that fits.
func (p *peer) until(what string, fits func(line string) bool) {
	p.t.Helper()
	guard := time.After(hang)
	last := "nothing"
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the peer ended while waiting for %s, after %q", what, last)
			}
			if strings.HasPrefix(line, "picture") {
				p.picture = line
			}
			if fits(line) {
				return
			}
			last = line
		case <-guard:
			p.t.Fatalf("no %s; the last was %q", what, last)
		}
	}
}

// sees waits until the peer's picture is the desktop's.
func (p *peer) sees(d *desktop, bits int) {
	p.t.Helper()
	if want := sum(d, bits); p.picture != want {
		p.until(want, func(line string) bool { return line == want })
	}
}

// sum is the line that a peer prints when it shows what d shows.
func sum(d *desktop, bits int) string {
	d.mu.Lock()
	v := d.pic.freeze(nil)
	d.mu.Unlock()
	h := uint32(2166136261)
	add := func(s, max uint32) { h = (h ^ (s*max+127)/255) * 16777619 }
	row := make([]uint32, v.w)
	for y := range v.h {
		v.gather(row, 0, y, v.w, 1)
		for _, p := range row {
			if bits == 16 {
				add(p>>16, 31)
				add(p>>8&255, 63)
				add(p&255, 31)
			} else {
				add(p>>16, 255)
				add(p>>8&255, 255)
				add(p&255, 255)
			}
		}
	}
	return fmt.Sprintf("picture %d %d %08x", v.w, v.h, h)
}

func centre(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }

// start serves sample machines for one test.
func start(t testing.TB, o Options) *Machines {
	t.Helper()
	m, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// TestPeer has a viewer of another make do all that a person can, in each
// encoding, and compares its picture with the desktop's after each step.
func TestPeer(t *testing.T) {
	for _, tt := range []struct {
		encodings string
		w, h      int
		bits      int
	}{
		{"raw", 1920, 1080, 32},
		{"raw copyrect", 1003, 701, 32},
		{"hextile", 1003, 701, 32},
		{"hextile copyrect", 1920, 1080, 32},
		{"zrle", 1003, 701, 32},
		{"zrle copyrect", 1920, 1080, 32},
		{"raw copyrect", 1003, 701, 16},
		{"hextile copyrect", 1003, 701, 16},
		{"zrle copyrect", 1003, 701, 16},
	} {
		t.Run(fmt.Sprintf("%s/%dx%d/%d", tt.encodings, tt.w, tt.h, tt.bits), func(t *testing.T) {
			m := start(t, Options{Width: tt.w, Height: tt.h})
			d := m.desktops[0]
			p := startPeer(t, m.Targets()[0], tt.encodings, tt.bits)
			p.sees(d, tt.bits)

			step := func(what string, act func()) {
				t.Helper()
				before := sum(d, tt.bits)
				act()
				p.typed(keyF9) // rings when all before it has been done
				p.until("bell", func(line string) bool { return line == "bell" })
				if sum(d, tt.bits) == before {
					t.Errorf("nothing changed by %s", what)
				}
				p.sees(d, tt.bits)
			}
			list := centre(ListRect(tt.w, tt.h))
			step("a click on the pad", func() { p.click(centre(PadRect(tt.w, tt.h))) })
			step("typing", func() {
				for _, r := range "Grüße, gypsy!" {
					p.typed(uint32(r))
				}
				p.typed(keyReturn)
				p.typed('x')
				p.typed(keyBackSpace)
			})
			step("a choice", func() { p.click(list) })
			for range 3 {
				step("the wheel", func() {
					for range 5 {
						p.do("pointer %d %d 16", list.X, list.Y)
						p.do("pointer %d %d 0", list.X, list.Y)
					}
					p.do("pointer %d %d 8", list.X, list.Y)
					p.do("pointer %d %d 0", list.X, list.Y)
				})
			}
			step("pasting", func() { p.do("paste hello from here") })
			step("another size", func() { p.do("resize %d %d", 801, 613) })
			step("a click at the new size", func() { p.click(centre(PadRect(801, 613))) })
			if s := d.scene; s.clicks != 2 || s.note.String() != "Grüße, gypsy!\n" || s.clip != "hello from here" || s.lay.w != 801 {
				t.Errorf("got %d clicks, note %q, clipboard %q, width %d", s.clicks, s.note.String(), s.clip, s.lay.w)
			}
		})
	}
}
