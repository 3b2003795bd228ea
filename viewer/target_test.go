package viewer

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	tests := []struct {
		in   string
		want Target
	}{
		{"lab01", Target{Protocol: VNC, Address: "lab01", Port: 5900}},
		{"  LAB01.Example.COM. ", Target{Protocol: VNC, Address: "lab01.example.com", Port: 5900}},
		{"lab01:1", Target{Protocol: VNC, Address: "lab01", Port: 5901}},
		{"lab01:99", Target{Protocol: VNC, Address: "lab01", Port: 5999}},
		{"lab01:100", Target{Protocol: VNC, Address: "lab01", Port: 100}},
		{"lab01:5901", Target{Protocol: VNC, Address: "lab01", Port: 5901}},
		{"lab01::5901", Target{Protocol: VNC, Address: "lab01", Port: 5901}},
		{"lab01::1", Target{Protocol: VNC, Address: "lab01", Port: 1}},
		{"10.0.0.5:2", Target{Protocol: VNC, Address: "10.0.0.5", Port: 5902}},
		{"::1", Target{Protocol: VNC, Address: "::1", Port: 5900}},
		{"[::1]", Target{Protocol: VNC, Address: "::1", Port: 5900}},
		{"[::1]:5901", Target{Protocol: VNC, Address: "::1", Port: 5901}},
		{"[::1]:1", Target{Protocol: VNC, Address: "::1", Port: 5901}},
		{"[::1]::5901", Target{Protocol: VNC, Address: "::1", Port: 5901}},
		{"fd00::1:1", Target{Protocol: VNC, Address: "fd00::1:1", Port: 5900}},
		{"FE80::1%Eth0", Target{Protocol: VNC, Address: "fe80::1%Eth0", Port: 5900}},
		{"[fe80::1%lo]:5901", Target{Protocol: VNC, Address: "fe80::1%lo", Port: 5901}},
		{"2001:db8::1:5901", Target{Protocol: VNC, Address: "2001:db8::1:5901", Port: 5900}},
		{"vnc://alice@lab01:5901", Target{Protocol: VNC, Address: "lab01", Port: 5901, User: "alice"}},
		{"vnc://lab01:1/", Target{Protocol: VNC, Address: "lab01", Port: 5901}},
		{"VNC://[::1]:5901", Target{Protocol: VNC, Address: "::1", Port: 5901}},
		{"ssh://bob@build.example.com", Target{Protocol: SSH, Address: "build.example.com", Port: 22, User: "bob"}},
		{"rdp://10.0.0.5:3390", Target{Protocol: RDP, Address: "10.0.0.5", Port: 3390}},
		{"ssh://host:1", Target{Protocol: SSH, Address: "host", Port: 1}},
		{"unix:/run/My VM.sock", Target{Protocol: VNC, Address: "/run/My VM.sock"}},
		{"vnc://a%40b@host", Target{Protocol: VNC, Address: "host", Port: 5900, User: "a@b"}},
	}
	for _, tt := range tests {
		got, err := ParseTarget(tt.in, VNC)
		if err != nil || got != tt.want {
			t.Errorf("ParseTarget(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
	}
}

func TestParseTargetRefuses(t *testing.T) {
	for _, in := range []string{"", "   ", "host:", "host:abc", "host:70000", "host::0", "[::1", "[::1]x", "http://host", "vnc://", "a b",
		"host:1:2:x", "vnc://user:secret@host", "user:secret@host", "user:secret@host:5901", "user::secret@host", "[user]:secret@host",
		"user@secret://host", "alice@host", "host/path", "-\x00", strings.Repeat("a", 300), "1:2:3",
		"unix:run/x", "unix:", "unix:/" + strings.Repeat("a", 108), "unix:/a\x1b", "/run/x"} {
		got, err := ParseTarget(in, VNC)
		if err == nil {
			t.Errorf("ParseTarget(%q) = %+v, want an error", in, got)
			continue
		}
		if KindOf(err) != Invalid || strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseTarget(%q): %v", in, err)
		}
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"Lab01.": "lab01", " LAB01.. ": "lab01", "0:0:0:0:0:0:0:1": "::1", "[::1]": "::1", "::FFFF:10.0.0.1": "10.0.0.1",
		"FE80::0001%En0": "fe80::1%En0", "ÄPFEL": "Äpfel", "010.0.0.1": "010.0.0.1", " /Run/X.": "/Run/X.",
	} {
		if got := Normalize(in); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", in, got, want)
		}
		if again := Normalize(Normalize(in)); again != Normalize(in) {
			t.Errorf("Normalize is not settled for %q: %q", in, again)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"host:1", "[::1]:5901", "vnc://a@b:1", "fe80::1%eth0", "a%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTarget(s, VNC)
		if err != nil {
			return
		}
		if got.Socket() {
			if got.Port != 0 || got.HostPort() != got.Address || Normalize(got.Address) != strings.TrimSpace(got.Address) {
				t.Errorf("ParseTarget(%q) = %+v", s, got)
			}
			return
		}
		if got.Port < 1 || got.Port > 65535 || got.Address == "" {
			t.Errorf("ParseTarget(%q) = %+v", s, got)
		}
		again, err := ParseTarget(got.HostPort(), got.Protocol)
		if got.Port > maxDisplay && (err != nil || again.Address != got.Address || again.Port != got.Port) {
			t.Errorf("ParseTarget(%q) = %+v, which reads back as %+v, %v", s, got, again, err)
		}
	})
}

func TestSecretHides(t *testing.T) {
	s := SecretString("hunter2")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s)
	type inside struct{ s Secret }
	texts := []string{log.String()}
	for _, v := range []any{s, &s, Answer{Secret: s}, &Answer{Secret: s}, inside{s}, &inside{s}, []inside{{s}}, map[string]Secret{"a": s}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o"} {
			texts = append(texts, fmt.Sprintf(format, v))
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "68756e746572") || strings.Contains(text, "104 117") || strings.Contains(text, "0x68") {
			t.Errorf("the secret shows in %q", text)
		}
	}
	if _, err := json.Marshal(struct{ S Secret }{s}); err == nil {
		t.Error("a secret was written as JSON")
	}
	if string(s.Open()) != "hunter2" || !s.Equal(SecretString("hunter2")) || s.Empty() || !(Secret{}).Empty() {
		t.Error("the secret itself is wrong")
	}
}

func TestKindOf(t *testing.T) {
	err := fmt.Errorf("outer: %w", &Error{Op: "rfb.Auth", Kind: Denied, Err: fmt.Errorf("no")})
	if KindOf(err) != Denied || Reason(err) != "no" {
		t.Errorf("got %q, %q", KindOf(err), Reason(err))
	}
	if KindOf(nil) != "" || KindOf(fmt.Errorf("x")) != Closed {
		t.Error("KindOf of other errors is wrong")
	}
}
