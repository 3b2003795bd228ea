package sample

import (
	"bytes"
	"crypto/des"
	"encoding/binary"
	"fmt"
	"image"
	"math/bits"
	"net"
	"testing"

	"deskvnc/viewer"
)

func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		name, version string
		talk          func(h *hand)
	}{
		{"3.3", "RFB 003.003\n", func(h *hand) { h.expect(0, 0, 0, 1) }},
		{"3.5 is 3.3", "RFB 003.005\n", func(h *hand) { h.expect(0, 0, 0, 1) }},
		{"3.7", "RFB 003.007\n", func(h *hand) { h.expect(1, 1); h.say(1) }},
		{"3.8", "RFB 003.008\n", func(h *hand) { h.expect(1, 1); h.say(1); h.expect(0, 0, 0, 0) }},
		{"3.889 is 3.8", "RFB 003.889\n", func(h *hand) { h.expect(1, 1); h.say(1); h.expect(0, 0, 0, 0) }},
		{"4.1 is 3.8", "RFB 004.001\n", func(h *hand) { h.expect(1, 1); h.say(1); h.expect(0, 0, 0, 0) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, Options{Width: 640, Height: 480, Count: 2})
			h := dial(t, m.Targets()[1])
			h.expect([]byte("RFB 003.008\n")...)
			h.say([]byte(tt.version)...)
			tt.talk(h)
			h.say(1)
			if w, ht, name := h.init(); w != 640 || ht != 480 || name != "sample-2" {
				t.Errorf("got %dx%d %q", w, ht, name)
			}
		})
	}
}

func TestBadHello(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes []byte
	}{
		{"no version", []byte("GET / HTTP/1.1\r\n\r\n")},
		{"version 2", []byte("RFB 002.008\n")},
		{"another security type", append([]byte("RFB 003.008\n"), 16)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, Options{Width: 320, Height: 200})
			h := dial(t, m.Targets()[0])
			h.say(tt.bytes...)
			h.ended()
		})
	}
}

func TestPassword(t *testing.T) {
	answer := func(challenge []byte, password string) []byte {
		var key [8]byte
		copy(key[:], password)
		for i := range key {
			key[i] = bits.Reverse8(key[i])
		}
		c, _ := des.NewCipher(key[:])
		out := make([]byte, 16)
		c.Encrypt(out, challenge)
		c.Encrypt(out[8:], challenge[8:])
		return out
	}
	for _, tt := range []struct {
		name, version, password string
		ok                      bool
	}{
		{"right, 3.8", "RFB 003.008\n", "open sesame", true},
		{"right, 3.7", "RFB 003.007\n", "open ses", true},
		{"right, 3.3", "RFB 003.003\n", "open sesame", true},
		{"wrong, 3.8", "RFB 003.008\n", "guess", false},
		{"wrong, 3.3", "RFB 003.003\n", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, Options{Width: 320, Height: 200, Password: viewer.SecretString("open sesame")})
			h := dial(t, m.Targets()[0])
			h.hear(12)
			h.say([]byte(tt.version)...)
			if tt.version == "RFB 003.003\n" {
				h.expect(0, 0, 0, 2)
			} else {
				h.expect(1, 2)
				h.say(2)
			}
			h.say(answer(h.hear(16), tt.password)...)
			if tt.ok {
				h.expect(0, 0, 0, 0)
				h.say(1)
				h.init()
				return
			}
			h.expect(0, 0, 0, 1)
			if tt.version == "RFB 003.008\n" {
				reason := string(h.hear(int(binary.BigEndian.Uint32(h.hear(4)))))
				if reason != "the password is not right" {
					t.Errorf("got reason %q", reason)
				}
			}
			h.ended()
		})
	}
}

// TestPeerPassword has a viewer of another make answer the question.
func TestPeerPassword(t *testing.T) {
	m := start(t, Options{Width: 320, Height: 200, Password: viewer.SecretString("opensesa")})
	p := startPeer(t, m.Targets()[0], "zrle", 32, "PEER_PASSWORD=opensesa")
	p.sees(m.desktops[0], 32)
	p = startPeer(t, m.Targets()[0], "zrle", 32, "PEER_PASSWORD=wrong")
	p.until("refusal", func(line string) bool { return line == "refused" })
}

func TestAlone(t *testing.T) {
	m := start(t, Options{Width: 320, Height: 200})
	a, b, c := dial(t, m.Targets()[0]), dial(t, m.Targets()[0]), dial(t, m.Targets()[0])
	a.login(1)
	a.init()
	b.login(1)
	b.init()
	c.login(0)
	c.init()
	a.ended()
	b.ended()
	c.request(0, image.Rect(0, 0, 8, 8))
	if g := c.update(4); pixels(g, encRaw) != 64 {
		t.Errorf("got %v", g)
	}
}

