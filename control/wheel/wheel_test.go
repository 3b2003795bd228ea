package wheel

import (
	"errors"
	"slices"
	"testing"
	"time"
)

var (
	alpha  = Party{ID: "att_a", Authority: "g1", Kind: Agent, Label: "alpha"}
	alpha2 = Party{ID: "att_a2", Authority: "g1", Kind: Agent, Label: "alpha again"}
	beta   = Party{ID: "att_b", Authority: "g2", Kind: Agent, Label: "beta"}
	boss   = Party{ID: "att_c", Authority: "g3", Kind: Agent, Label: "boss", Rank: 60}
	pat    = Party{ID: "pane_1", Kind: Human, Label: "pat"}
	sam    = Party{ID: "pane_2", Kind: Human, Label: "sam"}
	owner  = Party{ID: "own", Kind: Owner, Label: "owner"}
)

// A bench is a wheel with a clock.
type bench struct {
	*testing.T
	w   *Wheel
	now time.Time
}

func newBench(t *testing.T) *bench {
	return &bench{T: t, w: New(Defaults()), now: time.Unix(1000, 0)}
}

func (b *bench) after(ms int) {
	b.Helper()
	b.now = b.now.Add(time.Duration(ms) * time.Millisecond)
	b.w.Tick(b.now)
}

// pay writes the release that is owed.
func (b *bench) pay() {
	b.Helper()
	debt, owed := b.w.Debt()
	if !owed {
		b.Fatal("no release is owed")
	}
	b.w.Pay(debt)
}

func (b *bench) acquire(p Party, queue bool, want Outcome) Answer {
	b.Helper()
	a, err := b.w.Acquire(b.now, p, queue, "because")
	if err != nil || a.Outcome != want {
		b.Fatalf("acquire by %s: got %q, %v, want %q", p.Label, a.Outcome, err, want)
	}
	return a
}

func (b *bench) refused(p Party, queue bool, want Why) *Refusal {
	b.Helper()
	_, err := b.w.Acquire(b.now, p, queue, "")
	var r *Refusal
	if !errors.As(err, &r) || r.Why != want {
		b.Fatalf("acquire by %s: got %v, want refusal %q", p.Label, err, want)
	}
	return r
}

// drives gets the wheel for p and sends one input.
func (b *bench) drives(p Party) uint64 {
	b.Helper()
	a := b.acquire(p, false, Granted)
	if b.w.Owes() {
		b.pay()
	}
	b.sends(p, false)
	return a.Lease
}

func (b *bench) sends(p Party, holding bool) {
	b.Helper()
	if !b.w.Dispatched(b.now, p.ID, holding) {
		b.Fatalf("%s may not dispatch in phase %s", p.Label, b.w.Phase())
	}
}

func (b *bench) phase(want Phase) {
	b.Helper()
	if got := b.w.Phase(); got != want {
		b.Fatalf("phase: got %s, want %s", got, want)
	}
}

func (b *bench) holder(want string) {
	b.Helper()
	p, _ := b.w.Holder()
	if p.ID != want {
		b.Fatalf("holder: got %q, want %q", p.ID, want)
	}
}

// left checks the last departure.
func (b *bench) left(p Party, c Cause) {
	b.Helper()
	d := b.w.Departed()
	if len(d) == 0 || d[len(d)-1].Party.ID != p.ID || d[len(d)-1].Cause != c {
		b.Fatalf("departures: got %+v, want %s %s last", d, p.Label, c)
	}
}

func TestGrantedAndHandedOver(t *testing.T) {
	b := newBench(t)
	b.phase(Unheld)
	a := b.acquire(alpha, true, Granted)
	if a.Lease != 1 {
		t.Errorf("first lease: got %d, want 1", a.Lease)
	}
	b.phase(HandingOver)
	if b.w.Dispatched(b.now, alpha.ID, false) {
		t.Error("dispatched before the release was written")
	}
	debt, _ := b.w.Debt()
	if o := b.w.Pay(debt); o != HandoverComplete {
		t.Errorf("pay: got %s, want %s", o, HandoverComplete)
	}
	b.phase(Held)
	b.sends(alpha, false)
	if got := b.acquire(alpha, true, Renewed); got.Lease != 1 {
		t.Errorf("renewed lease: got %d, want 1", got.Lease)
	}
	if b.w.MayDispatch(beta.ID) {
		t.Error("a party without the wheel may dispatch")
	}
}

