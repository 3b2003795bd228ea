package sshdial

import (
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer/sshdial/knownhosts"
)

func TestAsksPassword(t *testing.T) {
	for prompt, want := range map[string]bool{
		"Password: ": true, "Password for alice: ": true, "alice's password: ": true, "(alice@host) Password: ": true, "Passwort:": true,
		"Mot de passe :": true, "PASSWORD": true, "LDAP Password:": true, "パスワード:": true,
		"One-time password (OATH) for `alice': ": false, "Verification code: ": false, "New password: ": false, "(current) UNIX password: ": false,
		"Passcode: ": false, "PIN: ": false, "Retype new password: ": false, "": false, "Password or token: ": false, "Code: ": false,
		"Your password has expired. ": false, "(alice@code) Password": true,
	} {
		if got := asksPassword(prompt, "alice"); got != want {
			t.Errorf("%q: got %v", prompt, got)
		}
	}
}

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb": "a[31mb", "a\r\nb\n\n": "a\nb", "a\u202eb\u200b": "ab", "\xff": "?", strings.Repeat("x", 500): strings.Repeat("x", 300) + "…", "a\tb": "a b",
	} {
		if got := cleanText(in, maxLine); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	usual, known := []string{"a", "b", "c"}, []string{"a", "b", "c", "weak1", "weak2"}
	for list, want := range map[string]string{
		"": "a b c", "b,a": "b a", "+weak1": "a b c weak1", "+weak*": "a b c weak1 weak2", "^c": "c a b", "-b": "a c", "-?": "error", "unknown": "error", "unknown,weak2": "weak2", "+unknown": "a b c",
	} {
		got, err := choose(list, usual, known)
		text := strings.Join(got, " ")
		if err != nil {
			text = "error"
		}
		if text != want {
			t.Errorf("%q: got %q, want %q", list, text, want)
		}
	}
}

// Without a line of an authority no certificates are asked for; what is filed
// comes first.
func TestPreferKnown(t *testing.T) {
	_, err := choose("", hostKeyOrder, hostKeyOrder)
	if err != nil {
		t.Fatal(err)
	}
	if got := preferKnown(hostKeyOrder, nil); strings.Join(got, " ") != strings.Join(hostKeyOrder, " ") {
		t.Errorf("got %v", got)
	}
	rsa := entry(t, knownhosts.Plain, "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7vvEx1Wvm+hfJWvVZNnQVVwNLFoOCvIjmdkwDLEYHOxVKd3u7DyXUAHxv2MpbYQZkzOvYFb2M4yMwX6tqI5mhp8lpT0XTYNwuhDmCJnWq2KOqzzJ0xX4nGa9RgB4t8lTuOPTP1mCRLPuZ7H2fKl0b+qE4Ge9Oo0jPwp8iCpmKPQ==")
	got := preferKnown(hostKeyOrder, []knownhosts.Entry{rsa})
	if got[0] != ssh.KeyAlgoRSASHA512 || got[1] != ssh.KeyAlgoRSASHA256 || len(got) != len(hostKeyOrder) {
		t.Errorf("got %v", got)
	}
	rsa.Marker = knownhosts.Authority
	if got := preferKnown(hostKeyOrder, []knownhosts.Entry{rsa}); got[0] != ssh.CertAlgoED25519v01 || len(got) != 2*len(hostKeyOrder) {
		t.Errorf("got %v", got)
	}
}

func entry(t *testing.T, m knownhosts.Marker, line string) knownhosts.Entry {
	t.Helper()
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return knownhosts.Entry{Marker: m, Key: key}
}

func TestHarmless(t *testing.T) {
	for name, want := range map[string]bool{"host.example.com": true, "fe80::1%eth0": true, "a;b": false, "$(x)": false, "-oX": false, "a b": false, "`x`": false, "a|b": false, "user_1": true, "": true} {
		if harmless(name) != want {
			t.Errorf("%q: got %v", name, !want)
		}
	}
}