// TestRequests walks through what an update may hold, and when there is one.
func TestRequests(t *testing.T) {
	const w, ht = 800, 600
	all := image.Rect(0, 0, w, ht)
	pad := PadRect(w, ht)
	m := start(t, Options{Width: w, Height: ht})
	h := dial(t, m.Targets()[0])
	h.login(1)
	h.init()
	h.encodings(encRaw, encCopyRect)

	// What was never sent goes out even by an incremental request, and only
	// where it was asked for.
	left := image.Rect(0, 0, w/2, ht)
	h.request(1, left)
	if g := h.update(4); pixels(g, encRaw) != w/2*ht {
		t.Fatalf("got %d pixels, want the left half", pixels(g, encRaw))
	}
	h.request(1, all)
	if g := h.update(4); pixels(g, encRaw) != w/2*ht || g[0].rect.Min.X < w/2 {
		t.Fatalf("got %d pixels from %v, want the right half", pixels(g, encRaw), g[0].rect)
	}

	// A click is answered by the pad alone, in its new colour.
	h.request(1, all)
	h.click(centre(pad))
	g := h.update(4)
	if len(g) != 1 || g[0].rect != pad {
		t.Fatalf("got %d rectangles, the first %v, want the pad %v", len(g), g[0].rect, pad)
	}
	if c := PadColor(1); !bytes.Equal(g[0].data[:3], []byte{c.B, c.G, c.R}) {
		t.Errorf("got % x, want %v", g[0].data[:3], c)
	}

	// Two changes far apart are two rectangles, not one around both.
	h.click(centre(pad))
	h.say(msgKeyEvent, 1, 0, 0, 0, 0, 0, 'x')
	h.bell()
	h.request(1, all)
	g = h.update(4)
	if n := pixels(g, encRaw); len(g) < 2 || n > pad.Dx()*pad.Dy()+60*40 {
		t.Errorf("got %d pixels in %d rectangles", n, len(g))
	}

	// Outside of what is asked for, changes wait.
	h.click(centre(pad))
	h.bell()
	h.request(1, image.Rect(0, 0, 100, 100))
	h.request(1, pad.Inset(50))
	g = h.update(4)
	if n := pixels(g, encRaw); n != (pad.Dx()-100)*(pad.Dy()-100) {
		t.Errorf("got %d pixels, want the middle of the pad", n)
	}
	h.request(1, all)
	g = h.update(4)
	if n := pixels(g, encRaw); n != pad.Dx()*pad.Dy()-(pad.Dx()-100)*(pad.Dy()-100) {
		t.Errorf("got %d pixels, want the rest of the pad", n)
	}

	// The list is moved, not sent.
	list := ListRect(w, ht)
	h.pointer(centre(list), 1<<4)
	h.pointer(centre(list), 0)
	h.bell()
	h.request(1, all)
	g = h.update(4)
	if n := pixels(g, encCopyRect); n != list.Dx()*(list.Dy()-rowHeight) {
		t.Errorf("got %d pixels moved", n)
	}
	if n := pixels(g, encRaw); n < list.Dx()*rowHeight || n > list.Dx()*rowHeight+20*list.Dy() {
		t.Errorf("got %d pixels sent, want one row and the scroll bar", n)
	}

	// Nothing is sent again unless it is asked for in full.
	h.request(1, all)
	h.bell()
	h.request(0, image.Rect(10, 10, 20, 20))
	if g = h.update(4); pixels(g, encRaw) != 100 {
		t.Errorf("got %d pixels, want 100", pixels(g, encRaw))
	}
}

