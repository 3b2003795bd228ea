package trust

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"strings"
	"unicode"
)

// A Kind is a form in which a machine proves who it is. The values are stored.
type Kind string

// The kinds.
const (
	KindCertificate Kind = "certificate" // an X.509 certificate
	KindServerKey   Kind = "key"         // a public key without a certificate
)

// A Key is what a machine has shown to prove who it is. The zero Key is a
// machine that has shown nothing.
type Key struct {
	Kind Kind
	// Data is what the fingerprint is made of: the certificate in DER, the key
	// in the form its protocol sends it.
	Data []byte
	// What names algorithm and size: "RSA 2048 bits".
	What string
	// AlsoShownAs is how the machine's own window may show the key, or empty.
	AlsoShownAs string
	// Chain is the certificate and those sent along with it.
	Chain []*x509.Certificate
	// Weak says that the key is too small to be worth much.
	Weak bool
}

// weakRSABits is the size under which an RSA key is called weak (NIST SP
// 800-57: 112 bits of security).
const weakRSABits = 2048

// CertificateKey is the key of a machine that has shown a chain of
// certificates, its own first.
func CertificateKey(chain []*x509.Certificate) Key {
	if len(chain) == 0 {
		return Key{}
	}
	k := Key{Kind: KindCertificate, Data: chain[0].Raw, Chain: chain}
	switch p := chain[0].PublicKey.(type) {
	case *rsa.PublicKey:
		k.What = fmt.Sprintf("RSA %d bits", p.N.BitLen())
		k.Weak = p.N.BitLen() < weakRSABits
	case *ecdsa.PublicKey:
		k.What = "ECDSA " + p.Params().Name
	case ed25519.PublicKey:
		k.What = "Ed25519"
	default:
		k.What = chain[0].PublicKeyAlgorithm.String()
	}
	return k
}

// RSAKey is the key of a machine that has shown an RSA key of so many bits,
// in wire form, without a certificate.
func RSAKey(bits int, wire []byte, alsoShownAs string) Key {
	return Key{
		Kind: KindServerKey, Data: wire, What: fmt.Sprintf("RSA %d bits", bits),
		AlsoShownAs: alsoShownAs, Weak: bits < weakRSABits,
	}
}

// Fingerprint is the SHA-256 of the key as XX:XX:..., the form in which the
// usual tools print it; empty for no key.
func (k Key) Fingerprint() string {
	if k.Kind == "" {
		return ""
	}
	sum := sha256.Sum256(k.Data)
	b := make([]byte, 0, 3*len(sum))
	for i, c := range sum {
		if i > 0 {
			b = append(b, ':')
		}
		b = fmt.Appendf(b, "%02X", c)
	}
	return string(b)
}

// what says what the key is, for a person.
func (k Key) what() string {
	switch k.Kind {
	case KindCertificate:
		return "certificate, " + k.What
	case KindServerKey:
		return "key, " + k.What
	}
	return "nothing"
}

// maxText bounds a name of a certificate that is shown or stored.
const maxText = 300

// clean makes one line for a person of text from a machine.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "?")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "…"
	}
	return strings.TrimSpace(s)
}

func name(n pkix.Name) string { return clean(n.String()) }

// maxNames bounds how many addresses of a certificate are shown.
const maxNames = 8

// addresses are those a certificate is for.
func addresses(c *x509.Certificate) []string {
	var all []string
	for _, n := range c.DNSNames {
		all = append(all, clean(n))
	}
	for _, ip := range c.IPAddresses {
		all = append(all, net.IP(ip).String())
	}
	if n := len(all); n > maxNames {
		all = append(all[:maxNames:maxNames], fmt.Sprintf("and %d more", n-maxNames))
	}
	return all
}
