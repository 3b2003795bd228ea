package main

import (
	"image"
	"image/color"
	"regexp"
	"strings"
	"testing"
	"time"

	"deskvnc/control"
	"deskvnc/viewer/sample"
)

// drive has an agent use the sample desktop: look, click the pad, type into
// the field, and let go.
func drive(t *testing.T, a *agent) {
	t.Helper()
	const w, h = sample.DefaultWidth, sample.DefaultHeight
	a.refused("LIMB_GONE", "dvv_status")
	if hosts := a.do("dvv_hosts"); !strings.Contains(hosts.raw, `"host_id":"sample"`) {
		t.Fatalf("the sample is not listed: %s", hosts.raw)
	}
	// How far it has come when the call returns is chance.
	limb, _ := a.unkept("dvv_open", "hostId", "sample", "perceive", true).at("limb", "limb_id").(string)
	if !control.LimbIDShape(limb) {
		t.Errorf("got limb id %q", limb)
	}
	if w := a.do("dvv_wait", "until", "connected", "timeoutMs", 25000); w.at("settled") != true {
		t.Fatalf("it does not connect: %v", w.Structured)
	}
	a.refused("LEASE_NOT_HELD", "dvv_type", "text", "x")
	if got := a.do("dvv_control", "action", "acquire", "reason", "a test"); got.at("held") != true {
		t.Fatalf("got %v", got.Structured)
	}
	a.refused("SCREEN_CHANGED", "dvv_type", "text", "x")

	shot := a.do("dvv_screen")
	if b := shot.picture(t).Bounds(); b.Dx() != 1456 || b.Dy() != 819 {
		t.Errorf("got a picture of %v", b.Size())
	}
	generation := shot.number(t, "observation", "geometry", "generation")
	pad := center(sample.PadRect(w, h))
	a.refused("GEOMETRY_CHANGED", "dvv_click", "action", "click", "x", pad.X, "y", pad.Y, "generation", generation+1)
	a.refused("OUT_OF_BOUNDS", "dvv_click", "action", "click", "x", w, "y", pad.Y, "generation", generation)
	a.refused("BAD_REQUEST", "dvv_click", "action", "click", "x", "960", "y", pad.Y)

	a.do("dvv_click", "action", "click", "x", pad.X, "y", pad.Y, "generation", generation)
	a.eventually(func(r toolResult) bool { return at(t, r, pad) == sample.PadColor(1) },
		"dvv_screen", "form", "region", "region", region(image.Rectangle{Min: pad, Max: pad.Add(image.Pt(8, 8))}))
	// What changed is in a crop around it, or has been shown already.
	if crop := a.unkept("dvv_screen", "form", "damage-crop"); data(crop) != "" && crop.at("observation", "frame", "form") != "damage-crop" {
		t.Errorf("got %v", crop.Structured)
	}
	field := sample.FieldRect(w, h)
	a.do("dvv_click", "action", "click", "x", center(field).X, "y", center(field).Y)
	empty := data(a.unkept("dvv_screen", "form", "region", "region", region(field)))
	typed := a.do("dvv_type", "text", "Hello, wörld ☃")
	if typed.at("outcome") != "delivered" || typed.number(t, "progress", "count") != 14 {
		t.Errorf("got %v", typed.Structured)
	}
	a.do("dvv_key", "keys", "ctrl+Home")
	a.eventually(func(r toolResult) bool { return data(r) != empty }, "dvv_screen", "form", "region", "region", region(field))
	a.said = a.said[:len(a.said)-1] // how much has been drawn by now is chance
	a.refused("WRONG_PROTOCOL", "dvv_run", "command", "ls", "timeoutMs", 1000)
	a.refused("FILES_UNAVAILABLE", "dvv_files", "action", "home")
	a.refused("NOT_IMPLEMENTED", "dvv_transfer", "action", "status")
	a.do("dvv_clipboard", "action", "set", "text", "from an agent")
	a.do("dvv_signals")
	a.do("dvv_control", "action", "yield", "reason", "done")
	a.refused("LEASE_NOT_HELD", "dvv_key", "keys", "Enter")
	a.do("dvv_limbs")
	a.do("dvv_close", "limbId", limb)
	a.do("dvv_close", "limbId", limb)
	a.refused("LIMB_GONE", "dvv_screen", "limbId", limb)
}

