package keychain

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"deskvnc/viewer"
)

func host() Host {
	return Host{Name: "lab01", Protocol: viewer.VNC, Address: "lab01.example.com"}
}

func TestChecked(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(h *Host)
		want func(h *Host) // what is different then
	}{
		{"plain", func(h *Host) {}, func(h *Host) { h.Port = 5900 }},
		{"name trimmed", func(h *Host) { h.Name = "  lab 1\u200d " }, func(h *Host) { h.Name = "lab 1\u200d"; h.Port = 5900 }},
		{"address normalised", func(h *Host) { h.Address = " LAB01.Example.COM. " }, func(h *Host) { h.Port = 5900 }},
		{"IPv6", func(h *Host) { h.Address = "[2001:DB8::0:1]" }, func(h *Host) { h.Address = "2001:db8::1"; h.Port = 5900 }},
		{"zone", func(h *Host) { h.Address = "FE80::1%eth0" }, func(h *Host) { h.Address = "fe80::1%eth0"; h.Port = 5900 }},
		{"mapped IPv4", func(h *Host) { h.Address = "::ffff:10.0.0.5" }, func(h *Host) { h.Address = "10.0.0.5"; h.Port = 5900 }},
		{"port of ssh", func(h *Host) { h.Protocol = viewer.SSH }, func(h *Host) { h.Protocol = viewer.SSH; h.Port = 22 }},
		{"tags", func(h *Host) { h.Tags = []string{" a ", "", "b", "a"} }, func(h *Host) { h.Tags = []string{"a", "b"}; h.Port = 5900 }},
		{"zoom without scaling by it", func(h *Host) { h.Zoom = 150 }, func(h *Host) { h.Port = 5900 }},
		{"hardware address", func(h *Host) { h.MAC = "52-54-00-AB-CD-EF" }, func(h *Host) { h.MAC = "52:54:00:ab:cd:ef"; h.Port = 5900 }},
		{"proxy without a port", func(h *Host) { h.Proxy = "HTTP://Proxy" }, func(h *Host) { h.Proxy = "http://proxy:8080"; h.Port = 5900 }},
		{"socket", func(h *Host) { h.Address = "unix:/run/My VM.sock"; h.Port = 5900 }, func(h *Host) { h.Address = "/run/My VM.sock" }},
		{"encodings", func(h *Host) { h.Encodings = []string{"ZRLE", " raw", "zrle"} }, func(h *Host) { h.Encodings = []string{"zrle", "raw"}; h.Port = 5900 }},
		{"repeater", func(h *Host) { h.Repeater = " 1234 " }, func(h *Host) { h.Repeater = "ID:1234"; h.Port = 5900 }},
		{"behind a repeater", func(h *Host) { h.Repeater = "lab02:5901" }, func(h *Host) { h.Repeater = "lab02:5901"; h.Port = 5900 }},
		{"proxy", func(h *Host) { h.Proxy = " socks5://me@proxy:1080/ " }, func(h *Host) { h.Proxy = "socks5://me@proxy:1080"; h.Port = 5900 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, want := host(), host()
			tt.set(&h)
			tt.want(&want)
			got, err := h.Checked()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			again, err := got.Checked()
			if err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("checking it again changes it: %+v, %v", again, err)
			}
		})
	}
}