func TestStalePayDoesNotConfirmALaterChange(t *testing.T) {
	b := newBench(t)
	b.acquire(alpha, true, Granted)
	old, _ := b.w.Debt()
	b.w.Release(b.now, alpha.ID, 0)
	b.acquire(beta, true, Granted)
	b.w.Pay(old)
	b.phase(HandingOver)
	b.pay()
	b.phase(Held)
	b.w.Pay(1 << 60) // a number never given confirms nothing in advance
	b.w.Owe()
	b.phase(HandingOver)
}

func TestRelease(t *testing.T) {
	b := newBench(t)
	lease := b.drives(alpha)
	if o := b.w.Release(b.now, alpha.ID, lease+7); o != Unchanged {
		t.Errorf("stale lease: got %s, want %s", o, Unchanged)
	}
	if o := b.w.Release(b.now, beta.ID, lease); o != Unchanged {
		t.Errorf("somebody else's lease: got %s, want %s", o, Unchanged)
	}
	b.holder(alpha.ID)
	if o := b.w.Release(b.now, alpha.ID, lease); o != LetGo {
		t.Errorf("release: got %s, want %s", o, LetGo)
	}
	b.left(alpha, Released)
	if !b.w.Owes() {
		t.Error("an agent left and no release is owed")
	}
	if o := b.w.Release(b.now, alpha.ID, lease); o != Unchanged {
		t.Errorf("second release: got %s, want %s", o, Unchanged)
	}
	if a := b.acquire(alpha, false, Granted); a.Lease != lease+1 {
		t.Errorf("lease after release: got %d, want %d", a.Lease, lease+1)
	}
}

func TestQueue(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.refused(beta, false, IsHeld)
	if a := b.acquire(beta, true, Queued); a.Position != 1 {
		t.Errorf("position: got %d, want 1", a.Position)
	}
	b.acquire(beta, true, Queued)
	if v := b.w.View(beta); v.QueueDepth != 1 || v.Position != 1 || v.Lease != 0 {
		t.Errorf("view of a waiter: %+v", v)
	}
	// A higher priority goes to the front; the floor of 3 s still stands.
	if a := b.acquire(boss, true, Queued); a.Position != 1 {
		t.Errorf("position of the higher party: got %d, want 1", a.Position)
	}
	if a := b.acquire(beta, true, Queued); a.Position != 2 {
		t.Errorf("position behind it: got %d, want 2", a.Position)
	}
	if o := b.w.Release(b.now, boss.ID, 0); o != WaitCancelled {
		t.Errorf("giving the place up: got %s, want %s", o, WaitCancelled)
	}
	if o := b.w.Release(b.now, alpha.ID, 0); o != HandoverComplete {
		t.Errorf("release to a waiter: got %s, want %s", o, HandoverComplete)
	}
	b.holder(beta.ID)
	b.phase(HandingOver)
}

func TestQueueIsBoundedAndForgets(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	for i := range Defaults().QueueDepth {
		b.acquire(Party{ID: string(rune('A' + i)), Kind: Agent}, true, Queued)
	}
	b.refused(beta, true, QueueFull)
	b.after(59_999)
	b.w.Renew(b.now, alpha.ID)
	if n := b.w.View(beta).QueueDepth; n != 8 {
		t.Errorf("queue before its time: got %d, want 8", n)
	}
	b.after(1)
	if n := b.w.View(beta).QueueDepth; n != 0 {
		t.Errorf("queue after its time: got %d, want 0", n)
	}
}

