package keyfile

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"hash"

	"golang.org/x/crypto/scrypt"
)

// maxIterations bounds the iterations of PBKDF2 that a file may ask for:
// a few seconds of work. OpenSSL takes 2048.
const maxIterations = 10_000_000

// maxScryptBytes and maxScryptWork bound the memory of scrypt and its product
// of cost, block size and parallelism.
const (
	maxScryptBytes = 256 << 20
	maxScryptWork  = 1 << 24
)

// The object identifiers of RFC 8018 and RFC 7914 that are found in keys.
var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidScrypt = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}
)

var prfs = map[string]func() hash.Hash{
	"":                    sha1.New, // the default
	"1.2.840.113549.2.7":  sha1.New,
	"1.2.840.113549.2.8":  sha256.New224,
	"1.2.840.113549.2.9":  sha256.New,
	"1.2.840.113549.2.10": sha512.New384,
	"1.2.840.113549.2.11": sha512.New,
	"1.2.840.113549.2.13": sha512.New512_256,
}

var ciphers = map[string]struct {
	keyBytes int
	make     func([]byte) (cipher.Block, error)
}{
	"2.16.840.1.101.3.4.1.2":  {16, aes.NewCipher},
	"2.16.840.1.101.3.4.1.22": {24, aes.NewCipher},
	"2.16.840.1.101.3.4.1.42": {32, aes.NewCipher},
	"1.2.840.113549.3.7":      {24, des.NewTripleDESCipher},
}

type encryptedKey struct { // RFC 5958 3
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

type pbes2 struct { // RFC 8018 A.4
	KDF, Cipher pkix.AlgorithmIdentifier
}

type pbkdf2Params struct { // RFC 8018 A.2
	Salt       []byte
	Iterations int
	KeyBytes   int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

type scryptParams struct { // RFC 7914 7
	Salt     []byte
	N, R, P  int
	KeyBytes int `asn1:"optional"`
}

// parsePKCS8 reads an encrypted PKCS #8 key.
func parsePKCS8(der []byte) (*File, error) {
	var k encryptedKey
	var p pbes2
	if rest, err := asn1.Unmarshal(der, &k); err != nil || len(rest) > 0 {
		return nil, errors.New("the encrypted private key is damaged")
	}
	if !k.Algorithm.Algorithm.Equal(oidPBES2) {
		return nil, fmt.Errorf("the private key is encrypted in a way that is not known (%v): write it anew with ssh-keygen -p", k.Algorithm.Algorithm)
	}
	if _, err := asn1.Unmarshal(k.Algorithm.Parameters.FullBytes, &p); err != nil {
		return nil, errors.New("the encrypted private key is damaged")
	}
	c, ok := ciphers[p.Cipher.Algorithm.String()]
	if !ok {
		return nil, fmt.Errorf("the private key is encrypted with a cipher that is not known (%v)", p.Cipher.Algorithm)
	}
	var iv []byte
	if _, err := asn1.Unmarshal(p.Cipher.Parameters.FullBytes, &iv); err != nil {
		return nil, errors.New("the encrypted private key is damaged")
	}
	derive, err := deriver(p.KDF, c.keyBytes)
	if err != nil {
		return nil, err
	}
	return &File{Encrypted: true, open: func(pass []byte) (any, error) {
		key, err := derive(pass)
		if err != nil {
			return nil, err
		}
		block, err := c.make(key)
		if err != nil {
			return nil, err
		}
		n := len(k.Data)
		if len(iv) != block.BlockSize() || n == 0 || n%block.BlockSize() != 0 {
			return nil, errors.New("the encrypted private key is damaged")
		}
		plain := make([]byte, n)
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, k.Data)
		pad := int(plain[n-1])
		if pad == 0 || pad > block.BlockSize() {
			return nil, ErrPassphrase
		}
		raw, err := x509.ParsePKCS8PrivateKey(plain[:n-pad])
		if err != nil {
			return nil, wrong(err)
		}
		return raw, nil
	}}, nil
}

// deriver returns what turns a passphrase into a key of so many bytes.
func deriver(kdf pkix.AlgorithmIdentifier, keyBytes int) (func([]byte) ([]byte, error), error) {
	switch {
	case kdf.Algorithm.Equal(oidPBKDF2):
		var p pbkdf2Params
		if _, err := asn1.Unmarshal(kdf.Parameters.FullBytes, &p); err != nil {
			return nil, errors.New("the encrypted private key is damaged")
		}
		prf, ok := prfs[p.PRF.Algorithm.String()]
		if !ok || p.Iterations < 1 || p.Iterations > maxIterations {
			return nil, fmt.Errorf("the private key is locked in a way that is not known (%d iterations, %v)", p.Iterations, p.PRF.Algorithm)
		}
		return func(pass []byte) ([]byte, error) {
			return pbkdf2.Key(prf, string(pass), p.Salt, p.Iterations, keyBytes)
		}, nil
	case kdf.Algorithm.Equal(oidScrypt):
		var p scryptParams
		if _, err := asn1.Unmarshal(kdf.Parameters.FullBytes, &p); err != nil {
			return nil, errors.New("the encrypted private key is damaged")
		}
		const m = 1 << 24 // keeps the products below in range
		if p.N < 2 || p.R < 1 || p.P < 1 || p.N > m || p.R > m || p.P > m ||
			128*int64(p.N)*int64(p.R) > maxScryptBytes || int64(p.N)*int64(p.R)*int64(p.P) > maxScryptWork || 128*int64(p.R)*int64(p.P) > maxScryptBytes {
			return nil, errors.New("the private key asks for more work to open than is allowed")
		}
		return func(pass []byte) ([]byte, error) { return scrypt.Key(pass, p.Salt, p.N, p.R, p.P, keyBytes) }, nil
	}
	return nil, fmt.Errorf("the private key is locked in a way that is not known (%v)", kdf.Algorithm)
}
