package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/trust"
)

var testKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func key(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	k, err := testKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestRSAAES(t *testing.T) {
	for _, typ := range []uint8{TypeRA2, TypeRA2ne, TypeRA2x256, TypeRA2nex256} {
		for kind, want := range map[byte]string{wantsUser: "host-key password", wantsPassword: "host-key vnc-password"} {
			t.Run(fmt.Sprintf("%s %d", Name(typ), kind), func(t *testing.T) {
				s := &ra2Server{typ: typ, key: key(t), kind: kind}
				cl := newClient("pässword")
				cl.user = "jürgen"
				if err, server := meet(t, cl, &machine{types: []byte{typ}, login: s.login}, desk); err != nil || server != nil {
					t.Fatalf("got %v, the server %v", err, server)
				}
				if cl.kinds() != want || s.password != "pässword" || kind == wantsUser && s.user != "jürgen" || kind == wantsPassword && s.user != "" {
					t.Errorf("asked %q, the server got %q and %q", cl.kinds(), s.user, s.password)
				}
				if want := typ == TypeRA2 || typ == TypeRA2x256; cl.sealed != want {
					t.Errorf("the session counts as encrypted: got %v, want %v", cl.sealed, want)
				}
				if k := cl.asked[0].Key; len(k.AlsoShownAs) != len("00-11-22-33-44-55-66-77") || k.What != "key, RSA 2048 bits" {
					t.Errorf("got the key %+v", k)
				}
			})
		}
	}
}

// A random number that begins with a zero may come without it; neatvnc 0.9
// leaves it there, and leaves out the last byte.
func TestRSAAESShortNumber(t *testing.T) {
	for _, cut := range []bool{false, true} {
		s := &ra2Server{typ: TypeRA2x256, key: key(t), kind: wantsPassword, short: true, cut: cut}
		cl := newClient("pässword")
		if err, server := meet(t, cl, &machine{types: []byte{TypeRA2x256}, login: s.login}, desk); err != nil || server != nil || s.password != "pässword" {
			t.Errorf("cut %v: got %v, the server %v", cut, err, server)
		}
	}
	own := key(t)
	for name, b := range map[string][]byte{
		"zeros":              make([]byte, own.Size()-1),
		"a zero and nothing": append(make([]byte, 1), bytes.Repeat([]byte{0x5a}, own.Size()-2)...),
	} {
		if text := openNumber(own, b, 32); text != nil {
			t.Errorf("%s: got % x", name, text)
		}
	}
}

// The key is pinned: another one is a stop before any password.
func TestRSAAESKeyChanges(t *testing.T) {
	pins := trust.Folder(filepath.Join(t.TempDir(), "pins"))
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		key   *rsa.PrivateKey
		kinds string
		kind  viewer.Kind
	}{{key(t), "host-key vnc-password", ""}, {key(t), "vnc-password", ""}, {other, "host-key", viewer.Untrusted}} {
		cl := newClient("x")
		cl.key, cl.judge.Pins = viewer.Answer{Accept: true, Save: true}, pins
		s := &ra2Server{typ: TypeRA2x256, key: tt.key, kind: wantsPassword}
		err, _ := meet(t, cl, &machine{types: []byte{TypeRA2x256, TypeVNC}, login: s.login}, desk)
		if viewer.KindOf(err) != tt.kind || cl.kinds() != tt.kinds {
			t.Errorf("connection %d: got %v after the questions %q, want kind %q after %q", i+1, err, cl.kinds(), tt.kind, tt.kinds)
		}
	}
}

