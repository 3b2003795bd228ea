package keyfile

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/ssh"
)

// The bounds of what a .ppk file may ask of Argon2. PuTTYgen takes 8 MiB and
// some ten passes.
const (
	maxArgonKiB    = 256 << 10
	maxArgonWork   = 4 << 20 // passes times KiB
	maxArgonPasses = 10_000
	maxArgonLanes  = 64
)

// maxRSABits bounds an RSA key (OpenSSH has the same bound).
const maxRSABits = 16384

// maxPPKLines bounds the lines of one half of a key.
const maxPPKLines = 2000

// A ppk is a file in PuTTY's form, version 2 or 3 (PuTTY manual, appendix C).
type ppk struct {
	version             int
	algorithm           string
	encryption, comment string
	public, private     []byte
	kdf                 string
	memory, passes      uint32
	lanes               uint8
	salt, mac           []byte
}

var errPPK = errors.New("the PuTTY key is damaged")

// parsePPK reads a PuTTY key.
func parsePPK(b []byte) (*File, error) {
	p, err := readPPK(string(b))
	if err != nil {
		return nil, err
	}
	pub, err := ssh.ParsePublicKey(p.public)
	if err != nil {
		return nil, fmt.Errorf("the PuTTY key is damaged or of an unknown kind: %w", err)
	}
	if pub.Type() != p.algorithm {
		return nil, errPPK
	}
	f := &File{Public: pub, Comment: p.comment, Encrypted: p.encryption != "none"}
	f.open = func(pass []byte) (any, error) { return p.open(pub, pass, f.Encrypted) }
	if !f.Encrypted {
		if _, err := f.open(nil); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// readPPK takes the file apart and checks it against the bounds.
func readPPK(text string) (*ppk, error) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimLeft(text, "\ufeff \t\r\n"), "\r\n", "\n"), "\n")
	p := &ppk{}
	for len(lines) > 0 {
		name, value, ok := strings.Cut(lines[0], ": ")
		lines = lines[1:]
		if !ok {
			if strings.TrimSpace(name) == "" {
				continue
			}
			return nil, errPPK
		}
		var err error
		switch name {
		case "PuTTY-User-Key-File-2", "PuTTY-User-Key-File-3":
			p.version, p.algorithm = int(name[len(name)-1]-'0'), value
		case "PuTTY-User-Key-File-1":
			return nil, errors.New("the PuTTY key is of version 1: load it in PuTTYgen and save it anew")
		case "Encryption":
			p.encryption = value
		case "Comment":
			p.comment = value
		case "Key-Derivation":
			p.kdf = value
		case "Argon2-Memory":
			p.memory, err = number[uint32](value, maxArgonKiB)
		case "Argon2-Passes":
			p.passes, err = number[uint32](value, maxArgonPasses)
		case "Argon2-Parallelism":
			p.lanes, err = number[uint8](value, maxArgonLanes)
		case "Argon2-Salt":
			p.salt, err = hex.DecodeString(value)
		case "Private-MAC":
			p.mac, err = hex.DecodeString(value)
		case "Public-Lines":
			p.public, lines, err = body(lines, value)
		case "Private-Lines":
			p.private, lines, err = body(lines, value)
		default:
			return nil, errPPK
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case p.version == 0, p.public == nil, p.private == nil, p.mac == nil:
		return nil, errPPK
	case p.encryption != "none" && p.encryption != "aes256-cbc":
		return nil, fmt.Errorf("the PuTTY key is encrypted with %q, which is not known", p.encryption)
	case p.encryption != "none" && len(p.private)%aes.BlockSize != 0:
		return nil, errPPK
	}
	if p.version == 3 && p.encryption != "none" {
		switch {
		case p.kdf == "Argon2d":
			return nil, errors.New("the PuTTY key is locked by Argon2d: save it anew with Argon2id, PuTTYgen's usual choice")
		case p.kdf != "Argon2id" && p.kdf != "Argon2i", p.memory == 0, p.passes == 0, p.lanes == 0:
			return nil, errPPK
		case uint64(p.memory)*uint64(p.passes) > maxArgonWork:
			return nil, errors.New("the PuTTY key asks for more work to open than is allowed")
		}
	}
	return p, nil
}

func number[T uint8 | uint32](s string, limit uint64) (T, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > limit {
		return 0, errors.New("the PuTTY key asks for more work to open than is allowed")
	}
	return T(n), nil
}

