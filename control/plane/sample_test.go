package plane

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"encoding/base64"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// newSample is a plane over a real VNC connection to a sample desktop.
func newSample(t testing.TB, w, h, count int) *desk {
	t.Helper()
	machines, err := sample.Start(sample.Options{Width: w, Height: h, Count: count})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, library: &library{saved: machines.Targets()}}
	d.engine = engine.New(engine.Config{Drivers: drivers.Registry()})
	d.plane = New(Config{Engine: d.engine, Hosts: d.library, Version: "test"})
	t.Cleanup(func() {
		d.plane.Close()
		d.engine.Close()
		machines.Close()
	})
	return d
}

// atSample is an agent at the first sample desktop, with its picture.
func (d *desk) atSample(label string) *agent {
	d.Helper()
	g := d.operator(label)
	r := g.ok("dvv_open", fmt.Sprintf(`{"hostId":%q,"perceive":true}`, d.library.saved[0].HostID))
	g.ok("dvv_wait", fmt.Sprintf(`{"limbId":%q,"until":"connected"}`, r.get("limb.limb_id"))).is("settled", true)
	return g
}

// sees waits until the picture of a region has a colour in its middle.
func (g *agent) sees(r image.Rectangle, want color.RGBA) {
	g.Helper()
	for range 100 {
		img := g.ok("dvv_screen", fmt.Sprintf(`{"form":"region","region":{"x":%d,"y":%d,"w":%d,"h":%d}}`, r.Min.X, r.Min.Y, r.Dx(), r.Dy())).decoded()
		if color.RGBAModel.Convert(img.At(r.Dx()/2, r.Dy()/2)) == want {
			return
		}
		g.ok("dvv_wait", `{"until":"screen-changed","timeoutMs":200}`)
	}
	g.Fatalf("%v never became %v", r, want)
}

// The whole loop over a real connection: look, find the point on the picture at
// several scales, click it, see it change; type; scroll; hand over to a person.
func TestSampleDesktop(t *testing.T) {
	const w, h = 1280, 800
	d := newSample(t, w, h, 1)
	g := d.atSample("a")
	pad := sample.PadRect(w, h)
	r := g.ok("dvv_screen", `{"scale":1}`)
	r.is("screen.space.width", w, "screen.space.height", h)
	g.ok("dvv_control", `{"action":"acquire","reason":"looking around"}`).is("held", true)

	clicks := 0
	for _, scale := range []string{"0.3", "0.5", "1"} {
		for range 4 {
			g.sees(image.Rect(pad.Min.X, pad.Min.Y, pad.Max.X, pad.Min.Y+40), sample.PadColor(clicks))
			r := g.ok("dvv_screen", `{"scale":`+scale+`}`)
			mx, my, ok := find(r.decoded(), sample.PadColor(clicks), clicks%4)
			if !ok {
				t.Fatalf("the pad is not on the picture at scale %s", scale)
			}
			p, ok := r.space().back(mx, my)
			if !ok || !p.In(pad) {
				t.Fatalf("scale %s: %d,%d leads to %v, outside the pad %v", scale, mx, my, p, pad)
			}
			g.ok("dvv_click", fmt.Sprintf(`{"action":"click","x":%d,"y":%d}`, p.X, p.Y)).is("outcome", "delivered")
			clicks++
		}
	}
	g.sees(image.Rect(pad.Min.X, pad.Min.Y, pad.Max.X, pad.Min.Y+40), sample.PadColor(clicks))

	// Typing into the field: its picture changes, and a burst is exact.
	field := sample.FieldRect(w, h)
	at := field.Min.Add(image.Pt(5, field.Dy()/2))
	g.ok("dvv_click", fmt.Sprintf(`{"action":"click","x":%d,"y":%d}`, at.X, at.Y))
	g.ok("dvv_screen", `{}`)
	before := g.region(field)
	g.ok("dvv_type", `{"text":"hello"}`).is("progress.count", 5, "outcome", "delivered")
	g.changes(field, before)
	g.ok("dvv_key", `{"keys":"Backspace"}`)

	// Scrolling the list does not shut the fence for what is typed in one go.
	if list := sample.ListRect(w, h); !list.Empty() {
		before := g.region(list)
		g.ok("dvv_click", fmt.Sprintf(`{"action":"scroll","x":%d,"y":%d,"direction":"down","clicks":3}`, list.Min.X+5, list.Min.Y+5)).is("progress.count", 3)
		g.changes(list, before)
	}

	// A person comes: the wire is theirs at once.
	s := d.engine.Sessions()[0]
	n := d.plane.Pane(s)
	t.Cleanup(n.Close)
	done := g.typing()
	if got := n.Input(pressAt(pad.Min.X+9, pad.Min.Y+9)); got != Consumed {
		t.Errorf("the first click: got %d", got)
	}
	settled := <-done
	settled.is("code", "LEASE_REVOKED", "settlement.outcome", "superseded", "settlement.progress.kind", "code-points")
	n.Input(hoverAt(pad.Min.X+9, pad.Min.Y+9))
	for _, in := range []viewer.Input{hoverAt(pad.Min.X+9, pad.Min.Y+9), pressAt(pad.Min.X+9, pad.Min.Y+9), hoverAt(pad.Min.X+9, pad.Min.Y+9)} {
		if got := n.Input(in); got != Delivered {
			t.Errorf("%+v: got %d", in, got)
		}
	}
	clicks++
	g.sees(image.Rect(pad.Min.X, pad.Min.Y, pad.Max.X, pad.Min.Y+40), sample.PadColor(clicks)) // one click, not two
	g.refused(control.LeaseRevoked, "dvv_click", `{"action":"click","x":1,"y":1}`)
	n.HandBack()
	g.ok("dvv_control", `{"action":"acquire"}`).is("held", true)
	g.ok("dvv_reconnect", `{}`).is("connected", true)
	g.ok("dvv_screen", `{}`)
}