func TestRSAAESHostile(t *testing.T) {
	give := func(parts ...[]byte) func(*machine) error {
		return func(m *machine) error { m.give(parts...); return nil }
	}
	wire := rsaWire(&key(t).PublicKey)
	even := bytes.Clone(wire)
	even[259] &^= 1
	tests := []struct {
		name  string
		login func(*machine) error
		kind  viewer.Kind
		want  string
	}{
		{"key of 512 bits", give(u32(512), make([]byte, 128)), viewer.Limit, "512 bits"},
		{"key of 4 billion bits", give([]byte{255, 255, 255, 255}), viewer.Limit, "4294967295 bits"},
		{"key of zeros", give(u32(2048), make([]byte, 512)), viewer.Limit, "RSA key of 0 bits"},
		{"huge exponent", give(wire[:260], bytes.Repeat([]byte{255}, 256)), viewer.Malformed, "is not one"},
		{"exponent 1", give(wire[:260], make([]byte, 255), []byte{1}), viewer.Malformed, "is not one"},
		{"even modulus", give(even), viewer.Malformed, "is not one"},
		{"wrong size of the random number", func(m *machine) error {
			m.give(wire)
			m.take(516 + 258)
			m.give(u16(65535), make([]byte, 65535))
			return nil
		}, viewer.Malformed, "65535 bytes where 256 belong"},
		{"random number of noise", func(m *machine) error {
			m.give(wire)
			m.take(516 + 258)
			m.give(u16(256), make([]byte, 256))
			return nil
		}, viewer.Malformed, "not encrypted for this viewer's key"},
		{"changed hash", (&ra2Server{typ: TypeRA2, key: key(t), kind: 1, forge: true}).login, viewer.Untrusted, "keys were changed on their way"},
		{"credentials of no kind", (&ra2Server{typ: TypeRA2, key: key(t), kind: 9}).login, viewer.Malformed, "kind 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cl := newClient("secret")
			err, _ := meet(t, cl, &machine{types: []byte{TypeRA2}, login: tt.login}, desk)
			if viewer.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v of kind %s, want %q of kind %s", err, viewer.KindOf(err), tt.want, tt.kind)
			}
			if strings.Contains(cl.kinds(), "password") {
				t.Error("a password was asked for")
			}
		})
	}
}

// 300 logins: key values that begin with zeros come by.
func TestAppleDH(t *testing.T) {
	long := strings.Repeat("ü", 31) + "x" // 63 bytes
	for size, rounds := range map[int]int{64: 300, 128: 20, 512: 1} {
		group := appleGroup(size)
		for i := range rounds {
			got := ""
			cl := newClient(long)
			cl.user = "jürgen"
			m := &machine{types: []byte{TypeAppleDH}, login: func(m *machine) error {
				return appleDHWith(m, group, size, func(u, p string) error {
					got = u + " " + p
					return nil
				})
			}}
			if err, server := meet(t, cl, m, desk); err != nil || server != nil || got != "jürgen "+long {
				t.Fatalf("%d bytes, login %d: got %v, the server %v and %q", size, i, err, server, got)
			}
		}
	}
}

func TestAppleDHRefuses(t *testing.T) {
	cl := newClient("wrong")
	cl.user = "u"
	m := &machine{types: []byte{TypeAppleDH}}
	m.login = appleDHServer(64, func(string, string) error { m.refuse = "no such user"; return nil })
	if err, _ := meet(t, cl, m, desk); viewer.KindOf(err) != viewer.Denied || !strings.Contains(err.Error(), "no such user") {
		t.Errorf("got %v, want kind denied and the reason", err)
	}
	// A field of 64 bytes has no room for its end: nothing is sent.
	for _, field := range []string{"user", "password"} {
		cl := newClient("p")
		cl.user = "u"
		if field == "user" {
			cl.user = strings.Repeat("u", 64)
		} else {
			cl.password = strings.Repeat("p", 64)
		}
		sent := false
		err, _ := meet(t, cl, &machine{types: []byte{TypeAppleDH}, login: appleDHServer(64, func(string, string) error { sent = true; return nil })}, desk)
		if viewer.KindOf(err) != viewer.Invalid || sent || !strings.Contains(err.Error(), "63 bytes") {
			t.Errorf("a %s of 64 bytes: got %v, sent %v", field, err, sent)
		}
	}
	// wayvnc 0.9.1 does so in one login of 256: that is said, before a question.
	cl = newClient("p")
	err, _ := meet(t, cl, &machine{types: []byte{TypeAppleDH}, login: func(m *machine) error {
		m.give(u16(2), u16(255), make([]byte, 256+255))
		return nil
	}}, desk)
	if viewer.KindOf(err) != viewer.Closed || !strings.Contains(err.Error(), "connect once more") || len(cl.asked) != 0 {
		t.Errorf("a value that is cut short: got %v after the questions %q", err, cl.kinds())
	}
	for name, in := range map[string][]byte{
		"no group":             {0, 2, 0, 0},
		"a group of 64 KB":     {0, 2, 255, 255},
		"a group of zeros":     append([]byte{0, 2, 0, 64}, make([]byte, 128)...),
		"a public value of 1":  append(append(append([]byte{0, 2, 0, 64}, bytes.Repeat([]byte{255}, 64)...), make([]byte, 63)...), 1),
		"a value above itself": append([]byte{0, 2, 0, 64, 1}, append(make([]byte, 63), bytes.Repeat([]byte{255}, 64)...)...),
	} {
		cl := newClient("p")
		cl.user = "u"
		err, _ := meet(t, cl, &machine{types: []byte{TypeAppleDH}, login: func(m *machine) error { m.give(in); return nil }}, desk)
		if k := viewer.KindOf(err); k != viewer.Limit && k != viewer.Malformed || len(cl.asked) != 0 {
			t.Errorf("%s: got %v after the questions %q", name, err, cl.kinds())
		}
	}
}

