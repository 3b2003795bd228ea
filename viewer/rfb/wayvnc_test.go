package rfb_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/viewertest"
)

// A waySession is a Wayland desktop without a display, on which wayvnc stands.
type waySession struct {
	root string // of the system that wayvnc is of; empty for this one
	dir  string
	port int
	env  []string
	uid  uint32 // whom its programs run as, since sway does not run as root
}

// nobody is the user of that name on every system.
const nobody = 65534

// startSway starts sway with one screen.
func startSway(t testing.TB) *waySession { return startSwayFor(t, "") }

// startSwayFor starts sway where the wayvnc of another system sees it.
func startSwayFor(t testing.TB, root string) *waySession {
	t.Helper()
	for _, p := range []string{"sway", "swaybg", "swaymsg", "grim", "wayvnc"} {
		need(t, p)
	}
	base := "" // a socket's path has to be short
	if root != "" {
		base = filepath.Join(root, "tmp")
	}
	dir, err := os.MkdirTemp(base, "dvsway")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &waySession{root: root, dir: dir, uid: uint32(os.Getuid())}
	if s.uid == 0 {
		s.uid = nobody
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "WLR_BACKENDS=headless",
		"WLR_RENDERER=pixman", "WLR_LIBINPUT_NO_DEVICES=1", "WAYLAND_DISPLAY=wayland-1", "SWAYSOCK=" + filepath.Join(dir, "sway")}
	s.file(t, "conf", []byte("output HEADLESS-1 resolution 640x480 position 0,0\ndefault_border none\nxwayland disable\n"))
	start(t, s.command("sway", "-c", filepath.Join(dir, "conf")))
	for end := time.Now().Add(viewertest.Patience); s.command("swaymsg", "-t", "get_outputs").Run() != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("sway does not start")
		}
	}
	return s
}

// file writes a file that the session's programs can read.
func (s *waySession) file(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// inside is what a path is called where wayvnc runs.
func (s *waySession) inside(path string) string { return strings.TrimPrefix(path, s.root) }

// command is a program that runs inside the session.
func (s *waySession) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	if int(s.uid) != os.Getuid() {
		runAs(cmd, s.uid)
	}
	return cmd
}

// serve starts wayvnc with lines of its configuration.
func (s *waySession) serve(t testing.TB, config string) {
	t.Helper()
	s.port = freePort(t)
	args := []string{"wayvnc", "-C", s.inside(s.file(t, "wayvnc", []byte(config))), "127.0.0.1", strconv.Itoa(s.port)}
	if s.root == "" {
		start(t, s.command(args[0], args[1:]...))
	} else {
		args = append([]string{s.root, "env", "XDG_RUNTIME_DIR=" + s.inside(s.dir), "HOME=" + s.inside(s.dir), "WAYLAND_DISPLAY=wayland-1"}, args...)
		start(t, exec.Command("chroot", args...))
	}
	listens(t, s.target())
}

func (s *waySession) target() viewer.Target {
	return viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: s.port}
}

// show puts a picture on the screen.
func (s *waySession) show(t testing.TB, name string, img image.Image) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if out, err := s.command("swaymsg", "output", "*", "bg", s.file(t, name, b.Bytes()), "fill").CombinedOutput(); err != nil {
		t.Fatalf("swaymsg: %v: %s", err, out)
	}
}