// typing begins to type a long text and returns when that runs; the channel
// gets its result. The list may still be scrolling, so that it takes a look or
// two before the fence opens.
func (g *agent) typing() <-chan reply {
	g.Helper()
	st := g.a.list()[0]
	for range 20 {
		g.ok("dvv_screen", `{}`)
		done := make(chan reply, 1)
		ctx := g.context()
		go func() { done <- g.raw(ctx, "dvv_type", `{"text":"`+strings.Repeat("x", 5000)+`","wpm":6000}`) }()
		for len(done) == 0 {
			st.limb.mu.Lock()
			a, changed := st.limb.acts[g.a.id], st.limb.changed
			st.limb.mu.Unlock()
			if a != nil {
				return done
			}
			select {
			case <-changed:
			case r := <-done:
				r.is("code", string(control.ScreenChanged))
				done <- r
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	g.Fatal("the fence never opened")
	return nil
}

// region is the picture of a region as it is sent.
func (g *agent) region(r image.Rectangle) string {
	g.Helper()
	return g.ok("dvv_screen", fmt.Sprintf(`{"form":"region","region":{"x":%d,"y":%d,"w":%d,"h":%d}}`, r.Min.X, r.Min.Y, r.Dx(), r.Dy())).images[0]
}

// changes waits until the picture of a region is another one.
func (g *agent) changes(r image.Rectangle, before string) {
	g.Helper()
	for range 100 {
		if g.region(r) != before {
			return
		}
		g.ok("dvv_wait", `{"until":"screen-changed","timeoutMs":200}`)
	}
	g.Fatalf("%v never changed", r)
}

// find looks for the widest area of a colour, row by row, and picks a pixel
// near the corner of it named by 0 to 3.
func find(img image.Image, c color.RGBA, corner int) (x, y int, ok bool) {
	var box image.Rectangle
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		run := 0
		for x := b.Min.X; x <= b.Max.X; x++ {
			if x < b.Max.X && color.RGBAModel.Convert(img.At(x, y)) == c {
				run++
				continue
			}
			switch row := image.Rect(x-run, y, x, y+1); {
			case run > box.Dx()+2:
				box = row
			case run >= box.Dx()-2 && run > 0 && row.Min.Y == box.Max.Y:
				box = box.Union(row)
			}
			run = 0
		}
	}
	if box.Dx() < 50 || box.Dy() < 20 {
		return 0, 0, false
	}
	box = box.Inset(2)
	return []int{box.Min.X, box.Max.X - 1, box.Min.X, box.Max.X - 1}[corner], []int{box.Min.Y, box.Min.Y, box.Max.Y - 1, box.Max.Y - 1}[corner], true
}

// Many machines at a time, each with its own act.
func TestSampleGroup(t *testing.T) {
	d := newSample(t, 640, 400, 8)
	g := d.operator("a")
	ids := make([]string, 0, 8)
	for _, m := range d.library.saved {
		ids = append(ids, fmt.Sprintf("%q", m.HostID))
	}
	g.ok("dvv_group_open", `{"hostIds":[`+strings.Join(ids, ",")+`],"perceive":true}`)
	g.ok("dvv_group_run", `{"groupId":"grp_1","action":"wait","arguments":{"until":"connected"}}`)
	r := g.ok("dvv_group_run", `{"groupId":"grp_1","action":"screen","arguments":{"scale":0.5}}`)
	if len(r.images) != 8 {
		t.Fatalf("%d pictures", len(r.images))
	}
	for i, data := range r.images {
		b, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(bytes.NewReader(b)); err != nil || img.Bounds().Dx() != 320 {
			t.Errorf("picture %d: %v", i, err)
		}
	}
	for i := range 8 {
		g.ok("dvv_control", fmt.Sprintf(`{"groupId":"grp_1","member":%d,"action":"acquire"}`, i)).is("held", true)
	}
	r = g.ok("dvv_group_run", `{"groupId":"grp_1","action":"click","arguments":{"action":"click","x":320,"y":150}}`)
	for i := range 8 {
		r.is(fmt.Sprintf("results.%d.result.structuredContent.outcome", i), "delivered")
	}
	g.ok("dvv_group_close", `{"groupId":"grp_1"}`)
	if n := len(d.engine.Sessions()); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}
