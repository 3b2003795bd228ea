package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "data", "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// lab is a host with a value in every field that needs no other record.
func lab(name string) keychain.Host {
	return keychain.Host{
		Name: name, Protocol: viewer.SSH, Address: "lab01.example.com", Port: 2222, User: "me", Domain: "CORP",
		Tags: []string{"lab", "linux"}, Notes: "rack 3,\nsecond shelf", Favourite: true, ViewOnly: true, Exclusive: true,
		Sessions: keychain.SessionsMany, Encryption: keychain.EncryptionRequired, KeyFile: "/home/me/.ssh/id", CertificateFile: "/etc/ca.pem",
		Proxy: "socks5://proxy:1080", Repeater: "ID:1234", Quality: viewer.QualityFast, Encodings: []string{"zrle", "hextile"}, Colors: viewer.ColorsHigh,
		Scaling: keychain.ScaleZoom, Zoom: 150, RemoteResize: keychain.SizeFollow, Clipboard: keychain.ShareToRemote, Keyboard: keychain.KeyboardScancode,
		LastPicture: true, MAC: "52:54:00:12:34:56", WakeBroadcast: "10.0.0.255", SharedFolder: "/home/me/share",
		Terminal: keychain.Terminal{Type: "xterm", Command: "tmux attach", FontSize: 12, Scrollback: 5000, Scheme: "dark", Encoding: "latin1", Bell: "visible"},
		SSH:      keychain.SSH{ForwardAgent: true, NoAgent: true, NoConfig: true, KeepAlive: 30, Tunnels: []keychain.Tunnel{{Direction: keychain.TunnelLocal, Listen: "8080", Target: "web:80"}}},
		RDP:      keychain.RDP{Gateway: "gw:443", Security: "nla", Admin: true, LoadBalance: "lb", Program: "calc", Audio: "here", Microphone: true, Printers: true, AllScreens: true},
	}
}