func TestPreemption(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.after(2_999)
	b.refused(boss, false, IsHeld) // the floor
	b.after(1)
	a := b.acquire(boss, true, PreemptionStarted)
	if want := b.now.Add(2 * time.Second); !a.Deadline.Equal(want) {
		t.Errorf("deadline: got %v, want %v", a.Deadline, want)
	}
	b.phase(PreemptPending)
	if b.w.MayDispatch(alpha.ID) || b.w.MayDispatch(boss.ID) {
		t.Error("somebody may dispatch while a preemption is pending")
	}
	b.acquire(boss, true, PreemptionStarted)
	b.refused(beta, false, IsHeld) // a preemption is under way
	b.after(1_999)
	b.holder(alpha.ID)
	b.after(1)
	b.left(alpha, Preempted)
	b.holder(boss.ID)
	b.phase(HandingOver)
	b.pay()
	b.sends(boss, false)
	if b.w.View(alpha).HumanTookOver {
		t.Error("an agent that preempts is no person")
	}
}

func TestPreemptionEndsEarlyOrIsAbandoned(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.after(3_000)
	b.acquire(boss, true, PreemptionStarted)
	if o := b.w.Release(b.now, boss.ID, 0); o != PreemptionAbandoned {
		t.Errorf("abandon: got %s, want %s", o, PreemptionAbandoned)
	}
	b.phase(Held)
	b.sends(alpha, false)
	b.acquire(boss, true, PreemptionStarted)
	if o := b.w.Release(b.now, alpha.ID, 0); o != HandoverComplete {
		t.Errorf("release under preemption: got %s, want %s", o, HandoverComplete)
	}
	b.holder(boss.ID)
}

func TestPersonAcquiresWithoutTheFloor(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.acquire(pat, true, PreemptionStarted) // asked politely: grace, no floor
	b.after(2_000)
	b.holder(pat.ID)
}

func TestExpiry(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.after(59_999)
	b.phase(Held)
	b.after(1)
	b.phase(Unheld)
	b.left(alpha, Expired)
	if v := b.w.View(alpha); v.Revoked || v.HumanTookOver {
		t.Errorf("an expired agent is not revoked: %+v", v)
	}
	if !b.w.Owes() {
		t.Error("no release is owed after an expiry")
	}
	b.acquire(alpha, false, Granted)
}

func TestRenewalStretchesLifeButNotIdleness(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.after(50_000)
	b.w.Renew(b.now, alpha.ID)
	b.after(50_000)
	b.w.Renew(b.now, beta.ID) // not the holder: nothing
	b.w.Renew(b.now, alpha.ID)
	b.after(19_999)
	b.phase(Held)
	b.after(1)
	b.left(alpha, IdleRevoked)
	b.phase(Unheld)
}

func TestDisconnect(t *testing.T) {
	b := newBench(t)
	lease := b.drives(alpha)
	b.acquire(beta, true, Queued)
	b.w.Disconnect(b.now, beta.ID)
	if n := b.w.View(alpha).QueueDepth; n != 0 {
		t.Errorf("queue after a waiter's transport dropped: got %d, want 0", n)
	}
	b.w.Disconnect(b.now, alpha.ID)
	b.phase(HeldGrace)
	if b.w.MayDispatch(alpha.ID) {
		t.Error("a holder without transport may dispatch")
	}
	b.after(9_999)
	if a := b.acquire(alpha, false, Renewed); a.Lease != lease {
		t.Errorf("lease after coming back: got %d, want %d", a.Lease, lease)
	}
	b.phase(Held)
	b.w.Disconnect(b.now, alpha.ID)
	b.after(10_000)
	b.left(alpha, GraceElapsed)
	b.phase(Unheld)
}

func TestDisconnectedHolderIsTakenAtOnceByAHigherParty(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.after(3_000)
	b.w.Disconnect(b.now, alpha.ID)
	b.refused(beta, false, IsHeld) // equal priority waits
	b.acquire(boss, false, Granted)
	b.left(alpha, Preempted)
}