func TestMSLogonII(t *testing.T) {
	var got string
	login := msLogonServer(func(u, p string) error { got = u + "/" + p; return nil })
	long := strings.Repeat("p", 63)
	cl := newClient(long)
	cl.user = `DOMAIN\jürgen`
	if err, server := meet(t, cl, &machine{types: []byte{TypeUltraVNC, TypeMSLogonII}, login: login}, desk); err != nil || server != nil {
		t.Fatalf("got %v, the server %v", err, server)
	}
	if got != cl.user+"/"+long || cl.kinds() != "password" || len(cl.notices) != 1 {
		t.Errorf("the server got %q; asked %q, told %q", got, cl.kinds(), cl.notices)
	}
	cl.password += "p"
	if err, _ := meet(t, cl, &machine{types: []byte{TypeMSLogonII}, login: login}, desk); viewer.KindOf(err) != viewer.Invalid {
		t.Errorf("a password of 64 bytes: got %v", err)
	}
	for name, in := range map[string][]byte{"zeros": make([]byte, 24), "ones": bytes.Repeat([]byte{255}, 24)} {
		cl := newClient("p")
		if err, _ := meet(t, cl, &machine{types: []byte{TypeMSLogonII}, login: func(m *machine) error { m.give(in); return nil }}, desk); viewer.KindOf(err) != viewer.Malformed || len(cl.asked) != 0 {
			t.Errorf("%s: got %v after the questions %q", name, err, cl.kinds())
		}
	}
}

func TestAppleSRP(t *testing.T) {
	for _, typ := range []uint8{TypeAppleRSA, TypeAppleSRP} {
		t.Run(Name(typ), func(t *testing.T) {
			want, a := "password", mac{user: "jürgen", password: "pässword"}
			if typ == TypeAppleRSA {
				a.key, want = key(t), "host-key password"
			}
			try := func(a mac, password string) (*client, error, error) {
				cl := newClient(password)
				cl.user = "jürgen"
				err, server := meet(t, cl, &machine{types: []byte{typ}, login: a.login}, desk)
				return cl, err, server
			}
			if cl, err, server := try(a, "pässword"); err != nil || server != nil || cl.kinds() != want || cl.sealed {
				t.Errorf("got %v, the server %v, after the questions %q; counts as encrypted: %v", err, server, cl.kinds(), cl.sealed)
			}
			if _, err, _ := try(a, "wrong"); viewer.KindOf(err) != viewer.Denied {
				t.Errorf("a wrong password: got %v", err)
			}
			liar, silent := a, a
			liar.lie, silent.skip = true, true
			if _, err, _ := try(liar, "pässword"); viewer.KindOf(err) != viewer.Untrusted {
				t.Errorf("a machine with a false proof: got %v", err)
			}
			if _, err, _ := try(silent, "pässword"); viewer.KindOf(err) != viewer.Malformed {
				t.Errorf("a machine without a proof: got %v", err)
			}
		})
	}
}

