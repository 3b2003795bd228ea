package plane

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

func TestPointerActs(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		for _, c := range []struct {
			args string
			want string
			took time.Duration
		}{
			{`"action":"move","x":3,"y":4`, "P 3,4 0", 0},
			{`"action":"click","x":3,"y":4`, "P 3,4 0|P 3,4 1|P 3,4 0", 0},
			{`"action":"right","x":3,"y":4`, "P 3,4 0|P 3,4 4|P 3,4 0", 0},
			{`"action":"middle","x":3,"y":4`, "P 3,4 0|P 3,4 2|P 3,4 0", 0},
			{`"action":"double","x":3,"y":4`, "P 3,4 0|P 3,4 1|P 3,4 0|P 3,4 1|P 3,4 0", 250 * time.Millisecond},
			{`"action":"scroll","x":3,"y":4,"direction":"up"`, "P 3,4 0|P 3,4 8|P 3,4 0", 0},
			{`"action":"scroll","x":3,"y":4,"direction":"down","clicks":2`, "P 3,4 0|P 3,4 16|P 3,4 0|P 3,4 16|P 3,4 0", 0},
			{`"action":"scroll","x":3,"y":4,"direction":"left"`, "P 3,4 0|P 3,4 32|P 3,4 0", 0},
			{`"action":"scroll","x":3,"y":4,"direction":"right"`, "P 3,4 0|P 3,4 64|P 3,4 0", 0},
			{`"action":"click","x":0,"y":0,"modifiers":["ctrl","ShiftLeft"]`, "K+ffe3|K+ffe1|P 0,0 0|P 0,0 1|P 0,0 0|K-ffe1|K-ffe3", 0},
			{`"action":"scroll","x":3,"y":4,"direction":"down","clicks":2,"modifiers":["ctrl"]`, "K+ffe3|P 3,4 0|P 3,4 16|P 3,4 0|P 3,4 16|P 3,4 0|K-ffe3", 0},
			{`"action":"double","x":3,"y":4,"modifiers":["alt"]`, "K+ffe9|P 3,4 0|P 3,4 1|P 3,4 0|P 3,4 1|P 3,4 0|K-ffe9", 250 * time.Millisecond},
			{`"action":"move","x":3,"y":4,"modifiers":["alt"]`, "K+ffe9|P 3,4 0|K-ffe9", 0},
			{`"action":"drag","x":0,"y":0,"toX":90,"toY":45,"button":"right","modifiers":["shift"]`,
				"K+ffe1|P 0,0 0|P 0,0 4|P 10,5 4|P 20,10 4|P 30,15 4|P 40,20 4|P 50,25 4|P 60,30 4|P 70,35 4|P 80,40 4|P 90,45 4|P 90,45 0|K-ffe1", 90 * time.Millisecond},
			{`"action":"drag","x":199,"y":99,"toX":0,"toY":98`,
				"P 199,99 0|P 199,99 1|P 177,99 1|P 155,99 1|P 133,99 1|P 111,99 1|P 88,98 1|P 66,98 1|P 44,98 1|P 22,98 1|P 0,98 1|P 0,98 0", 90 * time.Millisecond},
		} {
			d.machine.forget()
			start := time.Now()
			r := g.ok("dvv_click", "{"+c.args+"}")
			r.is("outcome", "delivered", "limbId", lab)
			if got := time.Since(start); got != c.took {
				t.Errorf("%s: took %v, want %v", c.args, got, c.took)
			}
			if got := strings.Join(d.machine.wire(), "|"); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.args, got, c.want)
			}
		}
		g.ok("dvv_click", `{"action":"click","x":1,"y":1,"modifiers":["ctrl"]}`).is("resolved.0", "ctrl => ControlLeft", "intent", 16)
	})
}