func TestPersonTakesOver(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.acquire(beta, true, Queued)
	a, err := b.w.Takeover(b.now, pat)
	if err != nil || a.Outcome != Granted {
		t.Fatalf("takeover: %+v, %v", a, err)
	}
	d := b.w.Departed()
	if len(d) != 1 || d[0].Party.ID != alpha.ID || d[0].Cause != Preempted || d[0].By == nil || d[0].By.ID != pat.ID {
		t.Errorf("departures: %+v", d)
	}
	b.phase(HandingOver)
	if b.w.MayDispatch(pat.ID) {
		t.Error("the person may dispatch before the release is written")
	}
	b.pay()
	b.sends(pat, true)
	for _, p := range []Party{alpha, alpha2, beta} { // the waiter, and the agent under a new id, too
		b.refused(p, true, IsRevoked)
		if v := b.w.View(p); !v.Revoked || !v.HumanTookOver {
			t.Errorf("view of %s: %+v", p.Label, v)
		}
	}
	// Nobody holds any more, and the agent is still off.
	b.sends(pat, false)
	b.after(2_000)
	b.phase(Unheld)
	b.refused(alpha, true, IsRevoked)
	if v := b.w.View(alpha); !v.HumanTookOver {
		t.Error("human_took_over is false for a revoked agent")
	}
	if got := b.w.Revoked(); len(got) != 2 || got[0].Label != "alpha" || got[1].Label != "beta" {
		t.Errorf("revoked: %+v", got)
	}
	b.w.HandBack(b.now, pat.ID)
	if b.w.View(alpha).HumanTookOver || len(b.w.Revoked()) != 0 {
		t.Error("still revoked after the hand-back")
	}
	b.acquire(alpha, false, Granted)
}

func TestHandBackWhileThePersonHolds(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	b.w.Takeover(b.now, pat)
	b.pay()
	b.sends(pat, true)
	b.w.HandBack(b.now, pat.ID)
	b.phase(Unheld)
	if !b.w.Owes() {
		t.Error("the person let go with a key down and no release is owed")
	}
	b.acquire(alpha, false, Granted)
}

func TestPersonsHoldEndsByItself(t *testing.T) {
	b := newBench(t)
	b.acquire(pat, false, Granted)
	b.phase(Held) // a clean machine owes nothing to a person
	b.sends(pat, true)
	b.after(600_000)
	b.phase(Held) // a key is down
	b.sends(pat, false)
	b.acquire(alpha, true, Queued)
	b.after(1_999)
	b.holder(pat.ID)
	b.after(1)
	b.holder(alpha.ID)
	b.phase(HandingOver)
	b.left(pat, Released)
	if v := b.w.View(alpha); v.Revoked || v.HumanTookOver {
		t.Errorf("a person who merely clicked before revoked an agent: %+v", v)
	}
}

func TestPersonComingBackOwesNothing(t *testing.T) {
	b := newBench(t)
	b.drives(pat)
	b.after(5_000)
	b.phase(Unheld)
	b.acquire(pat, false, Granted)
	b.phase(Held)
	b.after(5_000)
	b.acquire(sam, false, Granted) // another pane drove before
	b.phase(HandingOver)
}

func TestTakeoverAmongPeople(t *testing.T) {
	b := newBench(t)
	b.drives(pat)
	if _, err := b.w.Takeover(b.now, sam); err != nil {
		t.Fatal(err)
	}
	b.holder(sam.ID)
	if len(b.w.Revoked()) != 0 {
		t.Error("a person was revoked")
	}
	if a, err := b.w.Takeover(b.now, sam); err != nil || a.Outcome != Renewed {
		t.Errorf("takeover by the holder: %+v, %v", a, err)
	}
	b.w.Takeover(b.now, owner)
	if _, err := b.w.Takeover(b.now, pat); err == nil {
		t.Error("a stray click interrupted an owner")
	}
	if _, err := b.w.Takeover(b.now, alpha); err == nil {
		t.Error("an agent took over")
	}
}

