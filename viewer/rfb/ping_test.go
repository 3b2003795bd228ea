package rfb

import (
	"bytes"
	"testing"
	"time"
)

// A machine behind a tunnel that says nothing is asked for a fence, also while
// nobody looks; one that does not answer within a minute is lost. One that
// answers, late or not, is not.
func TestSilenceIsNoticed(t *testing.T) {
	for _, answers := range []bool{true, false} {
		o := newOutbox()
		var received uint64
		o.ping.received = func() uint64 { return received }
		o.requests.fence = true
		now, asked := noon, 0
		for now.Sub(noon) < time.Minute && !o.isLost() {
			b, wait := o.take(now)
			if bytes.HasPrefix(b, []byte{msgFence}) {
				asked++
				if answers {
					received += 17
					o.update(func() { o.returned(fencePayload(fencePing, o.ping.count), 0, now.Add(20*time.Second)) })
				}
			}
			o.wrote()
			if len(b) == 0 {
				if wait <= 0 {
					t.Fatal("nothing is to be looked at again")
				}
				now = now.Add(wait)
			}
		}
		if o.isLost() == answers || asked == 0 || asked > 3 {
			t.Errorf("answers %v: lost %v after %v, asked %d times", answers, o.isLost(), now.Sub(noon), asked)
		}
		if answers && o.ping.trip != 20*time.Second {
			t.Errorf("the way took %v", o.ping.trip)
		}
	}
}

// A machine without fences, or on a connection of its own, is left alone.
func TestSilenceElsewhere(t *testing.T) {
	o := newOutbox()
	o.ping.received = func() uint64 { return 0 }
	if b, wait := o.take(noon.Add(time.Hour)); len(b) > 0 || wait > 0 {
		t.Errorf("without fences: %v, %v", b, wait)
	}
	o.ping.received, o.requests.fence = nil, true
	if b, wait := o.take(noon.Add(time.Hour)); len(b) > 0 || wait > 0 {
		t.Errorf("without a tunnel: %v, %v", b, wait)
	}
}
