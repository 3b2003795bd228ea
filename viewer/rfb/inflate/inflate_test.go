package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// readAll reads all output of the segment, in pieces of at least n bytes.
func readAll(z *Reader, n int) ([]byte, error) {
	var out []byte
	for {
		b, err := z.Need(n)
		out = append(out, b...)
		z.Skip(len(b))
		if err != nil || len(b) == 0 {
			return out, err
		}
	}
}

// sample makes n bytes of the kind that rectangles inflate to: runs, repeated
// patterns of a few colours, and noise.
func sample(r *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+300)
	for len(b) < n {
		switch r.IntN(5) {
		case 0:
			for range r.IntN(300) {
				b = append(b, byte(len(b)))
			}
		case 1:
			v := byte(r.Uint32())
			for range r.IntN(300) {
				b = append(b, v)
			}
		case 2:
			period := 1 + r.IntN(40)
			for range r.IntN(300) {
				if len(b) < period {
					b = append(b, 1)
				} else {
					b = append(b, b[len(b)-period])
				}
			}
		case 3:
			for range r.IntN(100) {
				b = append(b, byte(r.Uint32()))
			}
		default:
			if len(b) > 40000 {
				at := len(b) - 32768 + r.IntN(200)
				b = append(b, b[at:at+r.IntN(200)]...)
			}
		}
	}
	return b[:n]
}

func TestSegmentsOfEveryLevel(t *testing.T) {
	for _, level := range []int{-2, 0, 1, 6, 9} {
		t.Run(fmt.Sprint("level ", level), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(level+3)))
			var wire bytes.Buffer
			w, err := zlib.NewWriterLevel(&wire, level)
			if err != nil {
				t.Fatal(err)
			}
			var z Reader
			for i := range 200 {
				size := r.IntN(3000)
				if i%40 == 0 {
					size = r.IntN(400_000)
				}
				want := sample(r, size)
				if _, err := w.Write(want); err != nil {
					t.Fatal(err)
				}
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				z.Begin(int64(size))
				z.Feed(append([]byte(nil), wire.Bytes()...))
				wire.Reset()
				got, err := readAll(&z, 1+r.IntN(MaxNeed))
				if err != nil {
					t.Fatalf("segment %d: %v", i, err)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("segment %d of %d bytes: got %d bytes that differ", i, len(want), len(got))
				}
			}
		})
	}
}

// A stream may be cut anywhere: inside of a code, of a table, of a header.
func TestCutAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	want := sample(r, 50_000)
	for _, level := range []int{-2, 0, 1, 9} {
		var wire bytes.Buffer
		w, err := zlib.NewWriterLevel(&wire, level)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(want); i += 1000 {
			w.Write(want[i : i+1000])
			w.Flush()
		}
		w.Close()
		for _, most := range []int{1, 2, 7, 50, 5000} {
			var z Reader
			var got []byte
			for src := wire.Bytes(); len(src) > 0; {
				n := min(len(src), 1+r.IntN(most))
				if len(got) == 0 || r.IntN(2) == 0 {
					z.Begin(int64(len(want)))
				}
				z.Feed(append([]byte(nil), src[:n]...))
				b, err := readAll(&z, 1)
				if err != nil {
					t.Fatalf("level %d, pieces of at most %d: %v", level, most, err)
				}
				got = append(got, b...)
				src = src[n:]
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("level %d, pieces of at most %d: got %d bytes that differ", level, most, len(got))
			}
		}
	}
}

func TestBombStopsAtTheLimit(t *testing.T) {
	var wire bytes.Buffer
	w := zlib.NewWriter(&wire)
	zeros := make([]byte, 1<<20)
	for range 64 {
		w.Write(zeros)
	}
	w.Flush()
	for _, limit := range []int64{0, 1, 100, 1 << 20} {
		var z Reader
		z.Begin(limit)
		z.Feed(wire.Bytes())
		out, err := readAll(&z, 1)
		if !errors.Is(err, ErrTooLong) {
			t.Fatalf("limit %d: got %v, want %v", limit, err, ErrTooLong)
		}
		if int64(len(out)) > limit {
			t.Fatalf("limit %d: got %d bytes", limit, len(out))
		}
	}
	var z Reader
	z.Begin(64 << 20)
	z.Feed(wire.Bytes())
	if err := z.End(); err != nil {
		t.Fatalf("the exact limit: %v", err)
	}
}

