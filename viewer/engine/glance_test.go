package engine

import (
	"slices"
	"testing"

	"deskvnc/viewer"
)

// Who glances keeps the picture asked for, at little; who watches has all of it
// (C139).
func TestGlance(t *testing.T) {
	d := &script{w: 4, h: 4}
	s, err := start(t, d, Config{}).Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, s, viewer.Connected)
	glance, err := s.Glance()
	if err != nil {
		t.Fatal(err)
	}
	if !s.Watched() {
		t.Error("a glance is not enough to keep the picture")
	}
	watch, err := s.Watch()
	if err != nil {
		t.Fatal(err)
	}
	watch()
	glance()
	glance() // twice is once
	live := d.session(0)
	demand := wanted(live)
	live.mu.Lock()
	spared := slices.Clone(live.spared)
	live.mu.Unlock()
	// Before anybody looks, a glance, a watch, a glance again, nobody.
	if want := []bool{false, true, true, true, false}; !slices.Equal(demand, want) {
		t.Errorf("demand %v, want %v", demand, want)
	}
	if want := []bool{true, true, false, true, true}; !slices.Equal(spared, want) {
		t.Errorf("spared %v, want %v", spared, want)
	}
}
