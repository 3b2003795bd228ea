package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"deskvnc/viewer"
)

// TestLoop makes every step a few times; each is checked as it is made.
func TestLoop(t *testing.T) {
	var out bytes.Buffer
	cmd := Loop()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--json", "-n", "3", "--width", "800", "--height", "600"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var r LoopResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range r.Steps {
		names = append(names, s.Name)
		if s.Count != 3 || s.Median <= 0 || s.P95 < s.Median || s.Max < s.P95 {
			t.Errorf("got %+v", s)
		}
	}
	if got, want := strings.Join(names, ", "), "open, first look, acquire, status, screen, full, quarter, click, cycle, type"; got != want {
		t.Errorf("got steps %s, want %s", got, want)
	}
	if r.Width != 800 || r.Height != 600 {
		t.Errorf("got %dx%d", r.Width, r.Height)
	}
}

func TestLoopTable(t *testing.T) {
	r := LoopResult{Width: 800, Height: 600, Steps: []LoopTimes{{Name: "cycle", What: "click and look", Count: 7, Median: 1.234, P95: 2.345, Max: 3.456, Bytes: 99}}}
	var out bytes.Buffer
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"800 x 600", "cycle", "click and look", "1.23", "2.35", "3.46", "99"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want it to hold %q", out.String(), want)
		}
	}
}

// TestLoopChecks: a picture that does not show what it should is an error.
func TestLoopChecks(t *testing.T) {
	var l *loop
	err := measureLoop(t.Context(), LoopOptions{Count: 1, Width: 640, Height: 480}, func(running *loop) error {
		l = running
		if err := l.opens(); err != nil {
			return err
		}
		r, err := l.call("dvv_screen", `{}`)
		if err != nil {
			return err
		}
		if err := l.whole(r); err != nil {
			t.Errorf("the picture as it is: %v", err)
		}
		l.clicks++
		if err := l.shows(r); err == nil || !strings.Contains(err.Error(), "after 1 clicks") {
			t.Errorf("a click that never was: got %v", err)
		}
		l.clicks--
		r, err = l.call("dvv_screen", `{"form":"region","region":{"x":0,"y":0,"w":64,"h":32}}`)
		if err != nil {
			return err
		}
		if err := l.shows(r); err == nil || !strings.Contains(err.Error(), "does not show the pad") {
			t.Errorf("a picture of the corner: got %v", err)
		}
		if _, err := l.call("dvv_click", `{"action":"click","x":1,"y":1}`); err == nil || !strings.Contains(err.Error(), "dvv_click") {
			t.Errorf("a click without the wheel: got %v", err)
		}
		if err := l.shows(reply{}); err == nil {
			t.Error("no picture, and no error")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoopOptions(t *testing.T) {
	for _, o := range []LoopOptions{{Count: 0, Width: 800, Height: 600}, {Count: 1 << 20, Width: 800, Height: 600}} {
		if _, err := MeasureLoop(t.Context(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if _, err := MeasureLoop(t.Context(), LoopOptions{Count: 1, Width: 10, Height: 10}); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("a tiny desktop: got %v", err)
	}
}
