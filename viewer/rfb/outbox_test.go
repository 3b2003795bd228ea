package rfb

import (
	"context"
	"testing"
	"time"
)

// A release when nothing was ever sent has no bytes; whoever waits for it must
// not wait for the next update request.
func TestReleaseOfNothingIsWritten(t *testing.T) {
	o := newOutbox()
	n := o.releaseAll()
	if b, _ := o.take(time.Now()); len(b) != 0 {
		t.Fatalf("got %x, want nothing to write", b)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := o.wait(ctx, n); err != nil {
		t.Errorf("got %v, want it written", err)
	}
}
