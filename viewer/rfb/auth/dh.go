package auth

import (
	"crypto/rand"
	"math/big"
)

// agree makes a key pair in the group of a machine and returns the public
// value and the shared secret, both with leading zeros to size bytes. The pair
// is used once, so that the time the arithmetic takes tells nothing.
func agree(generator, modulus, theirs *big.Int, size int) (public, shared []byte, err error) {
	one := big.NewInt(1)
	last := new(big.Int).Sub(modulus, one)
	inside := func(v *big.Int) bool { return v.Cmp(one) > 0 && v.Cmp(last) < 0 }
	if modulus.BitLen() > 8*size || last.Cmp(big.NewInt(4)) < 0 || !inside(generator) || !inside(theirs) {
		return nil, nil, malformed("the machine's part of the key exchange makes no sense")
	}
	x, err := rand.Int(rand.Reader, new(big.Int).Sub(last, one))
	if err != nil {
		return nil, nil, err
	}
	x.Add(x, one) // 1 to p-2
	public, shared = exponents(generator, modulus, theirs, x, size)
	return public, shared, nil
}

// exponents raises the generator and the machine's value to x.
func exponents(generator, modulus, theirs, x *big.Int, size int) (public, shared []byte) {
	return new(big.Int).Exp(generator, x, modulus).FillBytes(make([]byte, size)),
		new(big.Int).Exp(theirs, x, modulus).FillBytes(make([]byte, size))
}