func kind(err error) keychain.Kind {
	var e *keychain.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestHosts(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	host := must[keychain.Host](t)

	group := must[keychain.Group](t)(s.AddGroup(ctx, keychain.Group{Name: "Lab"}))
	login := must[keychain.Login](t)(s.AddLogin(ctx, keychain.Login{Name: "admin", User: "root"}))
	hop := host(s.Add(ctx, keychain.Host{Name: "gate", Protocol: viewer.SSH, Address: "gate"}))
	full := lab("full")
	full.Group, full.Login, full.Via, full.RDP.GatewayLogin = group.ID, login.ID, []string{hop.ID}, login.ID

	// No field of the fixture is left empty, so that none is forgotten below.
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; name {
		case "ID", "Revision", "Created", "Changed":
		default:
			if v.Field(i).IsZero() {
				t.Errorf("the fixture has no %s", name)
			}
		}
	}
	added := host(s.Add(ctx, full))
	if !strings.HasPrefix(added.ID, "h_") || len(added.ID) != 18 || added.Revision != 1 || added.Created.IsZero() {
		t.Errorf("got %+v", added)
	}
	got := host(s.Get(ctx, added.ID))
	if !reflect.DeepEqual(got, added) {
		t.Errorf("got  %+v\nwant %+v", got, added)
	}
	full.ID, full.Revision, full.Created, full.Changed = added.ID, 1, added.Created, added.Changed
	if !reflect.DeepEqual(got, full) {
		t.Errorf("got  %+v\nwant %+v", got, full)
	}

	got.Notes, got.Tags = "moved", nil
	saved := host(s.Update(ctx, got))
	if saved.Revision != 2 || !saved.Created.Equal(added.Created) {
		t.Errorf("got %+v", saved)
	}
	if _, err := s.Update(ctx, got); kind(err) != keychain.Conflict || !strings.Contains(err.Error(), "read it again") {
		t.Errorf("an update of an old reading: got %v", err)
	}
	if h := host(s.Get(ctx, added.ID)); h.Notes != "moved" || h.Tags != nil || h.Revision != 2 {
		t.Errorf("got %+v", h)
	}
	if h := host(s.SetFavourite(ctx, added.ID, false)); h.Favourite || h.Revision != 3 {
		t.Errorf("got %+v", h)
	}
	if h := host(s.Move(ctx, added.ID, "")); h.Group != "" {
		t.Errorf("got %+v", h)
	}

	twin := host(s.Duplicate(ctx, added.ID, ""))
	if twin.ID == added.ID || twin.Name != "full copy" || twin.Address != added.Address || twin.Revision != 1 {
		t.Errorf("got %+v", twin)
	}

	if err := s.Delete(ctx, hop.ID); kind(err) != keychain.InUse {
		t.Errorf("deleting a hop: got %v", err)
	}
	if err := s.Delete(ctx, added.ID); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Get":    second(s.Get(ctx, added.ID)),
		"ByName": second(s.ByName(ctx, "full")),
		"Update": second(s.Update(ctx, saved)),
		"Delete": s.Delete(ctx, added.ID),
	} {
		if kind(err) != keychain.NotFound {
			t.Errorf("%s of a deleted host: got %v", name, err)
		}
	}
	if n := len(must[[]keychain.Host](t)(s.List(ctx))); n != 2 {
		t.Errorf("got %d hosts, want 2", n)
	}
	back := host(s.Restore(ctx, added.ID))
	if back.Notes != "moved" || back.Name != "full" {
		t.Errorf("got %+v", back)
	}
	if _, err := s.Restore(ctx, added.ID); kind(err) != keychain.NotFound {
		t.Errorf("restoring twice: got %v", err)
	}

	var whats []string
	for _, c := range must[[]keychain.Change](t)(s.History(ctx, added.ID)) {
		whats = append(whats, c.What)
		if c.What == "update" && c.Before == nil {
			t.Error("an update without what was before")
		}
	}
	if want := []string{"restore", "delete", "update", "update", "update", "add"}; !slices.Equal(whats, want) {
		t.Errorf("got history %v, want %v", whats, want)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAddRefuses(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	vnc := must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: "v", Protocol: viewer.VNC, Address: "v"}))
	a := must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: "a", Protocol: viewer.SSH, Address: "a"}))
	b := must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: "b", Protocol: viewer.SSH, Address: "b", Via: []string{a.ID}}))
	good := keychain.Host{Name: "x", Protocol: viewer.VNC, Address: "x"}
	for _, tt := range []struct {
		name string
		set  func(h *keychain.Host)
		kind keychain.Kind
	}{
		{"no name", func(h *keychain.Host) { h.Name = "" }, keychain.Invalid},
		{"no such group", func(h *keychain.Host) { h.Group = "g_x" }, keychain.Invalid},
		{"no such login", func(h *keychain.Host) { h.Login = "l_x" }, keychain.Invalid},
		{"no such gateway login", func(h *keychain.Host) { h.RDP.GatewayLogin = "l_x" }, keychain.Invalid},
		{"no such hop", func(h *keychain.Host) { h.Via = []string{"h_x"} }, keychain.Invalid},
		{"a hop over vnc", func(h *keychain.Host) { h.Via = []string{vnc.ID} }, keychain.Invalid},
		{"id of another form", func(h *keychain.Host) { h.ID = "../x" }, keychain.Invalid},
		{"id that is there", func(h *keychain.Host) { h.ID = a.ID }, keychain.Conflict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := good
			tt.set(&h)
			if _, err := s.Add(ctx, h); kind(err) != tt.kind {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
		})
	}
	a.Via = []string{b.ID}
	if _, err := s.Update(ctx, a); kind(err) != keychain.Invalid || !strings.Contains(err.Error(), "back to itself") {
		t.Errorf("hops in a circle: got %v", err)
	}
	if n := len(must[[]keychain.Host](t)(s.List(ctx))); n != 3 {
		t.Errorf("got %d hosts, want 3", n)
	}
	h := good
	h.ID = "h_lab01"
	if got, err := s.Add(ctx, h); err != nil || got.ID != "h_lab01" {
		t.Errorf("an id to keep: got %q, %v", got.ID, err)
	}
}

func TestByName(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	for _, n := range []string{"Lab", "lab", "other", "twin", "twin", "TWIN"} {
		must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: n, Protocol: viewer.VNC, Address: "x"}))
	}
	for _, tt := range []struct {
		name, want string
		kind       keychain.Kind
	}{
		{"Lab", "Lab", ""}, {"lab", "lab", ""}, {"OTHER", "other", ""}, {"TWIN", "TWIN", ""},
		{"LAB", "", keychain.Ambiguous}, {"twin", "", keychain.Ambiguous}, {"none", "", keychain.NotFound}, {"", "", keychain.NotFound}, {"l%b", "", keychain.NotFound},
	} {
		h, err := s.ByName(ctx, tt.name)
		if kind(err) != tt.kind || h.Name != tt.want {
			t.Errorf("%q: got %q, %v", tt.name, h.Name, err)
		}
	}
}

