package sshdial

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// keyKind says what a public key is, the way OpenSSH does: "ED25519 256 bits".
func keyKind(key ssh.PublicKey) string {
	name, bits := kindOf(key)
	if bits == 0 {
		return name
	}
	return fmt.Sprintf("%s %d bits", name, bits)
}

// kindOf is the kind and size of a key; size 0 is not known.
func kindOf(key ssh.PublicKey) (name string, bits int) {
	suffix := ""
	if cert, ok := key.(*ssh.Certificate); ok {
		key, suffix = cert.Key, "-CERT"
	}
	switch key.Type() {
	case ssh.KeyAlgoSKED25519:
		return "ED25519-SK" + suffix, 256
	case ssh.KeyAlgoSKECDSA256:
		return "ECDSA-SK" + suffix, 256
	}
	if c, ok := key.(ssh.CryptoPublicKey); ok {
		switch k := c.CryptoPublicKey().(type) {
		case *rsa.PublicKey:
			return "RSA" + suffix, k.N.BitLen()
		case *ecdsa.PublicKey:
			return "ECDSA" + suffix, k.Curve.Params().BitSize
		case ed25519.PublicKey:
			return "ED25519" + suffix, 256
		}
	}
	return key.Type() + suffix, 0
}

// The field on which the fingerprint is walked.
const (
	artWidth  = 17
	artHeight = 9
)

// artSigns show how often a place was visited; the last two are the start and
// the end.
const artSigns = " .o+=*BOX@%&#/^SE"

// Randomart draws the fingerprint of a key as ssh does with VisualHostKey, in
// lines of equal length.
func Randomart(key ssh.PublicKey) string {
	sum := sha256.Sum256(key.Marshal())
	var field [artWidth][artHeight]int
	x, y := artWidth/2, artHeight/2
	last := len(artSigns) - 1
	for _, b := range sum {
		for range 4 {
			x = min(max(x+int(b&1)*2-1, 0), artWidth-1)
			y = min(max(y+int(b>>1&1)*2-1, 0), artHeight-1)
			if field[x][y] < last-2 {
				field[x][y]++
			}
			b >>= 2
		}
	}
	field[artWidth/2][artHeight/2], field[x][y] = last-1, last

	name, bits := kindOf(key)
	title := fmt.Sprintf("[%s %d]", name, bits)
	if len(title) > artWidth {
		title = "[" + name + "]"
	}
	if len(title) > artWidth {
		title = ""
	}
	var b strings.Builder
	b.WriteString(border(title))
	for row := range artHeight {
		b.WriteByte('|')
		for col := range artWidth {
			b.WriteByte(artSigns[min(field[col][row], last)])
		}
		b.WriteString("|\n")
	}
	b.WriteString(strings.TrimRight(border("[SHA256]"), "\n"))
	return b.String()
}

func border(title string) string {
	left := (artWidth - len(title)) / 2
	return "+" + strings.Repeat("-", left) + title + strings.Repeat("-", artWidth-len(title)-left) + "+\n"
}
