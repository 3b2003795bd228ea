package plane

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer"
)

var (
	keyA     = viewer.Key{Sym: 'a', Scan: 0x1e, Rune: 'a', Down: true}
	keyCtrl  = viewer.Key{Sym: 0xffe3, Scan: 0x1d, Down: true}
	hoverAt  = func(x, y int) viewer.Pointer { return viewer.Pointer{X: x, Y: y} }
	pressAt  = func(x, y int) viewer.Pointer { return viewer.Pointer{X: x, Y: y, Buttons: viewer.Left} }
	scrollAt = func(x, y int) viewer.Pointer { return viewer.Pointer{X: x, Y: y, WheelY: 1} }
)

func up(k viewer.Key) viewer.Key {
	k.Down = false
	return k
}

// inputs gives a pane inputs and checks what became of each.
func inputs(t *testing.T, n *Pane, want Outcome, in ...viewer.Input) {
	t.Helper()
	for _, i := range in {
		if got := n.Input(i); got != want {
			t.Errorf("%+v: got %d, want %d", i, got, want)
		}
	}
}

// wire checks all that arrived on the machine's wire so far. A pointer event
// that says the same as the one before it counts as one: whether two of them are
// put together depends on how long the release before them takes.
func (d *desk) wire(want ...string) {
	d.Helper()
	synctest.Wait()
	got, want := once(d.machine.wire()), once(want)
	if !slices.Equal(got, want) {
		d.Errorf("wire:\n got %q\nwant %q", got, want)
	}
	d.machine.forget()
}

// once puts pointer events together that say the same one after the other.
func once(events []string) []string {
	return slices.CompactFunc(slices.Clone(events), func(a, b string) bool { return a == b && strings.HasPrefix(a, "P ") })
}

// A person's click takes the wheel at once, is not delivered, and the machine
// gets the release before anything of the person's.
func TestPersonTakesOver(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		n := d.pane()
		var told []string
		cancel := n.OnWheel(func(w WheelState) { told = append(told, w.Holder+" "+w.Label) })
		defer cancel()
		inputs(t, n, Dropped, hoverAt(5, 5), scrollAt(5, 5), up(keyA))
		d.wire()
		if w := n.Wheel(); w.Holder != HolderAgent || w.Label != "a" || w.Reason != "testing" {
			t.Errorf("wheel: %+v", w)
		}
		inputs(t, n, Consumed, pressAt(7, 7))
		synctest.Wait()                       // the agent's release is written
		inputs(t, n, Consumed, hoverAt(7, 7)) // the release of that click: motion only
		inputs(t, n, Delivered, hoverAt(8, 8), pressAt(8, 8), hoverAt(8, 8))
		d.wire("P 0,0 0", "P 7,7 0", "P 8,8 0", "P 8,8 1", "P 8,8 0")
		if w := n.Wheel(); w.Holder != HolderHuman || !slices.Equal(w.Revoked, []string{"a"}) {
			t.Errorf("wheel: %+v", w)
		}
		if !slices.Equal(told, []string{"human person"}) {
			t.Errorf("told: %q", told)
		}

		g.ok("dvv_status", `{}`).is("lease.human_took_over", true, "lease.held", false, "lease.holder_kind", "human")
		g.refused(control.LeaseRevoked, "dvv_click", `{"action":"click","x":1,"y":1}`).is("settlement.outcome", "refused", "settlement.intent", 1)
		g.refused(control.LeaseRevoked, "dvv_type", `{"text":"x"}`).is("settlement.intent", 2)
		g.refused(control.LeaseRevoked, "dvv_control", `{"action":"acquire"}`)
		g.refused(control.LeaseRevoked, "dvv_clipboard", `{"action":"set","text":"x"}`)
		g.refused(control.LeaseRevoked, "dvv_files", `{"action":"list"}`)
		g.refused(control.LeaseRevoked, "dvv_reconnect", `{}`)
		g.ok("dvv_control", `{"action":"yield_status"}`).is("control_yield.human_took_over", true, "control_yield.reason", "human_takeover", "held", false, "outcome", "unchanged")
		// The same agent under another attachment stays off; another one does not.
		again := d.operator("a")
		again.refused(control.LeaseRevoked, "dvv_control", `{"limbId":"`+lab+`","action":"acquire"}`)
		d.wire()

		time.Sleep(3 * time.Second) // nobody holds any more
		if w := n.Wheel(); w.Holder != HolderNone || len(w.Revoked) != 1 {
			t.Errorf("wheel after the person's hold: %+v", w)
		}
		g.ok("dvv_status", `{}`).is("lease.human_took_over", true, "lease.phase", "unheld")
		g.refused(control.LeaseRevoked, "dvv_click", `{"action":"click","x":1,"y":1}`)
		n.HandBack()
		g.ok("dvv_status", `{}`).is("lease.human_took_over", false)
		g.ok("dvv_control", `{"action":"acquire"}`).is("outcome", "granted", "held", true, "released.0", "pointer buttons")
		g.ok("dvv_click", `{"action":"click","x":1,"y":1}`)
		d.wire("P 8,8 0", "P 1,1 0", "P 1,1 1", "P 1,1 0")
	})
}

