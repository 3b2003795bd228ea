//go:build !windows && !darwin

package secret_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/keychain/secret"
	"deskvnc/keychain/secret/secrettest"
	"deskvnc/viewer"
)

const (
	master = "master of the login keyring"
	pass   = "pa55-Wörd-🔑-never-shown"
)

var lab = secret.Key{Owner: "h_lab", Kind: secret.VNCPassword}

// unlocked is a session whose login keyring is open, and the keychain in it.
func unlocked(t *testing.T, o secret.Options) (*secrettest.Session, *secret.Keychain) {
	t.Helper()
	s := secrettest.New(t)
	s.StartKeyring(t, master)
	return s, secret.New(o)
}

// locked is the same after a restart with lab stored: its keyring is locked.
func locked(t *testing.T, o secret.Options) (*secrettest.Session, *secret.Keychain) {
	t.Helper()
	s, k := unlocked(t, o)
	put(t, k, lab, pass)
	s.StopKeyring(t)
	s.StartKeyring(t, "")
	return s, k
}

func put(t *testing.T, k secret.Store, key secret.Key, value string) {
	t.Helper()
	if err := k.Set(t.Context(), key, viewer.SecretString(value)); err != nil {
		t.Fatal(err)
	}
}

func wantValue(t *testing.T, k secret.Store, key secret.Key, want string) {
	t.Helper()
	s, err := k.Get(t.Context(), key)
	if err != nil {
		t.Error(err)
	} else if string(s.Open()) != want {
		t.Errorf("%v: got another secret than was stored (%d bytes, want %d)", key, len(s.Open()), len(want))
	}
}

// wantKind looks at an error: its kind, that it says what to do where a person
// can, and that it holds no secret.
func wantKind(t *testing.T, err error, want secret.Kind) {
	t.Helper()
	if got := secret.KindOf(err); got != want {
		t.Errorf("got %v (%q), want kind %q", err, got, want)
		return
	}
	var e *secret.Error
	if !errors.As(err, &e) {
		return
	}
	if text := fmt.Sprintf("%v %+v %#v", err, e, *e); strings.Contains(text, pass) || strings.Contains(text, master) {
		t.Errorf("the error shows a secret")
	}
	if e.Op == "" || e.Reason == "" || e.Advice == "" && want != secret.NotFound && want != secret.Invalid {
		t.Errorf("the error says too little: %+v", *e)
	}
}

func TestRoundTrip(t *testing.T) {
	s, k := unlocked(t, secret.Options{})
	if st := k.Status(t.Context()); st.Kind != secret.Available {
		t.Errorf("got state %+v, want available", st)
	}
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.NotFound)
	for _, c := range []struct {
		name, value string
	}{
		{"plain", "secret"},
		{"one byte", "x"},
		{"spaces and newlines", "  a\nb\r\n "},
		{"emoji", pass},
		{"the size of a block", strings.Repeat("b", 16)},
		{"bytes that are no text", "\xff\x00\xfe\x00"},
		{"4 KiB key", strings.Repeat("-----KEY 4096-----", 228)},
		{"longest", strings.Repeat("z", secret.MaxBytes)},
	} {
		t.Run(c.name, func(t *testing.T) {
			put(t, k, lab, c.value)
			wantValue(t, k, lab, c.value)
		})
	}
	err = k.Set(t.Context(), lab, viewer.SecretString(strings.Repeat(pass, 1+secret.MaxBytes/len(pass))))
	wantKind(t, err, secret.TooLarge)
	wantKind(t, k.Set(t.Context(), lab, viewer.Secret{}), secret.Invalid)
	wantValue(t, k, lab, strings.Repeat("z", secret.MaxBytes)) // refused, so untouched

	if items := s.Search(t, "service", "DeskVNC"); len(items) != 1 {
		t.Errorf("got %d items after storing one key again and again, want 1:\n%s", len(items), items)
	}
	if ok, err := k.Has(t.Context(), lab); !ok || err != nil {
		t.Errorf("Has: got %v, %v, want true", ok, err)
	}
	for range 2 { // the second finds nothing
		if err := k.Delete(t.Context(), lab); err != nil {
			t.Error(err)
		}
	}
	if ok, err := k.Has(t.Context(), lab); ok || err != nil {
		t.Errorf("Has: got %v, %v, want false", ok, err)
	}
}

func TestRestartedService(t *testing.T) {
	s, k := unlocked(t, secret.Options{})
	put(t, k, lab, pass)
	s.StopKeyring(t)
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.Absent)
	s.StartKeyring(t, master)
	wantValue(t, k, lab, pass)
}

