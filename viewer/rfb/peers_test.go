package rfb_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// own puts text on the X clipboard; xclip serves it until another owner comes.
func (s *xServer) own(t testing.TB, text string, args ...string) {
	t.Helper()
	cmd := exec.Command(need(t, "xclip"), append([]string{"-display", s.display, "-selection", "clipboard", "-i", "-quiet"}, args...)...)
	cmd.Stdin = strings.NewReader(text)
	start(t, cmd)
}

// clip reads the X clipboard until it has want.
func (s *xServer) clip(t testing.TB, want string) {
	t.Helper()
	p := need(t, "xclip")
	var got []byte
	for end := time.Now().Add(viewertest.Patience); time.Now().Before(end); {
		got, _ = exec.Command(p, "-display", s.display, "-selection", "clipboard", "-o", "-t", "UTF8_STRING").Output()
		if string(got) == want {
			return
		}
	}
	t.Fatalf("the clipboard has %d bytes %.60q, want %d bytes %.60q", len(got), got, len(want), want)
}

// gotText waits until the machine has told of a text.
func gotText(t testing.TB, l *viewertest.Live, want string) {
	t.Helper()
	l.Event(t, fmt.Sprintf("the text of %d bytes %.40q", len(want), want), func(e viewer.Event) bool {
		c, ok := e.(viewer.CutText)
		return ok && c.Text == want
	})
}

func setClipboard(t testing.TB, l *viewertest.Live, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), viewertest.Patience)
	defer cancel()
	if lost, err := l.Session.(viewer.Clipboard).SetClipboard(ctx, text); lost != 0 || err != nil {
		t.Fatalf("%d characters lost, %v", lost, err)
	}
}

// long is a text of n bytes that is like no other.
func long(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	for b.Len() < n-8 {
		fmt.Fprintf(&b, "%x\n", r.Uint32())
	}
	return b.String()
}

// Characters outside of Latin-1 and long texts go both ways whole (C082, C084,
// C087, C092).
func TestTigerVNCClipboard(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None", "-MaxCutText", "20000000")
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	texts := []string{"€ Ü 漢字 🙂", "äÿ café", "日本語 😀 zażółć\nzwei\n\nvier", "x", long(9<<10, 1), long(300<<10, 2), long(3<<20, 3)}
	for _, text := range texts {
		setClipboard(t, l, text)
		s.clip(t, text)
	}
	texts[len(texts)-1] = long(600<<10, 4) // Xtigervnc takes no more of an X program
	for _, text := range texts {
		text = "from there: " + text
		s.own(t, text)
		gotText(t, l, text)
	}
	s.own(t, "\x89PNG", "-t", "image/png")
	for end := time.Now().Add(viewertest.Patience); ; {
		// It owns the clipboard once it answers.
		got, _ := exec.Command(need(t, "xclip"), "-display", s.display, "-selection", "clipboard", "-o", "-t", "TARGETS").Output()
		if strings.Contains(string(got), "image/png") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the picture is not on the clipboard")
		}
	}
	s.own(t, "after a picture")
	gotText(t, l, "after a picture")
	if l.Err() != nil {
		t.Error(l.Err())
	}
}

// A paste right after a copy has the newest text, each time (C090): the key
// that pastes comes after the word of the text.
func TestTigerVNCPasteIsTheNewest(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	xev := startXev(t, s.display)
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	l.Event(t, "the lock keys, which follow what the clipboard can", func(e viewer.Event) bool { _, ok := e.(viewer.LockState); return ok })
	p := need(t, "xclip")
	for i := range 50 {
		text := fmt.Sprintf("%d %x", i, rand.Uint64())
		setClipboard(t, l, text)
		l.Post(t, press(viewer.Key{Sym: 'v'})...)
		xev.wait(t, 2*(i+1))
		got, err := exec.Command(p, "-display", s.display, "-selection", "clipboard", "-o", "-t", "UTF8_STRING").Output()
		if err != nil || string(got) != text {
			t.Fatalf("round %d: pasted %q, %v, want %q", i, got, err, text)
		}
	}
}