func TestSRPChallengeLimits(t *testing.T) {
	pad := func(n *big.Int) []byte { return n.FillBytes(make([]byte, srpBytes)) }
	build := func(n, g, public *big.Int, iterations uint64, options int) []byte {
		b := appendM([]byte{0}, pad(n))
		b = appendO(appendM(b, g.Bytes()), make([]byte, 32))
		b = appendM(b, pad(public))
		b = append(b, byte(iterations>>56), 0, 0, 0, byte(iterations>>24), byte(iterations>>16), byte(iterations>>8), byte(iterations))
		return appendM(b, make([]byte, options))
	}
	five, seven := big.NewInt(5), big.NewInt(7)
	tests := []struct {
		name string
		in   []byte
		kind viewer.Kind
	}{
		{"good", build(srpModulus, five, seven, 156250, 80), ""},
		{"another group", build(new(big.Int).Sub(srpModulus, five), five, seven, 156250, 80), viewer.Unsupported},
		{"another generator", build(srpModulus, seven, seven, 156250, 80), viewer.Unsupported},
		{"public value 0", build(srpModulus, five, new(big.Int), 156250, 80), viewer.Malformed},
		{"public value N", build(srpModulus, five, srpModulus, 156250, 80), viewer.Malformed},
		{"endless stretching", build(srpModulus, five, seven, 1<<31, 80), viewer.Limit},
		{"more endless stretching", build(srpModulus, five, seven, 1<<63, 80), viewer.Limit},
		{"no stretching", build(srpModulus, five, seven, 1, 80), viewer.Unsupported},
		{"long options", build(srpModulus, five, seven, 156250, 1025), viewer.Limit},
		{"cut", build(srpModulus, five, seven, 156250, 80)[:1100], viewer.Malformed},
		{"empty", nil, viewer.Malformed},
	}
	for _, tt := range tests {
		if _, err := parseSRPChallenge(tt.in); viewer.KindOf(err) != tt.kind {
			t.Errorf("%s: got %v, want kind %q", tt.name, err, tt.kind)
		}
	}
}

// vncServer is the far end of type 2 with a fixed challenge.
func vncServer(password string) func(*machine) error {
	return func(m *machine) error {
		m.give(make([]byte, 16))
		want, err := respond([]byte(password), [16]byte{})
		if err == nil && [16]byte(m.take(16)) != want {
			err = errors.New("the answer is wrong")
		}
		return err
	}
}

func capabilities(list ...capability) []byte {
	b := u32(len(list))
	for _, k := range list {
		b = append(append(b, u32(int(k.code))...), k.signature...)
	}
	return b
}

