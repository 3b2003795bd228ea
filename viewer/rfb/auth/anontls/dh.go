package anontls

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
)

// Bounds of the size of a group that a server may choose. Servers of before
// 2015 make one of 1024 bits for themselves; the upper bound keeps one
// exponentiation under a second.
const (
	minGroupBits = 1024
	maxGroupBits = 8192
)

// agree makes a key pair in the server's group and returns the public value
// and the shared secret, without its leading zeros (RFC 5246 8.1.2). The pair
// is used once, so that the time the arithmetic takes tells nothing.
func agree(p, g, theirs []byte) (public, secret []byte, err error) {
	P, G, Y := new(big.Int).SetBytes(p), new(big.Int).SetBytes(g), new(big.Int).SetBytes(theirs)
	if n := P.BitLen(); n < minGroupBits || n > maxGroupBits {
		return nil, nil, fmt.Errorf("a group of %d bits; %d to %d are accepted", n, minGroupBits, maxGroupBits)
	}
	one := big.NewInt(1)
	last := new(big.Int).Sub(P, one)
	inside := func(v *big.Int) bool { return v.Cmp(one) > 0 && v.Cmp(last) < 0 }
	if P.Bit(0) == 0 || !inside(G) || !inside(Y) {
		return nil, nil, errors.New("values of the key exchange that are out of range")
	}
	for {
		x, err := rand.Int(rand.Reader, last)
		if err != nil {
			return nil, nil, err
		}
		X, Z := new(big.Int).Exp(G, x, P), new(big.Int).Exp(Y, x, P)
		if inside(X) && inside(Z) {
			return X.Bytes(), Z.Bytes(), nil
		}
		if !inside(new(big.Int).Exp(Y, big.NewInt(2), P)) {
			return nil, nil, errors.New("a public value of a tiny group")
		}
	}
}
