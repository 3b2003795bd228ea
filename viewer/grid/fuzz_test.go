package grid

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// pieces are what the fuzz target builds programs of.
var pieces = []string{
	"a", "hello world ", "日本語", "e\u0301", "👩‍👩‍👧", "🇩🇪", "❤\ufe0f", "\u0301\u0302\u0303", "\r\n", "\n", "\r", "\b", "\t", "\x0e", "\x0f",
	"\x1b7", "\x1b8", "\x1bc", "\x1bD", "\x1bM", "\x1bE", "\x1bH", "\x1b#8", "\x1b(0", "\x1b(B", "\x1bN", "\x1b6", "\x1b9",
	"\x1b[A", "\x1b[9B", "\x1b[99C", "\x1b[D", "\x1b[H", "\x1b[5;20H", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[3J", "\x1b[K", "\x1b[1K", "\x1b[2K",
	"\x1b[@", "\x1b[3@", "\x1b[P", "\x1b[7P", "\x1b[L", "\x1b[3M", "\x1b[X", "\x1b[4X", "\x1b[S", "\x1b[T", "\x1b[9999S", "\x1b[b", "\x1b[99999b",
	"\x1b[2;5r", "\x1b[r", "\x1b[?69h\x1b[3;9s", "\x1b[?69l", "\x1b[?6h", "\x1b[?6l", "\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[20h", "\x1b[20l",
	"\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?1048h", "\x1b[?1048l", "\x1b[?2027h", "\x1b[?2027l",
	"\x1b[?45h", "\x1b[1;31;4:3;58;5;9m", "\x1b[38;2;1;2;3;48:5:200m", "\x1b[m", "\x1b[7;44m", "\x1b[g", "\x1b[3g", "\x1b[I", "\x1b[99Z", "\x1b[!p",
	"\x1b]8;id=a;http://a.example/\x1b\\", "\x1b]8;;\x07", "\x1b]0;title\x07", "\x1b]52;c;aGVsbG8=\x07", "\x1b]4;1;rgb:ff/00/00\x07", "\x1b]11;?\x07",
	"\x1bP$qm\x1b\\", "\x1b[c", "\x1b[6n", "\x1b[?2026h", "\x1b[?2026l", "\x1b[1\"q", "\x1b[?J", "\x1b[2'}", "\x1b[2'~", "\x1b[2 @", "\x1b[2 A", "\x1b[>1u", "\x1b[<u",
	"\xff\xfe", "\xe2\x82", "\xf0\x9f\x98", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b", "\x18", "\x1b[?1003;1006;2004h", "\x1b[99999999999999999999d", ";;;;:::1", "\x1b[22t\x1b[23t",
}

// program makes terminal output of fuzz bytes: each is a piece, or 255 and the
// byte that follows it.
func program(data []byte) []byte {
	var b []byte
	for i := 0; i < len(data); i++ {
		if data[i] == 255 && i+1 < len(data) {
			i++
			b = append(b, data[i])
			continue
		}
		b = append(b, pieces[int(data[i])%len(pieces)]...)
	}
	return b
}

// FuzzTerminal feeds programs with resizes between them, whole to one terminal
// and in cuts to another: nothing panics, both end the same, and both are in
// order.
func FuzzTerminal(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x08\x1f"), []byte{5, 3}, uint64(1))
	all := make([]byte, len(pieces))
	for i := range all {
		all[i] = byte(i)
	}
	f.Add(all, []byte{20, 5, 7, 9, 40, 2}, uint64(2))
	for i := range pieces {
		f.Add([]byte{byte(i), 1, 8, byte(i), 2}, []byte{2, 1}, uint64(i))
	}
	f.Fuzz(func(t *testing.T, data, sizes []byte, seed uint64) {
		if len(data) > 4096 {
			data = data[:4096]
		}
		if len(sizes) > 8 {
			sizes = sizes[:8]
		}
		out := program(data)
		whole, cuts := New(Options{Cols: 20, Rows: 6, Scrollback: 30}), New(Options{Cols: 20, Rows: 6, Scrollback: 30})
		rng := rand.New(rand.NewPCG(seed, 7))
		var v View
		var at Cursor
		for round := 0; ; round++ {
			n := len(out)
			if len(sizes) >= 2 {
				n = rng.IntN(len(out) + 1)
			}
			part := out[:n]
			out = out[n:]
			whole.Write(part)
			for len(part) > 0 {
				k := 1
				if seed%2 == 0 {
					k = 1 + rng.IntN(len(part))
				}
				cuts.Write(part[:k])
				part = part[k:]
			}
			if d := same(dump(whole), dump(cuts)); d != "" {
				t.Fatalf("whole and in cuts differ: %s", d)
			}
			if b := broken(whole); b != "" {
				t.Fatal(b)
			}
			v.Scroll(int(seed%5) - 2)
			whole.Update(&v)
			p := whole.Read(at, 64)
			if p.More && p.Next == at {
				t.Fatalf("a read does not go on: %+v gave %+v", at, p)
			}
			at = p.Next
			visit(t, whole, &v)
			if len(sizes) < 2 {
				break
			}
			whole.Resize(int(sizes[0]%64), int(sizes[1]%24))
			cuts.Resize(int(sizes[0]%64), int(sizes[1]%24))
			sizes = sizes[2:]
			if b := broken(whole); b != "" {
				t.Fatalf("after a resize: %s", b)
			}
			if d := same(dump(whole), dump(cuts)); d != "" {
				t.Fatalf("after a resize whole and in cuts differ: %s", d)
			}
		}
		whole.LinkLost()
		if b := broken(whole); b != "" {
			t.Fatalf("after the link was lost: %s", b)
		}
	})
}

// visit uses all that reads, at places in and outside of what there is.
func visit(t *testing.T, g *Terminal, v *View) {
	epoch, all := g.All()
	text, ok := g.Text(epoch, all)
	if !ok || len(text) > 1<<20 {
		t.Fatal("the text of everything")
	}
	for _, p := range []Pos{all.From, all.To, {v.Top, 0}, {v.Top, v.Cols - 1}, {v.Top + 1, 3}, {-1, 0}, {v.Top + 99, -4}} {
		if s, ok := g.Word(v.Epoch, p); ok && s.To.Before(s.From) {
			t.Fatalf("a word from %v to %v", s.From, s.To)
		}
		g.Line(v.Epoch, p)
		g.Link(v.Epoch, p)
		g.Text(epoch, Span{From: Pos{v.Top, 1}, To: p, Block: true})
	}
	q, err := NewQuery("L", false, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, back := range []bool{false, true} {
		at, n := all.From, 0
		if back {
			at = all.To
		}
		for {
			s, ok := g.Find(q, epoch, at, back)
			if !ok {
				break
			}
			at = s.From
			if n++; n > 1<<16 {
				t.Fatal("a search does not end")
			}
		}
	}
	for y := range v.Rows {
		for _, c := range v.Row(y) {
			if s := v.Text(c); s == "" || strings.ContainsAny(s, "\x00\x1b") {
				t.Fatalf("a cell reads %q", s)
			}
			v.Extra(c)
		}
	}
}
