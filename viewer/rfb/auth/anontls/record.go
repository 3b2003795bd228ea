package anontls

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
)

// Content types (RFC 5246 6.2.1).
const (
	typeChangeCipherSpec = 20
	typeAlert            = 21
	typeHandshake        = 22
	typeData             = 23
)

const (
	versionTLS12 = 0x0303

	headerBytes = 5
	// maxPlain and maxRecord bound one record without and with its encryption
	// (RFC 5246 6.2.1 and 6.2.3).
	maxPlain  = 1 << 14
	maxRecord = maxPlain + 2048
	// maxEmpty is how many records without a content may follow each other.
	maxEmpty = 16

	fixedNonceBytes    = 4 // RFC 5288 3
	explicitNonceBytes = 8
)

// A half is one direction of the record layer. The zero half does not encrypt.
type half struct {
	aead  cipher.AEAD
	fixed [fixedNonceBytes]byte
	seq   uint64
}

func newHalf(key, fixed []byte) (half, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return half{}, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return half{}, err
	}
	return half{aead: aead, fixed: [fixedNonceBytes]byte(fixed)}, nil
}

// params are the nonce and the additional data for the next record.
func (h *half) params(explicit []byte, typ byte, n int) (nonce [12]byte, ad [13]byte) {
	copy(nonce[:], h.fixed[:])
	copy(nonce[fixedNonceBytes:], explicit)
	binary.BigEndian.PutUint64(ad[:], h.seq)
	ad[8] = typ
	binary.BigEndian.PutUint16(ad[9:], versionTLS12)
	binary.BigEndian.PutUint16(ad[11:], uint16(n))
	return nonce, ad
}

// seal appends a record with the content, at most maxPlain bytes.
func (h *half) seal(dst []byte, typ byte, content []byte) []byte {
	n := len(content)
	if h.aead != nil {
		n += explicitNonceBytes + h.aead.Overhead()
	}
	dst = append(dst, typ, versionTLS12>>8, versionTLS12&0xff, byte(n>>8), byte(n))
	if h.aead == nil {
		return append(dst, content...)
	}
	var explicit [explicitNonceBytes]byte
	binary.BigEndian.PutUint64(explicit[:], h.seq)
	nonce, ad := h.params(explicit[:], typ, len(content))
	h.seq++
	return h.aead.Seal(append(dst, explicit[:]...), nonce[:], content, ad[:])
}

// open decrypts the body of a record in place.
func (h *half) open(typ byte, body []byte) ([]byte, error) {
	if h.aead == nil {
		if len(body) > maxPlain {
			return nil, errTooLong
		}
		return body, nil
	}
	if len(body) < explicitNonceBytes+h.aead.Overhead() {
		return nil, errShort
	}
	sealed := body[explicitNonceBytes:]
	n := len(sealed) - h.aead.Overhead()
	if n > maxPlain {
		return nil, errTooLong
	}
	nonce, ad := h.params(body[:explicitNonceBytes], typ, n)
	h.seq++
	out, err := h.aead.Open(sealed[:0], nonce[:], sealed, ad[:])
	if err != nil {
		return nil, errForged
	}
	return out, nil
}

// A recordError says what is wrong with a record.
type recordError string

func (e recordError) Error() string { return string(e) }

const (
	errTooLong = recordError("tls: a record longer than the protocol allows")
	errShort   = recordError("tls: a record too short for its encryption")
	errForged  = recordError("tls: a record was damaged or forged on its way")
)

// readRecord reads the next record that has a content. The content is valid
// until the next call.
func (c *Conn) readRecord() (typ byte, content []byte, err error) {
	for range maxEmpty {
		if _, err := io.ReadFull(c.Conn, c.raw[:headerBytes]); err != nil {
			return 0, nil, err
		}
		typ = c.raw[0]
		n := int(binary.BigEndian.Uint16(c.raw[3:]))
		switch {
		case typ < typeChangeCipherSpec || typ > typeData || c.raw[1] != 3:
			return 0, nil, fmt.Errorf("tls: this is not a TLS record: it begins with % x", c.raw[:headerBytes])
		case n > maxRecord:
			return 0, nil, errTooLong
		}
		body := c.raw[headerBytes : headerBytes+n]
		if _, err := io.ReadFull(c.Conn, body); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
		if content, err = c.in.open(typ, body); err != nil {
			return 0, nil, err
		}
		if len(content) > 0 {
			return typ, content, nil
		}
	}
	return 0, nil, recordError("tls: too many empty records")
}
