package auth

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/big"
	"math/bits"
	"net"
	"testing"
	"time"

	"deskvnc/viewer"
)

// A machine is the far end of a login, written from the documents: it stands
// in for servers that this system has no package of.
type machine struct {
	net.Conn
	types []byte
	login func(m *machine) error // after the choice of a type, up to the result
	// abilities is what follows ServerInit.
	abilities []byte
	// refuse is the reason of a failed login.
	refuse string
}

func (m *machine) take(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(m.Conn, b); err != nil {
		panic(fmt.Errorf("reading %d bytes: %w", n, err))
	}
	return b
}

func (m *machine) give(parts ...[]byte) {
	if _, err := m.Write(bytes.Join(parts, nil)); err != nil {
		panic(err)
	}
}

func u16(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
func u32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// serve speaks the whole handshake and sends one picture.
func (m *machine) serve() (err error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				panic(r)
			}
		}
	}()
	m.give([]byte("RFB 003.008\n"))
	m.take(12)
	m.give([]byte{byte(len(m.types))}, m.types)
	m.take(1)
	if err := m.login(m); err != nil {
		return err
	}
	if m.refuse != "" {
		m.give(u32(1), u32(len(m.refuse)), []byte(m.refuse))
		return nil
	}
	m.give(u32(0))
	m.take(1)
	m.give(u16(64), u16(48), []byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}, u32(4), []byte("test"), m.abilities)
	m.take(8 + 10)
	m.give([]byte{0, 0}, u16(1), u16(0), u16(0), u16(64), u16(48), u32(0), make([]byte, 64*48*4))
	return nil
}

// meet has the client log in to the machine, and returns both their errors.
func meet(t testing.TB, cl *client, m *machine, target viewer.Target) (client, server error) {
	t.Helper()
	near, far := loopback(t)
	m.Conn = far
	_ = far.SetDeadline(time.Now().Add(hang))
	done := make(chan error, 1)
	go func() {
		defer far.Close()
		done <- m.serve()
	}()
	client = cl.over(near, target)
	return client, <-done
}

var desk = viewer.Target{Protocol: viewer.VNC, Address: "desk.example", Port: 5900, Name: "desk"}

// loopback is a pipe that holds something: in the RA2 types both sides send
// before they read.
func loopback(t testing.TB) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err = net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return near, far
}

// An ra2Server is a machine of the RSA-AES types.
type ra2Server struct {
	typ  uint8
	key  *rsa.PrivateKey
	kind byte // of the credentials it wants

	user, password string // what it was told
	// short has the random number begin with a zero, which is left out; or, if
	// it is cut, left in, and the last byte out.
	short, cut bool
	// forge changes the server's hash.
	forge bool
}

