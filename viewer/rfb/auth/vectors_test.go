package auth

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The vectors are those of the paper on EAX, appendix G.
func TestEAX(t *testing.T) {
	tests := []struct{ msg, key, nonce, header, sealed string }{
		{"", "233952DEE4D5ED5F9B9C6D6FF80FF478", "62EC67F9C3A4A407FCB2A8C49031A8B3", "6BFB914FD07EAE6B", "E037830E8389F27B025A2D6527E79D01"},
		{"F7FB", "91945D3F4DCBEE0BF45EF52255F095A4", "BECAF043B0A23D843194BA972C66DEBD", "FA3BFD4806EB53FA", "19DD5C4C9331049D0BDAB0277408F67967E5"},
		{"1A47CB4933", "01F74AD64077F2E704C0F60ADA3DD523", "70C3DB4F0D26368400A10ED05D2BFF5E", "234A3463C1264AC6", "D851D5BAE03A59F238A23E39199DC9266626C40F80"},
		{"481C9E39B1", "D07CF6CBB7F313BDDE66B727AFD3C5E8", "8408DFFF3C1A2B1292DC199E46B7D617", "33CCE2EABFF5A79D", "632A9D131AD4C168A4225D8E1FF755939974A7BEDE"},
		{"40D0C07DA5E4", "35B6D0580005BBC12B0587124557D2C2", "FDB6B06676EEDC5C61D74276E1F8E816", "AEB96EAEBE2970E9", "071DFE16C675CB0677E536F73AFE6A14B74EE49844DD"},
		{"4DE3B35C3FC039245BD1FB7D", "BD8E6E11475E60B268784C38C62FEB22", "6EAC5C93072D8E8513F750935E46DA1B", "D4482D1CA78DCE0F", "835BB4F15D743E350E728414ABB8644FD6CCB86947C5E10590210A4F"},
		{"8B0A79306C9CE7ED99DAE4F87F8DD61636", "7C77D6E813BED5AC98BAA417477A2E7D", "1A8C98DCD73D38393B2BF1569DEEFC19", "65D2017990D62528", "02083E3979DA014812F59F11D52630DA30137327D10649B0AA6E1C181DB617D7F2"},
		{"1BDA122BCE8A8DBAF1877D962B8592DD2D56", "5FFF20CAFAB119CA2FC73549E20F5B0D", "DDE59B97D722156D4D9AFF2BC7559826", "54B9F04E6A09189A", "2EC47B2C4954A489AFC7BA4897EDCDAE8CC33B60450599BD02C96382902AEF7F832A"},
		{"6CF36720872B8513F6EAB1A8A44438D5EF11", "A4A4782BCFFD3EC5E7EF6D8C34A56123", "B781FCF2F75FA5A8DE97A9CA48E522EC", "899A175897561D7E", "0DE18FD0FDD91E7AF19F1D8EE8733938B1E8E7F6D2231618102FDB7FE55FF1991700"},
		{"CA40D7446E545FFAED3BD12A740A659FFBBB3CEAB7", "8395FCF1E95BEBD697BD010BC766AAC3", "22E7ADD93CFC6393C57EC0B3C17D6B44", "126735FCC320D25A", "CB8920F87A6C75CFF39627B56E3ED197C552D295A7CFC46AFC253B4652B1AF3795B124AB6E"},
	}
	for _, tt := range tests {
		e, err := newEAX(unhex(t, tt.key))
		if err != nil {
			t.Fatal(err)
		}
		nonce, header, msg, want := unhex(t, tt.nonce), unhex(t, tt.header), unhex(t, tt.msg), unhex(t, tt.sealed)
		got := e.seal(nil, nonce, header, msg)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got %X, want %X", tt.msg, got, want)
			continue
		}
		for i := range got { // a change of any byte is found
			forged := bytes.Clone(got)
			forged[i] ^= 1
			if _, err := e.open(nonce, header, forged); err != errForged {
				t.Errorf("%s, byte %d changed: got %v", tt.msg, i, err)
			}
		}
		if back, err := e.open(nonce, header, got); err != nil || !bytes.Equal(back, msg) {
			t.Errorf("%s: got %X back, %v", tt.msg, back, err)
		}
	}
}