// A chord whose first key takes the wheel does not arrive without it, and a
// button that took it does not drag.
func TestFirstInputIsConsumedWhole(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.driving("a")
		n := d.pane()
		inputs(t, n, Consumed, keyCtrl, keyCtrl, keyA, up(keyA), up(keyCtrl))
		inputs(t, n, Delivered, keyA, keyA, up(keyA))
		d.wire("P 0,0 0", "K+61", "K+61", "K-61")
		n.HandBack()

		d.operator("b").ok("dvv_control", `{"limbId":"`+lab+`","action":"acquire"}`)
		d.machine.forget()
		inputs(t, n, Consumed, pressAt(1, 1))
		inputs(t, n, Delivered, pressAt(30, 30))
		both := viewer.Pointer{X: 30, Y: 30, Buttons: viewer.Left | viewer.Right}
		inputs(t, n, Delivered, both)
		inputs(t, n, Consumed, viewer.Pointer{X: 30, Y: 30, Buttons: viewer.Right})
		inputs(t, n, Delivered, hoverAt(30, 30))
		d.wire("P 0,0 0", "P 30,30 0", "P 30,30 4", "P 30,30 0")
	})
}

// An agent that asks while a person has merely clicked gets the wheel as soon
// as the person's hold ends, and hovering does not keep it from it.
func TestAgentGetsTheWheelAfterAPersonsClick(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		g.ok("dvv_screen", `{}`)
		n := d.pane()
		inputs(t, n, Delivered, hoverAt(4, 4), pressAt(4, 4), hoverAt(4, 4), keyA, up(keyA))
		d.wire("P 4,4 0", "P 4,4 1", "P 4,4 0", "K+61", "K-61")
		g.refused(control.LeaseNotHeld, "dvv_click", `{"action":"click","x":1,"y":1}`)
		g.refused(control.LeaseNotHeld, "dvv_control", `{"action":"acquire","waitMs":0}`)
		g.ok("dvv_control", `{"action":"acquire","waitMs":100}`).is("outcome", "queued", "held", false, "view.queue_position", 1)
		start := time.Now()
		stop := make(chan struct{})
		var hovering sync.WaitGroup
		hovering.Go(func() {
			for x := 0; ; x++ {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					n.Input(hoverAt(x%50, 4))
				}
			}
		})
		g.ok("dvv_control", `{"action":"acquire"}`).is("outcome", "granted", "held", true, "view.phase", "held")
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		close(stop)
		hovering.Wait()
		if w := n.Wheel(); w.Holder != HolderAgent || len(w.Revoked) != 0 {
			t.Errorf("wheel: %+v", w)
		}
	})
}

func TestPersonHoldingAButtonKeepsTheWheel(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		n := d.pane()
		inputs(t, n, Delivered, pressAt(4, 4))
		g.ok("dvv_control", `{"action":"acquire","waitMs":20000}`).is("outcome", "queued", "held", false, "control_yield.human_took_over", true)
		n.Leave() // what is held is let go, and the next one gets the wheel at once
		d.wire("P 4,4 1", "P 4,4 0", "P 4,4 0")
		g.ok("dvv_control", `{"action":"acquire","waitMs":0}`).is("held", true)
	})
}

