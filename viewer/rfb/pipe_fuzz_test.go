package rfb

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/frame"
)

// decode reads messages until one is at fault or they end, with a drawer or
// without one, and returns the picture. The error is nil at the end.
func decode(t *testing.T, b []byte, drawer bool) (*frame.Frame, error) {
	t.Helper()
	s := newSession(conn.New(&memory{b: b}), viewer.Env{Frame: frame.New(), Emit: func(viewer.Event) {}})
	readers := map[uint8]vnc.ServerMessage{}
	for _, m := range s.messages(func(err error) error { return wireError(err, "", 0) }) {
		readers[m.Type()] = m
	}
	if err := s.frame.Reset(64, 48, frame.BGRX); err != nil {
		t.Fatal(err)
	}
	s.order, s.canvas.Order = frame.BGRX, frame.BGRX
	s.setSize(64, 48)
	broken := false
	if drawer {
		s.queue.Start(func() { broken = true })
		s.conn.OnWait(s.queue.Flush)
	}
	var err error
	for err == nil {
		head, end := s.conn.Peek(1)
		if end != nil || readers[head[0]] == nil {
			break
		}
		kind := head[0]
		_ = s.conn.Discard(1)
		_, err = readers[kind].Read(nil, s.conn)
		if w, h := s.frame.Size(); w*h > 1<<20 {
			s.queue.Stop() // slow, and nothing new
			break
		}
	}
	if fault := s.queue.End(); fault != nil {
		if !broken {
			t.Fatalf("nobody was told of %v", fault)
		}
		err = fault
	}
	return s.frame, err
}

// FuzzPipeline decodes messages through the reader and the drawer: the picture
// is that of one goroutine alone.
func FuzzPipeline(f *testing.F) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(bytes.Repeat([]byte{1, 9, 8, 7}, 64)) // a buffer takes everything
	_ = z.Flush()
	length := string(binary.BigEndian.AppendUint32(nil, uint32(packed.Len())))
	fill := "\x00\x00\x00\x00\x00\x10\x00\x10\x00\x00\x00\x07\x80\x01\x02\x03"
	raw := "\x00\x01\x00\x01\x00\x02\x00\x01\x00\x00\x00\x0012345678"
	move := "\x00\x05\x00\x05\x00\x09\x00\x09\x00\x00\x00\x01\x00\x01\x00\x01"
	zrle := "\x00\x00\x00\x00\x00\x40\x00\x30\x00\x00\x00\x10" + length + packed.String()
	mono := "\x00\x02\x00\x02\x00\x08\x00\x04\x00\x00\x00\x07\x40\x01\x01abcdef\xa5\x5a\xff\x00"
	for _, s := range []string{
		"\x00\x00\x00\x02" + fill + raw,
		"\x00\x00\x00\x03" + fill + move + mono + "\x02\x00\x00\x00\x02" + zrle + move,
		"\x00\x00\x00\x02" + zrle + "\x00\x00\x00\x00\x00\x20\x00\x20\xff\xff\xff\x21" + "\x00\x00\x00\x01" + fill,
		"\x00\x00\xff\xff" + fill + fill + move + "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\x20",
		"\xf8\x00\x00\x00\x80\x00\x00\x03\x04abcd\x00\x00\x00\x01" + mono,
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x40\x00\x30\x00\x00\x00\x06" + length + packed.String(),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		alone, one := decode(t, b, false)
		queued, two := decode(t, b, true)
		if (one == nil) != (two == nil) {
			t.Fatalf("alone: %v; with a drawer: %v", one, two)
		}
		if one != nil {
			kinded(t, one)
			kinded(t, two)
			return
		}
		aw, ah := alone.Size()
		if w, h := queued.Size(); w != aw || h != ah || w*h <= 1<<20 && alone.Checksum() != queued.Checksum() {
			t.Fatalf("the pictures differ: %d x %d %08x, %d x %d %08x", aw, ah, alone.Checksum(), w, h, queued.Checksum())
		}
	})
}

// The next update is asked for early, but at most one ahead of the drawing.
func TestAsking(t *testing.T) {
	var a asking
	for i, step := range []struct {
		began bool // else: drawn
		ask   bool
	}{
		{true, true},  // the first: the second may be asked for
		{true, true},  // one is not drawn
		{true, false}, // two are not
		{false, true}, // the first is drawn
		{true, false},
		{false, true},
		{false, false},
		{false, false},
		{true, true},
		{false, false},
	} {
		got := false
		if step.began {
			got = a.began()
		} else {
			got = a.ended()
		}
		if got != step.ask {
			t.Fatalf("step %d: got %v, want %v", i, got, step.ask)
		}
	}
}
