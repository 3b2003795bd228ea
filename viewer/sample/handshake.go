package sample

import (
	"bufio"
	"crypto/des"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"deskvnc/viewer"
)

// The security types and results (RFC 6143 7.1.2 and 7.1.3).
const (
	secNone = 1
	secVNC  = 2

	resultOK     = 0
	resultFailed = 1
)

// handshake takes a connection up to where the client has said ClientInit,
// and reports whether it wants the desktop for itself.
func handshake(r *bufio.Reader, w io.Writer, password viewer.Secret) (alone bool, err error) {
	if _, err := io.WriteString(w, "RFB 003.008\n"); err != nil {
		return false, err
	}
	var version [12]byte
	if _, err := io.ReadFull(r, version[:]); err != nil {
		return false, err
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(version[:]), "RFB %03d.%03d\n", &major, &minor); err != nil || major < 3 {
		return false, errors.New("the client's version makes no sense")
	}
	// RFC 6143 7.1.1: what is not 3.7 or 3.8 is treated as 3.3.
	if major == 3 && minor != 7 && minor < 8 {
		minor = 3
	} else if major > 3 || minor > 8 {
		minor = 8
	}
	kind := byte(secNone)
	if !password.Empty() {
		kind = secVNC
	}
	if minor == 3 {
		if _, err := w.Write([]byte{0, 0, 0, kind}); err != nil {
			return false, err
		}
	} else {
		if _, err := w.Write([]byte{1, kind}); err != nil {
			return false, err
		}
		chosen, err := r.ReadByte()
		if err != nil {
			return false, err
		}
		if chosen != kind {
			return false, failed(w, minor, "that security type was not offered")
		}
	}
	if kind == secVNC {
		if err := authenticate(r, w, minor, password); err != nil {
			return false, err
		}
	}
	if kind == secVNC || minor >= 8 {
		if err := binary.Write(w, binary.BigEndian, uint32(resultOK)); err != nil {
			return false, err
		}
	}
	shared, err := r.ReadByte()
	return shared == 0, err
}

// failed sends a SecurityResult that refuses, and its reason where there is
// a place for it.
func failed(w io.Writer, minor int, reason string) error {
	b := binary.BigEndian.AppendUint32(nil, resultFailed)
	if minor >= 8 {
		b = binary.BigEndian.AppendUint32(b, uint32(len(reason)))
		b = append(b, reason...)
	}
	_, err := w.Write(b)
	return errors.Join(errors.New(reason), err)
}

// authenticate is VNC authentication (RFC 6143 7.2.2).
func authenticate(r io.Reader, w io.Writer, minor int, password viewer.Secret) error {
	var challenge, answer, want [16]byte
	rand.Read(challenge[:])
	if _, err := w.Write(challenge[:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(r, answer[:]); err != nil {
		return err
	}
	var key [8]byte
	copy(key[:], password.Open())
	for i, b := range key {
		key[i] = bits.Reverse8(b)
	}
	block, err := des.NewCipher(key[:])
	if err != nil {
		return err
	}
	block.Encrypt(want[:8], challenge[:8])
	block.Encrypt(want[8:], challenge[8:])
	if subtle.ConstantTimeCompare(answer[:], want[:]) != 1 {
		return failed(w, minor, "the password is not right")
	}
	return nil
}