func TestLeaveReleasesButtonsThenKeys(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.opened("a")
		n := d.pane()
		inputs(t, n, Delivered, keyCtrl, keyA, pressAt(4, 4))
		n.Leave()
		n.Leave()
		inputs(t, n, Dropped, up(keyA), up(keyCtrl))
		d.wire("K+ffe3", "K+61", "P 4,4 1", "P 4,4 0", "K-61", "K-ffe3")
		if w := n.Wheel(); w.Holder != HolderNone {
			t.Errorf("wheel: %+v", w)
		}
	})
}

func TestStop(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g, other := d.driving("a"), d.operator("b")
		n := d.pane()
		n.Stop()
		d.wire("P 0,0 0")
		g.refused(control.LeaseRevoked, "dvv_click", `{"action":"click","x":1,"y":1}`)
		r := other.refused(control.LeaseNotHeld, "dvv_control", `{"limbId":"`+lab+`","action":"acquire"}`)
		if !strings.Contains(r.text, "30000 ms") {
			t.Errorf("no remaining time in %s", r.text)
		}
		inputs(t, n, Delivered, keyA, up(keyA)) // a person is never kept out
		d.wire("K+61", "K-61")
		time.Sleep(30 * time.Second)
		g.refused(control.LeaseRevoked, "dvv_control", `{"action":"acquire"}`)
		other.ok("dvv_control", `{"action":"acquire"}`).is("held", true)
		n.Stop()
		n.HandBack()
		g.ok("dvv_control", `{"action":"acquire"}`).is("held", true)
	})
}

func TestTakeWheelKeepsAgentsOff(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		n := d.pane()
		n.TakeWheel()
		if w := n.Wheel(); w.Holder != HolderHuman || !slices.Equal(w.Revoked, []string{"a"}) {
			t.Errorf("wheel: %+v", w)
		}
		time.Sleep(time.Minute)
		g.refused(control.LeaseRevoked, "dvv_control", `{"action":"acquire"}`)
		n.HandBack()
		g.ok("dvv_control", `{"action":"acquire"}`)
		d.machine.forget()
		n.TakeWheel()
		d.wire("P 0,0 0")
		inputs(t, n, Delivered, pressAt(3, 3), hoverAt(3, 3)) // taken already: this click is meant
		d.wire("P 3,3 1", "P 3,3 0")
	})
}

func TestPersonsWindowWaitsForTheAgent(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		n := d.pane()
		ctx := context.Background()
		if err := n.Resize(ctx, 100, 50); viewer.KindOf(err) != viewer.Denied {
			t.Errorf("resize: %v", err)
		}
		if _, err := n.SetClipboard(ctx, "x"); viewer.KindOf(err) != viewer.Denied {
			t.Errorf("clipboard: %v", err)
		}
		g.ok("dvv_control", `{"action":"release"}`).is("outcome", "unheld", "released.0", "pointer buttons", "released.1", "keys")
		if err := n.Resize(ctx, 100, 50); err != nil {
			t.Errorf("resize: %v", err)
		}
		if lost, err := n.SetClipboard(ctx, "é€"); err != nil || lost != 1 {
			t.Errorf("clipboard: %d, %v", lost, err)
		}
		n.Close()
		if _, err := n.SetClipboard(ctx, "x"); viewer.KindOf(err) != viewer.Closed {
			t.Errorf("clipboard of a closed pane: %v", err)
		}
		inputs(t, n, Dropped, keyA, pressAt(1, 1))
	})
}

func TestViewOnly(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		n := d.pane()
		n.SetViewOnly(true)
		d.wire("P 0,0 0")
		if !n.ViewOnly() {
			t.Error("not view only")
		}
		inputs(t, n, Dropped, keyA, pressAt(1, 1), hoverAt(1, 1))
		for tool, args := range map[string]string{
			"dvv_click": `{"action":"click","x":1,"y":1}`, "dvv_type": `{"text":"a"}`, "dvv_key": `{"keys":"a"}`,
			"dvv_control": `{"action":"acquire"}`, "dvv_clipboard": `{"action":"set","text":"a"}`,
		} {
			g.refused(control.NotSupported, tool, args)
		}
		if d.machine.clip != "" {
			t.Error("the clipboard was written")
		}
		if _, err := n.SetClipboard(context.Background(), "x"); viewer.KindOf(err) != viewer.Denied {
			t.Errorf("the person's clipboard: %v", err)
		}
		d.wire()
		g.ok("dvv_screen", `{}`)
		n.SetViewOnly(false)
		g.ok("dvv_control", `{"action":"acquire"}`)
		g.ok("dvv_type", `{"text":"a"}`)
	})
}