func TestPointerRefusals(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		for args, code := range map[string]control.Code{
			`"action":"click","x":1`:                                                         control.BadRequest,
			`"action":"click"`:                                                               control.BadRequest,
			`"action":"click","x":1,"y":1,"toX":2`:                                           control.BadRequest,
			`"action":"click","x":1,"y":1,"button":"left"`:                                   control.BadRequest,
			`"action":"click","x":1,"y":1,"direction":"up"`:                                  control.BadRequest,
			`"action":"drag","x":1,"y":1,"toX":2`:                                            control.BadRequest,
			`"action":"drag","x":1,"y":1,"toX":2,"toY":2,"clicks":2`:                         control.BadRequest,
			`"action":"scroll","x":1,"y":1`:                                                  control.BadRequest,
			`"action":"scroll","x":1,"y":1,"direction":"up","clicks":0`:                      control.BadRequest,
			`"action":"scroll","x":1,"y":1,"direction":"up","clicks":256`:                    control.BadRequest,
			`"action":"scroll","x":1,"y":1,"dy":5`:                                           control.BadRequest,
			`"action":"click","x":1.5,"y":1`:                                                 control.BadRequest,
			`"action":"click","x":"1","y":1`:                                                 control.BadRequest,
			`"action":"click","x":1,"y":1,"modifiers":["hyper"]`:                             control.UnknownKey,
			`"action":"click","x":-1,"y":1`:                                                  control.OutOfBounds,
			`"action":"click","x":200,"y":1`:                                                 control.OutOfBounds,
			`"action":"click","x":1,"y":100`:                                                 control.OutOfBounds,
			`"action":"click","x":70000,"y":1`:                                               control.OutOfBounds,
			`"action":"drag","x":1,"y":1,"toX":1,"toY":100`:                                  control.OutOfBounds,
			`"action":"click","x":1,"y":1,"modifiers":["a","b","c","d","e","f","g","h","i"]`: control.BadRequest,
		} {
			g.refused(code, "dvv_click", "{"+args+"}")
		}
		d.wire()
		g.ok("dvv_click", `{"action":"click","x":199,"y":99}`)
	})
}

// The geometry fence admits the live generation only, whoever quotes it.
func TestGeometryFence(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		g.ok("dvv_control", `{"action":"acquire"}`)
		g.refused(control.Unfenced, "dvv_click", `{"action":"click","x":1,"y":1}`)
		gen := int(g.ok("dvv_status", `{}`).get("geometry.generation").(float64))
		g.ok("dvv_click", `{"action":"click","x":1,"y":1}`)
		click := func(code control.Code, generation int) {
			t.Helper()
			args := `{"action":"click","x":1,"y":1,"generation":` + itoa(generation) + `}`
			if code == "" {
				g.ok("dvv_click", args)
				return
			}
			g.refused(code, "dvv_click", args)
		}
		click("", gen)
		for _, wrong := range []int{0, 1, gen - 1, gen + 1, 1<<32 - 1} {
			if wrong != gen {
				click(control.GeometryChanged, wrong)
			}
		}
		d.machine.forget()
		d.machine.resize(300, 50)
		g.refused(control.GeometryChanged, "dvv_click", `{"action":"click","x":1,"y":1}`) // the remembered one
		click(control.GeometryChanged, gen)
		g.ok("dvv_wait", `{"until":"idle","quietMs":0}`) // its observation is no look
		g.refused(control.GeometryChanged, "dvv_click", `{"action":"click","x":1,"y":1}`)
		d.wire()
		g.ok("dvv_screen", `{}`).is("observation.geometry.generation", gen+1, "screen.geometry_generation", gen+1)
		click("", gen+1)
		g.ok("dvv_click", `{"action":"click","x":299,"y":49}`) // the live size bounds it
		g.refused(control.OutOfBounds, "dvv_click", `{"action":"click","x":150,"y":60}`)
		// A new connection of the same size is another geometry.
		g.ok("dvv_reconnect", `{}`).is("connected", true)
		click(control.GeometryChanged, gen+1)
		g.refused(control.Unfenced, "dvv_click", `{"action":"click","x":1,"y":1}`)
	})
}