func TestSearch(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	for _, h := range []keychain.Host{
		{Name: "Web 1", Protocol: viewer.SSH, Address: "10.0.0.1", User: "root", Tags: []string{"Production"}},
		{Name: "web 2", Protocol: viewer.VNC, Address: "10.0.0.2", Notes: "beside the M\u00dcNCHEN rack\n100% of it"},
		{Name: "old web", Protocol: viewer.VNC, Address: "10.0.0.3", Favourite: true},
		{Name: "db", Protocol: viewer.RDP, Address: "db.example.com", Tags: []string{"production"}},
	} {
		must[keychain.Host](t)(s.Add(ctx, h))
	}
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", []string{"old web", "db", "Web 1", "web 2"}},
		{"web", []string{"old web", "Web 1", "web 2"}},
		{"WEB 2", []string{"web 2"}},
		{"10.0.0", []string{"old web", "Web 1", "web 2"}},
		{"production", []string{"db", "Web 1"}},
		{"prod web", []string{"Web 1"}},
		{"m\u00fcnchen", []string{"web 2"}},
		{"100%", []string{"web 2"}},
		{"w_b", nil},
		{"'; DROP TABLE hosts; --", nil},
		{"rdp", []string{"db"}},
		{"root", []string{"Web 1"}},
		{"1root", nil}, // no word spans two fields
		{strings.Repeat("web ", 100), []string{"old web", "Web 1", "web 2"}},
	} {
		var got []string
		for _, h := range must[[]keychain.Host](t)(s.Search(ctx, tt.text)) {
			got = append(got, h.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestGroups(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	group := must[keychain.Group](t)
	top := group(s.AddGroup(ctx, keychain.Group{Name: "top"}))
	mid := group(s.AddGroup(ctx, keychain.Group{Name: "mid", Parent: top.ID}))
	low := group(s.AddGroup(ctx, keychain.Group{Name: "low", Parent: mid.ID}))
	h := must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: "h", Protocol: viewer.VNC, Address: "h", Group: mid.ID}))

	top.Parent = low.ID
	if _, err := s.UpdateGroup(ctx, top); kind(err) != keychain.Invalid {
		t.Errorf("a group in itself: got %v", err)
	}
	old := mid
	mid.Name = "middle"
	mid = group(s.UpdateGroup(ctx, mid))
	if _, err := s.UpdateGroup(ctx, old); kind(err) != keychain.Conflict {
		t.Errorf("an old reading: got %v", err)
	}
	if _, err := s.AddGroup(ctx, keychain.Group{Name: "x", Parent: "g_none"}); kind(err) != keychain.Invalid {
		t.Errorf("in a group that is not there: got %v", err)
	}
	if err := s.DeleteGroup(ctx, mid.ID); err != nil {
		t.Fatal(err)
	}
	if got := must[keychain.Host](t)(s.Get(ctx, h.ID)); got.Group != top.ID {
		t.Errorf("the host is in %q, want the group above", got.Group)
	}
	gs := must[[]keychain.Group](t)(s.Groups(ctx))
	if len(gs) != 2 || gs[0].Name != "low" || gs[0].Parent != top.ID {
		t.Errorf("got %+v", gs)
	}
	if err := s.DeleteGroup(ctx, top.ID); err != nil {
		t.Fatal(err)
	}
	if got := must[keychain.Host](t)(s.Get(ctx, h.ID)); got.Group != "" {
		t.Errorf("the host is in %q, want none", got.Group)
	}
	if err := s.DeleteGroup(ctx, top.ID); kind(err) != keychain.NotFound {
		t.Errorf("got %v", err)
	}
	parent := ""
	for range maxDepth {
		parent = group(s.AddGroup(ctx, keychain.Group{Name: "deep", Parent: parent})).ID
	}
	if _, err := s.AddGroup(ctx, keychain.Group{Name: "too deep", Parent: parent}); kind(err) != keychain.Invalid {
		t.Errorf("nested without end: got %v", err)
	}
}