func (s *ra2Server) hash(parts ...[]byte) []byte {
	var h hash.Hash
	if s.typ >= 128 {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func (s *ra2Server) login(m *machine) error {
	wide := 16
	if s.typ >= 128 {
		wide = 32
	}
	own := rsaWire(&s.key.PublicKey)
	m.give(own)
	head := m.take(4)
	size := (int(binary.BigEndian.Uint32(head)) + 7) / 8
	theirs := append(head, m.take(2*size)...)
	pub := &rsa.PublicKey{N: new(big.Int).SetBytes(theirs[4 : 4+size]), E: int(new(big.Int).SetBytes(theirs[4+size:]).Int64())}
	mine := make([]byte, wide)
	rand.Read(mine)
	sealed, err := encryptPKCS1(pub, mine)
	if err != nil {
		return err
	}
	for ; s.short && (sealed[0] != 0 || sealed[1] == 0); sealed, err = encryptPKCS1(pub, mine) {
		if err != nil {
			return err
		}
	}
	switch {
	case s.cut:
		sealed = sealed[:len(sealed)-1]
	case s.short:
		sealed = sealed[1:]
	}
	m.give(u16(len(sealed)), sealed)
	if n := int(binary.BigEndian.Uint16(m.take(2))); n != s.key.Size() {
		return fmt.Errorf("got a random number of %d bytes, want %d", n, s.key.Size())
	}
	client, err := s.key.Decrypt(nil, m.take(s.key.Size()), nil)
	if err != nil || len(client) != wide {
		return fmt.Errorf("got a random number of %d bytes, %w", len(client), err)
	}
	in, err := newEAXHalf(s.hash(mine, client)[:wide])
	if err != nil {
		return err
	}
	out, err := newEAXHalf(s.hash(client, mine)[:wide])
	if err != nil {
		return err
	}
	receive := func() []byte {
		length := m.take(2)
		text, err := in.open(length, m.take(int(binary.BigEndian.Uint16(length))+16))
		if err != nil {
			panic(err)
		}
		return text
	}
	proof := s.hash(own, theirs)
	if s.forge {
		proof[0] ^= 1
	}
	m.give(out.seal(nil, proof))
	if got := receive(); !bytes.Equal(got, s.hash(theirs, own)) {
		return errors.New("the client's hash is wrong")
	}
	m.give(out.seal(nil, []byte{s.kind}))
	c := receive()
	s.user = string(c[1 : 1+c[0]])
	c = c[1+c[0]:]
	s.password = string(c[1 : 1+c[0]])
	if s.typ == TypeRA2 || s.typ == TypeRA2x256 {
		m.Conn = &eaxConn{Conn: m.Conn, in: in, out: out}
	}
	return nil
}

// appleGroup is a group of a size in bytes.
func appleGroup(size int) *big.Int {
	if size == srpBytes {
		return srpModulus // newer Macs use it for type 30 too
	}
	p := new(big.Int).Lsh(big.NewInt(1), uint(8*size-1))
	for p.SetBit(p, 0, 1); !p.ProbablyPrime(0); p.Add(p, big.NewInt(2)) {
	}
	return p
}

// appleDHServer is a machine of type 30 with a group of a size in bytes.
func appleDHServer(size int, check func(user, password string) error) func(*machine) error {
	return func(m *machine) error { return appleDHWith(m, appleGroup(size), size, check) }
}

func appleDHWith(m *machine, p *big.Int, size int, check func(user, password string) error) error {
	x, err := rand.Int(rand.Reader, p)
	if err != nil {
		return err
	}
	public := new(big.Int).Exp(big.NewInt(5), x, p)
	m.give(u16(5), u16(size), p.FillBytes(make([]byte, size)), public.FillBytes(make([]byte, size)))
	b := m.take(128)
	theirs := new(big.Int).SetBytes(m.take(size))
	key := md5.Sum(new(big.Int).Exp(theirs, x, p).FillBytes(make([]byte, size)))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += 16 {
		block.Decrypt(b[i:], b[i:])
	}
	user, _, ok1 := bytes.Cut(b[:64], []byte{0})
	password, _, ok2 := bytes.Cut(b[64:], []byte{0})
	if !ok1 || !ok2 {
		return errors.New("the fields have no end")
	}
	return check(string(user), string(password))
}

func msLogonServer(check func(user, password string) error) func(*machine) error {
	return func(m *machine) error {
		p, g := big.NewInt(2147483647), big.NewInt(16807)
		x := big.NewInt(1234567)
		eight := func(n *big.Int) []byte { return n.FillBytes(make([]byte, 8)) }
		m.give(eight(g), eight(p), eight(new(big.Int).Exp(g, x, p)))
		key := eight(new(big.Int).Exp(new(big.Int).SetBytes(m.take(8)), x, p))
		rev := bytes.Clone(key)
		for i := range rev {
			rev[i] = bits.Reverse8(rev[i])
		}
		block, err := des.NewCipher(rev)
		if err != nil {
			return err
		}
		var fields [2]string
		for i, n := range []int{256, 64} {
			b := m.take(n)
			cipher.NewCBCDecrypter(block, key).CryptBlocks(b, b)
			text, _, _ := bytes.Cut(b, []byte{0})
			fields[i] = string(text)
		}
		return check(fields[0], fields[1])
	}
}

// A mac is a machine that logs in by SRP, as type 33 with a key or as type 36.
type mac struct {
	key            *rsa.PrivateKey // nil for type 36
	user, password string
	lie            bool // proves nothing
	skip           bool // leaves its proof out
}

func (a *mac) login(m *machine) error {
	message := func() []byte {
		b := m.take(int(binary.BigEndian.Uint32(m.take(4))))
		if a.key != nil {
			if string(b[:6]) != "\x01\x00RSA1" {
				panic(fmt.Errorf("got the envelope %q", b[:6]))
			}
			b = b[6:]
		}
		return b
	}
	var id []byte
	if a.key != nil {
		if b := message(); !bytes.Equal(b, make([]byte, 4)) {
			return fmt.Errorf("got the request % x for a key", b)
		}
		der, err := x509.MarshalPKIXPublicKey(&a.key.PublicKey)
		if err != nil {
			return err
		}
		m.give(u32(len(der)+7), []byte{0, 1}, u32(len(der)), der, []byte{0})
		b := message()
		if binary.BigEndian.Uint16(b) != 2 || binary.BigEndian.Uint16(b[2:]) != 256 || len(b) != 644 {
			return fmt.Errorf("got an envelope of %d bytes that begins with % x", len(b), b[:4])
		}
		if id, err = a.key.Decrypt(nil, b[4:260], nil); err != nil {
			return err
		}
	} else {
		id = message()
	}
	r := tokens{b: id[4:]}
	if r.m(); string(r.m()) != a.user || len(r.m()) != 0 || len(r.o()) != 0 || len(r.b) != 0 || int(binary.BigEndian.Uint32(id)) != len(id)-4 {
		return fmt.Errorf("got the identity %q", id)
	}

	H := func(parts ...[]byte) []byte {
		h := sha512.Sum512(bytes.Join(parts, nil))
		return h[:]
	}
	num := func(b []byte) *big.Int { return new(big.Int).SetBytes(b) }
	pad := func(n *big.Int) []byte { return n.FillBytes(make([]byte, 512)) }
	N, g := srpModulus, big.NewInt(5)
	salt := bytes.Repeat([]byte{9}, 32)
	const iterations = 1000
	stretched, err := pbkdf2.Key(sha512.New, a.password, salt, iterations, 128)
	if err != nil {
		return err
	}
	v := new(big.Int).Exp(g, num(H(salt, H([]byte(":"), stretched))), N)
	k := num(H(pad(N), pad(g)))
	b, _ := rand.Int(rand.Reader, N)
	B := new(big.Int).Exp(g, b, N)
	B.Add(B, k.Mul(k, v)).Mod(B, N)
	options := []byte("mda=SHA-512,replay_detection,conf+int=ChaCha20-Poly1305,kdf=SALTED-SHA512-PBKDF2")
	ch := []byte{0}
	ch = appendM(ch, pad(N))
	ch = appendM(ch, []byte{5})
	ch = appendO(ch, salt)
	ch = appendM(ch, pad(B))
	ch = binary.BigEndian.AppendUint64(ch, iterations)
	a.give(m, appendM(ch, options))

	msg := message()
	if a.key != nil {
		msg = msg[4:]
	}
	n := binary.BigEndian.Uint32(msg)
	r = tokens{b: msg[4 : 4+n]}
	A, proof, back, nonce := bytes.Clone(r.m()), r.o(), r.m(), r.o()
	if r.short || len(r.b) != 0 || len(A) != 512 || !bytes.Equal(back, options) || len(nonce) != 16 {
		return errors.New("the client's answer makes no sense")
	}
	u := num(H(A, pad(B)))
	S := new(big.Int).Exp(v, u, N)
	S.Mul(S, num(A)).Exp(S, b, N)
	K := H(pad(S))
	hn, hg := H(pad(N)), H(pad(g))
	for i := range hn {
		hn[i] ^= hg[i]
	}
	if !bytes.Equal(proof, H(hn, H(), salt, A, pad(B), K)) {
		m.refuse = "wrong password"
		return nil
	}
	if a.skip {
		return nil
	}
	final := H(A, proof, K)
	if a.lie {
		final[0] ^= 1
	}
	out := appendO(nil, final)
	out = appendO(out, make([]byte, 16))
	a.give(m, append(out, 0, 0, 0, 0, 0, 0))
	return nil
}

// give sends a message in the envelope of the type.
func (a *mac) give(m *machine, payload []byte) {
	if a.key == nil {
		m.give(u32(len(payload)+4), u32(len(payload)), payload)
		return
	}
	m.give(u32(len(payload)+10), []byte{1, 0}, u32(len(payload)+4), u32(len(payload)), payload)
}
