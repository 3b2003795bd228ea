package rfb_test

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// echoSector is a boot sector that prints > and then each key that is typed,
// on the screen and on the serial line.
func echoSector() []byte {
	b := []byte{
		0xb0, '>', // mov al, '>'
		0xba, 0xf8, 0x03, // mov dx, COM1
		0xee,       // out dx, al
		0x31, 0xc0, // again: xor ax, ax
		0xcd, 0x16, // int 16h: wait for a key
		0xba, 0xf8, 0x03, // mov dx, COM1
		0xee,       // out dx, al
		0xb4, 0x0e, // mov ah, 0eh
		0xbb, 0x07, 0x00, // mov bx, 7
		0xcd, 0x10, // int 10h: print
		0xeb, 0xef, // jmp again
	}
	b = append(b, make([]byte, 512-len(b))...)
	b[510], b[511] = 0x55, 0xaa
	return b
}

// A qemu is a virtual machine that echoes keys.
type qemu struct {
	socket string

	mu   sync.Mutex // guards below
	text string
	wake *sync.Cond
	over bool
}

func startQEMU(t *testing.T, args ...string) *qemu {
	t.Helper()
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	if err := os.WriteFile(disk, echoSector(), 0o600); err != nil {
		t.Fatal(err)
	}
	q := &qemu{socket: filepath.Join(dir, "vnc")}
	q.wake = sync.NewCond(&q.mu)
	r, w := io.Pipe()
	cmd := exec.Command(need(t, "qemu-system-x86_64"), append([]string{"-nodefaults", "-vga", "std", "-m", "32", "-display", "none", "-name", "vm1",
		"-serial", "stdio", "-drive", "file=" + disk + ",format=raw,if=ide,snapshot=on", "-vnc", "unix:" + q.socket}, args...)...)
	cmd.Stdout = w
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.read(r)
	}()
	t.Cleanup(func() {
		w.Close()
		<-ended
	})
	start(t, cmd)
	q.wait(t, ">")
	return q
}

func (q *qemu) read(r io.Reader) {
	b := make([]byte, 256)
	var err error
	for err == nil {
		var n int
		n, err = r.Read(b)
		q.mu.Lock()
		q.text += string(b[:n])
		q.over = q.over || err != nil
		q.wake.Broadcast()
		q.mu.Unlock()
	}
}

// wait waits until the machine has echoed all of want, from its start on.
func (q *qemu) wait(t testing.TB, want string) {
	t.Helper()
	guard := time.AfterFunc(viewertest.Patience, func() {
		q.mu.Lock()
		q.over = true
		q.wake.Broadcast()
		q.mu.Unlock()
	})
	defer guard.Stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.text) < len(want) && !q.over {
		q.wake.Wait()
	}
	if !strings.HasPrefix(q.text, want) {
		t.Fatalf("the machine echoed %q, want %q", q.text, want)
	}
}

func (q *qemu) open(t *testing.T, target viewer.Target) *viewertest.Live {
	t.Helper()
	target.Protocol, target.Address, target.Port = viewer.VNC, "127.0.0.1", 5900
	l, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", q.socket)
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Look(t)
	return l
}

// Text that an agent types arrives as it is, capital letters and punctuation
// too, in each way of sending keys (C104, C105, C106).
func TestQEMUTyping(t *testing.T) {
	q := startQEMU(t)
	echoed := ">"
	for _, mode := range []viewer.KeyMode{viewer.KeysAuto, viewer.KeysBySymbol, viewer.KeysByPosition} {
		l := q.open(t, viewer.Target{Keys: mode})
		l.Event(t, "the lock keys", func(e viewer.Event) bool { _, ok := e.(viewer.LockState); return ok })
		for _, in := range chunks(typed("Hello_World-42 (a>b) & {x}~$#ABCdef XYZ FOO")) {
			l.Post(t, in...)
			echoed += string(in[0].(viewer.Key).Rune)
			q.wait(t, echoed)
		}
		l.Close()
		for _, e := range l.Events() {
			if s, ok := e.(viewer.LockState); ok && s.Locks.Caps {
				t.Errorf("%q: Caps Lock is on", mode)
			}
		}
	}
}

// chunks are the press and release of one key each: a BIOS keeps few keys.
func chunks(in []viewer.Input) (out [][]viewer.Input) {
	for ; len(in) >= 2; in = in[2:] {
		out = append(out, in[:2])
	}
	return out
}

// A person's keys go by their position, with the lock keys of the keyboard
// (C102, C103, C107).
func TestQEMUKeysOfAPerson(t *testing.T) {
	q := startQEMU(t)
	l := q.open(t, viewer.Target{})
	l.Event(t, "the lock keys", func(e viewer.Event) bool { _, ok := e.(viewer.LockState); return ok })
	l.Event(t, "a notice of relative motion", func(e viewer.Event) bool { _, ok := e.(viewer.Notice); return ok })
	off, caps := viewer.Locks{Known: true}, viewer.Locks{Caps: true, Num: true, Known: true}
	l.Post(t, press(viewer.Key{Sym: 0xf6, Scan: 0x27, Rune: 'ö', Locks: off})...)
	q.wait(t, ">;")
	l.Post(t, press(viewer.Key{Sym: 'A', Scan: 0x1e, Locks: caps})...)
	q.wait(t, ">;A")
	l.Event(t, "Caps Lock and Num Lock on", func(e viewer.Event) bool {
		s, ok := e.(viewer.LockState)
		return ok && s.Locks.Caps && s.Locks.Num
	})
	l.Post(t, press(viewer.Key{Sym: 0xffb1, Scan: 0x4f, Locks: caps})...) // keypad 1
	q.wait(t, ">;A1")
	l.Post(t, press(viewer.Key{Sym: 'a', Scan: 0x1e, Locks: viewer.Locks{Num: true, Known: true}})...)
	q.wait(t, ">;A1a")
	if a := l.Session.(viewer.Signaller).Signals()[viewer.SignalLEDState].Availability; a != viewer.Live {
		t.Errorf("the signal is %q", a)
	}
}

// The pointer of a machine without a tablet is moved by the way between two
// places, as QEMU itself sees it.
func TestQEMURelativePointer(t *testing.T) {
	log := filepath.Join(t.TempDir(), "trace")
	q := startQEMU(t, "-D", log, "-trace", "input_event_rel", "-trace", "input_event_btn")
	l := q.open(t, viewer.Target{})
	l.Event(t, "a notice of relative motion", func(e viewer.Event) bool { _, ok := e.(viewer.Notice); return ok })
	l.Post(t, viewer.Pointer{X: 100, Y: 100}, viewer.Pointer{X: 110, Y: 95, Buttons: viewer.Left}, viewer.Pointer{X: 110, Y: 95}, viewer.Motion{DX: -7, DY: 3})
	l.Post(t, press(viewer.Key{Sym: 'x', Scan: 0x2d})...)
	q.wait(t, ">x") // all before has been taken
	l.Close()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"axis x, value 10\n", "axis y, value -5\n", "axis x, value -7\n", "axis y, value 3\n", "button left, down 1\n", "button left, down 0\n"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the trace has no %q:\n%s", want, b)
		}
	}
}
