//go:build cgo && openh264

package rect

import (
	"encoding/binary"
	"os"
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
)

// h264Frames are four pictures by libopenh264's encoder, of h264Picture.
func h264Frames(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, name := range []string{"0", "1", "2", "3"} {
		b, err := os.ReadFile("testdata/h264/" + name + ".264")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	return list
}

func h264Shown(frame int) rgb {
	m := rgb{96, 64, nil}
	for y := range m.h {
		for x := range m.w {
			m.pix = append(m.pix, byte(2*x), byte(3*y), byte(min(255-x-y+frame*10, 255)))
		}
	}
	return m
}

// video is a rectangle's data.
func videoData(flags uint32, s string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(s)))
	return string(binary.BigEndian.AppendUint32(b, flags)) + s
}

func TestH264(t *testing.T) {
	frames := h264Frames(t)
	wire := videoData(videoReset, frames[0]) + videoData(0, frames[1]) + videoData(0, frames[2]) + videoData(0, "") + videoData(0, frames[3])
	for _, o := range orders {
		c := canvas(t, 120, 80, []byte(wire), 50)
		c.Order = o
		d := NewH264(c)
		for _, shown := range []int{0, 1, 2, 2, 3} {
			if _, err := d.Read(nil, &vnc.Rectangle{X: 7, Y: 5, Width: 96, Height: 64}, c.Conn); err != nil {
				t.Fatal(err)
			}
			h264Shown(shown).shows(t, c, 7, 5, 16)
		}
		if rest, err := c.Conn.Some(1); err == nil {
			t.Errorf("%d bytes are left", len(rest))
		}
	}
}

// Each place has a stream of its own; the one not used for longest makes room.
func TestH264Streams(t *testing.T) {
	frames := h264Frames(t)
	const n = maxVideoStreams + 5
	wire := ""
	for range n {
		wire += videoData(0, frames[0])
	}
	wire += videoData(0, frames[1]) + videoData(videoResetAll, "") + videoData(0, frames[0])
	c := canvas(t, 96+n, 64, []byte(wire), 1<<20)
	d := NewH264(c)
	at := func(x int) {
		t.Helper()
		if _, err := d.Read(nil, &vnc.Rectangle{X: uint16(x), Width: 96, Height: 64}, c.Conn); err != nil {
			t.Fatal(err)
		}
	}
	for x := range n {
		at(x)
	}
	if len(d.streams) != maxVideoStreams {
		t.Errorf("%d streams are kept, want %d", len(d.streams), maxVideoStreams)
	}
	at(n - 1)
	h264Shown(1).shows(t, c, n-1, 0, 16)
	at(n - 1)
	if len(d.streams) != 0 {
		t.Errorf("%d streams are kept after all were reset", len(d.streams))
	}
	at(3)
	h264Shown(0).shows(t, c, 3, 0, 16)
}

func TestH264Faults(t *testing.T) {
	frames := h264Frames(t)
	r := vnc.Rectangle{Width: 96, Height: 64}
	testFaults(t, TypeH264, []fault{
		{"out of the screen", vnc.Rectangle{X: 97, Y: 97, Width: 4, Height: 3}, "", viewer.Malformed, "out of the screen"},
		{"claims 4 GiB", r, "\xff\xff\xff\xff\x00\x00\x00\x00", viewer.Limit, "more than the 4 MiB"},
		{"larger than its rectangle", vnc.Rectangle{Width: 64, Height: 64}, videoData(0, frames[0]), viewer.Malformed, "96 x 64"},
		{"smaller than its rectangle", vnc.Rectangle{Width: 97, Height: 64}, videoData(0, frames[0]), viewer.Malformed, "the picture is of 96 x 64"},
		{"a header of 64 x 64 k", r, videoData(0, "\x00\x00\x01\x67\x42\x00\x0a\xf8\x00\x08\x00\x00\x80\x00\x08\x00\x00\x80"), viewer.Malformed, "H.264 stream"},
		{"a header that ends", r, videoData(0, "\x00\x00\x01\x67\x42"), viewer.Malformed, "ends too early"},
		{"a picture that builds on none", r, videoData(0, frames[1]), viewer.Malformed, "refuses"},
		{"no H.264", r, videoData(0, "\x00\x00\x01\x65rest and more of it"), viewer.Malformed, "a video of 96 x 64"},
	})
}

func FuzzH264(f *testing.F) {
	frames := h264Frames(f)
	f.Add(uint8(1), uint8(2), uint8(96), uint8(64), []byte(videoData(0, frames[0])))
	f.Add(uint8(1), uint8(2), uint8(96), uint8(64), []byte(videoData(3, frames[1])))
	fuzzRect(f, TypeH264, nil)
}