// TestPseudo: what a client offers to be told is told once.
func TestPseudo(t *testing.T) {
	m := start(t, Options{Width: 640, Height: 480})
	all := image.Rect(0, 0, 640, 480)
	a, b := dial(t, m.Targets()[0]), dial(t, m.Targets()[0])
	for _, h := range []*hand{a, b} {
		h.login(1)
		h.init()
	}
	a.encodings(encRaw, encCursor, encDesktopName, encExtendedDesktopSize)
	a.request(1, all)
	g := a.update(4)
	if len(g) != 1 || g[0].encoding != encExtendedDesktopSize || g[0].rect != all {
		t.Fatalf("got %v, want the size alone", g)
	}
	a.request(1, all)
	g = a.update(4)
	names := map[int32]int{}
	for _, r := range g {
		names[r.encoding]++
		if r.encoding == encDesktopName && string(r.data) != "sample" {
			t.Errorf("got name %q", r.data)
		}
		if r.encoding == encCursor && (r.rect != image.Rect(0, 0, 11, 17) || r.data[0] != 0x1c) {
			t.Errorf("got cursor %v", r.rect)
		}
	}
	if names[encCursor] != 1 || names[encDesktopName] != 1 || pixels(g, encRaw) != 640*480 {
		t.Errorf("got %v", names)
	}

	// b asks for nothing but DesktopSize, and a resizes.
	b.encodings(encRaw, encDesktopSize)
	b.request(0, all)
	b.update(4)
	b.request(1, all)
	resize := func(w, ht int) {
		a.request(1, all)
		a.say(append(append([]byte{msgSetDesktopSize, 0}, u16(w, ht)...), 1, 0,
			0, 0, 0, 1, 0, 0, 0, 0, byte(w>>8), byte(w), byte(ht>>8), byte(ht), 0, 0, 0, 0)...)
	}
	resize(500, 400)
	g = a.update(4)
	if len(g) != 1 || g[0].encoding != encExtendedDesktopSize || g[0].rect != image.Rect(1, 0, 501, 400) {
		t.Fatalf("got %v, want 500x400, reason 1", g)
	}
	g = b.update(4)
	if len(g) != 1 || g[0].encoding != encDesktopSize || g[0].rect != image.Rect(0, 0, 500, 400) {
		t.Fatalf("got %v, want 500x400", g)
	}
	// Then the picture, whole, even by an incremental request.
	b.request(1, image.Rect(0, 0, 500, 400))
	if g = b.update(4); pixels(g, encRaw) != 500*400 {
		t.Errorf("got %d pixels of the new picture", pixels(g, encRaw))
	}
	a.request(1, image.Rect(0, 0, 500, 400))
	a.update(4)
	// No size at all is refused, and the one that there is told.
	resize(100, 100)
	g = a.update(4)
	if len(g) != 1 || g[0].rect != image.Rect(1, 3, 501, 403) {
		t.Errorf("got %v, want status 3 and 500x400", g)
	}
}

// TestOldClient: one that cannot be told of a new size sees what fits.
func TestOldClient(t *testing.T) {
	m := start(t, Options{Width: 640, Height: 480})
	h := dial(t, m.Targets()[0])
	h.login(1)
	h.init()
	all := image.Rect(0, 0, 640, 480)
	h.request(0, all)
	h.update(4)
	m.desktops[0].resize(&client{}, 400, 700)
	h.request(1, all)
	g := h.update(4)
	if n := pixels(g, encRaw); n != 640*480 {
		t.Fatalf("got %d pixels", n)
	}
	last := g[len(g)-1]
	if end := last.data[len(last.data)-4:]; last.rect.Max.X == 640 && !bytes.Equal(end, []byte{0, 0, 0, 0}) {
		t.Errorf("got % x outside of the desktop, want black", end)
	}
}

// TestFormats: whatever a client can ask for, it gets the pad's colour in.
func TestFormats(t *testing.T) {
	c := PadColor(0) // 2f 6f ed
	for _, tt := range []struct {
		name   string
		format []byte
		want   []byte
	}{
		{"BGRX", []byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}, []byte{c.B, c.G, c.R, 0}},
		{"RGBX", []byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16, 0, 0, 0}, []byte{c.R, c.G, c.B, 0}},
		{"XRGB", []byte{32, 24, 1, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}, []byte{0, c.R, c.G, c.B}},
		{"RGBX, big end first", []byte{32, 24, 1, 1, 0, 255, 0, 255, 0, 255, 24, 16, 8, 0, 0, 0}, []byte{c.R, c.G, c.B, 0}},
		// 0x2f/255*31 = 6, 0x6f/255*63 = 27, 0xed/255*31 = 29: 00110 011011 11101
		{"565", []byte{16, 16, 0, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0, 0, 0, 0}, []byte{0x7d, 0x33}},
		{"565, big end first", []byte{16, 16, 1, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0, 0, 0, 0}, []byte{0x33, 0x7d}},
		// 0x2f/255*7 = 1, 0x6f/255*7 = 3, 0xed/255*3 = 3: 11 011 001
		{"233", []byte{8, 8, 0, 1, 0, 7, 0, 7, 0, 3, 0, 3, 6, 0, 0, 0}, []byte{0xd9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, Options{Width: 640, Height: 480})
			h := dial(t, m.Targets()[0])
			h.login(1)
			h.init()
			h.say(append([]byte{msgSetPixelFormat, 0, 0, 0}, tt.format...)...)
			at := centre(PadRect(640, 480))
			h.request(0, image.Rectangle{at, at.Add(image.Pt(1, 1))})
			if g := h.update(len(tt.want)); !bytes.Equal(g[0].data, tt.want) {
				t.Errorf("got % x, want % x", g[0].data, tt.want)
			}
			f, err := parseFormat(tt.format)
			if err != nil {
				t.Fatal(err)
			}
			short := tt.want
			if len(short) == 4 {
				short = bytes.Trim(short, "\x00") // no sample of this colour is 0
			}
			if got := f.short(nil, 0x2f6fed); !bytes.Equal(got, short) {
				t.Errorf("CPIXEL: got % x, want % x", got, short)
			}
		})
	}
}

