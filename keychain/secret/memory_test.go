package secret_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"deskvnc/keychain/secret"
	"deskvnc/viewer"
)

func TestMemory(t *testing.T) {
	var m secret.Memory
	ctx := t.Context()
	a := secret.Key{Owner: "h_1", Kind: secret.VNCPassword}
	b := secret.Key{Owner: "h_1", Kind: secret.Password}
	other := secret.Key{Owner: "h_10", Kind: secret.Password}
	kind := func(err error, want secret.Kind) {
		t.Helper()
		if got := secret.KindOf(err); got != want {
			t.Errorf("got %v, want kind %q", err, want)
		}
	}
	_, err := m.Get(ctx, a)
	kind(err, secret.NotFound)
	for _, k := range []secret.Key{a, b, other} {
		kind(m.Set(ctx, k, viewer.SecretString("of "+k.String())), "")
	}
	kind(m.Set(ctx, a, viewer.SecretString("new")), "")
	kind(m.Set(ctx, a, viewer.Secret{}), secret.Invalid)
	kind(m.Set(ctx, secret.Key{}, viewer.SecretString("x")), secret.Invalid)
	kind(m.Set(ctx, a, viewer.SecretString(strings.Repeat("x", secret.MaxBytes+1))), secret.TooLarge)
	if s, err := m.Get(ctx, a); err != nil || string(s.Open()) != "new" {
		t.Errorf("got another secret than was stored, %v", err)
	}
	kind(m.Delete(ctx, a), "")
	kind(m.Delete(ctx, a), "")
	if ok, err := m.Has(ctx, a); ok || err != nil {
		t.Errorf("got %v, %v, want false", ok, err)
	}
	kind(m.DeleteOwner(ctx, "h_1"), "")
	_, err = m.Get(ctx, b)
	kind(err, secret.NotFound)
	if ok, err := m.Has(ctx, other); !ok || err != nil {
		t.Errorf("got %v, %v, want the other owner's secret", ok, err)
	}
	kind(m.DeleteOwner(ctx, ""), secret.Invalid)
	if s := m.Status(ctx); s.Kind != secret.Available {
		t.Errorf("got %+v, want available", s)
	}
	if text := fmt.Sprintf("%v %+v %#v", &m, &m, &m); strings.Contains(text, "of h_10") {
		t.Error("printing the store shows a secret")
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := m.Set(ended, a, viewer.SecretString("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}

	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			k := secret.Key{Owner: fmt.Sprintf("h_%d", i), Kind: secret.Password}
			for range 100 {
				m.Set(ctx, k, viewer.SecretString(k.Owner))
				if s, err := m.Get(ctx, k); err != nil || string(s.Open()) != k.Owner {
					t.Errorf("%v: got another's secret, %v", k, err)
				}
				m.DeleteOwner(ctx, k.Owner)
			}
		})
	}
	wg.Wait()
}
