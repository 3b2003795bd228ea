package anontls

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

// A suite is one of the cipher suites of RFC 5288 without authentication.
type suite struct {
	id   uint16
	name string
	key  int // bytes of an AES key
	hash func() hash.Hash
}

// suites are those offered, best first.
var suites = []suite{
	{0x00A7, "TLS_DH_anon_WITH_AES_256_GCM_SHA384", 32, sha512.New384},
	{0x00A6, "TLS_DH_anon_WITH_AES_128_GCM_SHA256", 16, sha256.New},
}

// masterBytes is the size of a master secret (RFC 5246 8.1).
const masterBytes = 48

// prf is the pseudo-random function of the suite (RFC 5246 5).
func (s suite) prf(secret []byte, label string, seed []byte, n int) []byte {
	seed = append([]byte(label), seed...)
	mac := hmac.New(s.hash, secret)
	sum := func(parts ...[]byte) []byte {
		mac.Reset()
		for _, p := range parts {
			mac.Write(p)
		}
		return mac.Sum(nil)
	}
	var out []byte
	for a := sum(seed); len(out) < n; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:n]
}
