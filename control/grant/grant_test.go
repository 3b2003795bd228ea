package grant

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
)

func TestBundles(t *testing.T) {
	want := map[string]string{
		"observer": "view",
		"driver":   "view control clipboard.write terminal.read terminal.write browser.navigate browser.tabs",
		"operator": "view control clipboard.write terminal.read terminal.write browser.navigate browser.tabs " +
			"open close capture clipboard.read hosts.read files.read files.write",
		"agent": "view control capture terminal.read terminal.write browser.navigate browser.tabs",
		"owner": "view capture control open close admin hosts.read clipboard.read clipboard.write terminal.read terminal.write " +
			"files.read files.write browser.navigate browser.tabs",
	}
	if len(Bundles()) != len(want) {
		t.Errorf("%d bundles, want %d", len(Bundles()), len(want))
	}
	for _, name := range Bundles() {
		got, w := Bundle(name), strings.Fields(want[name])
		slices.Sort(got)
		slices.Sort(w)
		if !slices.Equal(got, w) {
			t.Errorf("%s: got %v, want %v", name, got, w)
		}
		for _, never := range []string{Exec, Scancode, App, Peers, Record} {
			if slices.Contains(got, never) {
				t.Errorf("%s holds %s", name, never)
			}
		}
	}
	if Bundle("admin") != nil {
		t.Error("a bundle that does not exist has capabilities")
	}
	Bundle("agent")[0] = "exec"
	if slices.Contains(Bundle("agent"), Exec) {
		t.Error("a caller changed a bundle")
	}
	if n := len(Capabilities()); n != 20 {
		t.Errorf("%d capabilities, want the contract's 17 and 3 toolsets", n)
	}
}

func TestDefaultAndOperator(t *testing.T) {
	d := Default()
	for c, want := range map[string]bool{
		View: true, Capture: true, Control: true, Open: true, Close: true, HostsRead: true, ClipboardWrite: true, FilesRead: true,
		Exec: false, Scancode: false, FilesWrite: false, ClipboardRead: false, App: false, Peers: false, Record: false, Admin: false, "": true,
		"View": false, "*": false,
	} {
		if d.Has(c) != want {
			t.Errorf("default, %q: got %v, want %v", c, !want, want)
		}
	}
	far := viewer.Target{Protocol: viewer.VNC, Address: "203.0.113.9", Port: 5900}
	for o, want := range map[Origin]bool{Saved: true, Discovered: true, Opened: true, Elsewhere: false} {
		if d.Host(far, o) != want {
			t.Errorf("default, origin %d: got %v, want %v", o, !want, want)
		}
	}
	op, err := Operator(true, nil, false)
	if err != nil || !op.Host(far, Elsewhere) || op.Has(Exec) || !op.Has(FilesWrite) || !op.AnyHost() {
		t.Errorf("operator over any address: %+v, %v", op, err)
	}
	op, err = Operator(true, []string{"203.0.113.9", "h_1"}, true)
	if err != nil || !op.Has(Exec) || !op.Host(far, Elsewhere) || op.Host(viewer.Target{Address: "203.0.113.8"}, Saved) {
		t.Errorf("narrowed operator: %+v, %v", op, err)
	}
	if _, err = Operator(true, []string{"lab*"}, false); err == nil {
		t.Error("a pattern was accepted")
	}
}

func TestIssueRefuses(t *testing.T) {
	for name, s := range map[string]Spec{
		"no id":      {KnownHosts: true},
		"no host":    {ID: "g"},
		"empty host": {ID: "g", Hosts: []string{" "}},
		"star":       {ID: "g", Hosts: []string{"*"}},
		"question":   {ID: "g", Hosts: []string{"lab0?"}},
	} {
		if _, err := Issue(s); err == nil {
			t.Errorf("%s: was issued", name)
		}
	}
}

func TestHostsMatchExactly(t *testing.T) {
	g, err := Issue(Spec{ID: "g", Hosts: []string{"h_1", "LAB02.example.", "::ffff:10.0.0.5", "the lab"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		t      viewer.Target
		origin Origin
		want   bool
	}{
		{"id", viewer.Target{HostID: "h_1", Address: "x"}, Saved, true},
		{"longer id", viewer.Target{HostID: "h_11", Address: "x"}, Saved, false},
		{"id in another case", viewer.Target{HostID: "H_1", Address: "x"}, Saved, false},
		{"address spelled otherwise", viewer.Target{Address: "lab02.EXAMPLE"}, Elsewhere, true},
		{"longer address", viewer.Target{Address: "lab02.example.com"}, Elsewhere, false},
		{"mapped address", viewer.Target{Address: "10.0.0.5"}, Elsewhere, true},
		{"name of a saved machine", viewer.Target{Address: "y", Name: "the lab"}, Saved, true},
		{"the same name, discovered", viewer.Target{Address: "y", Name: "the lab"}, Discovered, false},
		{"nothing", viewer.Target{}, Saved, false},
	} {
		if got := g.Host(c.t, c.origin); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestGrantIsImmutable(t *testing.T) {
	s := Spec{ID: "g", Hosts: []string{"a"}, Capabilities: []string{View, "viewer", "bogus"}, ReadFolders: []string{"/r"}, Expires: time.Unix(100, 0)}
	g, err := Issue(s)
	if err != nil {
		t.Fatal(err)
	}
	s.Hosts[0], s.Capabilities[0], s.ReadFolders[0] = "b", Exec, "/"
	g.Capabilities()[0] = Exec
	g.ReadFolders()[0] = "/"
	if g.Has(Exec) || g.Has("bogus") || !g.Has(View) || g.Host(viewer.Target{Address: "b"}, Saved) || g.ReadFolders()[0] != "/r" {
		t.Errorf("the grant changed: %+v", g)
	}
	if g.Expired(time.Unix(99, 0)) || !g.Expired(time.Unix(100, 0)) {
		t.Error("the grant does not end when it is said to")
	}
	if (Grant{}).Has(View) || (Grant{}).Host(viewer.Target{Address: "a"}, Saved) {
		t.Error("the zero grant allows something")
	}
}
