package trust

import (
	"context"
	"slices"
	"strings"
	"testing"

	"deskvnc/viewer"
)

// atRepeater is a machine behind the repeater that target is.
func atRepeater(id string) viewer.Target {
	t := target
	t.RepeaterID = id
	return t
}

// The machines behind one repeater, and the repeater's own address without
// one, keep pins of their own.
func TestPinsBehindARepeater(t *testing.T) {
	ctx := context.Background()
	pins := Folder(t.TempDir())
	a, b := RSAKey(2048, []byte("a"), ""), RSAKey(2048, []byte("b"), "")
	for id, key := range map[string]Key{"1234": a, "1235": b} {
		if err := newJudge(pins, nil).Check(ctx, atRepeater(id), key, AcceptNew(nil), noNotice(t)); err != nil {
			t.Fatal(err)
		}
	}
	saved := atRepeater("1234")
	saved.HostID = "host"
	for _, c := range []struct {
		name   string
		target viewer.Target
		key    Key
		want   Verdict
	}{
		{"the first's own", atRepeater("1234"), a, Trusted},
		{"the same number with its mark", atRepeater(" ID:1234 "), a, Trusted},
		{"the second's own", atRepeater("1235"), b, Trusted},
		{"swapped", atRepeater("1234"), b, Changed},
		{"a third machine", atRepeater("1236"), a, Unknown},
		{"the address alone", target, a, Unknown},
		{"saved later", saved, a, Trusted},
		{"saved later, and swapped", saved, b, Changed},
	} {
		if got, _, err := newJudge(pins, nil).Judge(c.target, c.key); got != c.want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	// A machine that shows nothing any more is stopped, its neighbour is not.
	if got, _, _ := newJudge(pins, nil).Judge(atRepeater("1234"), Key{}); got != Changed {
		t.Errorf("nothing shown: got %v", got)
	}
	if got, _, _ := newJudge(pins, nil).Judge(atRepeater("9"), Key{}); got != Trusted {
		t.Errorf("nothing shown by another one: got %v", got)
	}
	if got := IDOf(atRepeater("ID:7")).String(); !strings.Contains(got, "7 behind it") {
		t.Errorf("got %q", got)
	}
}

// A repeater's own certificate vouches for no machine behind it.
func TestCertificateBehindARepeater(t *testing.T) {
	authority := newAuthority(t)
	k := authority.certificate(t, nil) // for desk.example, which target is
	for _, c := range []struct {
		id      string
		want    Verdict
		problem string
	}{
		{"", Trusted, ""},
		{"1234", Unknown, "no certificate can be issued for a number"},
		{"other.example:5900", Unknown, "not issued for other.example"},
		{"desk.example:5900", Trusted, ""},
		{"Desk.Example::5900", Trusted, ""},
		{"[fe80::1]:5900", Trusted, ""},
	} {
		got, info, err := newJudge(Folder(t.TempDir()), authority.pool()).Judge(atRepeater(c.id), k)
		if got != c.want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", c.id, got, err, c.want)
		}
		if c.problem != "" && !slices.ContainsFunc(info.Problems, func(p string) bool { return strings.Contains(p, c.problem) }) {
			t.Errorf("%q: got the problems %q, want %q", c.id, info.Problems, c.problem)
		}
	}
}