// unkept is do for a result that is not the same every time.
func (a *agent) unkept(tool string, args ...any) toolResult {
	a.t.Helper()
	r := a.do(tool, args...)
	a.said = a.said[:len(a.said)-1]
	return r
}

func center(r image.Rectangle) image.Point { return r.Min.Add(r.Size().Div(2)) }

func region(r image.Rectangle) map[string]int {
	return map[string]int{"x": r.Min.X, "y": r.Min.Y, "w": r.Dx(), "h": r.Dy()}
}

// data is the picture of a result as it came.
func data(r toolResult) string {
	for _, c := range r.Content {
		if c.Data != "" {
			return c.Data
		}
	}
	return ""
}

// at is the colour of a framebuffer pixel in an unscaled picture.
func at(t *testing.T, r toolResult, p image.Point) color.RGBA {
	t.Helper()
	rect := r.at("observation", "frame", "space_rect").(map[string]any)
	img := r.picture(t)
	x, y := p.X-int(rect["x"].(float64)), p.Y-int(rect["y"].(float64))
	if !(image.Point{X: x, Y: y}).In(img.Bounds()) {
		t.Fatalf("%v is not in the picture of %v", p, rect)
	}
	return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
}

// What differs from one conversation to the next by nature: times, ports,
// nonces, ids that are made up, and how far something had come.
var volatile = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`(captured_at|waitedMs|quiet_ms|damage_rects|blocked_ms|port|rtt_ms|throughput_bps|decode_ms|fps|server_duty_cycle|lease_id|confidence)(\\?"):[0-9.e+-]+`), `$1$2:0`},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), `ADDRESS`},
	{regexp.MustCompile(`untrusted [0-9a-f]{12}`), `untrusted NONCE`},
	{regexp.MustCompile(`att_[0-9a-f]+`), `ATTACHMENT`},
	{regexp.MustCompile(`after [0-9]+ ms`), `after a while`},
	{regexp.MustCompile(`\\?"locks\\?":\{.*?\}`), `LOCKS`}, // known from the first update on
	{regexp.MustCompile(`\\?"damage\\?":\{.*?\},\\?"desktop_name`), `DAMAGE,desktop_name`},
	{regexp.MustCompile(`\\?"desktop_name.*?,\\?"lease\\?":`), `NAME,lease:`},
	{regexp.MustCompile(`\\?"signals\\?":\{.*?\},\\?"untrusted`), `SIGNALS,untrusted`},
}

func steady(s string) string {
	for _, v := range volatile {
		s = v.what.ReplaceAllString(s, v.as)
	}
	return s
}

// The same conversation headless, over a port with a key, and over the user's
// own socket: every result is the same, byte for byte.
func TestConversation(t *testing.T) {
	home(t)
	for attempt := 1; ; attempt++ {
		minute := time.Now().Truncate(time.Minute)
		headless := newAgent(t, "--sample")
		drive(t, headless)
		results := map[string][]string{}
		for _, where := range []string{"0", socketAuto} {
			w := newWindow(t, where)
			connected := newAgent(t, "--connect", w.port())
			drive(t, connected)
			results[where] = connected.said
			w.close()
		}
		if now := time.Now().Truncate(time.Minute); !now.Equal(minute) && attempt < 4 {
			continue // the clock on the sample desktop has moved on
		}
		for where, said := range results {
			if len(said) != len(headless.said) {
				t.Fatalf("%s: %d results and %d headless", where, len(said), len(headless.said))
			}
			for i := range said {
				if got, want := steady(said[i]), steady(headless.said[i]); got != want {
					t.Errorf("%s: result %d differs:\ngot  %s\nwant %s", where, i, around(got, want), around(want, got))
				}
			}
		}
		return
	}
}

const socketAuto = "auto"

// around is where a begins to differ from b.
func around(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[:min(60, i)] + " ... " + a[max(0, i-80):min(len(a), i+160)]
}