func itoa(n int) string {
	s := ""
	for ; n > 0 || s == ""; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

// The typing fence: never without a look, and only a picture is one.
func TestContentFence(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.machine.w, d.machine.h = 1920, 1080
		g := d.opened("a")
		g.ok("dvv_control", `{"action":"acquire"}`)
		shut := func(when string) {
			t.Helper()
			g.refused(control.ScreenChanged, "dvv_type", `{"text":"x"}`).is("settlement.progress.kind", "none")
			g.refused(control.ScreenChanged, "dvv_key", `{"keys":"Enter"}`)
			if log := d.machine.wire(); slices.ContainsFunc(log, func(e string) bool { return e[0] == 'K' }) {
				t.Fatalf("%s: keys went: %q", when, log)
			}
		}
		open := func(when string) {
			t.Helper()
			if r := g.raw(g.context(), "dvv_type", `{"text":"x"}`); r.isError {
				t.Fatalf("%s: %s", when, r.text)
			}
			g.ok("dvv_key", `{"keys":"Enter"}`)
			d.machine.forget()
		}
		shut("never looked")
		g.ok("dvv_status", `{}`)
		g.ok("dvv_wait", `{"until":"idle","quietMs":1}`)
		shut("looked at status and waited")
		g.ok("dvv_screen", `{}`)
		open("looked")
		rect := func(w, h int) image.Rectangle { return image.Rect(100, 100, 100+w, 100+h) }
		for name, r := range map[string]image.Rectangle{
			"glyph": rect(8, 16), "line": rect(1800, 20), "menu": rect(200, 300), "dialog": rect(400, 200),
			"just under 15 %": rect(1000, 311),
		} {
			d.machine.paint(1, frame.Painted, r)
			open(name)
		}
		d.machine.paint(1, frame.Painted, rect(480, 648)) // exactly 15 %: 311 040 of 2 073 600
		shut("exactly 15 %")
		g.ok("dvv_clipboard", `{"action":"set","text":"x"}`) // not fenced
		g.ok("dvv_click", `{"action":"click","x":1,"y":1}`)
		d.machine.forget()
		shut("after what is not fenced")
		g.ok("dvv_screen", `{"form":"region","region":{"x":0,"y":0,"w":10,"h":10}}`)
		open("looked at a region")
		d.machine.paint(1, frame.Painted, rect(900, 600))
		shut("file dialog")
		g.ok("dvv_screen", `{"form":"damage-crop"}`)
		open("looked at the change")
		g.ok("dvv_screen", `{}`)
		if r := g.ok("dvv_screen", `{"form":"damage-crop"}`); len(r.images) != 0 {
			t.Fatal("a picture of nothing")
		}
		d.machine.paint(1, frame.Copied, rect(1000, 900)) // scrolled since: look again
		shut("scrolled between calls")
		d.machine.paint(2, frame.Painted, rect(10, 10))
		g.refused(control.OutOfBounds, "dvv_screen", `{"form":"region","region":{"x":0,"y":0,"w":1921,"h":10}}`)
		shut("a refused look")
		d.machine.resize(800, 600)
		shut("resized")
		g.ok("dvv_screen", `{}`)
		open("looked after the resize")
	})
}

// A picture that is too large does not clear the fence.
func TestTooLargeAPicture(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.machine.w, d.machine.h = 2600, 1200
		g := d.opened("a")
		g.ok("dvv_control", `{"action":"acquire"}`)
		f := d.machine.link().env.Frame
		px := f.Lock()
		seed := uint32(1)
		for i := range px.Pix {
			seed ^= seed << 13
			seed ^= seed >> 17
			seed ^= seed << 5
			px.Pix[i] = byte(seed)
		}
		f.Touch(0, 0, px.W, px.H, frame.Painted)
		f.Unlock()
		f.EndUpdate()
		g.refused(control.ImageTooLarge, "dvv_screen", `{"form":"region","region":{"x":0,"y":0,"w":2600,"h":1200}}`)
		g.refused(control.ScreenChanged, "dvv_type", `{"text":"x"}`)
		r := g.ok("dvv_screen", `{}`)
		r.is("screen.image.format", "jpeg") // reduced noise: smaller so
		if n := r.get("bytes").(float64); n > jpegAbove*1.5 || len(r.images) != 1 {
			t.Errorf("%v bytes, %d pictures", n, len(r.images))
		}
		g.ok("dvv_type", `{"text":"x"}`)
	})
}

