package auth

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"deskvnc/viewer"
)

// Macs prove knowledge of a password by SRP-6a (RFC 5054) with SHA-512, the
// 4096-bit group, an empty user name in the hashes, and the password stretched
// by PBKDF2.
const (
	srpBytes     = 512 // of a number of the group
	srpHashBytes = sha512.Size
	// srpPasswordBytes is the size of the stretched password.
	srpPasswordBytes = 128
	// maxSRPIterations bounds the stretching: a minute on a slow machine, and
	// six times what Macs ask for.
	maxSRPIterations = 1_000_000
	// minSRPIterations refuses a machine that tries to make guessing cheap.
	minSRPIterations = 1_000
	maxSRPSalt       = 255
	maxSRPOptions    = 1024
)

// srpModulus is the 4096-bit group of RFC 3526 5, whose generator is 5 in RFC
// 5054. No other is accepted: a machine could choose one that gives the
// password away.
var srpModulus = func() *big.Int {
	b, err := hex.DecodeString(strings.Join(strings.Fields(`
		FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD
		EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED
		EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F
		83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B
		E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510
		15728E5A8AAAC42DAD33170D04507A33A85521ABDF1CBA64ECFB850458DBEF0A8AEA71575D060C7DB3970F85A6E1E4C7
		ABF5AE8CDB0933D71E8C94E04A25619DCEE3D2261AD2EE6BF12FFA06D98A0864D87602733EC86A64521F2B18177B200C
		BBE117577A615D6C770988C0BAD946E208E24FA074E5AB3143DB5BFCE0FD108E4B82D120A92108011A723C12A787E6D7
		88719A10BDBA5B2699C327186AF4E23C1A946834B6150BDA2583E9CA2AD44CE8DBBBC2DB04DE8EF92E8EFC141FBECAA6
		287C59474E6BC05D99B2964FA090C3A2233BA186515BE7ED1F612970CEE2D7AFB81BDD762170481CD0069127D5B05AA9
		93B4EA988D8FDDC186FFB7DC90A6C08F4DF435C934063199FFFFFFFFFFFFFFFF`), ""))
	if err != nil {
		panic(err)
	}
	return new(big.Int).SetBytes(b)
}()

var srpGenerator = big.NewInt(5)

// An srpChallenge is what the machine sends.
type srpChallenge struct {
	salt       []byte
	public     *big.Int
	iterations int
	options    []byte
}

// parseSRPChallenge takes the challenge apart: a zero byte, modulus, generator,
// salt, public value, iterations, options.
func parseSRPChallenge(b []byte) (*srpChallenge, error) {
	r := tokens{b: b}
	control := r.bytes(1)
	modulus, generator, salt, public := r.m(), r.m(), r.o(), r.m()
	iterations := r.bytes(8)
	options := r.m()
	if r.short || control[0] != 0 {
		return nil, malformed("the machine's challenge makes no sense")
	}
	ch := &srpChallenge{salt: salt, public: new(big.Int).SetBytes(public), options: options}
	n := binary.BigEndian.Uint64(iterations)
	switch {
	case new(big.Int).SetBytes(modulus).Cmp(srpModulus) != 0, new(big.Int).SetBytes(generator).Cmp(srpGenerator) != 0:
		return nil, unsupported("the machine wants a login in a group of numbers that is not the known one, which would not be safe")
	case ch.public.Cmp(srpModulus) >= 0 || new(big.Int).Mod(ch.public, srpModulus).Sign() == 0:
		return nil, malformed("the machine's public value makes no sense")
	case n > maxSRPIterations:
		return nil, tooLong("the machine wants the password stretched %d times; at most %d are done", n, maxSRPIterations)
	case n < minSRPIterations:
		return nil, unsupported("the machine wants the password stretched only %d times, which would not be safe", n)
	case len(options) > maxSRPOptions:
		return nil, tooLong("the machine's challenge has %d bytes of options; %d are read", len(options), maxSRPOptions)
	}
	ch.iterations = int(n)
	return ch, nil
}