// Lengths around whole blocks, in both directions, with the longer key.
func TestEAXLengths(t *testing.T) {
	e, err := newEAX(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		msg := bytes.Repeat([]byte{byte(n)}, n)
		sealed := e.seal([]byte("before"), []byte{1}, nil, msg)
		if got, err := e.open([]byte{1}, nil, sealed[6:]); err != nil || !bytes.Equal(got, msg) {
			t.Errorf("%d bytes: got %x, %v", n, got, err)
		}
	}
}

// The expected bytes were computed by openssl's des-cbc with the bits of the
// key reversed by hand, and Python's pow for the exchange.
func TestMSLogonSeal(t *testing.T) {
	generator, modulus, theirs, x := big.NewInt(0x10001), big.NewInt(0x25182617), big.NewInt(0x0e12d0f5), big.NewInt(0x05060708)
	public, key := exponents(generator, modulus, theirs, x, msKeyBytes)
	if got, want := hex.EncodeToString(public), "000000000abc7cfd"; got != want {
		t.Errorf("got the public value %s, want %s", got, want)
	}
	field := make([]byte, msPasswordBytes)
	if err := msSeal(field, []byte("password123456"), key); err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(field), "ef212ca7f065bada13e44187361ca581aef33eda0309634bb52949fabba6313cc815fbfcd6ff049256bc66f178fb147948d2cf876023cfdb1bad42324e6d1f49"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := msSeal(field, bytes.Repeat([]byte("x"), msPasswordBytes), key); err == nil {
		t.Error("a content that leaves no room for its end: got no error")
	}
}

// The expected bytes were computed by openssl's aes-128-ecb and Python's
// hashlib.
func TestAppleSeal(t *testing.T) {
	b := make([]byte, 2*appleFieldBytes)
	for i := range b {
		b[i] = byte(i)
	}
	if err := appleSeal(b, []byte("shared"), []byte("jürgen"), bytes.Repeat([]byte("p"), 63)); err != nil {
		t.Fatal(err)
	}
	const want = "72f4d108a93207cc959daf3ebd0e6631dd6e77ae07395761ee18023e5a42c27dce72e7a3c9d866ae335697a2005b3cc9ea8d5c4a41b28ac6f389582a0f08bf13722e348b9456fafed7e19188091e8994722e348b9456fafed7e19188091e8994722e348b9456fafed7e19188091e8994ac3e9faf53c4e04a2845e21d994ab60e"
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The group is the one of RFC 3526 5: 2^4096 - 2^4032 - 1 + 2^64 ([2^3966 pi] +
// 240904). Its middle was written down; the ends, the size and the primality
// of it and of its half are checked.
func TestSRPGroup(t *testing.T) {
	half := new(big.Int).Rsh(srpModulus, 1)
	if srpModulus.BitLen() != 4096 || !srpModulus.ProbablyPrime(1) || !half.ProbablyPrime(1) {
		t.Error("the group is not a safe prime of 4096 bits")
	}
}

// The expected values were computed in Python from RFC 5054's formulas.
func TestSRPAnswer(t *testing.T) {
	ch := &srpChallenge{salt: bytes.Repeat([]byte{7}, 32), public: new(big.Int).Exp(srpGenerator, big.NewInt(123456789), srpModulus), iterations: 1000}
	p, err := ch.answer([]byte("pässword"), big.NewInt(987654321))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(p.proof), "fd1cf319355cbf6ac6b3bca0c4f2508d6ea2621236e20bdbc8b136bb6316e7bffc0887b4b58809a7bb3f70e2327186a777dd99082d30f1efcfe20c6cc852468e"; got != want {
		t.Errorf("got the proof %s, want %s", got, want)
	}
	if got, want := hex.EncodeToString(p.theirs), "bd1553b115627dca4d6eccbdfad06c5d0c741fa8d39e09e0aaf169b4bbbe0469b8073f5b36efb58a8543b3be946d627b389388681a190fe16e10a259df64455d"; got != want {
		t.Errorf("got the machine's proof %s, want %s", got, want)
	}
}