// Typing that is interrupted tells exactly what went.
func TestTypingIsInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		cut     func(d *desk, n *Pane)
		code    control.Code
		outcome string
	}{
		"repainted": {func(d *desk, _ *Pane) { d.machine.paint(9, frame.Painted, d.machine.all()) }, control.ScreenChanged, "partial"},
		"taken over": {func(d *desk, n *Pane) {
			if n.Input(keyCtrl) != Consumed {
				d.Error("not consumed")
			}
		}, control.LeaseRevoked, "superseded"},
		"stopped": {func(_ *desk, n *Pane) { n.Stop() }, control.LeaseRevoked, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, d *desk) {
				const k = 37
				g := d.driving("a")
				n := d.pane()
				var keys int
				d.machine.mu.Lock()
				d.machine.onWire = func(e string) {
					if e == "K-61" {
						if keys++; keys == k {
							c.cut(d, n)
						}
					}
				}
				d.machine.mu.Unlock()
				r := g.refused(c.code, "dvv_type", `{"text":"`+strings.Repeat("a", 100)+`"}`)
				synctest.Wait()
				typed := 0
				for _, e := range d.machine.wire() {
					if e == "K+61" {
						typed++
					}
				}
				if typed < k || typed > k+1 {
					t.Errorf("%d typed, want %d", typed, k)
				}
				r.is("settlement.progress.count", typed, "settlement.progress.kind", "code-points", "settlement.outcome", c.outcome, "settlement.reason", string(c.code))
				if !strings.Contains(r.text, itoa(typed)+" characters") {
					t.Errorf("the text does not tell: %.300s", r.text)
				}
			})
		})
	}
}

// One's own typing, its small repaints and the scrolling it causes trip
// nothing.
func TestOwnTypingDoesNotTrip(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		d.machine.mu.Lock()
		d.machine.onWire = func(e string) {
			switch e {
			case "K-61":
				d.machine.paint(1, frame.Painted, image.Rect(10, 10, 18, 26))
			case "K-ff0d":
				d.machine.paint(1, frame.Copied, d.machine.all())
			}
		}
		d.machine.mu.Unlock()
		g.ok("dvv_type", `{"text":"`+strings.Repeat("aaaa\\n", 60)+`"}`).is("progress.count", 300, "outcome", "delivered")
	})
}

func TestTypeLowering(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		g.ok("dvv_type", `{"text":"aA\r\n\n\t\bé€😀"}`).is("progress.count", 10)
		want := []string{"61", "41", "ff0d", "ff0d", "ff09", "ff08", "e9", "10020ac", "101f600"}
		var all []string
		for _, k := range want {
			all = append(all, "K+"+k, "K-"+k)
		}
		d.wire(all...)
		for text, code := range map[string]control.Code{`""`: control.NotExpressible, `"a\u0001b"`: control.NotExpressible, `"a\ufffe"`: ""} {
			if code != "" {
				g.refused(code, "dvv_type", `{"text":`+text+`}`)
			}
		}
		d.wire()
		start := time.Now()
		g.ok("dvv_type", `{"text":"abcd","wpm":60}`) // 200 ms a character
		if took := time.Since(start); took != 600*time.Millisecond {
			t.Errorf("60 words a minute: took %v", took)
		}
	})
}

func TestKeyChords(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		g.ok("dvv_key", `{"keys":"ctrl+alt+Delete"}`).is("resolved.0", "ctrl => ControlLeft", "resolved.1", "alt => AltLeft", "progress.kind", "delivered")
		d.wire("K+ffe3", "K+ffe9", "K+ffff", "K-ffff", "K-ffe9", "K-ffe3")
		g.ok("dvv_key", `{"keys":"super+r"}`)
		d.wire("K+ffeb", "K+72", "K-72", "K-ffeb")
		g.refused(control.UnknownKey, "dvv_key", `{"keys":"ctrl+hyper"}`)
		g.refused(control.BadRequest, "dvv_key", `{"keys":" "}`)
		g.refused(control.BadRequest, "dvv_key", `{"keys":"a+b+c+d+e+f+g+h+i"}`)
		d.wire()
	})
}