func TestCheckedRefuses(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct {
		name string
		set  func(h *Host)
		says string
	}{
		{"no name", func(h *Host) { h.Name = " " }, "name is missing"},
		{"long name", func(h *Host) { h.Name = long }, "5000 characters"},
		{"line break in the name", func(h *Host) { h.Name = "a\nb" }, "control character"},
		{"name that turns around", func(h *Host) { h.Name = "a\u202eb" }, "control character"},
		{"name that is no text", func(h *Host) { h.Name = "a\xffb" }, "UTF-8"},
		{"no protocol", func(h *Host) { h.Protocol = "" }, "vnc, rdp or ssh"},
		{"telnet", func(h *Host) { h.Protocol = "telnet" }, "telnet"},
		{"no address", func(h *Host) { h.Address = " " }, "no host name"},
		{"address with a port", func(h *Host) { h.Address = "lab01:5901" }, "IPv6"},
		{"address in brackets with a port", func(h *Host) { h.Address = "[::1]:5901" }, "own fields"},
		{"URL", func(h *Host) { h.Address = "vnc://lab01" }, "own fields"},
		{"user in the address", func(h *Host) { h.Address = "me@lab01" }, "own fields"},
		{"space in the address", func(h *Host) { h.Address = "lab 01" }, "cannot contain"},
		{"shell in the address", func(h *Host) { h.Address = "lab01;reboot|x" }, "cannot contain"},
		{"port 65536", func(h *Host) { h.Port = 65536 }, "65536"},
		{"negative port", func(h *Host) { h.Port = -1 }, "-1"},
		{"line break in the user", func(h *Host) { h.User = "me\r\n" }, "user"},
		{"comma in a tag", func(h *Host) { h.Tags = []string{"a,b"} }, "comma"},
		{"too many tags", func(h *Host) { h.Tags = many(65) }, "65 tags"},
		{"long notes", func(h *Host) { h.Notes = strings.Repeat("x", MaxNotes+1) }, "notes"},
		{"unknown word", func(h *Host) { h.Clipboard = "sideways" }, "to-remote"},
		{"zoom of nothing", func(h *Host) { h.Scaling = ScaleZoom }, "0 percent"},
		{"encoding", func(h *Host) { h.Encodings = []string{"zrle", "ZRLE!"} }, `"zrle!" is not the name of an encoding: use some of tight`},
		{"path with a line break", func(h *Host) { h.KeyFile = "/a\nb" }, "key file"},
		{"a key instead of its path", func(h *Host) { h.KeyFile = "-----BEGIN OPENSSH PRIVATE KEY-----" }, "not a key"},
		{"password in the proxy", func(h *Host) { h.Proxy = "socks5://me:hunter2@proxy:1080" }, "password out"},
		{"proxy that goes on", func(h *Host) { h.Proxy = "socks5://proxy/x" }, "ends with its port"},
		{"proxy before a socket", func(h *Host) { h.Address = "/run/vm.sock"; h.Proxy = "socks5://proxy" }, "other machines only"},
		{"socket of a shell", func(h *Host) { h.Address = "/run/vm.sock"; h.Protocol = viewer.SSH }, "vnc only"},
		{"long socket", func(h *Host) { h.Address = "/" + strings.Repeat("x", 200) }, "107 bytes"},
		{"socket without its folder", func(h *Host) { h.Address = "unix:vm.sock" }, "whole path"},
		{"repeater without a number", func(h *Host) { h.Repeater = "ID:lab" }, "number at a repeater"},
		{"ftp proxy", func(h *Host) { h.Proxy = "ftp://proxy:21" }, "kind of proxy"},
		{"hop to itself", func(h *Host) { h.ID = "h_a"; h.Via = []string{"h_a"} }, "through itself"},
		{"hop twice", func(h *Host) { h.Via = []string{"h_b", "h_c", "h_b"} }, "twice"},
		{"too many hops", func(h *Host) { h.Via = many(9) }, "9 hops"},
		{"hardware address", func(h *Host) { h.MAC = "52:54" }, "52:54:00"},
		{"wake nowhere", func(h *Host) { h.WakeBroadcast = "lab" }, "IP address"},
		{"tiny font", func(h *Host) { h.Terminal.FontSize = 1 }, "font"},
		{"endless scrollback", func(h *Host) { h.Terminal.Scrollback = 1 << 30 }, "scrollback"},
		{"tunnel to nowhere", func(h *Host) { h.SSH.Tunnels = []Tunnel{{TunnelLocal, "8080", "web"}} }, "web"},
		{"tunnel listening on a word", func(h *Host) { h.SSH.Tunnels = []Tunnel{{TunnelLocal, "http", "web:80"}} }, "http"},
		{"SOCKS tunnel with a target", func(h *Host) { h.SSH.Tunnels = []Tunnel{{TunnelSOCKS, "1080", "web:80"}} }, "SOCKS"},
		{"RDP security", func(h *Host) { h.RDP.Security = "none" }, "nla"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := host()
			tt.set(&h)
			_, err := h.Checked()
			var e *Error
			if !errors.As(err, &e) || e.Kind != Invalid {
				t.Fatalf("got %v, want Invalid", err)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, want it to say %q", err, tt.says)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error holds a password: %v", err)
			}
		})
	}
}

