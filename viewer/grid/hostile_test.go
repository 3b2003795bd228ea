package grid

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// heap is what is in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// hang is how long one of the floods may take before it counts as hung, on the
// slowest machine and with the race detector.
const hang = 2 * time.Minute

// TestHostile feeds floods: nothing panics or hangs, what is inside stays in
// order, and the memory stays within what a full scrollback takes.
func TestHostile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 2<<20)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	sequences := func(n int) []byte {
		var b bytes.Buffer
		for b.Len() < n {
			switch rng.IntN(4) {
			case 0:
				b.WriteString(pieces[rng.IntN(len(pieces))])
			case 1:
				fmt.Fprintf(&b, "\x1b[%d;%d%c", rng.IntN(200), rng.IntN(70000), "ABCDEFGHIJKLMPSTXZ@`abdefghlmnrstu"[rng.IntN(34)])
			case 2:
				fmt.Fprintf(&b, "\x1b[?%d%c", []int{1, 3, 5, 6, 7, 25, 40, 45, 47, 69, 1047, 1048, 1049, 2026, 2027}[rng.IntN(15)], "hl"[rng.IntN(2)])
			default:
				b.WriteString("some text 日本 e\u0301")
			}
		}
		return b.Bytes()
	}
	repeat := func(s string, n int) []byte { return bytes.Repeat([]byte(s), n/len(s)+1) }
	floods := map[string][]byte{
		"random":           random,
		"sequences":        sequences(2 << 20),
		"huge numbers":     repeat("\x1b[99999999999I\x1b[2147483647A\x1b[4294967296B\x1b[99999999999S\x1b[65535b\x1b[99999999T\x1b[999999999L\x1b[99999999P\x1b[999999999X\x1b[999999999Z", 1<<20),
		"repeat":           append([]byte("x"), repeat("x\x1b[65535b", 1<<18)...),
		"endless number":   append([]byte("\x1b["), repeat("9", 4<<20)...),
		"endless params":   append([]byte("\x1b["), repeat("1;", 4<<20)...),
		"endless parts":    append([]byte("\x1b[4"), repeat(":3", 4<<20)...),
		"endless OSC":      append([]byte("\x1b]2;"), repeat("title", 32<<20)...),
		"endless DCS":      append([]byte("\x1bPq"), repeat("data", 32<<20)...),
		"endless APC":      append([]byte("\x1b_"), repeat("data", 32<<20)...),
		"OSC opened":       repeat("\x1b]52;c;", 4<<20),
		"marks on one":     append([]byte("a"), repeat("\u0301", 8<<20)...),
		"whole screens":    repeat("\x1b#8", 64<<10),
		"screens erased":   repeat("\x1b[41m\x1b[2J\x1b#8\x1b[H\x1b[J\x1bc", 128<<10),
		"alternate":        repeat("\x1b[?1049h\x1b#8\x1b[?1049l", 128<<10),
		"cursor questions": repeat("\x1b[6n\x1b[c\x1b]11;?\x07\x1b[?1$p", 2<<20),
		"bells and titles": repeat("\x07\x1b]2;a\x07\x1b]2;b\x07\x1b]9;note\x07", 2<<20),
		"keyboard pushed":  repeat("\x1b[>1u\x1b[22t", 1<<20),
		"palette":          repeat("\x1b]4;1;#111;2;#222;3;?\x07", 1<<20),
	}
	var marks, links, named bytes.Buffer
	for i := range 300_000 {
		fmt.Fprintf(&marks, "%c%c%c%c", 0x4e00+i%20000, 0x300+i%100, 0x300+i/100%100, 0x300+i/10000%100)
		fmt.Fprintf(&links, "\x1b]8;id=%d;http://host.example/%0200d\x07x", i, i)
		fmt.Fprintf(&named, "\x1b[58;2;%d;%d;%dmx", i%256, i/256%256, i/65536%256)
	}
	floods["many marked"], floods["many links"], floods["underlines"] = marks.Bytes(), links.Bytes(), named.Bytes()

	before := heap()
	for name, data := range floods {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			g := New(Options{Cols: 100, Rows: 30, Scrollback: 1000})
			go func() {
				defer close(done)
				for b := data; len(b) > 0; {
					n := min(len(b), 32<<10)
					g.Write(b[:n])
					b = b[n:]
				}
			}()
			select {
			case <-done:
			case <-time.After(hang):
				t.Fatal("hung")
			}
			if b := broken(g); b != "" {
				t.Fatal(b)
			}
			if grown := heap() - before; grown > int64(cap(data))+32<<20 {
				t.Errorf("the heap grew by %d MB", grown>>20)
			}
			// It still works.
			g.Write([]byte("\x18\x1b\\\x1bc\x1b[31mfine"))
			if s := g.Screen(); s.Lines[0] != "fine" {
				t.Errorf("afterwards the screen is %q", s.Lines[0])
			}
			runtime.KeepAlive(data)
		})
	}
}

// TestLargest makes the largest screen with the most scrollback: its memory is
// bounded.
func TestLargest(t *testing.T) {
	before := heap()
	g := New(Options{Cols: 1 << 20, Rows: 1 << 20})
	if w, h := g.Size(); w != MaxCols || h != MaxRows {
		t.Fatalf("got %dx%d", w, h)
	}
	g.Write(bytes.Repeat([]byte("x\x1b[65535b"), 30))
	g.Resize(-5, 0)
	if w, h := g.Size(); w != MinCols || h != MinRows {
		t.Fatalf("got %dx%d", w, h)
	}
	g.Write([]byte("日本e\u0301\x1b#8\x1b[?1049h日\x1b[?1049l"))
	if b := broken(g); b != "" {
		t.Fatal(b)
	}
	g.Resize(500, 50)
	for range 3 {
		g.Write(plainLog(1 << 20))
	}
	if grown := heap() - before; grown > 160<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	runtime.KeepAlive(g)
}

// TestScrollbackMemory: ten thousand lines of 120 columns take less than
// 25 MB.
func TestScrollbackMemory(t *testing.T) {
	data := plainLog(2 << 20)
	before := heap()
	g := New(Options{Cols: 120, Rows: 40})
	g.Write(data)
	grown := heap() - before
	if g.ring.n != DefaultScrollback {
		t.Fatalf("%d rows", g.ring.n)
	}
	t.Logf("%.1f MB", float64(grown)/(1<<20))
	if grown > 25<<20 {
		t.Errorf("%d bytes", grown)
	}
	runtime.KeepAlive(data)
}
