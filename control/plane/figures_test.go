package plane

import (
	"testing"
	"time"

	"deskvnc/control"
	"deskvnc/viewer"
)

// Figures are told in the units of the contract, and a way that was not
// measured is none.
func TestSessionInfo(t *testing.T) {
	f := viewer.Figures{FPS: 12, RoundTrip: 20 * time.Millisecond, RoundTripKnown: true, Duty: 0.5, Throughput: 1e6, Decode: 1500 * time.Microsecond, Encoding: 7, JPEGQuality: 6}
	want := control.SessionInfo{FPS: 12, RTTMs: 20, RTTSource: "fence", ServerDutyCycle: 0.5, ThroughputBps: 8e6, DecodeMs: 1.5, CurrentEncoding: 7, JPEGQuality: 6}
	if got := *sessionInfo(f); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	f.RoundTripKnown = false
	want.RTTMs, want.RTTSource = 0, "none"
	if got := *sessionInfo(f); got != want {
		t.Errorf("without fences: got %+v, want %+v", got, want)
	}
}