// TestClipboard: both ways, by the keys and by the messages.
func TestClipboard(t *testing.T) {
	m := start(t, Options{Width: 640, Height: 480})
	a, b := dial(t, m.Targets()[0]), dial(t, m.Targets()[0])
	for _, h := range []*hand{a, b} {
		h.login(1)
		h.init()
	}
	key := func(sym uint32, down byte) {
		a.say(append([]byte{msgKeyEvent, down, 0, 0}, binary.BigEndian.AppendUint32(nil, sym)...)...)
	}
	a.say(append([]byte{msgClientCutText, 0, 0, 0, 0, 0, 0, 3}, 'a', 0xe9, 'z')...)
	key(keyControlL, 1)
	key('v', 1)
	key(keyControlL, 0)
	key(0x01000000+0x263a, 1) // outside of Latin-1
	key(keyControlR, 1)
	key('c', 1)
	key(keyControlR, 0)
	for _, h := range []*hand{a, b} {
		h.expect(msgServerCutText, 0, 0, 0, 0, 0, 0, 4, 'a', 0xe9, 'z', '?')
	}
	a.bell()
	d := m.desktops[0]
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scene.clip != "a\u00e9z\u263a" {
		t.Errorf("got clipboard %q", d.scene.clip)
	}
}

// TestLazyClient: one that reads nothing holds up nobody.
func TestLazyClient(t *testing.T) {
	m := start(t, Options{Width: 1920, Height: 1080})
	all := image.Rect(0, 0, 1920, 1080)
	lazy, h := dial(t, m.Targets()[0]), dial(t, m.Targets()[0])
	for _, c := range []*hand{lazy, h} {
		c.login(1)
		c.init()
	}
	for range 200 {
		lazy.request(0, all)
	}
	h.request(0, all)
	h.update(4)
	for i := range 50 {
		h.request(1, all)
		h.click(centre(PadRect(1920, 1080)))
		if g := h.update(4); len(g) == 0 {
			t.Fatalf("round %d: nothing", i)
		}
	}
}

func TestTooMany(t *testing.T) {
	m := start(t, Options{Width: 320, Height: 200})
	for range maxClients {
		h := dial(t, m.Targets()[0])
		h.login(1)
		h.init()
	}
	h := dial(t, m.Targets()[0])
	h.login(1)
	h.ended()
}

func TestHostile(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes []byte
	}{
		{"unknown message", []byte{99}},
		{"colour map", append([]byte{0, 0, 0, 0}, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"24 bits a pixel", append([]byte{0, 0, 0, 0}, 24, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0)},
		{"shift of 200", append([]byte{0, 0, 0, 0}, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 200, 8, 0, 0, 0, 0)},
		{"colours outside the pixel", append([]byte{0, 0, 0, 0}, 16, 16, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0)},
		{"clipboard of 4 GiB", []byte{6, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}},
		{"layout of 255 screens", []byte{251, 0, 1, 0, 1, 0, 255, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, Options{Width: 320, Height: 200})
			h := dial(t, m.Targets()[0])
			h.login(1)
			h.init()
			h.say(tt.bytes...)
			h.ended()
		})
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Width: 319, Height: 200}, {Width: 320, Height: 199}, {Width: 8193, Height: 200}, {Width: 800},
		{Count: -1}, {Count: MaxCount + 1},
	} {
		if m, err := Start(o); viewer.KindOf(err) != viewer.Invalid {
			t.Errorf("%+v: got %v, want Invalid", o, err)
			if m != nil {
				m.Close()
			}
		}
	}
	m := start(t, Options{Count: 3})
	ts := m.Targets()
	if len(ts) != 3 || ts[0].Name != "sample" || ts[2].HostID != "sample-3" || ts[0].Address != "127.0.0.1" || ts[0].Protocol != viewer.VNC {
		t.Errorf("got %+v", ts)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", ts[1].HostPort()); err == nil {
		t.Error("still listening")
	}
}

// Example of what a test needs to know of the desktop.
func ExamplePadRect() {
	fmt.Println(PadRect(1920, 1080), PadRect(320, 200))
	// Output: (760,390)-(1160,690) (80,50)-(240,150)
}
