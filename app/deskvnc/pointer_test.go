package main

import (
	"fmt"
	"image"
	"image/color"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deskvnc/app/ui/x11/xlab"
)

// pointerAt waits until the machine's pointer is at a place.
func (s *stage) pointerAt(want image.Point) {
	s.t.Helper()
	var x, y int
	limit := time.Now().Add(xlab.Hang)
	for {
		if x, y = s.there.Pointer(); image.Pt(x, y) == want {
			return
		}
		if time.Now().After(limit) {
			s.t.Errorf("the machine's pointer is at %d,%d, want %v", x, y, want)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Every corner of the machine's screen can be pointed at, exactly, at any
// scale (C122), in fit and at actual size; and full screen of the same size is
// exact (C245).
func TestPointing(t *testing.T) {
	s := raise(t, "800x600", nil)
	aim := func(what string, want float64) {
		t.Helper()
		var r image.Rectangle
		xlab.Until(t, what, func() bool {
			r = s.picture()
			scale := float64(r.Dx()) / float64(s.geometry.X)
			return want == 0 && r.Dy() == 900 || scale > want*0.97 && scale < want*1.03
		})
		for _, p := range []struct{ at, want image.Point }{
			{r.Min, image.Pt(0, 0)},
			{image.Pt(r.Max.X-1, r.Min.Y), image.Pt(s.geometry.X-1, 0)},
			{image.Pt(r.Min.X, r.Max.Y-1), image.Pt(0, s.geometry.Y-1)},
			{r.Max.Sub(image.Pt(1, 1)), s.geometry.Sub(image.Pt(1, 1))},
		} {
			s.here.Move(p.at.X, p.at.Y)
			s.pointerAt(p.want)
		}
		centre := image.Pt((r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2)
		s.here.Move(centre.X, centre.Y)
		d := centre.Sub(r.Min)
		t.Logf("%s: the picture is at %v", what, r)
		s.pointerAt(image.Pt(d.X*s.geometry.X/r.Dx(), d.Y*s.geometry.Y/r.Dy()))
	}
	chrome := 94 // about what is around the picture
	for _, scale := range []float64{0.5, 0.73, 1, 1.25} {
		w, h := int(800*scale), int(600*scale)+chrome
		s.here.Resize(s.window, max(w, 360), h)
		xlab.Until(t, "the window's new size", func() bool { return s.here.Size(s.window) == image.Pt(max(w, 360), h) })
		aim(fmt.Sprintf("scale %v", scale), scale)
	}
	s.chord(codeLeftCtrl, codeLeftAlt, codeLeftShift, codeO)
	aim("actual size", 1)
	s.chord(codeLeftCtrl, codeLeftAlt, codeLeftShift, codeF)
	xlab.Until(t, "full screen", func() bool { return s.here.Size(s.window) == image.Pt(1280, 900) })
	if r := s.picture(); r.Size() != s.geometry {
		t.Errorf("full screen at actual size shows %v", r)
	}
	s.chord(codeLeftCtrl, codeLeftAlt, codeLeftShift, codeZero)
	aim("full screen, fitted", 0)
}

// A screen twice as fine (FYNE_SCALE=2) points as exactly, also enlarged (C081).
func TestPointingAtScaleTwo(t *testing.T) {
	s := raise(t, "400x300", []string{"FYNE_SCALE=2"})
	r := s.picture()
	if r.Dx() < 2*400 {
		t.Logf("the picture is at %v", r)
	}
	for _, p := range []struct{ at, want image.Point }{
		{r.Min, image.Pt(0, 0)},
		{r.Max.Sub(image.Pt(1, 1)), image.Pt(399, 299)},
		{image.Pt(r.Min.X+r.Dx()/2, r.Min.Y+r.Dy()/2), image.Pt(r.Dx()/2*400/r.Dx(), r.Dy()/2*300/r.Dy())},
	} {
		s.here.Move(p.at.X, p.at.Y)
		s.pointerAt(p.want)
	}
}

// Same-size full screen shows every pixel once: nothing scrolls or is scaled
// (C245).
func TestFullScreenOfTheSameSize(t *testing.T) {
	s := raise(t, "1280x900", nil)
	s.chord(codeLeftCtrl, codeLeftAlt, codeLeftShift, codeF)
	xlab.Until(t, "the picture on the whole screen", func() bool { return s.picture().Size() == image.Pt(1280, 900) })
	w := s.there.Cover(color.RGBA{255, 255, 255, 255})
	for x := 0; x < 1280; x += 2 { // a pattern that any scaling or shift would grey
		s.there.Fill(w, image.Rect(x, 100, x+1, 900), color.RGBA{0, 0, 0, 255})
	}
	s.here.Move(640, 500)
	s.here.Button(1, true) // the bar goes when something is done
	s.here.Button(1, false)
	var bad int
	xlab.Until(t, "the stripes", func() bool {
		img := s.here.Screen()
		bad = 0
		for y := 120; y < 880; y += 40 {
			for x := range 1280 {
				want := uint8(255)
				if x%2 == 0 {
					want = 0
				}
				if dx, dy := x-640, y-500; dx*dx+dy*dy < 900 {
					continue // the pointer
				}
				if img.Pix[y*img.Stride+4*x] != want {
					bad++
				}
			}
		}
		return bad == 0
	})
}

// Buttons, wheels, quick clicks and drags that leave the window.
func TestMouse(t *testing.T) {
	s := raiseStage(t, false, "800x600", nil)
	r := s.picture()
	c := image.Pt((r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2)
	s.here.Move(c.X, c.Y)
	buttons := func() string {
		s.t.Helper()
		var out []string
		for _, e := range s.drain() {
			if e.button != 0 {
				out = append(out, e.String())
			}
		}
		return strings.Join(out, " ")
	}
	buttons()

	t.Run("buttons", func(t *testing.T) {
		s.t, s.here.T = t, t
		for _, b := range []int{1, 2, 3} {
			s.here.Click(b, c.X, c.Y)
		}
		if got, want := buttons(), "+button1 -button1 +button2 -button2 +button3 -button3"; got != want {
			t.Errorf("the machine got %q, want %q", got, want)
		}
		s.here.Button(1, true)
		s.here.Button(3, true)
		s.here.Button(1, false)
		s.here.Button(3, false)
		if got, want := buttons(), "+button1 +button3 -button1 -button3"; got != want {
			t.Errorf("two together: the machine got %q, want %q", got, want)
		}
	})

	t.Run("wheel", func(t *testing.T) { // C116, C118
		s.t, s.here.T = t, t
		for _, b := range []int{4, 5, 6, 7, 5, 5, 5} {
			s.here.Click(b, c.X, c.Y)
		}
		s.here.Key(codeLeftShift, true)
		s.here.Click(5, c.X, c.Y)
		s.here.Click(4, c.X, c.Y)
		s.here.Key(codeLeftShift, false)
		want := ""
		for _, b := range []int{4, 5, 6, 7, 5, 5, 5, 5, 4} {
			want += fmt.Sprintf("+button%d -button%d ", b, b)
		}
		if got := buttons(); got+" " != want {
			t.Errorf("the machine got %q, want %q", got, want)
		}
	})

	t.Run("300 clicks", func(t *testing.T) { // C120
		s.t, s.here.T = t, t
		for range 300 {
			s.here.Button(1, true)
			s.here.Button(1, false)
		}
		if got, want := buttons(), strings.TrimSpace(strings.Repeat("+button1 -button1 ", 300)); got != want {
			t.Errorf("the machine got %d events, want 600 in pairs", strings.Count(got, "button"))
		}
	})

	t.Run("drags that end outside", func(t *testing.T) { // C119
		s.t, s.here.T = t, t
		outside := []image.Point{{2, 2}, {c.X, 895}, {1275, c.Y}} // in another part of the window, below it, beside it
		for _, b := range []int{1, 2, 3} {
			for _, o := range outside {
				s.here.Move(c.X, c.Y)
				s.here.Button(b, true)
				s.here.Move(c.X+20, c.Y+20)
				s.here.Move(o.X, o.Y)
				s.here.Button(b, false)
				xlab.Until(t, fmt.Sprintf("the release of button %d at %v", b, o), func() bool {
					evs := s.events()
					for i := len(evs) - 1; i >= 0; i-- {
						if evs[i].button == b {
							return !evs[i].down
						}
					}
					return false
				})
				var got []event
				for _, e := range s.events() {
					if e.button != 0 {
						got = append(got, e)
					}
				}
				if got, want := spell(got), fmt.Sprintf("+button%d -button%d", b, b); got != want {
					t.Errorf("button %d to %v: the machine got %q, want %q", b, o, got, want)
				}
				s.ready() // the keyboard comes back when the toolkit is done with it
				x, y := s.there.Pointer()
				if x != 0 && x != 799 && y != 0 && y != 599 {
					t.Errorf("button %d to %v: the machine's pointer stopped at %d,%d, not at an edge", b, o, x, y)
				}
			}
		}
		s.here.Click(1, c.X, c.Y)
		if got := buttons(); got != "+button1 -button1" {
			t.Errorf("the click after the drags is %q", got)
		}
	})

	t.Run("fast motion", func(t *testing.T) { // C114, C115
		s.t, s.here.T = t, t
		for i := range 1000 {
			s.here.Move(r.Min.X+i%r.Dx(), c.Y)
		}
		s.here.Move(c.X, c.Y)
		s.pointerAt(image.Pt((c.X-r.Min.X)*800/r.Dx(), (c.Y-r.Min.Y)*600/r.Dy()))
	})

	t.Run("release when the program ends", func(t *testing.T) { // C124
		s.t, s.here.T = t, t
		buttons()
		s.here.Move(c.X, c.Y)
		s.here.Button(1, true)
		s.here.Key(codeA, true)
		xlab.Until(t, "the press", func() bool { return len(s.events()) >= 2 })
		if out, err := exec.Command("kill", "-TERM", fmt.Sprint(s.app.pid)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		select {
		case <-s.app.done:
		case <-time.After(xlab.Hang):
			t.Fatal("the program does not end when it is asked to")
		}
		xlab.Until(t, "the releases", func() bool {
			button, a := true, true
			for _, e := range s.events() {
				if e.button == 1 {
					button = e.down
				}
				if e.sym == 'a' {
					a = e.down
				}
			}
			return !button && !a
		})
		s.here.Button(1, false)
		s.here.Key(codeA, false)
	})
}

// No ghost lines at an odd scale: a block moved about leaves nothing behind
// (C249).
func TestNoGhosts(t *testing.T) {
	s := raise(t, "800x600", nil)
	s.here.Resize(s.window, 584, 438+88)
	r := s.picture()
	black := color.RGBA{10, 10, 10, 255}
	w := s.there.Cover(black)
	at := image.Rect(0, 0, 90, 70)
	for i := range 60 {
		s.there.Fill(w, at, black)
		at = image.Rect(0, 0, 90, 70).Add(image.Pt(i*11%700, i*37%520))
		s.there.Fill(w, at, cover)
	}
	s.here.Move(2, 2) // the pointer is not on the picture
	inset := func(r image.Rectangle, n int) image.Rectangle {
		return image.Rectangle{r.Min.Sub(image.Pt(n, n)), r.Max.Add(image.Pt(n, n))}
	}
	scale := float64(r.Dx()) / 800
	shown := image.Rect(r.Min.X+int(float64(at.Min.X)*scale), r.Min.Y+int(float64(at.Min.Y)*scale), r.Min.X+int(float64(at.Max.X)*scale), r.Min.Y+int(float64(at.Max.Y)*scale))
	xlab.Until(t, "a clean picture", func() bool {
		img := s.here.Screen()
		for y := r.Min.Y + 2; y < r.Max.Y-2; y++ {
			for x := r.Min.X + 2; x < r.Max.X-2; x++ {
				p := img.Pix[y*img.Stride+4*x]
				in := image.Pt(x, y)
				if in.In(inset(shown, -3)) && p != cover.R || !in.In(inset(shown, 3)) && p != black.R {
					return false
				}
			}
		}
		return true
	})
}

// What the program says where it cannot run.
func TestNoDisplay(t *testing.T) {
	bin := binary(t)
	run := func(display string, args ...string) (string, int) {
		cmd := exec.Command(bin, args...)
		cmd.Env = environment(display)
		out, err := cmd.CombinedOutput()
		code := 0
		if e, ok := err.(*exec.ExitError); ok {
			code = e.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return string(out), code
	}
	if out, code := run(""); code != 1 || !strings.Contains(out, "DISPLAY is not set") || strings.Contains(out, "panic") {
		t.Errorf("without a display: exit %d, %q", code, out)
	}
	if out, code := run(":9876"); code != 1 || strings.Contains(out, "panic") {
		t.Errorf("with a display that is not there: exit %d, %q", code, out)
	}
	display := xlab.Start(t, "-screen", "0", "640x480x24", "-extension", "GLX")
	if out, code := run(display); code != 1 || !strings.Contains(out, "GLX") || strings.Contains(out, "panic") {
		t.Errorf("without GLX: exit %d, %q", code, out)
	}
	if out, code := run("", "--version"); code != 0 || !strings.HasPrefix(out, "deskvnc ") {
		t.Errorf("--version: exit %d, %q", code, out)
	}
	if out, code := run("", "--help"); code != 0 || !strings.Contains(out, "--control") {
		t.Errorf("--help: exit %d, %q", code, out)
	}
	if out, code := run("", "--sampel"); code != 2 || !strings.Contains(out, "sampel") {
		t.Errorf("a wrong flag: exit %d, %q", code, out)
	}
}