// picture is the screen as the compositor itself shows it.
func (s *waySession) picture(t testing.TB) *image.RGBA {
	t.Helper()
	out, err := s.command("grim", "-t", "ppm", "-").Output()
	if err != nil {
		t.Fatalf("grim: %v", err)
	}
	var w, h int
	r := bytes.NewReader(out)
	if _, err := fmt.Fscanf(r, "P6\n%d %d\n255\n", &w, &h); err != nil || r.Len() != 3*w*h {
		t.Fatalf("grim: %v, %d bytes of %d x %d", err, r.Len(), w, h)
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i, p := 0, out[len(out)-r.Len():]; i < w*h; i++ {
		copy(img.Pix[4*i:], p[3*i:3*i+3])
		img.Pix[4*i+3] = 0xff
	}
	return img
}

// listens waits until a machine takes connections.
func listens(t testing.TB, target viewer.Target) {
	t.Helper()
	for end := time.Now().Add(viewertest.Patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := dialOnce(target)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// bands is a picture of areas, lines and slopes that is like no other.
func bands(seed int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 640, 480))
	for y := range 480 {
		for x := range 640 {
			c := color.RGBA{uint8(x*seed + y), uint8(y / 2), uint8(x / 3), 0xff}
			if (x/40+y/40+seed)%3 == 0 {
				c = color.RGBA{uint8(40 * seed), 90, 200, 0xff}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

// The picture of wayvnc is the compositor's own, in each of its encodings, and
// close to it with JPEG.
func TestWayVNCPicture(t *testing.T) {
	s := startSway(t)
	s.show(t, "first", bands(1))
	s.serve(t, "")
	seed := 1
	for _, n := range []int32{rect.TypeRaw, rect.TypeZRLE, rect.TypeTight} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{n}}), s.target(), nil)
			l.Look(t)
			for range 2 {
				seed++
				s.show(t, fmt.Sprint("bands", seed), bands(seed))
				l.Until(t, "the compositor's own picture", func() bool { return same(l, s.picture(t)) && l.At(0, 0) == bands(seed).RGBAAt(0, 0) })
			}
			used(t, l, n)
		})
	}
	t.Run("JPEG", func(t *testing.T) {
		l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{rect.TypeTight}, Quality: 9}), s.target(), nil)
		l.Look(t)
		want := s.picture(t)
		if n := mean(l, want); n > 4 {
			t.Errorf("apart by %d on the average", n)
		}
	})
	if _, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), withEncryption(s.target()), nil, nil); viewer.KindOf(err) != viewer.Unsupported {
		t.Errorf("encryption is required: got %v", err)
	}
}

func withEncryption(t viewer.Target) viewer.Target {
	t.RequireEncryption = true
	return t
}

// mean is the average difference of a sample between the frame and img.
func mean(l *viewertest.Live, img *image.RGBA) int {
	v, ok := l.Frame.Snapshot(image.Rectangle{}, nil)
	if !ok || v.Image.Rect != img.Rect {
		return 256
	}
	sum := 0
	for i, p := range v.Image.Pix {
		d := int(p) - int(img.Pix[i])
		sum += max(d, -d)
	}
	return sum / (len(img.Pix) * 3 / 4)
}

var (
	wevButton = regexp.MustCompile(`button: (\d+) \(\w+\), state: (\d)`)
	wevMotion = regexp.MustCompile(`(?:motion|enter): .*x, y: (\d+)\.\d+, (\d+)\.`)
	wevState  = regexp.MustCompile(`^\[(\d+):.*key: serial: .*state: (\d)`)
	wevSym    = regexp.MustCompile(`sym: (\S+) `)
)

// wev runs wev on the screen and gives what it sees, one word an event.
func (s *waySession) wev(t testing.TB) (seen func(want ...string), ready func()) {
	t.Helper()
	need(t, "wev")
	cmd := s.command(need(t, "stdbuf"), "-oL", "wev")
	r, w := io.Pipe()
	cmd.Stdout = w
	start(t, cmd)
	var mu sync.Mutex
	var list []string
	over, shown := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		var once sync.Once
		at, down, keyboard := "", "", ""
		for lines := bufio.NewScanner(r); lines.Scan(); {
			line := lines.Text()
			word := ""
			if m := wevMotion.FindStringSubmatch(line); m != nil {
				at = m[1] + "," + m[2]
			} else if m := wevButton.FindStringSubmatch(line); m != nil {
				word = "button " + m[1] + " " + m[2] + " at " + at
			} else if m := wevState.FindStringSubmatch(line); m != nil {
				// wev takes the keyboard again with each of its announcements, and
				// sees each key as often.
				if keyboard == "" {
					keyboard = m[1]
				}
				if m[1] == keyboard {
					down = m[2]
				}
			} else if m := wevSym.FindStringSubmatch(line); m != nil && down != "" {
				word, down = "key "+m[1]+" "+down, ""
			}
			if strings.Contains(line, "width: 640; height: 480") {
				once.Do(func() { close(shown) })
			}
			if word != "" {
				mu.Lock()
				list = append(list, word)
				mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() { w.Close(); <-over })
	return func(want ...string) {
			t.Helper()
			for end := time.Now().Add(viewertest.Patience); ; time.Sleep(20 * time.Millisecond) {
				mu.Lock()
				got := slices.Clone(list)
				mu.Unlock()
				if slices.Equal(got, want) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("wev saw %q, want %q", got, want)
				}
			}
		}, func() {
			t.Helper()
			select {
			case <-shown:
			case <-time.After(viewertest.Patience):
				t.Fatal("wev shows no window")
			}
		}
}