// A drag that is interrupted is let go of, and says where.
func TestDragIsInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		cut     func(d *desk, n *Pane, cancel func())
		outcome string
		code    control.Code
	}{
		"taken over": {func(_ *desk, n *Pane, _ func()) { n.Input(pressAt(1, 1)) }, "superseded", control.LeaseRevoked},
		"cancelled":  {func(_ *desk, _ *Pane, cancel func()) { cancel() }, "cancelled", ""},
		"resized":    {func(d *desk, _ *Pane, _ func()) { d.machine.resize(500, 500) }, "partial", control.GeometryChanged},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, d *desk) {
				d.machine.h = 200
				g := d.driving("a")
				n := d.pane()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				var once sync.Once
				d.machine.mu.Lock()
				d.machine.onWire = func(e string) {
					if e == "P 40,40 1" {
						once.Do(func() { c.cut(d, n, cancel) })
					}
				}
				d.machine.mu.Unlock()
				r := g.raw(ctx, "dvv_click", `{"action":"drag","x":10,"y":10,"toX":100,"toY":100}`)
				synctest.Wait()
				log := d.machine.wire()
				released := slices.IndexFunc(log, func(e string) bool {
					return strings.HasPrefix(e, "P ") && strings.HasSuffix(e, " 0") && e != "P 10,10 0"
				})
				if released < 0 {
					t.Fatalf("never released: %q", log)
				}
				at := "settlement."
				if c.code == "" {
					at = ""
				} else if !r.isError || r.structured["code"] != string(c.code) {
					t.Fatalf("got %s", r.text)
				}
				r.is(at+"outcome", c.outcome, at+"progress.kind", "drag", at+"progress.release_synthesised", true)
				x := int(r.get(at + "progress.released_at.x").(float64))
				if last := log[released]; last != "P "+itoa(x)+","+itoa(x)+" 0" {
					t.Errorf("released at %s, reported %d", last, x)
				}
				if name == "taken over" {
					g.ok("dvv_control", `{"action":"yield_status"}`).is("control_yield.interrupted.0", "intent 1")
				} else {
					g.ok("dvv_status", `{}`).is("lease.held", true, "lease.phase", "held")
				}
			})
		})
	}
}

func TestOneActAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		var done sync.WaitGroup
		done.Go(func() { g.ok("dvv_type", `{"text":"abcdefghij","wpm":60}`) })
		time.Sleep(300 * time.Millisecond)
		r := g.refused(control.IntentInFlight, "dvv_click", `{"action":"click","x":1,"y":1}`)
		r.is("settlement.intent", 2, "settlement.outcome", "refused")
		g.ok("dvv_status", `{}`) // not counted, and not held up
		g.ok("dvv_screen", `{}`)
		done.Wait()
		g.ok("dvv_click", `{"action":"click","x":1,"y":1}`).is("intent", 3)
	})
}

// A machine that takes nothing: nothing is dropped in silence.
func TestBlockedWire(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		d.machine.stick(true)
		start := time.Now()
		r := g.refused(control.IntentBlocked, "dvv_key", `{"keys":"Enter"}`)
		if took := time.Since(start); took < blockedAfter || took > blockedAfter+settleWait {
			t.Errorf("gave up after %v", took)
		}
		r.is("settlement.outcome", "refused")
		if ms := r.get("settlement.gaps.blocked_ms").(float64); ms < 2000 {
			t.Errorf("blocked_ms %v", ms)
		}
		g.refused(control.IntentBlocked, "dvv_key", `{"keys":"Enter"}`) // the release is not out yet
		synctest.Wait()
		d.machine.stick(false)
		d.wire("K-ff0d", "P 0,0 0") // and what was withdrawn never goes
		g.ok("dvv_key", `{"keys":"Enter"}`)

		// Part of it went.
		d.machine.forget()
		var keys int
		d.machine.mu.Lock()
		d.machine.onWire = func(e string) {
			if e == "K-61" {
				if keys++; keys == 5 {
					d.machine.stick(true)
				}
			}
		}
		d.machine.mu.Unlock()
		r = g.ok("dvv_type", `{"text":"aaaaaaaaaa"}`)
		r.is("outcome", "partial", "progress.count", 5, "reason", "INTENT_BLOCKED")
		synctest.Wait()
		d.machine.stick(false)
		synctest.Wait()
		if n := len(d.machine.wire()); n != 12 { // five down and up, the sixth one's up, and the release
			t.Errorf("wire: %q", d.machine.wire())
		}
	})
}

// Agents leave half of the queue to the person.
func TestAgentsUseHalfOfTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		d.machine.stick(true)
		l := d.machine.link()
		for range agentQueue {
			if err := l.Post(viewer.Pointer{X: 1}); err != nil {
				t.Fatal(err)
			}
		}
		g.refused(control.IntentBlocked, "dvv_key", `{"keys":"Enter"}`)
		if n := l.Queued(); n != agentQueue {
			t.Errorf("%d in the queue", n)
		}
		d.machine.stick(false)
		g.ok("dvv_key", `{"keys":"Enter"}`)
	})
}