func many(n int) (out []string) {
	for i := range n {
		out = append(out, "h_"+strconv.Itoa(i))
	}
	return out
}

func TestGoodTunnels(t *testing.T) {
	h := host()
	h.SSH.Tunnels = []Tunnel{
		{TunnelLocal, "8080", "web:80"}, {TunnelLocal, "127.0.0.1:8080", "[::1]:80"},
		{TunnelRemote, "[::]:9000", "localhost:9000"}, {TunnelSOCKS, "1080", ""}, {TunnelRemote, ":9001", "a:1"},
	}
	if _, err := h.Checked(); err != nil {
		t.Error(err)
	}
}

// TestNoSecretField: no word of the library can hold a secret by its type or
// its name.
func TestNoSecretField(t *testing.T) {
	var walk func(v reflect.Type)
	walk = func(v reflect.Type) {
		if v.Kind() == reflect.Slice {
			v = v.Elem()
		}
		if v == reflect.TypeFor[viewer.Secret]() {
			t.Errorf("a field is a secret")
		}
		if v.Kind() != reflect.Struct || v.PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			name := strings.ToLower(v.Field(i).Name)
			for _, w := range []string{"password", "passphrase", "secret", "token"} {
				if strings.Contains(name, w) {
					t.Errorf("%v.%s", v, v.Field(i).Name)
				}
			}
			walk(v.Field(i).Type)
		}
	}
	for _, v := range []any{Host{}, Group{}, Login{}, Change{}, Tab{}} {
		walk(reflect.TypeOf(v))
	}
}

func TestTarget(t *testing.T) {
	h := host()
	h.ID, h.Port, h.User, h.Exclusive, h.Encryption = "h_1", 5901, "me", true, EncryptionRequired
	h.Proxy, h.Repeater, h.Keyboard = "socks5://p:1080", "ID:7", KeyboardScancode
	h.Quality, h.Colors, h.Encodings = viewer.QualityFast, viewer.ColorsLow, []string{"zrle", "raw"}
	want := viewer.Target{
		Protocol: viewer.VNC, Address: "lab01.example.com", Port: 5901, User: "me", HostID: "h_1", Name: "lab01", Exclusive: true, RequireEncryption: true,
		Proxy: "socks5://p:1080", RepeaterID: "ID:7", Keys: viewer.KeysByPosition,
		Picture: viewer.Picture{Quality: viewer.QualityFast, Colors: viewer.ColorsLow, Encodings: "zrle,raw"},
	}
	if got := h.Target(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestExportForm: what is left at its default is left out.
func TestExportForm(t *testing.T) {
	h := host()
	h.ID = "h_1"
	if named := (Host{Repeater: "ID:7"}); !strings.Contains(text(t, named), `"repeater":"ID:7"`) {
		t.Errorf("got %s", text(t, named))
	}
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"h_1","revision":0,"name":"lab01","protocol":"vnc","address":"lab01.example.com","port":0,"created":"0001-01-01T00:00:00Z","changed":"0001-01-01T00:00:00Z"}`
	if string(b) != want {
		t.Errorf("got %s", b)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func FuzzChecked(f *testing.F) {
	f.Add("lab", "10.0.0.5", "socks5://a:1", "tag", "22")
	f.Add("\u202e", "[::1%eth0]", "http://[::1]:3128", ",", "[::]:1")
	f.Fuzz(func(t *testing.T, name, address, proxy, tag, listen string) {
		h := Host{Name: name, Protocol: viewer.SSH, Address: address, Proxy: proxy, Tags: []string{tag},
			SSH: SSH{Tunnels: []Tunnel{{TunnelSOCKS, listen, ""}}}}
		got, err := h.Checked()
		if err != nil {
			return
		}
		again, err := got.Checked()
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("checked twice: %+v, then %+v, %v", got, again, err)
		}
	})
}