// A machine that was saved as view only is so from its first session on, until
// a person says otherwise.
func TestSavedViewOnly(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.library.viewOnly = "h_lab01"
		g := d.opened("a")
		n := d.pane()
		if !n.ViewOnly() {
			t.Error("not view only")
		}
		g.refused(control.NotSupported, "dvv_control", `{"action":"acquire"}`)
		g.refused(control.NotSupported, "dvv_clipboard", `{"action":"set","text":"x"}`)
		inputs(t, n, Dropped, keyA, pressAt(1, 1))
		n.SetViewOnly(false)
		g.ok("dvv_limbs", `{}`)
		g.ok("dvv_control", `{"action":"acquire"}`).is("held", true)
	})
}

// While the release is not on the wire, nothing of the person's is either, and
// what they do meanwhile arrives in order.
func TestInputWaitsForTheRelease(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.driving("a")
		n := d.pane()
		d.machine.stick(true)
		inputs(t, n, Consumed, keyCtrl, up(keyCtrl))
		for x := range 500 {
			inputs(t, n, Delivered, hoverAt(x%100, 9)) // coalesced
		}
		inputs(t, n, Delivered, keyA, up(keyA), pressAt(9, 9), hoverAt(9, 9))
		d.wire()
		d.machine.stick(false)
		d.wire("P 0,0 0", "P 99,9 0", "K+61", "K-61", "P 9,9 1", "P 9,9 0")
	})
}

// A machine that takes no input loses presses, never releases.
func TestPendingInputIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.driving("a")
		n := d.pane()
		d.machine.stick(true)
		inputs(t, n, Consumed, keyCtrl, up(keyCtrl))
		inputs(t, n, Delivered, pressAt(1, 1))
		dropped := 0
		for range 2000 {
			if n.Input(keyA) == Dropped {
				dropped++
			}
			n.Input(up(keyA))
		}
		n.limb.mu.Lock()
		waiting := len(n.limb.pending)
		n.limb.mu.Unlock()
		if dropped == 0 || waiting > 2*maxPending {
			t.Errorf("%d dropped, %d wait", dropped, waiting)
		}
		inputs(t, n, Delivered, hoverAt(1, 1))
		d.machine.stick(false)
		synctest.Wait()
		downs, ups := 0, 0
		log := d.machine.wire()
		for _, e := range log {
			switch e {
			case "K+61":
				downs++
			case "K-61":
				ups++
			}
		}
		if downs == 0 || downs != ups || log[len(log)-1] != "P 1,1 0" {
			t.Errorf("%d downs, %d ups, last %s", downs, ups, log[len(log)-1])
		}
	})
}

// A machine that takes nothing does not keep a person from stopping: what
// waits for it never arrives.
func TestStopThrowsAwayWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		d.opened("a")
		n := d.pane()
		d.machine.stick(true)
		for range 400 {
			n.Input(keyA)
			n.Input(up(keyA))
		}
		n.Stop()
		time.Sleep(time.Second)
		d.machine.stick(false)
		synctest.Wait()
		log := d.machine.wire()
		if slices.Contains(log, "K+61") || len(log) == 0 || log[len(log)-1] != "P 0,0 0" {
			t.Errorf("wire: %.200q", log)
		}
	})
}