func TestTight(t *testing.T) {
	choice := func(m *machine, want int) {
		if got := m.take(4); !bytes.Equal(got, u32(want)) {
			panic(fmt.Errorf("got the choice % x, want %d", got, want))
		}
	}
	abilities := append([]byte{0, 2, 0, 1, 0, 3, 0, 0}, make([]byte, 6*16)...)
	tests := []struct {
		name  string
		user  string
		login func(m *machine) error
		kinds string
		kind  viewer.Kind
		want  string
	}{
		{"password", "", func(m *machine) error {
			m.give(capabilities(capability{1, "SICRSCHANNEL"}, tightNoTunnel))
			choice(m, 0)
			m.give(capabilities(tightUnix, tightVNC))
			choice(m, 2)
			return vncServer("abcdefgh")(m)
		}, "vnc-password", "", ""},
		{"no password", "", func(m *machine) error {
			m.give(u32(0), capabilities(tightVNC, tightNone))
			choice(m, 1)
			return nil
		}, "", "", ""},
		{"no list", "", func(m *machine) error { m.give(u32(0), u32(0)); return nil }, "", "", ""},
		{"Unix user", "u", func(m *machine) error {
			m.give(u32(0), capabilities(tightUnix, tightVNC))
			choice(m, 129)
			if got := m.take(8 + 9); !bytes.Equal(got[8:], []byte("uabcdefgh")) || got[3] != 1 || got[7] != 8 {
				return fmt.Errorf("got % x", got)
			}
			return nil
		}, "unencrypted password", "", ""},
		{"a tunnel of its own", "", func(m *machine) error { m.give(capabilities(capability{1, "SICRSCHANNEL"})); return nil }, "", viewer.Unsupported, "SICRSCHANNEL"},
		{"the code with another name", "", func(m *machine) error {
			m.give(u32(0), capabilities(capability{2, "STDVOTHERWAY"}))
			return nil
		}, "", viewer.Unsupported, "STDVOTHERWAY"},
		{"4 billion tunnels", "", func(m *machine) error { m.give([]byte{255, 255, 255, 255}); return nil }, "", viewer.Limit, "4294967295"},
		{"4 billion logins", "", func(m *machine) error { m.give(u32(0), []byte{255, 255, 255, 255}); return nil }, "", viewer.Limit, "4294967295"},
		{"names that are not text", "", func(m *machine) error {
			m.give(u32(0), capabilities(capability{7, "\x1b[31m\n\xff\x00abcd"}))
			return nil
		}, "", viewer.Unsupported, "?[31m"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cl := newClient("abcdefgh")
			cl.consent, cl.user = true, tt.user
			target := desk
			target.User = tt.user
			err, server := meet(t, cl, &machine{types: []byte{TypeTight}, login: tt.login, abilities: abilities}, target)
			if viewer.KindOf(err) != tt.kind || err != nil && !strings.Contains(err.Error(), tt.want) || err == nil && server != nil {
				t.Errorf("got %v, the server %v, want kind %q with %q", err, server, tt.kind, tt.want)
			}
			if cl.kinds() != tt.kinds {
				t.Errorf("got the questions %q, want %q", cl.kinds(), tt.kinds)
			}
		})
	}
}

func TestUltraVNC(t *testing.T) {
	more := func(types ...byte) []byte { return append([]byte{255, 255, 255, 255, byte(len(types))}, types...) }
	var got string
	tests := []struct {
		name  string
		login func(m *machine) error
		kinds string
		kind  viewer.Kind
	}{
		{"MS-Logon II", func(m *machine) error {
			m.give(more(116, TypeMSLogonII))
			m.take(1)
			return msLogonServer(func(u, p string) error { got = u + p; return nil })(m)
		}, "password", ""},
		{"password", func(m *machine) error {
			m.give(more(TypeVNC, TypeMSLogonII))
			m.take(1)
			return vncServer("abcdefgh")(m)
		}, "vnc-password", ""},
		{"accepted at once", func(*machine) error { return nil }, "", ""},
		{"plugin only", func(m *machine) error { m.give(more(114, 115)); return nil }, "", viewer.Unsupported},
		{"again and again", func(m *machine) error {
			for range maxRounds {
				m.give(more(TypeNone))
				m.take(1)
			}
			return nil
		}, "", viewer.Malformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cl := newClient("abcdefgh")
			cl.user = "u"
			err, server := meet(t, cl, &machine{types: []byte{TypeUltraVNC}, login: tt.login}, desk)
			if viewer.KindOf(err) != tt.kind || cl.kinds() != tt.kinds || err == nil && server != nil {
				t.Errorf("got %v, the server %v, after the questions %q", err, server, cl.kinds())
			}
		})
	}
	if got != "uabcdefgh" {
		t.Errorf("the server got %q", got)
	}
}