func TestLinkLost(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		var keys int
		d.machine.mu.Lock()
		d.machine.onWire = func(e string) {
			if e == "K-61" {
				if keys++; keys == 5 {
					go d.machine.cut()
				}
			}
		}
		d.machine.mu.Unlock()
		r := g.raw(g.context(), "dvv_type", `{"text":"aaaaaaaaaa","wpm":60}`)
		r.is("outcome", "link-lost", "progress.count", 5)
		if r.isError {
			t.Errorf("a lost link is no refusal: %s", r.text)
		}
		state := g.ok("dvv_status", `{}`).get("state.state")
		if state != "reconnecting" && state != "disconnected" {
			t.Errorf("state: %v", state)
		}
		g.refused(control.NotReady, "dvv_key", `{"keys":"a"}`)
		g.ok("dvv_wait", `{"until":"connected","timeoutMs":25000}`).is("settled", true)
		g.refused(control.ScreenChanged, "dvv_key", `{"keys":"a"}`)
		g.ok("dvv_screen", `{}`)
		g.ok("dvv_key", `{"keys":"b"}`)
	})
}

// The session is closed under an act: it settles, and the limb is gone.
func TestSessionEndsUnderAnAct(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		settled := make(chan reply)
		go func() { settled <- g.raw(g.context(), "dvv_type", `{"text":"abcdefghij","wpm":60}`) }()
		time.Sleep(time.Second)
		d.engine.Sessions()[0].Close()
		r := <-settled
		r.is("outcome", "link-lost")
		g.refused(control.LimbGone, "dvv_status", `{"limbId":"`+lab+`"}`)
		// The same machine again: ids go on, and what was seen is forgotten.
		g.ok("dvv_open", `{"hostId":"lab","perceive":true}`).is("limb.limb_id", lab)
		g.ok("dvv_wait", `{"until":"connected"}`)
		g.ok("dvv_control", `{"action":"acquire"}`).is("lease_id", 2)
		g.refused(control.ScreenChanged, "dvv_key", `{"keys":"a"}`).is("settlement.intent", 2)
		g.refused(control.Unfenced, "dvv_click", `{"action":"click","x":1,"y":1}`)
	})
}

func TestNotReady(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		for i, c := range []struct {
			kind viewer.Kind
			code control.Code
		}{
			{viewer.Denied, control.CredentialsRequired}, {viewer.Credentials, control.CredentialsRequired},
			{viewer.Untrusted, control.CredentialsRequired}, {viewer.Unreachable, control.NotConnected},
		} {
			id := "h" + itoa(i)
			m := d.add(id, "10.1.0."+itoa(i), 10, 10)
			m.refuse = &viewer.Error{Op: "x", Kind: c.kind, Err: errors.New("because of " + id)}
			g := d.operator(id)
			g.ok("dvv_open", `{"hostId":"`+id+`","perceive":true}`)
			start := time.Now()
			if r := g.refused(c.code, "dvv_wait", `{"until":"connected"}`); !strings.Contains(r.text, "because of "+id) {
				t.Errorf("%s: no reason in %s", c.kind, r.text)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("%s: took %v", c.kind, took)
			}
			for tool, args := range map[string]string{"dvv_screen": `{}`, "dvv_wait": `{"until":"idle"}`, "dvv_clipboard": `{"action":"set","text":"x"}`} {
				g.refused(c.code, tool, args)
			}
			g.ok("dvv_status", `{}`).is("state.state", "disconnected", "last_error.value.symbol", string(c.kind), "state.symbol", string(c.kind))
			g.ok("dvv_reconnect", `{"timeoutMs":5000}`).is("connected", false, "state.state", "disconnected")
			m.mu.Lock()
			m.refuse = nil
			m.mu.Unlock()
			g.ok("dvv_open", `{"hostId":"`+id+`"}`) // asking again is another try
			g.ok("dvv_wait", `{"until":"connected"}`).is("settled", true)
		}
	})
}

func TestClipboard(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		g.ok("dvv_clipboard", `{"action":"set","text":"日x"}`).is("outcome", "delivered", "replacedCharacters", 1, "intent", 1)
		if d.machine.clip != "日x" {
			t.Errorf("clipboard: %q", d.machine.clip)
		}
		g.refused(control.BadRequest, "dvv_clipboard", `{"action":"set"}`)
		g.refused(control.BadRequest, "dvv_clipboard", `{"action":"get","text":"x"}`)
		g.ok("dvv_clipboard", `{"action":"set","text":""}`)
	})
}
