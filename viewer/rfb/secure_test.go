package rfb_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"image/color"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/trust"
	"deskvnc/viewer/viewertest"
)

// certificate makes one for 127.0.0.1, and the arguments that give it to
// Xtigervnc.
func certificate(t testing.TB) (*x509.Certificate, []string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"-X509Cert", filepath.Join(dir, "cert"), "-X509Key", filepath.Join(dir, "key")}
	for path, block := range map[string]*pem.Block{args[1]: {Type: "CERTIFICATE", Bytes: der}, args[3]: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c, args
}

// The whole contract of a session, encrypted: by a certificate that is
// believed, and without one.
func TestContractEncrypted(t *testing.T) {
	cert, args := certificate(t)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	for _, types := range []string{"X509None", "TLSNone"} {
		t.Run(types, func(t *testing.T) {
			viewertest.Suite{
				Driver: rfb.New(rfb.Options{Judge: &trust.Judge{Roots: roots}}),
				Machine: func(t *testing.T) viewertest.Peer {
					s := startTiger(t, append([]string{"-SecurityTypes", types}, args...)...)
					return tigerPeer{s, startXev(t, s.display)}
				},
			}.Run(t)
		})
	}
}

// What counts as encrypted is what is encrypted on the wire, not what a login is
// called.
func TestEncryptedIsSaid(t *testing.T) {
	_, args := certificate(t)
	for types, want := range map[string]bool{"None": false, "TLSNone": true, "X509None": true} {
		s := startTiger(t, append([]string{"-SecurityTypes", types}, args...)...)
		d := rfb.New(rfb.Options{Judge: &trust.Judge{Roots: x509.NewCertPool()}})
		ask := viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) { return viewer.Answer{Accept: true}, nil })
		e, ok := viewertest.Open(t, d, s.target(), ask).Session.(viewer.Encrypter)
		if !ok || e.Encrypted() != want {
			t.Errorf("%s: counts as encrypted: got %v, want %v", types, ok && e.Encrypted(), want)
		}
	}
}

// A person takes longer to look at a certificate, and to find a password, than
// a machine may take for a step. The certificate comes first.
func TestSlowPerson(t *testing.T) {
	_, args := certificate(t)
	const stage = time.Second
	password := filepath.Join(t.TempDir(), "passwd")
	// "abcdefgh" as VNC servers keep it.
	if err := os.WriteFile(password, []byte{0xdb, 0x8a, 0xb0, 0x25, 0x65, 0xe3, 0xb4, 0xc2}, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startTiger(t, append([]string{"-SecurityTypes", "X509Vnc", "-rfbauth", password}, args...)...)
	var mu sync.Mutex
	var asked []viewer.QuestionKind
	ask := viewer.AskFunc(func(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q.Kind)
		<-time.After(stage + stage/2)
		return viewer.Answer{Accept: true, Secret: viewer.SecretString("abcdefgh")}, nil
	})
	d := rfb.New(rfb.Options{StageTimeout: stage, Judge: &trust.Judge{Roots: x509.NewCertPool()}})
	viewertest.Open(t, d, s.target(), ask).Look(t)
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 2 || asked[0] != viewer.AskCertificate || asked[1] != viewer.AskVNCPassword {
		t.Errorf("got the questions %v, want one for the certificate and then one for the password", asked)
	}
}

// Nobody accepts the certificate: no password is asked for, and the error
// says which certificate it is.
func TestUnknownCertificate(t *testing.T) {
	_, args := certificate(t)
	s := startTiger(t, append([]string{"-SecurityTypes", "X509None"}, args...)...)
	ask := viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) { return viewer.Answer{}, nil })
	_, err := viewertest.TryOpen(t, rfb.New(rfb.Options{Judge: &trust.Judge{Roots: x509.NewCertPool()}}), s.target(), ask, nil)
	if viewer.KindOf(err) != viewer.Untrusted || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("got %v, want kind untrusted and the fingerprint", err)
	}
}

// Encryption is required of a machine that has none.
func TestEncryptionRequired(t *testing.T) {
	s := serve(t, say("RFB 003.008\n", 12, "\x03\x01\x02\x10", live))
	target := s.Target()
	target.RequireEncryption = true
	_, err := viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, nil, nil)
	if viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), "it offers only None, VNC password, Tight") {
		t.Errorf("got %v", err)
	}
}

// The Tight type: abilities follow ServerInit, and before version 3.8 no
// result follows a login without a password.
func TestTightType(t *testing.T) {
	abilities := append([]byte{0, 1, 0, 2, 0, 1, 0, 0}, make([]byte, 4*16)...)
	const types = "\x01\x10" // one: Tight
	const noTunnels, noLogins = "\x00\x00\x00\x00", "\x00\x00\x00\x00"
	const none = "\x00\x00\x00\x01" + "\x00\x00\x00\x01STDVNOAUTH__"
	chosen := expect("\x10\x00\x00\x00\x01") // Tight, and then its login 1
	red := color.RGBA{0xff, 0, 0, 0xff}
	paint := func(c *rfbtest.Conn) error {
		if _, err := c.Until(3); err != nil {
			return err
		}
		return c.Send(rfbtest.Update(rfbtest.Rect(0, 0, 100, 100, rect.TypeRaw, rfbtest.Fill(100*100, red)...)))
	}
	for name, login := range map[string][]any{
		"3.8":                {"RFB 003.008\n", 12, types + noTunnels + none, chosen, "\x00\x00\x00\x00", 1},
		"3.7":                {"RFB 003.007\n", 12, types + noTunnels + none, chosen, 1},
		"3.7, nothing asked": {"RFB 003.007\n", 12, types + noTunnels + noLogins, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, say(append(login, smallInit.Bytes(), abilities, paint, live)...))
			l := viewertest.Open(t, rfb.New(rfb.Options{}), s.Target(), nil)
			l.Look(t)
			l.Until(t, "the picture", func() bool { return l.At(99, 99) == red })
		})
	}
}