// body takes the lines of one half.
func body(lines []string, count string) (b []byte, rest []string, err error) {
	n, err := strconv.ParseUint(count, 10, 16)
	if err != nil || n > maxPPKLines || int(n) > len(lines) {
		return nil, nil, errPPK
	}
	b, err = base64.StdEncoding.DecodeString(strings.Join(lines[:n], ""))
	if err != nil || b == nil {
		return nil, nil, errPPK
	}
	return b, lines[n:], nil
}

// keys derives the keys of cipher and MAC.
func (p *ppk) keys(pass []byte, encrypted bool) (key, iv, mac []byte, sum func() hash.Hash) {
	if p.version == 2 {
		h := sha1.New()
		h.Write([]byte("putty-private-key-file-mac-key"))
		h.Write(pass)
		mac = h.Sum(nil)
		for i := range byte(2) {
			s := sha1.Sum(append([]byte{0, 0, 0, i}, pass...))
			key = append(key, s[:]...)
		}
		return key[:32], make([]byte, aes.BlockSize), mac, sha1.New
	}
	if !encrypted {
		return nil, nil, nil, sha256.New
	}
	derive := argon2.IDKey
	if p.kdf == "Argon2i" {
		derive = argon2.Key
	}
	all := derive(pass, p.salt, p.passes, p.memory, p.lanes, 32+aes.BlockSize+32)
	return all[:32], all[32:48], all[48:], sha256.New
}

// open decrypts the private half and checks it.
func (p *ppk) open(pub ssh.PublicKey, pass []byte, encrypted bool) (any, error) {
	if !encrypted {
		pass = nil
	}
	key, iv, macKey, sum := p.keys(pass, encrypted)
	plain := slices.Clone(p.private)
	if encrypted {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, plain)
	}
	m := hmac.New(sum, macKey)
	for _, part := range [][]byte{[]byte(p.algorithm), []byte(p.encryption), []byte(p.comment), p.public, plain} {
		m.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		m.Write(part)
	}
	if subtle.ConstantTimeCompare(m.Sum(nil), p.mac) != 1 {
		if encrypted {
			return nil, ErrPassphrase
		}
		return nil, errPPK
	}
	raw, err := p.privateKey(pub, plain)
	if err != nil {
		return nil, err
	}
	s, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		return nil, err
	}
	if string(s.PublicKey().Marshal()) != string(p.public) {
		return nil, errors.New("the two halves of the PuTTY key do not belong together")
	}
	return raw, nil
}

// privateKey puts the two halves together.
func (p *ppk) privateKey(pub ssh.PublicKey, plain []byte) (any, error) {
	c, ok := pub.(ssh.CryptoPublicKey)
	if !ok {
		return nil, errPPK
	}
	switch k := c.CryptoPublicKey().(type) {
	case *rsa.PublicKey:
		var n [4]*big.Int // the private exponent, both primes, the coefficient
		for i := range n {
			var s []byte
			if s, plain, ok = cutString(plain); !ok {
				return nil, errPPK
			}
			n[i] = new(big.Int).SetBytes(s)
		}
		// Before it is given to arithmetic whose time depends on it.
		if limit := k.N.BitLen(); limit > maxRSABits || n[0].BitLen() > limit || n[1].BitLen() >= limit || n[2].BitLen() >= limit || n[1].BitLen() < 2 || n[2].BitLen() < 2 {
			return nil, errPPK
		}
		key := &rsa.PrivateKey{PublicKey: *k, D: n[0], Primes: []*big.Int{n[1], n[2]}}
		if err := key.Validate(); err != nil {
			return nil, errPPK
		}
		key.Precompute()
		return key, nil
	case *ecdsa.PublicKey:
		s, _, ok := cutString(plain)
		if !ok || len(s) > 128 {
			return nil, errPPK
		}
		return ecKey(k.Curve, s)
	case ed25519.PublicKey:
		s, _, ok := cutString(plain)
		if !ok || len(s) != ed25519.SeedSize {
			return nil, errPPK
		}
		return ed25519.NewKeyFromSeed(s), nil
	}
	return nil, fmt.Errorf("PuTTY keys of the kind %s cannot be used", p.algorithm)
}

// ecKey is the key with the secret number s.
func ecKey(curve elliptic.Curve, s []byte) (any, error) {
	n := (curve.Params().N.BitLen() + 7) / 8
	for len(s) > 0 && s[0] == 0 {
		s = s[1:]
	}
	if len(s) > n {
		return nil, errPPK
	}
	b := make([]byte, n)
	copy(b[n-len(s):], s)
	key, err := ecdsa.ParseRawPrivateKey(curve, b)
	if err != nil {
		return nil, errPPK
	}
	return key, nil
}