func TestOneItemEach(t *testing.T) {
	s, k := unlocked(t, secret.Options{})
	hosts := 300
	if testing.Short() {
		hosts = 30
	}
	key := func(i int) secret.Key { return secret.Key{Owner: fmt.Sprintf("h_%d", i), Kind: secret.VNCPassword} }
	value := func(i int) string { return fmt.Sprintf("%s %d", pass, i) }
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for i := w; i < hosts; i += 6 {
				if err := k.Set(t.Context(), key(i), viewer.SecretString(value(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if items := s.Search(t, "service", "DeskVNC"); len(items) != hosts {
		t.Errorf("got %d items, want %d", len(items), hosts)
	}
	for i := 0; i < hosts && !t.Failed(); i++ {
		wantValue(t, k, key(i), value(i))
	}
}

func TestDeleteOwner(t *testing.T) {
	s, k := unlocked(t, secret.Options{})
	kinds := []string{secret.VNCPassword, secret.Password, secret.KeyPassphrase, "another-kind"}
	for _, kind := range kinds {
		put(t, k, secret.Key{Owner: "h_1", Kind: kind}, pass+kind)
	}
	other := secret.Key{Owner: "h_10", Kind: secret.Password}
	put(t, k, other, pass)
	if err := k.Delete(t.Context(), secret.Key{Owner: "h_1", Kind: kinds[0]}); err != nil {
		t.Error(err)
	}
	if items := s.Search(t, "owner", "h_1"); len(items) != len(kinds)-1 {
		t.Errorf("got %d items, want %d", len(items), len(kinds)-1)
	}
	for range 2 {
		if err := k.DeleteOwner(t.Context(), "h_1"); err != nil {
			t.Error(err)
		}
	}
	if items := s.Search(t, "owner", "h_1"); len(items) != 0 {
		t.Errorf("left behind: %s", items)
	}
	wantValue(t, k, other, pass)
}

func TestRename(t *testing.T) {
	name := "Lab\x1b[31m (old)"
	s, k := unlocked(t, secret.Options{Name: func(owner string) string { return name }})
	put(t, k, lab, pass)
	item := s.Search(t, "service", "DeskVNC")
	if len(item) != 1 || !strings.Contains(item[0], "label = DeskVNC: Lab[31m (old) (VNC password)\n") {
		t.Errorf("got %q, want a label with the name", item)
	}
	name = "Office"
	wantValue(t, k, lab, pass)
	put(t, k, lab, pass+"2")
	item = s.Search(t, "service", "DeskVNC")
	if len(item) != 1 || !strings.Contains(item[0], "label = DeskVNC: Office (VNC password)\n") {
		t.Errorf("got %q, want one item with the new name", item)
	}
	for _, a := range []string{"attribute.owner = h_lab\n", "attribute.kind = vnc-password\n", "attribute.service = DeskVNC\n"} {
		if len(item) == 1 && !strings.Contains(item[0], a) {
			t.Errorf("%q lacks %q, by which older versions stored it", item[0], a)
		}
	}
}

func TestEmptyItem(t *testing.T) {
	s, k := unlocked(t, secret.Options{})
	s.Tool(t, "", "store", "--label=x", "xdg:schema", "org.deskvnc.Secret", "service", "DeskVNC", "owner", lab.Owner, "kind", lab.Kind)
	if n := len(s.Search(t, "owner", lab.Owner)); n != 1 {
		t.Fatalf("got %d items, want the empty one", n)
	}
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.NotFound)
}

func TestCopiedItem(t *testing.T) {
	s, k := unlocked(t, secret.Options{})
	put(t, k, lab, "old")
	// An item elsewhere, as a person's import would make: not the default
	// keyring, one attribute more.
	s.Tool(t, "older", "store", "--label=copy", "--collection=session",
		"xdg:schema", "org.deskvnc.Secret", "service", "DeskVNC", "owner", lab.Owner, "kind", lab.Kind, "copied", "yes")
	put(t, k, lab, pass)
	if items := s.Search(t, "owner", lab.Owner); len(items) != 1 {
		t.Errorf("got %d items, want the older one gone: %s", len(items), items)
	}
	wantValue(t, k, lab, pass)
}

// TestNotOnTheBus looks at every message of the bus while a secret is stored,
// read and deleted.
func TestNotOnTheBus(t *testing.T) {
	s, k := unlocked(t, secret.Options{})
	seen := s.Monitor(t)
	put(t, k, lab, pass)
	wantValue(t, k, lab, pass)
	if err := k.Delete(t.Context(), lab); err != nil {
		t.Error(err)
	}
	calls := 0
	for _, m := range seen() {
		text := fmt.Sprintf("%q %q", m.Headers, m.Body)
		for _, b := range m.Body {
			text += fmt.Sprintf("%s", b)
		}
		if strings.Contains(text, "pa55") {
			t.Error("the secret crossed the bus in the clear")
		}
		if strings.Contains(text, "CreateItem") {
			calls++
		}
	}
	if calls != 1 {
		t.Errorf("the monitor saw %d CreateItem, want 1: it proves nothing", calls)
	}
}

func TestCancelled(t *testing.T) {
	_, k := unlocked(t, secret.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := k.Get(ctx, lab)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if err := k.Set(ctx, lab, viewer.SecretString(pass)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want context.DeadlineExceeded", err)
	}
}
