package secret

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeyCheck(t *testing.T) {
	for _, c := range []struct {
		owner, kind string
		ok          bool
	}{
		{"h_01JD", Password, true},
		{"login-7.b", "key-passphrase", true},
		{strings.Repeat("h", maxOwnerBytes), strings.Repeat("k", maxKindBytes), true},
		{"", Password, false},
		{"h_1", "", false},
		{"h:1", Password, false},
		{"h/1", Password, false},
		{"h 1", Password, false},
		{"h\n1", Password, false},
		{"hé", Password, false},
		{"-s", Password, false},
		{"_", Password, false},
		{strings.Repeat("h", maxOwnerBytes+1), Password, false},
		{"h_1", strings.Repeat("k", maxKindBytes+1), false},
		{"h_1", "Password", false},
		{"h_1", "pass word", false},
		{"h_1", "../x", false},
	} {
		if err := (Key{c.owner, c.kind}).check(); (err == nil) != c.ok {
			t.Errorf("%q %q: got %v, want ok %v", c.owner, c.kind, err, c.ok)
		}
	}
}

func TestLabel(t *testing.T) {
	for _, c := range []struct {
		name, kind, want string
	}{
		{"Lab", VNCPassword, "DeskVNC: Lab (VNC password)"},
		{"Büro 🖥", Password, "DeskVNC: Büro 🖥 (password)"},
		{"", KeyPassphrase, "DeskVNC: h_1 (key passphrase)"},
		{"\x1b]0;x\a\n\u202e", "other-kind", "DeskVNC: ]0;x (other-kind)"},
		{"a\xffb", Password, "DeskVNC: ab (password)"},
		{strings.Repeat("ü", 500), Password, "DeskVNC: " + strings.Repeat("ü", maxNameRunes-1) + "… (password)"},
	} {
		got := Key{"h_1", c.kind}.label(c.name)
		if got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q: got %q, want %q", c.name, got, c.want)
		}
	}
}
