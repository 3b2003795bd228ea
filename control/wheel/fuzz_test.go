package wheel

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// FuzzWheel plays random acts and checks what must hold after each: at most
// one party may dispatch; a party that dispatches after another one has had a
// release written in between; lease ids only grow; a revoked agent never
// holds the wheel; the queue is bounded and names nobody twice.
func FuzzWheel(f *testing.F) {
	f.Add([]byte{0, 0, 9, 0, 8, 0, 6, 4, 9, 0, 8, 4})
	f.Add([]byte{0, 0, 0, 1, 9, 0, 8, 0, 1, 0, 9, 0, 8, 1, 7, 4, 11, 200, 0, 0})
	f.Add([]byte{0, 2, 11, 31, 0, 3, 11, 20, 9, 0, 3, 2, 4, 2, 5, 0, 6, 5, 10, 4})
	parties := []Party{alpha, alpha2, beta, boss, pat, sam, owner}
	f.Fuzz(func(t *testing.T, ops []byte) {
		w := New(Defaults())
		now := time.Unix(5000, 0)
		var lastLease, pending uint64
		var driver string // who dispatched last
		clean := true     // a release was written since
		ops = ops[:min(len(ops), 400)]
		for len(ops) >= 2 {
			op, arg := ops[0]%13, ops[1]
			ops = ops[2:]
			p := parties[int(arg)%len(parties)]
			leaseBefore, turn, shape := w.lease, w.Turn(), shapeOf(w, parties)
			switch op {
			case 0:
				w.Acquire(now, p, true, "r")
			case 1:
				w.Acquire(now, p, false, "r")
			case 2:
				w.Release(now, p.ID, 0)
			case 3:
				w.Release(now, p.ID, uint64(arg))
			case 4:
				w.Disconnect(now, p.ID)
			case 5:
				w.Renew(now, p.ID)
			case 6:
				w.Takeover(now, p)
			case 7:
				w.Force(now, pat)
			case 8:
				if w.Dispatched(now, p.ID, arg&64 != 0) {
					if driver != p.ID && driver != "" && !clean {
						t.Fatalf("%s drives after %s without a release", p.ID, driver)
					}
					if p.Kind == Agent && driver != p.ID && !clean {
						t.Fatalf("agent %s begins without a release", p.ID)
					}
					driver, clean = p.ID, false
				}
			case 9: // a release begins
				pending, _ = w.Debt()
			case 10: // and is written
				before := w.Owes()
				w.Pay(pending)
				if before && !w.Owes() {
					clean = true
				}
			case 11:
				now = now.Add(time.Duration(arg) * 250 * time.Millisecond)
				w.Tick(now)
			case 12:
				if arg&1 == 0 {
					w.HandBack(now, p.ID)
				} else {
					w.Revoke(now, p, pat)
				}
			}
			if w.lease < leaseBefore || w.lease < lastLease {
				t.Fatal("a lease id went backwards")
			}
			if h := w.holder; h != nil && (h.lease == 0 || h.lease > w.lease) {
				t.Fatalf("lease %d of %d", h.lease, w.lease)
			}
			lastLease = w.lease
			if w.Turn() == turn && shapeOf(w, parties) != shape {
				t.Fatalf("op %d changed the wheel and its turn did not move:\n%s\n%s", op, shape, shapeOf(w, parties))
			}
			may := 0
			for _, p := range parties {
				if w.MayDispatch(p.ID) {
					may++
				}
				v := w.View(p)
				if v.Revoked && v.Lease != 0 {
					t.Fatalf("%s is revoked and holds the wheel", p.ID)
				}
				if v.Lease != 0 && v.Position != 0 {
					t.Fatalf("%s holds the wheel and waits for it", p.ID)
				}
			}
			if may > 1 {
				t.Fatal("two may dispatch")
			}
			if may == 1 != (w.Phase() == Held) {
				t.Fatalf("phase %s, %d may dispatch", w.Phase(), may)
			}
			if len(w.queue) > w.n.QueueDepth {
				t.Fatal("the queue is longer than its bound")
			}
			seen := map[string]bool{}
			for _, q := range w.queue {
				if seen[q.party.ID] {
					t.Fatalf("%s waits twice", q.party.ID)
				}
				seen[q.party.ID] = true
			}
			if at, ok := w.Next(); ok {
				c := *w
				c.queue, c.revoked = slices.Clone(w.queue), slices.Clone(w.revoked)
				c.Tick(at)
				if n, again := c.Next(); again && !n.After(at) && c.holder == w.holder && len(c.queue) == len(w.queue) && c.preempt == w.preempt {
					t.Fatal("time to act, and nothing changed: a ticker would spin")
				}
			}
		}
	})
}

// shapeOf is everything that a change of turn announces.
func shapeOf(w *Wheel, parties []Party) string {
	s := fmt.Sprint(w.Phase(), w.debt, w.paid, len(w.revoked))
	for _, p := range parties {
		v := w.View(p)
		s += fmt.Sprint(" ", v.Lease, v.Position, v.Revoked, v.HumanTookOver, v.Reason)
	}
	return s
}
