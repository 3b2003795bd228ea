package pane

import (
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

// Each question is put so that a person knows what a yes does.
func TestWording(t *testing.T) {
	target := viewer.Target{Protocol: viewer.VNC, Address: "lab01", Port: 5901, Name: "lab"}
	print := strings.Repeat("AB:", 31) + "CD"
	shown := &viewer.KeyInfo{What: "certificate, RSA 2048 bits", Fingerprint: print, Subject: "CN=lab01", Problems: []string{"the machine issued it for itself"}}
	changed := *shown
	changed.Pinned = &viewer.PinnedKey{What: "certificate, RSA 2048 bits", Fingerprint: strings.Repeat("12:", 31) + "34", Since: time.Date(2025, 3, 1, 12, 0, 0, 0, time.Local)}
	for _, c := range []struct {
		name string
		q    viewer.Question
		want words
		in   []string // in the text or warning
	}{
		{"password", viewer.Question{Kind: viewer.AskVNCPassword}, words{title: "Log in to lab", yes: "Log in", secret: true}, []string{"The machine asks for a password."}},
		{"refused before", viewer.Question{Kind: viewer.AskVNCPassword, Note: "it refused the one that is stored"}, words{title: "Log in to lab", yes: "Log in", secret: true},
			[]string{"The machine asks for a password, and it refused the one that is stored."}},
		{"user and password", viewer.Question{Kind: viewer.AskPassword, Text: "staff only"}, words{title: "Log in to lab", yes: "Log in", user: true, secret: true}, []string{"Staff only.\n", "user name and a password"}},
		{"unencrypted", viewer.Question{Kind: viewer.AskUnencrypted}, words{title: "Connect to lab unencrypted?", yes: "Connect anyway", danger: true}, []string{"can be read on the way"}},
		{"unknown certificate", viewer.Question{Kind: viewer.AskCertificate, Key: shown}, words{title: "Is this lab?", yes: "Trust it", keep: true},
			[]string{print[:48] + "\n" + print[48:], "CN=lab01", "The machine issued it for itself."}},
		{"changed certificate", viewer.Question{Kind: viewer.AskCertificate, Key: &changed}, words{title: "lab is not what it was", yes: "Replace and connect", danger: true, sure: true},
			[]string{print[:48], changed.Pinned.Fingerprint[:48], changed.Pinned.Fingerprint[48:], "Trusted since 1 March 2025", "Stop:"}},
	} {
		c.q.Target = target
		got := wording(c.q)
		all := got.text + "\n" + got.warning
		got.text, got.warning = "", ""
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		for _, in := range c.in {
			if !strings.Contains(all, in) {
				t.Errorf("%s: %q is not said in\n%s", c.name, in, all)
			}
		}
	}
}

func TestPauseText(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		left    time.Duration
		attempt int
		want    string
	}{
		{4300 * time.Millisecond, 1, "Trying again in 5 s."},
		{time.Second, 2, "Trying again in 1 s, for the 2nd time."},
		{-time.Second, 3, "Trying again now, for the 3rd time."},
		{5 * time.Minute, 11, "Trying again in 5 min, for the 11th time."},
		{30 * time.Second, 22, "Trying again in 30 s, for the 22nd time."},
	} {
		if got := pauseText(viewer.State{NextRetry: now.Add(c.left), Attempt: c.attempt}, now); got != c.want {
			t.Errorf("%v: got %q, want %q", c.left, got, c.want)
		}
	}
}
