package plane

import (
	"encoding/json"
	"image"
	"strings"
	"testing"

	"deskvnc/viewer/frame"
)

// call is the whole way of one call, without a check of its result.
func (g *agent) call(b *testing.B, tool, args string) {
	if r := g.a.Call(b.Context(), tool, json.RawMessage(args)); strings.Contains(string(r[max(0, len(r)-20):]), "isError") {
		b.Fatalf("%s: %.300s", tool, r)
	}
}

// benchDesk is an agent that drives a sample desktop of 1920x1080 over a real
// connection.
func benchDesk(b *testing.B) *agent {
	g := newSample(b, 1920, 1080, 1).atSample("bench")
	g.ok("dvv_screen", `{}`)
	g.ok("dvv_control", `{"action":"acquire"}`)
	b.ReportAllocs()
	return g
}

func benchCall(b *testing.B, tool, args string) {
	g := benchDesk(b)
	for b.Loop() {
		g.call(b, tool, args)
	}
}

func BenchmarkStatus(b *testing.B)        { benchCall(b, "dvv_status", `{}`) }
func BenchmarkLimbs(b *testing.B)         { benchCall(b, "dvv_limbs", `{}`) }
func BenchmarkScreenFull(b *testing.B)    { benchCall(b, "dvv_screen", `{}`) }
func BenchmarkScreenNative(b *testing.B)  { benchCall(b, "dvv_screen", `{"scale":1}`) }
func BenchmarkScreenQuarter(b *testing.B) { benchCall(b, "dvv_screen", `{"scale":0.25}`) }
func BenchmarkScreenRegion(b *testing.B) {
	benchCall(b, "dvv_screen", `{"form":"region","region":{"x":480,"y":270,"w":960,"h":540}}`)
}
func BenchmarkClick(b *testing.B) { benchCall(b, "dvv_click", `{"action":"move","x":100,"y":100}`) }

// A round is taking the wheel and giving it back, with the release on the wire
// each time.
func BenchmarkAcquire(b *testing.B) {
	g := benchDesk(b)
	for b.Loop() {
		g.call(b, "dvv_control", `{"action":"release"}`)
		g.call(b, "dvv_control", `{"action":"acquire"}`)
	}
}

// BenchmarkType types 100 characters into a machine in memory.
func BenchmarkType(b *testing.B) {
	d := newDesk(b)
	g := d.driving("bench")
	b.ReportAllocs()
	for b.Loop() {
		g.call(b, "dvv_type", `{"text":"`+strings.Repeat("a", 100)+`"}`)
		d.machine.forget()
	}
}

// BenchmarkDamageCrop looks at a small change of a machine in memory.
func BenchmarkDamageCrop(b *testing.B) {
	d := newDesk(b)
	d.machine.w, d.machine.h = 1920, 1080
	g := d.driving("bench")
	b.ReportAllocs()
	for b.Loop() {
		d.machine.paint(7, frame.Painted, image.Rect(900, 500, 1100, 520))
		g.call(b, "dvv_screen", `{"form":"damage-crop"}`)
	}
}

// BenchmarkHover is a person's mouse moving over the pane.
func BenchmarkHover(b *testing.B) {
	d := newDesk(b)
	d.opened("bench")
	n := d.pane()
	b.ReportAllocs()
	x := 0
	for b.Loop() {
		x = (x + 1) % 200
		n.Input(hoverAt(x, 5))
		if x == 0 {
			d.machine.forget()
		}
	}
}
