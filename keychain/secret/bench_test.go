//go:build !windows && !darwin

package secret_test

import (
	"testing"

	"deskvnc/keychain/secret"
	"deskvnc/keychain/secret/secrettest"
	"deskvnc/viewer"
)

func BenchmarkKeychain(b *testing.B) {
	s := secrettest.New(b)
	s.StartKeyring(b, master)
	k := secret.New(secret.Options{})
	value := viewer.SecretString(pass)
	if err := k.Set(b.Context(), lab, value); err != nil {
		b.Fatal(err)
	}
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			if _, err := k.Get(b.Context(), lab); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			if err := k.Set(b.Context(), lab, value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("status", func(b *testing.B) {
		for b.Loop() {
			if st := k.Status(b.Context()); st.Kind != secret.Available {
				b.Fatal(st)
			}
		}
	})
}
