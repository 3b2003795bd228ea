package anontls

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Handshake messages (RFC 5246 7.4).
const (
	msgHelloRequest      = 0
	msgClientHello       = 1
	msgServerHello       = 2
	msgServerKeyExchange = 12
	msgServerHelloDone   = 14
	msgClientKeyExchange = 16
	msgFinished          = 20
)

// Extensions.
const (
	extGroups         = 10     // RFC 7919 2: supported_groups
	extExtendedMaster = 23     // RFC 7627
	extRenegotiation  = 0xff01 // RFC 5746
)

// groups are the well-known groups of RFC 7919: 2048, 3072 and 4096 bits.
// Servers that do not know the extension use one of their own.
var groups = []uint16{0x0100, 0x0101, 0x0102}

const (
	randomBytes   = 32
	finishedBytes = 12 // RFC 5246 7.4.9
	// maxMessage bounds a handshake message: two numbers of maxGroupBits need
	// far less.
	maxMessage = 16 << 10
	// maxSessionID is the size of the longest session id (RFC 5246 7.4.1.2).
	maxSessionID = 32
	// maxWarnings is how many alerts that change nothing are read.
	maxWarnings = 16
)

// A handshake is the state of one that is under way.
type handshake struct {
	c        *Conn
	extended bool         // offer the extended master secret
	seen     bytes.Buffer // all messages so far
	pending  []byte       // what has arrived of the next ones
	suite    suite
	ems      bool // the server uses the extended master secret
	client   [randomBytes]byte
	server   [randomBytes]byte
}

// run speaks the whole handshake (RFC 5246 7.3).
func (h *handshake) run() error {
	if _, err := rand.Read(h.client[:]); err != nil {
		return err
	}
	if err := h.send(msgClientHello, h.clientHello()); err != nil {
		return err
	}
	body, err := h.next(msgServerHello)
	if err != nil {
		return err
	}
	if err := h.readServerHello(body); err != nil {
		return err
	}
	if body, err = h.next(msgServerKeyExchange); err != nil {
		return err
	}
	// RFC 5246 7.4.3: the group and the server's value; nothing is signed.
	r := reader{body}
	p, g, theirs := r.vector16(), r.vector16(), r.vector16()
	if p == nil || g == nil || theirs == nil || len(r.b) != 0 {
		return malformed("key exchange")
	}
	public, secret, err := agree(p, g, theirs)
	if err != nil {
		return fmt.Errorf("tls: the server chose %w", err)
	}
	if body, err = h.next(msgServerHelloDone); err != nil {
		return err
	}
	if len(body) != 0 {
		return malformed("end of its hello")
	}
	if err := h.send(msgClientKeyExchange, appendVector16(nil, public)); err != nil {
		return err
	}
	return h.finish(h.master(secret))
}

// master derives the master secret from the shared one.
func (h *handshake) master(secret []byte) []byte {
	if h.ems {
		return h.suite.prf(secret, "extended master secret", h.sum(), masterBytes)
	}
	return h.suite.prf(secret, "master secret", append(h.client[:], h.server[:]...), masterBytes)
}

// finish turns encryption on in both directions and exchanges the proofs that
// both sides have seen the same handshake.
func (h *handshake) finish(master []byte) error {
	k := h.suite.key
	keys := h.suite.prf(master, "key expansion", append(h.server[:], h.client[:]...), 2*k+2*fixedNonceBytes)
	out, err := newHalf(keys[:k], keys[2*k:2*k+fixedNonceBytes])
	if err != nil {
		return err
	}
	in, err := newHalf(keys[k:2*k], keys[2*k+fixedNonceBytes:])
	if err != nil {
		return err
	}
	if err := h.c.writeRecords(typeChangeCipherSpec, []byte{1}); err != nil {
		return err
	}
	h.c.out = out
	if err := h.send(msgFinished, h.suite.prf(master, "client finished", h.sum(), finishedBytes)); err != nil {
		return err
	}
	typ, content, err := h.record()
	switch {
	case err != nil:
		return err
	case typ != typeChangeCipherSpec || len(content) != 1 || content[0] != 1 || len(h.pending) != 0:
		return malformed("change to encryption")
	}
	h.c.in = in
	want := h.suite.prf(master, "server finished", h.sum(), finishedBytes)
	got, err := h.next(msgFinished)
	switch {
	case err != nil:
		return err
	case !hmac.Equal(got, want):
		return errors.New("tls: the handshake was changed on its way")
	case len(h.pending) != 0:
		return malformed("end of the handshake")
	}
	return nil
}

// sum is the hash of all messages so far.
func (h *handshake) sum() []byte {
	d := h.suite.hash()
	d.Write(h.seen.Bytes())
	return d.Sum(nil)
}