// What a machine offers decides together with what there is to log in with.
func TestChoice(t *testing.T) {
	macTypes := []byte{30, 33, 36, 31, 32, 2, 35}
	tests := []struct {
		name    string
		user    string
		encrypt bool
		offered []byte
		want    uint8
	}{
		{"Mac, a password only", "", false, macTypes, TypeVNC},
		{"Mac, a user", "u", false, macTypes, TypeAppleDH},
		{"Mac without VNC password, no user yet", "", false, []byte{30, 33, 36, 35}, TypeAppleDH},
		{"Mac with newer types only", "u", false, []byte{33, 36, 35}, TypeAppleSRP},
		{"Mac without types of ours", "u", false, []byte{31, 32, 35}, 0},
		{"UltraVNC", "", false, []byte{0x11, 0x71}, TypeMSLogonII},
		{"UltraVNC, newer", "", false, []byte{0x75, 0x76, 0x11}, TypeUltraVNC},
		{"TigerVNC's default", "", false, []byte{2, 19}, TypeVeNCrypt},
		{"wayvnc", "u", false, []byte{19, 129, 5}, TypeRA2x256},
		{"RA2ne before a password", "", false, []byte{2, 6, 130}, TypeRA2nex256},
		{"nothing asked", "", false, []byte{2, 1, 16}, TypeNone},
		{"TightVNC", "", false, []byte{16, 2}, TypeVNC},
		{"only Tight", "", false, []byte{16}, TypeTight},
		{"encryption required", "", true, []byte{2, 1, 6, 19}, TypeVeNCrypt},
		{"encryption required, none offered", "", true, []byte{2, 1, 6, 30, 16, 17}, 0},
	}
	for _, tt := range tests {
		target := desk
		target.User, target.RequireEncryption = tt.user, tt.encrypt
		l := newClient("").login(target)
		got := uint8(0)
		if m := choose(Methods(l), tt.offered); m != nil {
			got = m.Type()
		} else if err := NoMethod(l, tt.offered); viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), Names(tt.offered)) {
			t.Errorf("%s: got the error %v, want one that lists %s", tt.name, err, Names(tt.offered))
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, Name(got), Name(tt.want))
		}
	}
}

// A machine whose certificate is pinned goes on with it when it has learnt to
// prove itself by a key.
func TestChoiceFollowsThePin(t *testing.T) {
	offered := []byte{TypeRA2x256, TypeRA2, TypeVeNCrypt}
	for kind, want := range map[trust.Kind]uint8{"": TypeRA2x256, trust.KindServerKey: TypeRA2x256, trust.KindCertificate: TypeVeNCrypt} {
		cl := newClient("")
		pins := trust.Folder(t.TempDir())
		if kind != "" {
			if err := pins.SetPin(trust.IDOf(desk), &trust.Pin{Kind: kind, Fingerprint: "AA"}); err != nil {
				t.Fatal(err)
			}
		}
		cl.judge.Pins = pins
		if got := choose(Methods(cl.login(desk)), offered).Type(); got != want {
			t.Errorf("pinned %q: got %s, want %s", kind, Name(got), Name(want))
		}
	}
}

