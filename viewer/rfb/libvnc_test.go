package rfb_test

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jezek/xgb/xproto"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

// libvncServer is a small server on libvncserver that tells what clipboard
// texts and keys it gets, and puts a text on its clipboard for each key.
const libvncServer = `
#include <rfb/rfb.h>
#include <stdio.h>
#include <string.h>
static rfbScreenInfoPtr screen;
static void utf8(char *s, int n, rfbClientPtr c) {
	unsigned long h = 5381;
	(void)c;
	while (n > 0 && s[n-1] == 0) n--;
	for (int i = 0; i < n; i++) if (s[i] != '\r') h = (h * 33 + (unsigned char)s[i]) & 0xffffffff;
	printf("utf8 %lu\n", h);
	fflush(stdout);
}
static void latin1(char *s, int n, rfbClientPtr c) { (void)s; (void)c; printf("latin1 %d\n", n); fflush(stdout); }
static void key(rfbBool down, rfbKeySym sym, rfbClientPtr c) {
	(void)c;
	if (!down) return;
	static char text[] = "\xe2\x82\xac \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x99\x82";
	rfbSendServerCutTextUTF8(screen, text, strlen(text), "fallback", 8);
	printf("key %x\n", sym);
	fflush(stdout);
}
int main(int argc, char **argv) {
	static char pixels[64 * 64 * 4];
	screen = rfbGetScreen(&argc, argv, 64, 64, 8, 3, 4);
	screen->frameBuffer = pixels;
	screen->setXCutTextUTF8 = utf8;
	screen->setXCutText = latin1;
	screen->kbdAddEvent = key;
	rfbInitServer(screen);
	printf("ready\n");
	fflush(stdout);
	rfbRunEventLoop(screen, 10000, FALSE);
	return 0;
}
`

// hash is the one that the server prints.
func hash(s string) string {
	h := uint32(5381)
	for _, c := range []byte(s) {
		h = h*33 + uint32(c)
	}
	return fmt.Sprintf("utf8 %d", h)
}

// plainText is what the server prints of a text in the plain message, which comes
// before the whole one for programs that do not take that.
func plainText(s string) string { return fmt.Sprintf("latin1 %d", utf8.RuneCountInString(s)) }

// Texts of one character, a kilobyte and nearly a megabyte are taken by
// libvncserver, and it does not hang up (C086).
func TestLibVNCServerClipboard(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "server.c"), filepath.Join(dir, "server")
	if err := os.WriteFile(source, []byte(libvncServer), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/usr/include/rfb/rfb.h"); err != nil {
		missing(t, "libvncserver-dev")
	}
	if out, err := exec.Command(need(t, "gcc"), "-o", program, source, "-lvncserver").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	port := freePort(t)
	cmd := exec.Command(program, "-rfbport", strconv.Itoa(port), "-listen", "127.0.0.1")
	cmd.Stdout = w
	start(t, cmd)
	w.Close()
	_ = r.SetReadDeadline(time.Now().Add(viewertest.Patience))
	lines := bufio.NewScanner(r)
	heard := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the server said %q, want %q", lines.Text(), want)
		}
	}
	heard("ready")
	l := viewertest.Open(t, rfb.New(rfb.Options{}), viewer.Target{Protocol: viewer.VNC, Address: "127.0.0.1", Port: port}, nil)
	l.Look(t)
	// What the clipboard can comes before the text that a key brings.
	l.Post(t, press(viewer.Key{Sym: 'k'})...)
	heard("key 6b")
	gotText(t, l, "€ 漢字 🙂")
	for _, text := range []string{"x", "€", "two\nlines €", long(1<<10, 5) + "€", long(900<<10, 6) + "€"} {
		setClipboard(t, l, text)
		heard(plainText(text))
		heard(hash(text))
	}
	// It breaks off at more than a megabyte: such a text is not sent.
	if _, err := l.Session.(viewer.Clipboard).SetClipboard(context.Background(), long(1100<<10, 7)); viewer.KindOf(err) != viewer.Limit {
		t.Errorf("got %v, want the kind %q", err, viewer.Limit)
	}
	setClipboard(t, l, "and on")
	heard(plainText("and on"))
	heard(hash("and on"))
}

// The colours of a real machine with a colour map, and of one of 16 bits, are
// right in their own format (C060, C064).
func TestX11VNCOwnFormat(t *testing.T) {
	for _, depth := range []int{8, 16} {
		t.Run(fmt.Sprintf("%d bits", depth), func(t *testing.T) {
			s := startX11VNCDepth(t, depth)
			target := s.target()
			target.Picture.Colors = viewer.ColorsServer
			l := viewertest.Open(t, rfb.New(rfb.Options{}), target, nil)
			l.Look(t)
			colours := xproto.Setup(s.x).DefaultScreen(s.x).DefaultColormap
			for i, c := range []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}, {255, 255, 0, 255}} {
				a, err := xproto.AllocColor(s.x, colours, uint16(c.R)*257, uint16(c.G)*257, uint16(c.B)*257).Reply()
				if err != nil {
					t.Fatal(err)
				}
				xproto.ChangeGC(s.x, s.gc, xproto.GcForeground, []uint32{a.Pixel})
				at := image.Rect(60*i, 10, 60*i+50, 60)
				if err := xproto.PolyFillRectangleChecked(s.x, xproto.Drawable(s.root), s.gc, []xproto.Rectangle{
					{X: int16(at.Min.X), Y: int16(at.Min.Y), Width: 50, Height: 50}}).Check(); err != nil {
					t.Fatal(err)
				}
				l.Until(t, fmt.Sprint(c), func() bool { return l.At(at.Min.X, at.Min.Y) == c && l.At(at.Max.X-1, at.Max.Y-1) == c })
			}
		})
	}
}