// send writes a handshake message.
func (h *handshake) send(typ byte, body []byte) error {
	n := len(body)
	msg := append([]byte{typ, byte(n >> 16), byte(n >> 8), byte(n)}, body...)
	h.seen.Write(msg)
	return h.c.writeRecords(typeHandshake, msg)
}

// record reads the next record, ignoring warnings.
func (h *handshake) record() (byte, []byte, error) {
	for range maxWarnings {
		typ, content, err := h.c.readRecord()
		if err != nil || typ != typeAlert {
			return typ, content, err
		}
		if err := readAlert(content); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
	}
	return 0, nil, recordError("tls: too many warnings")
}

// next returns the next handshake message, which has to be of a type.
func (h *handshake) next(want byte) ([]byte, error) {
	for {
		if len(h.pending) >= 4 {
			n := int(h.pending[1])<<16 | int(h.pending[2])<<8 | int(h.pending[3])
			switch {
			case h.pending[0] == msgHelloRequest && n == 0: // RFC 5246 7.4.1.1: to be ignored now
				h.pending = h.pending[4:]
				continue
			case h.pending[0] != want:
				return nil, fmt.Errorf("tls: the server sent handshake message %d where %d belongs", h.pending[0], want)
			case n > maxMessage:
				return nil, errTooLong
			case len(h.pending) >= 4+n:
				msg := h.pending[:4+n]
				h.pending = h.pending[4+n:]
				h.seen.Write(msg)
				return msg[4:], nil
			}
		}
		typ, content, err := h.record()
		if err != nil {
			return nil, err
		}
		if typ != typeHandshake {
			return nil, malformed("handshake")
		}
		h.pending = append(h.pending, content...)
	}
}

// clientHello is the body of a ClientHello (RFC 5246 7.4.1.2).
func (h *handshake) clientHello() []byte {
	b := binary.BigEndian.AppendUint16(nil, versionTLS12)
	b = append(b, h.client[:]...)
	b = append(b, 0) // no session
	var list []byte
	for _, s := range suites {
		list = binary.BigEndian.AppendUint16(list, s.id)
	}
	b = appendVector16(b, list)
	b = append(b, 1, 0) // no compression
	list = nil
	for _, g := range groups {
		list = binary.BigEndian.AppendUint16(list, g)
	}
	var all []byte
	extension := func(id uint16, body []byte) {
		all = appendVector16(binary.BigEndian.AppendUint16(all, id), body)
	}
	extension(extRenegotiation, []byte{0})
	extension(extGroups, appendVector16(nil, list))
	if h.extended {
		extension(extExtendedMaster, nil)
	}
	return appendVector16(b, all)
}

// readServerHello takes what the server has chosen (RFC 5246 7.4.1.3).
func (h *handshake) readServerHello(body []byte) error {
	r := reader{body}
	fixed := r.bytes(2 + randomBytes)
	session := r.vector8()
	choice := r.bytes(3)
	if fixed == nil || session == nil || len(session) > maxSessionID || choice == nil {
		return malformed("hello")
	}
	if v := binary.BigEndian.Uint16(fixed); v != versionTLS12 {
		return fmt.Errorf("tls: the server speaks version %#04x, not TLS 1.2", v)
	}
	copy(h.server[:], fixed[2:])
	id := binary.BigEndian.Uint16(choice)
	for _, s := range suites {
		if s.id == id {
			h.suite = s
		}
	}
	if h.suite.id == 0 || choice[2] != 0 {
		return fmt.Errorf("tls: the server chose cipher suite %#04x and compression %d, which were not offered", id, choice[2])
	}
	if len(r.b) == 0 {
		return nil
	}
	ext := r.vector16()
	if ext == nil || len(r.b) != 0 {
		return malformed("hello")
	}
	for r = (reader{ext}); len(r.b) > 0; {
		id, body := r.bytes(2), r.vector16()
		if id == nil || body == nil {
			return malformed("hello")
		}
		switch id := binary.BigEndian.Uint16(id); {
		case id == extExtendedMaster && h.extended && len(body) == 0:
			h.ems = true
		case id == extRenegotiation && len(body) == 1 && body[0] == 0, id == extGroups:
		default:
			return fmt.Errorf("tls: the server uses extension %d, which was not offered", id)
		}
	}
	return nil
}

func malformed(what string) error {
	return fmt.Errorf("tls: the %s of the server makes no sense", what)
}

// A reader takes a message apart. Its results are nil when there is not
// enough, and never nil otherwise.
type reader struct{ b []byte }

func (r *reader) bytes(n int) []byte {
	if len(r.b) < n {
		r.b = nil
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) vector8() []byte {
	if n := r.bytes(1); n != nil {
		return r.bytes(int(n[0]))
	}
	return nil
}

func (r *reader) vector16() []byte {
	if n := r.bytes(2); n != nil {
		return r.bytes(int(binary.BigEndian.Uint16(n)))
	}
	return nil
}

func appendVector16(b, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(body))), body...)
}