// VeNCrypt's own negotiation, with servers that do not play by it.
func TestVeNCryptNegotiation(t *testing.T) {
	start := func(m *machine, subtypes ...int) {
		m.give([]byte{0, 2})
		m.take(2)
		m.give([]byte{0, byte(len(subtypes))})
		for _, s := range subtypes {
			m.give(u32(s))
		}
	}
	tests := []struct {
		name    string
		encrypt bool
		login   func(m *machine) error
		kind    viewer.Kind
		want    string
	}{
		{"version 0.1", false, func(m *machine) error { m.give([]byte{0, 1}); return nil }, viewer.Unsupported, "0.1"},
		{"no to 0.2", false, func(m *machine) error { m.give([]byte{0, 2}); m.take(2); m.give([]byte{255}); return nil }, viewer.Unsupported, "0.2"},
		{"no subtypes", false, func(m *machine) error { start(m); return nil }, viewer.Unsupported, "no subtype"},
		{"SASL only", false, func(m *machine) error { start(m, 263, 264, 999); return nil }, viewer.Unsupported, "TLSSASL, X509SASL, subtype 999"},
		{"TLS not ready", false, func(m *machine) error { start(m, 261); m.take(4); m.give([]byte{0}); return nil }, viewer.Unsupported, "cannot start TLS"},
		{"no TLS", false, func(m *machine) error { start(m, 261); m.take(4); m.give([]byte{1}, make([]byte, 99)); return nil }, viewer.Malformed, "does not speak TLS"},
		{"no anonymous TLS", false, func(m *machine) error { start(m, 258); m.take(4); m.give([]byte{1}, make([]byte, 99)); return nil }, viewer.Unsupported, "not a TLS record"},
		{"gone in TLS", false, func(m *machine) error {
			start(m, 261)
			m.take(4)
			m.give([]byte{1})
			m.take(5)
			return errors.New("gone")
		}, viewer.Closed, "during the TLS handshake"},
		{"Plain without consent", false, func(m *machine) error { start(m, 256); m.take(4); return nil }, viewer.Cancelled, "unencrypted"},
		{"password without TLS where it is required", true, func(m *machine) error { start(m, 256, 2, 1); return nil }, viewer.Unsupported, "encryption is required"},
		{"a password as a subtype", false, func(m *machine) error { start(m, 2); m.take(4); return vncServer("abcdefgh")(m) }, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cl := newClient("abcdefgh")
			cl.user = "u"
			target := desk
			target.RequireEncryption = tt.encrypt
			err, _ := meet(t, cl, &machine{types: []byte{TypeVeNCrypt}, login: tt.login}, target)
			if viewer.KindOf(err) != tt.kind || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v of kind %s, want %q of kind %s", err, viewer.KindOf(err), tt.want, tt.kind)
			}
			if err != nil && strings.Contains(cl.kinds(), "password") {
				t.Errorf("got the questions %q: a password was asked for", cl.kinds())
			}
		})
	}
}

// Credentials that do not fit are refused here, and nothing is sent.
func TestLongCredentials(t *testing.T) {
	cl := newClient(strings.Repeat("x", maxCredentialBytes+1))
	err, _ := meet(t, cl, &machine{types: []byte{TypeRA2}, login: (&ra2Server{typ: TypeRA2, key: key(t), kind: wantsPassword}).login}, desk)
	if viewer.KindOf(err) != viewer.Invalid || strings.Contains(err.Error(), "xxx") {
		t.Errorf("got %v", err)
	}
}

// Of every set of types, the strongest is taken; where encryption is required,
// none is that leaves the session in the clear, and what cannot be used is
// named.
func TestStrongestOfEveryOffer(t *testing.T) {
	// From the strongest on; the first four encrypt the session.
	order := []uint8{TypeRA2x256, TypeRA2, TypeVeNCrypt, TypeTLS, TypeRA2nex256, TypeRA2ne, TypeNone, TypeVNC, TypeAppleDH, TypeAppleSRP,
		TypeAppleRSA, TypeMSLogonII, TypeTight, TypeUltraVNC}
	const encrypted = 4
	strange := []uint8{20, 21, 22, 31, 35, 112, 114, 115, 133, 200}
	for _, strict := range []bool{false, true} {
		target := desk
		target.RequireEncryption = strict
		l := newClient("").login(target)
		for set := range 1 << len(order) {
			offered, want := strange[set%len(strange):], uint8(0)
			for i := len(order) - 1; i >= 0; i-- {
				if set&(1<<i) != 0 {
					offered = append(offered[:len(offered):len(offered)], order[i])
					if i < encrypted || !strict {
						want = order[i]
					}
				}
			}
			m := choose(Methods(l), offered)
			switch {
			case want == 0 && m != nil, want != 0 && (m == nil || m.Type() != want):
				t.Fatalf("required %v, of %s: got %v, want %s", strict, Names(offered), m, Name(want))
			case want == 0:
				if err := NoMethod(l, offered); viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), Names(offered)) {
					t.Fatalf("got %v, want one that lists %s", err, Names(offered))
				}
			}
		}
	}
	// What this viewer cannot do is called by its name.
	err := NoMethod(newClient("").login(desk), []uint8{20, 114, 115})
	for _, want := range []string{"SASL", "SecureVNC plugin", "SecureVNC plugin (new)"} {
		if viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %q", err, want)
		}
	}
}