// stall is a connection whose reads can be held up.
type stall struct {
	net.Conn
	mu sync.RWMutex // held while nothing is read
}

func (s *stall) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return n, err
}

// Continuous updates are used, and go on after the network has stood still
// while the picture was moving (C131).
func TestTigerVNCContinuousUpdatesAfterAStall(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	var wire *stall
	l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), s.target(), nil, func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		wire = &stall{Conn: c}
		return wire, err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Look(t)
	paint := func(n int) {
		for i := range n {
			s.fill(t, image.Rect(i%600, i%400, i%600+40, i%400+40), color.RGBA{uint8(i), uint8(i >> 3), 77, 0xff})
		}
		want := s.picture(t)
		l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
	}
	paint(50)
	wire.mu.Lock()
	end := time.After(stallTime())
	for i, over := 0, false; !over; i++ {
		s.fill(t, image.Rect(i%600, i%400, i%600+40, i%400+40), color.RGBA{uint8(i), 1, 2, 0xff})
		select {
		case <-end:
			over = true
		default:
		}
	}
	wire.mu.Unlock()
	paint(50)
	if a := l.Session.(viewer.Signaller).Signals()[viewer.SignalFence].Availability; a != viewer.Live {
		t.Errorf("the fence signal is %q", a)
	}
	l.Session.(viewer.Desktop).Demand(false)
	l.Session.(viewer.Desktop).Demand(true)
	paint(20)
}

// stallTime is how long the network stands still in a test.
func stallTime() time.Duration {
	if os.Getenv("DESKVNC_EXHAUSTIVE") != "" {
		return 30 * time.Second
	}
	return 3 * time.Second
}

// Xtigervnc tells its lock keys, and takes those of the keyboard (C102).
func TestTigerVNCLockKeys(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None")
	xev := startXev(t, s.display)
	l := viewertest.Open(t, rfb.New(rfb.Options{}), s.target(), nil)
	l.Look(t)
	l.Event(t, "the lock keys", func(e viewer.Event) bool { _, ok := e.(viewer.LockState); return ok })
	on := viewer.Locks{Caps: true, Known: true}
	l.Post(t, viewer.Key{Sym: 'A', Down: true, Locks: on}, viewer.Key{Sym: 'A', Locks: on})
	l.Event(t, "Caps Lock on", func(e viewer.Event) bool { s, ok := e.(viewer.LockState); return ok && s.Locks.Caps })
	seen := xev.wait(t, 4)
	if seen[0].Sym != 0xffe5 || seen[2].Sym != 'A' || seen[3].Sym != 'A' {
		t.Errorf("got %v, want Caps Lock and then A", seen)
	}
	off := viewer.Locks{Known: true}
	l.Post(t, viewer.Key{Sym: 'a', Down: true, Locks: off}, viewer.Key{Sym: 'a', Locks: off})
	if seen = xev.wait(t, 8); seen[6].Sym != 'a' {
		t.Errorf("got %v, want a at the end", seen)
	}
}

// Everything is sent by position to a machine that takes it: the X server
// makes the symbols of its own layout of them.
func TestTigerVNCKeysByPosition(t *testing.T) {
	s := startTiger(t, "-SecurityTypes", "None", "-RawKeyboard")
	xev := startXev(t, s.display)
	target := s.target()
	target.Keys = viewer.KeysByPosition
	l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
	l.Look(t)
	l.Post(t, press(viewer.Key{Sym: 0xf6, Scan: 0x27})...)     // ö there is ; here
	l.Post(t, press(viewer.Key{Sym: 0xff53, Scan: 0xe04d})...) // Right
	seen := xev.wait(t, 4)
	if seen[0].Sym != ';' || seen[2].Sym != 0xff53 {
		t.Errorf("got %v, want ; and Right", seen)
	}
}
