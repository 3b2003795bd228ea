package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"errors"
)

const eaxBlock = aes.BlockSize

// errForged says that a sealed message was changed on its way.
var errForged = errors.New("a message was damaged or forged on its way")

// An eax is AES in EAX mode (Bellare, Rogaway, Wagner: "The EAX Mode of
// Operation"). It is not safe for concurrent use.
type eax struct {
	block    cipher.Block
	one, two [eaxBlock]byte // what is added to a last block: whole, padded
	scratch  []byte
}

func newEAX(key []byte) (*eax, error) {
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	e := &eax{block: b}
	b.Encrypt(e.one[:], e.one[:])
	e.one = double(e.one)
	e.two = double(e.one)
	return e, nil
}

// double multiplies by x in GF(2^128).
func double(b [eaxBlock]byte) (d [eaxBlock]byte) {
	carry := byte(0)
	for i := eaxBlock - 1; i >= 0; i-- {
		d[i] = b[i]<<1 | carry
		carry = b[i] >> 7
	}
	d[eaxBlock-1] ^= carry * 0x87
	return d
}

// omac is OMAC with a tweak: the CMAC of the tweak as a block, then data.
func (e *eax) omac(tweak byte, data []byte) (sum [eaxBlock]byte) {
	var first [eaxBlock]byte
	first[eaxBlock-1] = tweak
	if len(data) == 0 {
		subtle.XORBytes(sum[:], first[:], e.one[:])
		e.block.Encrypt(sum[:], sum[:])
		return sum
	}
	e.block.Encrypt(sum[:], first[:])
	if whole := (len(data) - 1) / eaxBlock * eaxBlock; whole > 0 {
		if cap(e.scratch) < whole {
			e.scratch = make([]byte, whole)
		}
		out := e.scratch[:whole]
		cipher.NewCBCEncrypter(e.block, sum[:]).CryptBlocks(out, data[:whole])
		copy(sum[:], out[whole-eaxBlock:])
		data = data[whole:]
	}
	last := e.one
	if len(data) < eaxBlock {
		last = e.two
		last[len(data)] ^= 0x80
	}
	subtle.XORBytes(last[:], last[:], data)
	subtle.XORBytes(sum[:], sum[:], last[:])
	e.block.Encrypt(sum[:], sum[:])
	return sum
}

// tag is the tag of a ciphertext, and n the start of the key stream.
func (e *eax) tag(nonce, header, sealed []byte) (tag, n [eaxBlock]byte) {
	n, h, c := e.omac(0, nonce), e.omac(1, header), e.omac(2, sealed)
	subtle.XORBytes(tag[:], n[:], h[:])
	subtle.XORBytes(tag[:], tag[:], c[:])
	return tag, n
}

// seal appends the ciphertext and the tag of text to dst.
func (e *eax) seal(dst, nonce, header, text []byte) []byte {
	at := len(dst)
	dst = append(dst, text...)
	n := e.omac(0, nonce)
	cipher.NewCTR(e.block, n[:]).XORKeyStream(dst[at:], dst[at:])
	tag, _ := e.tag(nonce, header, dst[at:])
	return append(dst, tag[:]...)
}

// open decrypts in place what seal has made.
func (e *eax) open(nonce, header, sealed []byte) ([]byte, error) {
	if len(sealed) < eaxBlock {
		return nil, errForged
	}
	text, theirs := sealed[:len(sealed)-eaxBlock], sealed[len(sealed)-eaxBlock:]
	tag, n := e.tag(nonce, header, text)
	if subtle.ConstantTimeCompare(tag[:], theirs) != 1 {
		return nil, errForged
	}
	cipher.NewCTR(e.block, n[:]).XORKeyStream(text, text)
	return text, nil
}