func TestLogins(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	l := must[keychain.Login](t)(s.AddLogin(ctx, keychain.Login{Name: "admin", User: "root", Domain: "CORP", KeyFile: "/k"}))
	if got := must[keychain.Login](t)(s.Login(ctx, l.ID)); !reflect.DeepEqual(got, l) || !strings.HasPrefix(l.ID, "l_") {
		t.Errorf("got %+v, want %+v", got, l)
	}
	h := must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: "h", Protocol: viewer.SSH, Address: "h", Login: l.ID}))
	if err := s.DeleteLogin(ctx, l.ID); kind(err) != keychain.InUse || !strings.Contains(err.Error(), "h logs in") {
		t.Errorf("deleting what is used: got %v", err)
	}
	l.User = "admin"
	saved := must[keychain.Login](t)(s.UpdateLogin(ctx, l))
	if _, err := s.UpdateLogin(ctx, l); kind(err) != keychain.Conflict || saved.Revision != 2 {
		t.Errorf("an old reading: got %v", err)
	}
	if err := s.Delete(ctx, h.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteLogin(ctx, l.ID); err != nil {
		t.Fatal(err)
	}
	if back := must[keychain.Host](t)(s.Restore(ctx, h.ID)); back.Login != "" {
		t.Errorf("came back with login %q", back.Login)
	}
	if n := len(must[[]keychain.Login](t)(s.Logins(ctx))); n != 0 {
		t.Errorf("got %d logins", n)
	}
	for _, err := range []error{s.DeleteLogin(ctx, l.ID), second(s.Login(ctx, l.ID)), second(s.UpdateLogin(ctx, saved))} {
		if kind(err) != keychain.NotFound {
			t.Errorf("got %v", err)
		}
	}
}