func TestCorrupt(t *testing.T) {
	for _, c := range []struct {
		name string
		src  []byte
	}{
		{"no zlib header", []byte{0x12, 0x34}},
		{"preset dictionary", []byte{0x78, 0xbb, 0, 0, 0, 0}},
		{"reserved block", []byte{0x78, 0x9c, 0x07}},
		{"stored length", []byte{0x78, 0x9c, 0x01, 1, 0, 1, 0, 0}},
		{"distance before the start", []byte{0x78, 0x9c, 0x63, 0x00, 0x12, 0, 0, 0, 0, 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var z Reader
			z.Begin(1000)
			z.Feed(c.src)
			_, err := readAll(&z, 1)
			var corrupt CorruptError
			if !errors.As(err, &corrupt) {
				t.Fatalf("got %v, want a corrupt stream", err)
			}
		})
	}
}

func TestDataAfterTheEnd(t *testing.T) {
	var wire bytes.Buffer
	w := zlib.NewWriter(&wire)
	w.Write([]byte("abc"))
	w.Close()
	var z Reader
	z.Begin(10)
	z.Feed(wire.Bytes())
	if out, err := readAll(&z, 1); err != nil || string(out) != "abc" {
		t.Fatalf("got %q, %v", out, err)
	}
	z.Begin(10)
	z.Feed([]byte{0x78, 0x9c})
	if _, err := readAll(&z, 1); err == nil {
		t.Fatal("got no error for data after the end")
	}
}

// FuzzAgainstFlate gives the same bytes, in two pieces, to this decoder and to
// the standard library's: whenever that one reaches the end of a stream, both
// must have made the same bytes, and this one must reach no end that the other
// does not.
func FuzzAgainstFlate(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, level := range []int{-2, 0, 1, 6, 9} {
		var wire bytes.Buffer
		w, err := flate.NewWriter(&wire, level)
		if err != nil {
			f.Fatal(err)
		}
		w.Write(sample(r, 2000))
		w.Flush()
		w.Write(sample(r, 500))
		w.Close()
		f.Add(wire.Bytes(), uint16(wire.Len()/2))
	}
	f.Add([]byte{0x63, 0, 0x12, 0, 0, 0, 0, 0}, uint16(1))
	f.Fuzz(func(t *testing.T, src []byte, cut uint16) {
		const most = 1 << 20
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(src)), most+1))
		z := Reader{state: stateBlock}
		at := min(int(cut), len(src))
		var got []byte
		var err error
		for _, piece := range [][]byte{src[:at], src[at:]} {
			z.Begin(int64(most - len(got)))
			z.Feed(piece)
			var b []byte
			b, err = readAll(&z, 100)
			got = append(got, b...)
			if err != nil {
				break
			}
		}
		ended := z.state == stateEnd && (err == nil || errors.Is(err, ErrEnded))
		switch {
		case len(want) > most:
			if !errors.Is(err, ErrTooLong) {
				t.Fatalf("more than the limit: got %v", err)
			}
		case wantErr == nil:
			if !ended || !bytes.Equal(got, want) {
				t.Fatalf("got %d bytes, ended %v, %v; want %d bytes and the end", len(got), ended, err, len(want))
			}
		case ended:
			t.Fatalf("got an end after %d bytes, want %v", len(got), wantErr)
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	var wire bytes.Buffer
	w, err := zlib.NewWriterLevel(&wire, 6)
	if err != nil {
		b.Fatal(err)
	}
	var segments [][]byte
	for range 1000 {
		w.Write(sample(r, 830))
		w.Flush()
		segments = append(segments, append([]byte(nil), wire.Bytes()...))
		wire.Reset()
	}
	b.SetBytes(830 * 1000)
	for b.Loop() {
		var z Reader
		for _, s := range segments {
			z.Begin(830)
			z.Feed(s)
			if err := z.End(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
