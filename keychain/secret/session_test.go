//go:build !windows && !darwin

package secret

import (
	"bytes"
	"crypto/rand"
	"math/big"
	"strings"
	"testing"

	"deskvnc/viewer"
)

// A round trip against the real service is TestRoundTrip; this is what it
// never sends.

func TestUnwrapRefuses(t *testing.T) {
	s := session{path: "/s", key: bytes.Repeat([]byte{7}, 16)}
	good, err := s.wrap(viewer.SecretString("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		spoil func(w *wireSecret)
		kind  Kind
	}{
		{"nothing", func(w *wireSecret) { w.Value = nil }, Failed},
		{"half a block", func(w *wireSecret) { w.Value = w.Value[:8] }, Failed},
		{"no iv", func(w *wireSecret) { w.Parameters = nil }, Failed},
		{"long iv", func(w *wireSecret) { w.Parameters = make([]byte, 32) }, Failed},
		{"padding", func(w *wireSecret) { w.Parameters[15] ^= 0xff }, Failed},
		{"size", func(w *wireSecret) { w.Value = make([]byte, MaxBytes+32) }, TooLarge},
	} {
		w := good
		w.Value, w.Parameters = bytes.Clone(good.Value), bytes.Clone(good.Parameters)
		c.spoil(&w)
		if got, err := s.unwrap(w); KindOf(err) != c.kind || !got.Empty() {
			t.Errorf("%s: got %v, %v, want kind %s", c.name, got, err, c.kind)
		}
	}
}

func TestSessionKeyRefuses(t *testing.T) {
	if !dhPrime.ProbablyPrime(20) || dhPrime.BitLen() != 8*dhBytes {
		t.Fatal("the prime is mistyped")
	}
	private := big.NewInt(12345)
	for name, theirs := range map[string][]byte{
		"none": nil, "zero": {0}, "one": {1},
		"p-1":  new(big.Int).Sub(dhPrime, big.NewInt(1)).Bytes(),
		"p":    dhPrime.Bytes(),
		"long": bytes.Repeat([]byte{1}, 200),
	} {
		if key, err := sessionKey(private, theirs); err == nil {
			t.Errorf("%s: got the key %x, want an error", name, key)
		}
	}
	// Both sides reach one key, also from a number with zeros in front.
	other := big.NewInt(99999)
	ours := new(big.Int).Exp(big.NewInt(2), private, dhPrime).FillBytes(make([]byte, dhBytes+1))
	theirs := new(big.Int).Exp(big.NewInt(2), other, dhPrime).Bytes()
	a, errA := sessionKey(private, theirs)
	b, errB := sessionKey(other, ours)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("got %x (%v) and %x (%v), want one key", a, errA, b, errB)
	}
}

func FuzzUnwrap(f *testing.F) {
	key := make([]byte, 16)
	rand.Read(key)
	s := session{path: "/s", key: key}
	for _, v := range []string{"", "x", strings.Repeat("y", 16), strings.Repeat("z", 100)} {
		w, err := s.wrap(viewer.SecretString(v))
		if err != nil {
			f.Fatal(err)
		}
		got, err := s.unwrap(wireSecret{Parameters: w.Parameters, Value: bytes.Clone(w.Value)})
		if err != nil || string(got.Open()) != v {
			f.Fatalf("got %q, %v, want %q", got.Open(), err, v)
		}
		f.Add(w.Parameters, w.Value)
	}
	f.Fuzz(func(t *testing.T, parameters, value []byte) {
		n := len(value)
		got, err := s.unwrap(wireSecret{Parameters: parameters, Value: bytes.Clone(value)})
		if err != nil && !got.Empty() || len(got.Open()) > n {
			t.Errorf("got %d bytes from %d, error %v", len(got.Open()), n, err)
		}
	})
}