// An srpProof is the answer to a challenge, and what the machine has to say to
// prove that it knows the password too.
type srpProof struct {
	public []byte // A
	proof  []byte // M1
	theirs []byte // M2
}

// answer solves the challenge with the secret number a.
func (ch *srpChallenge) answer(password []byte, a *big.Int) (*srpProof, error) {
	pad := func(n *big.Int) []byte { return n.FillBytes(make([]byte, srpBytes)) }
	hash := func(parts ...[]byte) []byte {
		h := sha512.New()
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	number := func(b []byte) *big.Int { return new(big.Int).SetBytes(b) }

	stretched, err := pbkdf2.Key(sha512.New, string(password), ch.salt, ch.iterations, srpPasswordBytes)
	if err != nil {
		return nil, err
	}
	n, g := pad(srpModulus), pad(srpGenerator)
	x := number(hash(ch.salt, hash([]byte(":"), stretched)))
	k := number(hash(n, g))
	A, B := pad(new(big.Int).Exp(srpGenerator, a, srpModulus)), pad(ch.public)
	u := number(hash(A, B))
	if u.Sign() == 0 {
		return nil, malformed("the machine's public value makes no sense")
	}
	// S = (B - k g^x) ^ (a + u x)
	base := new(big.Int).Exp(srpGenerator, x, srpModulus)
	base.Mul(base, k).Sub(ch.public, base).Mod(base, srpModulus)
	exponent := new(big.Int).Mul(u, x)
	S := pad(base.Exp(base, exponent.Add(exponent, a), srpModulus))
	K := hash(S)

	hn, hg := hash(n), hash(g)
	subtle.XORBytes(hn, hn, hg)
	proof := hash(hn, hash(), ch.salt, A, B, K)
	return &srpProof{public: A, proof: proof, theirs: hash(A, proof, K)}, nil
}

// solve answers the challenge and builds the client's inner message: public
// value, proof, the options back, 16 random bytes.
func (ch *srpChallenge) solve(password viewer.Secret) (*srpProof, []byte, error) {
	secret := make([]byte, 64)
	nonce := make([]byte, 16)
	for _, b := range [][]byte{secret, nonce} {
		if _, err := rand.Read(b); err != nil {
			return nil, nil, err
		}
	}
	p, err := ch.answer(password.Open(), new(big.Int).SetBytes(secret))
	if err != nil {
		return nil, nil, err
	}
	b := appendM(nil, p.public)
	b = appendO(b, p.proof)
	b = appendM(b, ch.options)
	return p, appendO(b, nonce), nil
}

// check reads the machine's last message, which begins with its own proof.
func (p *srpProof) check(b []byte, who string) error {
	r := tokens{b: b}
	theirs := r.o()
	switch {
	case r.short || len(theirs) != srpHashBytes:
		return malformed("the machine's proof makes no sense")
	case !hmac.Equal(theirs, p.theirs):
		return &viewer.Error{Op: "rfb.Login", Kind: viewer.Untrusted, Err: fmt.Errorf("%s cannot prove that it knows the password: it is not the machine it should be", who)}
	}
	return nil
}

// Tokens are the parts of Apple's messages. After short is set, all of them
// are empty.
type tokens struct {
	b     []byte
	short bool
}

func (t *tokens) bytes(n int) []byte {
	if len(t.b) < n {
		t.short = true
		return make([]byte, min(n, 8))
	}
	out := t.b[:n]
	t.b = t.b[n:]
	return out
}

// m is bytes with a length of two bytes before them, o with one of one byte.
func (t *tokens) m() []byte { return t.counted(int(binary.BigEndian.Uint16(t.bytes(2)))) }
func (t *tokens) o() []byte { return t.counted(int(t.bytes(1)[0])) }

func (t *tokens) counted(n int) []byte {
	if t.short {
		return nil
	}
	return t.bytes(n)
}

func appendM(b, v []byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(v))), v...)
}

func appendO(b, v []byte) []byte { return append(append(b, byte(len(v))), v...) }