func TestRevokeWithoutHolding(t *testing.T) {
	b := newBench(t)
	b.w.Revoke(b.now, alpha, pat)
	b.refused(alpha, true, IsRevoked)
	b.drives(beta)
	b.w.Revoke(b.now, alpha, pat)
	b.holder(beta.ID)
	b.w.Revoke(b.now, beta, pat)
	b.phase(Unheld)
	b.left(beta, Preempted)
	if n := len(b.w.Revoked()); n != 2 {
		t.Errorf("revoked: got %d, want 2", n)
	}
}

func TestForce(t *testing.T) {
	b := newBench(t)
	b.w.Force(b.now, pat)
	if !b.w.Owes() {
		t.Error("a forced release owes one even when nobody held")
	}
	b.pay()
	b.after(30_000)
	b.drives(alpha)
	b.acquire(beta, true, Queued)
	b.w.Force(b.now, pat)
	b.left(alpha, Forced)
	b.phase(Unheld)
	if v := b.w.View(beta); v.QueueDepth != 0 {
		t.Error("the queue was not emptied")
	}
	b.after(10_000)
	if r := b.refused(Party{ID: "new", Kind: Agent}, true, InBackOff); r.Remaining != 20*time.Second {
		t.Errorf("remaining: got %v, want 20s", r.Remaining)
	}
	b.pay()
	b.drives(pat) // a person is never kept out
	b.after(20_000)
	b.refused(alpha, true, IsRevoked)
	b.drives(Party{ID: "new", Kind: Agent})
	b.w.Force(b.now, pat)
	b.w.HandBack(b.now, pat.ID)
	b.acquire(alpha, false, Granted)
}

func TestGone(t *testing.T) {
	b := newBench(t)
	lease := b.drives(alpha)
	b.acquire(beta, true, Queued)
	b.w.Revoke(b.now, boss, pat)
	b.w.Gone()
	b.phase(Unheld)
	b.left(alpha, Released)
	if v := b.w.View(beta); v.Position != 0 || b.w.Owes() {
		t.Errorf("after the end: %+v, owes %v", v, b.w.Owes())
	}
	b.refused(boss, true, IsRevoked)
	if a := b.acquire(alpha, false, Granted); a.Lease <= lease {
		t.Errorf("lease %d after %d", a.Lease, lease)
	}
}

func TestNext(t *testing.T) {
	b := newBench(t)
	want := func(ms int, ok bool) {
		t.Helper()
		at, got := b.w.Next()
		if got != ok || ok && at.Sub(b.now) != time.Duration(ms)*time.Millisecond {
			t.Fatalf("next: got %v %v, want %d ms %v", at.Sub(b.now), got, ms, ok)
		}
	}
	want(0, false)
	b.drives(pat)
	want(2_000, true)
	b.sends(pat, true)
	want(0, false)
	b.w.Release(b.now, pat.ID, 0)
	want(0, false)
	b.pay()
	b.drives(alpha)
	want(60_000, true)
	b.after(50_000)
	b.w.Renew(b.now, alpha.ID)
	want(60_000, true)
	b.after(15_000)
	b.w.Renew(b.now, alpha.ID)
	want(55_000, true) // idle, before the life renewed at 65 s ends
	b.acquire(boss, true, PreemptionStarted)
	want(2_000, true)
	b.w.Disconnect(b.now, alpha.ID)
	b.w.Release(b.now, boss.ID, 0)
	want(10_000, true)
}

func TestRefusalsSayWhy(t *testing.T) {
	b := newBench(t)
	b.drives(alpha)
	if got, want := b.refused(beta, false, IsHeld).Error(), "the wheel is held by alpha (agent)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	texts := []string{}
	for _, y := range []Why{InBackOff, IsRevoked, IsHeld, QueueFull} {
		texts = append(texts, (&Refusal{Why: y}).Error())
	}
	slices.Sort(texts)
	if n := len(slices.Compact(texts)); n != 4 {
		t.Errorf("%d different texts, want 4", n)
	}
}
