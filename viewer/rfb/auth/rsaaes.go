package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"math/big"
	"net"
	"slices"
	"strings"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/trust"
)

// Bounds of the server's key: smaller ones are no protection, larger ones only
// cost time.
const (
	minRSABits = 1024
	maxRSABits = 8192
)

// clientRSABits is the size of the key made for one login.
const clientRSABits = 2048

// mostZeros is how many zeros at the front of an encrypted number may be
// missing.
const mostZeros = 8

// maxCredentialBytes is the most that the length byte of a user name or
// password can say.
const maxCredentialBytes = 255

// An rsaAES is one of the RSA-AES types: RA2 (5) and RA2-256 (129) encrypt all
// of the session, RA2ne (6) and RA2ne-256 (130) only the login (community RFB
// document, "RSA-AES Security Type").
type rsaAES struct {
	l   *Login
	typ uint8
}

func (r *rsaAES) Type() uint8 { return r.typ }

// wide reports whether this is one of the types with AES-256 and SHA-256.
func (r *rsaAES) wide() bool { return r.typ == TypeRA2x256 || r.typ == TypeRA2nex256 }

// keyBytes is the size of the AES keys, and of the random numbers they are
// made of.
func (r *rsaAES) keyBytes() int {
	if r.wide() {
		return 32
	}
	return 16
}

func (r *rsaAES) hash(parts ...[]byte) []byte {
	var h hash.Hash
	if r.wide() {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func (r *rsaAES) Login(c *conn.Conn) error {
	server, serverWire, err := takeRSAKey(c)
	if err != nil {
		return err
	}
	// RealVNC's and TigerVNC's servers show this beginning of the SHA-1.
	sum := sha1.Sum(serverWire)
	shown := strings.ReplaceAll(fmt.Sprintf("% x", sum[:8]), " ", "-")
	if err := r.l.Judge(trust.RSAKey(server.N.BitLen(), serverWire, shown)); err != nil {
		return err
	}
	own, err := rsa.GenerateKey(rand.Reader, clientRSABits)
	if err != nil {
		return err
	}
	ownWire := rsaWire(&own.PublicKey)
	if _, err := c.Write(ownWire); err != nil {
		return err
	}
	in, out, err := r.exchange(c, server, own)
	if err != nil {
		return err
	}
	// Both prove that they have seen the same keys, the machine first: neatvnc
	// takes what arrives together with the random number for not encrypted.
	want := r.hash(serverWire, ownWire)
	got, err := in.receive(c, len(want))
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(got, want) != 1 {
		return &viewer.Error{Op: "rfb.Login", Kind: viewer.Untrusted, Err: fmt.Errorf("the keys were changed on their way between %s and this viewer", r.l.Target.Label())}
	}
	if err := out.send(c, r.hash(ownWire, serverWire)); err != nil {
		return err
	}
	kind, err := in.receive(c, 1)
	if err != nil {
		return err
	}
	credentials, err := r.credentials(kind[0])
	if err != nil {
		return err
	}
	if err := out.send(c, credentials); err != nil {
		return err
	}
	if r.typ == TypeRA2ne || r.typ == TypeRA2nex256 {
		return nil
	}
	return c.Replace(func(inner net.Conn) (net.Conn, error) { return &eaxConn{Conn: inner, in: in, out: out}, nil })
}

// exchange sends and receives the random numbers, each encrypted for the other
// side, and makes the keys of both directions.
func (r *rsaAES) exchange(c *conn.Conn, server *rsa.PublicKey, own *rsa.PrivateKey) (in, out *eaxHalf, err error) {
	mine := make([]byte, r.keyBytes())
	if _, err := rand.Read(mine); err != nil {
		return nil, nil, err
	}
	sealed, err := encryptPKCS1(server, mine)
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(sealed))), sealed...)); err != nil {
		return nil, nil, err
	}
	n, err := take(c, 2)
	if err != nil {
		return nil, nil, err
	}
	got := int(binary.BigEndian.Uint16(n))
	if got > own.Size() || got < own.Size()-mostZeros {
		return nil, nil, malformed("the machine sent a random number of %d bytes where %d belong", got, own.Size())
	}
	b, err := take(c, got)
	if err != nil {
		return nil, nil, err
	}
	theirs := openNumber(own, b, r.keyBytes())
	if theirs == nil {
		return nil, nil, malformed("the machine's random number is not encrypted for this viewer's key")
	}
	if in, err = newEAXHalf(r.hash(mine, theirs)[:r.keyBytes()]); err != nil {
		return nil, nil, err
	}
	out, err = newEAXHalf(r.hash(theirs, mine)[:r.keyBytes()])
	return in, out, err
}