// Two agents: the second waits, and each one's text arrives in one piece.
func TestTwoAgents(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		a, b := d.driving("a"), d.operator("b")
		b.ok("dvv_screen", `{"limbId":"`+lab+`"}`)
		b.refused(control.LeaseNotHeld, "dvv_type", `{"text":"x"}`)
		b.refused(control.LeaseNotHeld, "dvv_control", `{"action":"acquire","waitMs":0}`)
		var done sync.WaitGroup
		done.Go(func() {
			a.ok("dvv_type", `{"text":"`+strings.Repeat("a", 500)+`"}`).is("progress.count", 500)
			a.ok("dvv_control", `{"action":"release"}`)
		})
		done.Go(func() {
			b.ok("dvv_control", `{"action":"acquire","waitMs":25000}`).is("held", true)
			b.ok("dvv_type", `{"text":"`+strings.Repeat("b", 500)+`"}`).is("progress.count", 500)
		})
		done.Wait()
		var downs []byte
		for _, e := range d.machine.wire() {
			if e == "K+61" || e == "K+62" {
				downs = append(downs, e[len(e)-1])
			}
		}
		if got := string(downs); got != strings.Repeat("1", 500)+strings.Repeat("2", 500) {
			t.Errorf("mixed: %d keys", len(got))
		}
	})
}

func TestLeaseExpires(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		for range 2 { // looking keeps it alive
			time.Sleep(50 * time.Second)
			g.ok("dvv_status", `{}`).is("lease.held", true)
		}
		time.Sleep(20 * time.Second) // but not for ever without acting
		g.ok("dvv_status", `{}`).is("lease.held", false, "lease.human_took_over", false, "lease.phase", "unheld")
		d.wire("P 0,0 0")
		r := g.refused(control.LeaseNotHeld, "dvv_click", `{"action":"click","x":1,"y":1}`)
		if !strings.Contains(r.text, "60 seconds") {
			t.Errorf("the message does not tell of the time: %s", r.text)
		}
		g.ok("dvv_control", `{"action":"acquire"}`).is("lease_id", 2)
		time.Sleep(60 * time.Second)
		g.ok("dvv_control", `{"action":"status"}`).is("held", false, "control_yield.reason", "unheld")
	})
}

func TestControlAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.opened("a")
		g.ok("dvv_control", `{"action":"status"}`).is("held", false, "lease_id", nil, "view.mode", "exclusive", "view.phase", "unheld", "outcome", "unchanged")
		g.refused(control.BadRequest, "dvv_control", `{"action":"release","waitMs":5}`)
		g.ok("dvv_control", `{"action":"acquire","reason":"first"}`).is("outcome", "granted", "lease_id", 1, "view.you_hold", true, "control_yield", nil)
		g.ok("dvv_control", `{"action":"acquire"}`).is("outcome", "renewed", "lease_id", 1)
		g.ok("dvv_control", `{"action":"yield","reason":"done"}`).is("outcome", "unheld", "held", false)
		g.ok("dvv_control", `{"action":"release"}`).is("outcome", "unchanged")
		// A caller that gives up while it waits does not get the wheel later.
		b := d.operator("b")
		b.ok("dvv_control", `{"limbId":"`+lab+`","action":"acquire"}`)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		if r := g.raw(ctx, "dvv_control", `{"action":"acquire","waitMs":20000}`); !r.isError {
			t.Errorf("cancelled: %s", r.raw)
		}
		b.ok("dvv_control", `{"action":"release"}`)
		g.ok("dvv_control", `{"action":"status"}`).is("held", false, "view.queue_depth", 0)
	})
}

// What was given to one attachment is not another's, whatever its grant.
func TestSameGrantTwoAttachments(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		a, b := d.agent("one", grant.Default()), d.agent("two", grant.Default())
		a.ok("dvv_open", `{"hostId":"lab","perceive":true}`)
		a.ok("dvv_wait", `{"until":"connected"}`)
		a.ok("dvv_screen", `{}`)
		b.ok("dvv_status", `{"limbId":"`+lab+`"}`)
		a.ok("dvv_control", `{"action":"acquire"}`)
		b.refused(control.LeaseNotHeld, "dvv_key", `{"keys":"Enter"}`)
		b.ok("dvv_control", `{"action":"release"}`).is("outcome", "unchanged")
		a.ok("dvv_status", `{}`).is("lease.held", true)
		a.a.Close()
		b.ok("dvv_control", `{"action":"acquire"}`)
		b.refused(control.ScreenChanged, "dvv_key", `{"keys":"Enter"}`)
	})
}