func TestVolatile(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s.now = func() time.Time { now = now.Add(time.Second); return now }
	h := must[keychain.Host](t)(s.Add(ctx, lab("pictured")))
	plain := must[keychain.Host](t)(s.Add(ctx, keychain.Host{Name: "plain", Protocol: viewer.VNC, Address: "p"}))

	// Pictures: only where they are wanted, and gone with the wish.
	if kept, err := s.SetPicture(ctx, plain.ID, []byte("png")); kept || err != nil {
		t.Errorf("a picture that nobody wants: got %v, %v", kept, err)
	}
	if kept, err := s.SetPicture(ctx, h.ID, []byte("png 1")); !kept || err != nil {
		t.Errorf("got %v, %v", kept, err)
	}
	if kept, err := s.SetPicture(ctx, h.ID, []byte("png 2")); !kept || err != nil {
		t.Errorf("got %v, %v", kept, err)
	}
	if data, at, err := s.Picture(ctx, h.ID); string(data) != "png 2" || at.IsZero() || err != nil {
		t.Errorf("got %q, %v, %v", data, at, err)
	}
	if _, err := s.SetPicture(ctx, h.ID, make([]byte, maxPicture+1)); kind(err) != keychain.Invalid {
		t.Errorf("a large picture: got %v", err)
	}
	h = must[keychain.Host](t)(s.Get(ctx, h.ID))
	h.LastPicture = false
	h = must[keychain.Host](t)(s.Update(ctx, h))
	if data, _, err := s.Picture(ctx, h.ID); data != nil || err != nil {
		t.Errorf("after it was switched off: got %q, %v", data, err)
	}

	// Recent connections.
	for _, target := range []viewer.Target{h.Target(), {Protocol: viewer.VNC, Address: "::1", Port: 5901}, plain.Target(), h.Target()} {
		if err := s.Connected(ctx, target); err != nil {
			t.Fatal(err)
		}
	}
	rs := must[[]Recent](t)(s.Recents(ctx, 10))
	if len(rs) != 3 || rs[0].HostID != h.ID || rs[1].HostID != plain.ID || rs[2].Target != "vnc://[::1]:5901" || !rs[0].At.After(rs[1].At) {
		t.Errorf("got %+v", rs)
	}
	for i := range maxRecents + 20 {
		if err := s.Connected(ctx, viewer.Target{Protocol: viewer.VNC, Address: "x", Port: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	rs = must[[]Recent](t)(s.Recents(ctx, 10000))
	if n := len(rs); n < maxRecents || n > maxRecents+2 {
		t.Errorf("got %d recents", n)
	}
	if err := s.ForgetRecents(ctx); err != nil {
		t.Fatal(err)
	}
	if rs = must[[]Recent](t)(s.Recents(ctx, 10)); len(rs) != 0 {
		t.Errorf("got %+v", rs)
	}

	// Tabs, placements, settings.
	tabs := []keychain.Tab{{HostID: h.ID, Slot: 1, Active: true}, {Target: "vnc://x:5900"}}
	for range 2 {
		if err := s.SetTabs(ctx, "main", tabs); err != nil {
			t.Fatal(err)
		}
	}
	if got := must[map[string][]keychain.Tab](t)(s.Tabs(ctx)); !reflect.DeepEqual(got, map[string][]keychain.Tab{"main": tabs}) {
		t.Errorf("got %+v", got)
	}
	if _, known, err := s.Placement(ctx, "main"); known || err != nil {
		t.Errorf("got %v, %v", known, err)
	}
	p := keychain.Placement{X: -5, Y: 6, Width: 700, Height: 800, Maximized: true, Monitor: "HDMI-1"}
	for range 2 {
		if err := s.SetPlacement(ctx, "main", p); err != nil {
			t.Fatal(err)
		}
	}
	if got, known, err := s.Placement(ctx, "main"); got != p || !known || err != nil {
		t.Errorf("got %+v, %v, %v", got, known, err)
	}
	if v, err := s.Setting(ctx, "theme"); v != nil || err != nil {
		t.Errorf("got %s, %v", v, err)
	}
	for _, v := range []string{`"light"`, `{"dark":true}`} {
		if err := s.SetSetting(ctx, "theme", []byte(v)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Setting(ctx, "theme"); string(got) != v || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
	}
	if err := s.SetSetting(ctx, "theme", nil); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Setting(ctx, "theme"); v != nil || err != nil {
		t.Errorf("got %s, %v", v, err)
	}
	if err := s.SetSetting(ctx, "theme", []byte("{")); kind(err) != keychain.Invalid {
		t.Errorf("no JSON: got %v", err)
	}
}

// TestDeletedIsWiped: a picture that was deleted cannot be read from the file.
func TestDeletedIsWiped(t *testing.T) {
	ctx := t.Context()
	s := newStore(t)
	h := must[keychain.Host](t)(s.Add(ctx, lab("pictured")))
	mark := bytes.Repeat([]byte("remarkable picture "), 5000)
	if kept, err := s.SetPicture(ctx, h.ID, mark); !kept || err != nil {
		t.Fatal(kept, err)
	}
	if err := s.Delete(ctx, h.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // what was in the journal is in the file now
		t.Fatal(err)
	}
	files, err := filepath.Glob(s.path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("remarkable picture")) {
			t.Errorf("%s still holds it", f)
		}
	}
}

func TestRights(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are others there")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "library.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	must[keychain.Host](t)(s.Add(t.Context(), lab("x")))
	check := func() {
		t.Helper()
		for p, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
			i, err := os.Stat(p)
			if err != nil {
				t.Fatal(err)
			}
			if i.Mode().Perm() != want {
				t.Errorf("%s: got %v, want %v", p, i.Mode().Perm(), want)
			}
		}
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check()
	i, err := os.Stat(backupPath(path))
	if err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("the copy: got %v, %v", i, err)
	}
}

func TestCancelled(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Add(ctx, lab("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if hs := must[[]keychain.Host](t)(s.List(t.Context())); len(hs) != 0 {
		t.Errorf("got %v", hs)
	}
}

func TestDefaultPath(t *testing.T) {
	for _, tt := range []struct {
		system, variable, value, want string
	}{
		{"linux", "", "", "/home/me/.local/share/deskvnc/library.db"},
		{"linux", "XDG_DATA_HOME", "/data", "/data/deskvnc/library.db"},
		{"linux", "XDG_DATA_HOME", "data", "/home/me/.local/share/deskvnc/library.db"},
		{"freebsd", "", "", "/home/me/.local/share/deskvnc/library.db"},
		{"darwin", "", "", "/home/me/Library/Application Support/DeskVNC/library.db"},
		{"windows", "LOCALAPPDATA", "/local", "/local/DeskVNC/library.db"},
		{"windows", "", "", "/home/me/AppData/Local/DeskVNC/library.db"},
	} {
		got, err := defaultPath(tt.system, func(k string) string {
			if k == tt.variable {
				return tt.value
			}
			return ""
		}, func() (string, error) { return "/home/me", nil })
		if err != nil || filepath.ToSlash(got) != tt.want {
			t.Errorf("%s %s=%s: got %s, %v, want %s", tt.system, tt.variable, tt.value, got, err, tt.want)
		}
	}
	if _, err := defaultPath("linux", func(string) string { return "" }, func() (string, error) { return "", errors.New("no home") }); err == nil {
		t.Error("no home, and no error")
	}
}

// fill adds n hosts at once.
func fill(t testing.TB, s *Store, n int) {
	t.Helper()
	tx, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		h := keychain.Host{
			ID: fmt.Sprintf("h_%d", i), Revision: 1, Name: fmt.Sprintf("machine %05d", i), Protocol: viewer.Protocols[i%3],
			Address: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Port: 5900, User: "user" + itoa(i%50),
			Tags: []string{"rack" + itoa(i%200), "site" + itoa(i%7)}, Notes: strings.Repeat("note ", 20), Favourite: i%100 == 0, Created: s.stamp(), Changed: s.stamp(),
		}
		if err := insert(t.Context(), tx, &h); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}