// Keys and clicks arrive at a window of the Wayland desktop.
func TestWayVNCInput(t *testing.T) {
	s := startSway(t)
	seen, ready := s.wev(t)
	ready()
	s.serve(t, "")
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	want := []string{"key a 1", "key a 0", "key Shift_L 1", "key X 1", "key X 0", "key Shift_L 0", "key Right 1", "key Right 0"}
	l.Post(t, press(viewer.Key{Sym: 'a'})...)
	l.Post(t, viewer.Key{Sym: 0xffe1, Down: true}, viewer.Key{Sym: 'X', Down: true}, viewer.Key{Sym: 'X'}, viewer.Key{Sym: 0xffe1})
	l.Post(t, press(viewer.Key{Sym: 0xff53})...)
	seen(want...)
	for i, b := range []viewer.Buttons{viewer.Left, viewer.Middle, viewer.Right} {
		at := viewer.Pointer{X: 33 + i, Y: 44}
		held := at
		held.Buttons = b
		l.Post(t, at, held, at)
		n := []string{"272", "274", "273"}[i]
		want = append(want, fmt.Sprintf("button %s 1 at %d,44", n, 33+i), fmt.Sprintf("button %s 0 at %d,44", n, 33+i))
		seen(want...)
	}
}

// Text goes both ways, as far as the server carries it.
func TestWayVNCClipboard(t *testing.T) {
	s := startSway(t)
	for _, p := range []string{"wl-copy", "wl-paste"} {
		need(t, p)
	}
	s.serve(t, "")
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	s.clip(t, l, "")
}

// clip has text go both ways; without a text such as this machine carries,
// Latin-1 alone to it.
func (s *waySession) clip(t testing.TB, l *viewertest.Live, text string) {
	t.Helper()
	there, here := "Grüße 漢字 from there", "plain words"
	if text != "" {
		there, here = "there: "+text, "here: "+text
	}
	cmd := s.command("wl-copy", "--foreground")
	cmd.Stdin = strings.NewReader(there)
	start(t, cmd)
	gotText(t, l, there)
	ctx, cancel := context.WithTimeout(t.Context(), viewertest.Patience)
	defer cancel()
	if _, err := l.Session.(viewer.Clipboard).SetClipboard(ctx, here); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(viewertest.Patience); ; time.Sleep(50 * time.Millisecond) {
		out, _ := s.command("wl-paste", "--no-newline").Output()
		if string(out) == here {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the clipboard has %q, want %q", out, here)
		}
	}
}

// Logging in with a name and a password inside of TLS, the only login that
// wayvnc has.
func TestWayVNCLogin(t *testing.T) {
	s := startSway(t)
	_, args := certificate(t)
	for i, name := range []string{"cert", "key"} {
		b, err := os.ReadFile(args[1+2*i])
		if err != nil {
			t.Fatal(err)
		}
		s.file(t, name, b)
	}
	s.show(t, "first", bands(1))
	s.serve(t, fmt.Sprintf("enable_auth=true\nusername=bob\npassword=pässword\nprivate_key_file=%s/key\ncertificate_file=%s/cert\n", s.dir, s.dir))
	login := func(password string) (*viewertest.Live, error) {
		return viewertest.TryOpen(t, rfb.New(rfb.Options{}), withEncryption(s.target()), viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
			if q.Kind == viewer.AskCertificate {
				return viewer.Answer{Accept: true}, nil
			}
			return viewer.Answer{User: "bob", Secret: viewer.SecretString(password)}, nil
		}), nil)
	}
	if _, err := login("other"); viewer.KindOf(err) != viewer.Denied || strings.Contains(err.Error(), "other") {
		t.Errorf("a wrong password: got %v", err)
	}
	l, err := login("pässword")
	if err != nil {
		t.Fatal(err)
	}
	l.Look(t)
	l.Until(t, "the compositor's own picture", func() bool { return same(l, s.picture(t)) })
	if e, ok := l.Session.(viewer.Encrypter); !ok || !e.Encrypted() {
		t.Error("it does not count as encrypted")
	}
}