// openNumber decrypts a random number of n bytes, or returns nil. Zeros at its
// front may be missing. neatvnc 0.9 counts them as missing too, but sends them,
// and cuts as many bytes off the end: one such byte is found by trying.
func openNumber(own *rsa.PrivateKey, sealed []byte, n int) []byte {
	open := func(b []byte) []byte {
		if text, err := own.Decrypt(nil, b, nil); err == nil && len(text) == n {
			return text
		}
		return nil
	}
	missing := own.Size() - len(sealed)
	if text := open(append(make([]byte, missing), sealed...)); text != nil || missing != 1 || sealed[0] != 0 {
		return text
	}
	whole := append(slices.Clone(sealed), 0)
	for last := range 256 {
		whole[len(whole)-1] = byte(last)
		if text := open(whole); text != nil {
			return text
		}
	}
	return nil
}

// What the server wants to be told.
const (
	wantsUser     = 1 // a user and a password
	wantsPassword = 2 // a password
)

// credentials asks for what the server wants and puts it into its form.
func (r *rsaAES) credentials(kind uint8) ([]byte, error) {
	var user string
	var secret viewer.Secret
	var err error
	switch kind {
	case wantsUser:
		user, secret, err = r.l.User()
	case wantsPassword:
		secret, err = r.l.Password()
	default:
		return nil, malformed("the machine wants credentials of kind %d, which is none", kind)
	}
	if err != nil {
		return nil, err
	}
	password := secret.Open()
	if len(user) > maxCredentialBytes || len(password) > maxCredentialBytes {
		return nil, unusable("a user name or password of more than %d bytes cannot be sent to this machine", maxCredentialBytes)
	}
	b := append([]byte{byte(len(user))}, user...)
	return append(append(b, byte(len(password))), password...), nil
}

// takeRSAKey reads a public key: its bits, its modulus and its exponent, both
// of the size of the modulus. It returns the key's wire form too.
func takeRSAKey(c *conn.Conn) (*rsa.PublicKey, []byte, error) {
	b, err := take(c, 4)
	if err != nil {
		return nil, nil, err
	}
	bits := binary.BigEndian.Uint32(b)
	if bits < minRSABits || bits > maxRSABits {
		return nil, nil, tooLong("the machine has an RSA key of %d bits; %d to %d are accepted", bits, minRSABits, maxRSABits)
	}
	size := (int(bits) + 7) / 8
	rest, err := take(c, 2*size)
	if err != nil {
		return nil, nil, err
	}
	n, e := new(big.Int).SetBytes(rest[:size]), new(big.Int).SetBytes(rest[size:])
	key, err := rsaKey(n, e)
	return key, append(b, rest...), err
}

// rsaKey checks the numbers of a public key.
func rsaKey(n, e *big.Int) (*rsa.PublicKey, error) {
	if b := n.BitLen(); b < minRSABits || b > maxRSABits {
		return nil, tooLong("the machine has an RSA key of %d bits; %d to %d are accepted", b, minRSABits, maxRSABits)
	}
	if e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0 || n.Bit(0) == 0 {
		return nil, malformed("the machine's RSA key is not one")
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
}

// rsaWire is a public key as takeRSAKey reads it.
func rsaWire(k *rsa.PublicKey) []byte {
	size := k.Size()
	b := make([]byte, 4+2*size)
	binary.BigEndian.PutUint32(b, uint32(k.N.BitLen()))
	k.N.FillBytes(b[4 : 4+size])
	big.NewInt(int64(k.E)).FillBytes(b[4+size:])
	return b
}

// encryptPKCS1 encrypts by RSAES-PKCS1-v1_5 (RFC 8017 7.2.1), which these
// protocols prescribe. Nothing in it is secret but the message.
func encryptPKCS1(key *rsa.PublicKey, msg []byte) ([]byte, error) {
	size := key.Size()
	if len(msg) > size-11 {
		return nil, unusable("%d bytes are too many for an RSA key of %d bits", len(msg), key.N.BitLen())
	}
	b := make([]byte, size)
	b[1] = 2
	pad := b[2 : size-len(msg)-1]
	if _, err := rand.Read(pad); err != nil {
		return nil, err
	}
	for i := range pad {
		for pad[i] == 0 {
			if _, err := rand.Read(pad[i : i+1]); err != nil {
				return nil, err
			}
		}
	}
	copy(b[size-len(msg):], msg)
	m := new(big.Int).SetBytes(b)
	return m.Exp(m, big.NewInt(int64(key.E)), key.N).FillBytes(b), nil
}
