package plane

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/control"
)

// An act that follows a cancelled one at once waits until that one is over and
// what it held is released, and then goes.
func TestAnActFollowsACancelledOne(t *testing.T) {
	for _, first := range []string{
		`{"action":"drag","x":1,"y":1,"toX":90,"toY":90,"modifiers":["shift"]}`,
		`{"action":"click","x":1,"y":1}`,
	} {
		bubble(t, func(t *testing.T, d *desk) {
			g := d.driving("a")
			ctx, cancel := context.WithCancel(d.context())
			var done sync.WaitGroup
			done.Go(func() { g.raw(ctx, "dvv_click", first) })
			time.Sleep(50 * time.Millisecond) // in the middle of a drag
			d.machine.stick(true)
			time.Sleep(40 * time.Millisecond)
			cancel()
			done.Go(func() {
				time.Sleep(time.Second)
				d.machine.stick(false)
			})
			g.ok("dvv_click", `{"action":"move","x":5,"y":5}`)
			done.Wait()
			wire := d.machine.wire()
			if len(wire) == 0 || wire[len(wire)-1] != "P 5,5 0" {
				t.Errorf("wire: %q, want the move last", wire)
			}
		})
	}
}

// A machine that never lets go is said to take no input.
func TestAnActDoesNotWaitForEver(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		g := d.driving("a")
		ctx, cancel := context.WithCancel(d.context())
		var done sync.WaitGroup
		done.Go(func() { g.raw(ctx, "dvv_click", `{"action":"drag","x":1,"y":1,"toX":90,"toY":90}`) })
		time.Sleep(80 * time.Millisecond)
		d.machine.stick(true)
		cancel()
		synctest.Wait()
		start := time.Now()
		g.refused(control.IntentBlocked, "dvv_click", `{"action":"move","x":5,"y":5}`)
		if took := time.Since(start); took != settleWait {
			t.Errorf("refused after %v, want %v", took, settleWait)
		}
		d.machine.stick(false)
		done.Wait()
	})
}
