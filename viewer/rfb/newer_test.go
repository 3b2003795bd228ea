package rfb_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/viewertest"
)

// oneType is a connection to a machine that seems to offer one security type
// only.
type oneType struct {
	net.Conn
	only    uint8
	offered *[]byte
	head    []byte // to be read before what comes
	done    bool
	listed  bool // what is offered was read
}

func (c *oneType) Read(p []byte) (int, error) {
	if !c.done {
		c.done = true
		c.head = make([]byte, 12)
		if _, err := io.ReadFull(c.Conn, c.head); err != nil {
			return 0, err
		}
	}
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	if !c.listed {
		c.listed = true
		var n [1]byte
		if _, err := io.ReadFull(c.Conn, n[:]); err != nil {
			return 0, err
		}
		*c.offered = make([]byte, n[0])
		if _, err := io.ReadFull(c.Conn, *c.offered); err != nil {
			return 0, err
		}
		c.head = []byte{1, c.only}
		return c.Read(p)
	}
	return c.Conn.Read(p)
}

// A wayType is a security type of the later wayvnc.
type wayType struct {
	name   string
	only   uint8
	sealed bool
}

// rounds is how often to log in one after the other.
func (c wayType) rounds() int {
	switch {
	case c.only == 19:
		return 0
	case os.Getenv("DESKVNC_EXHAUSTIVE") != "":
		return 1000
	}
	return 10
}

// login logs in by the type, and tells what was offered.
func (c wayType) login(t *testing.T, s *waySession, password string, offered *[]byte) (*viewertest.Live, error) {
	t.Helper()
	*offered = nil
	target := s.target()
	target.User = "bob"
	return viewertest.TryOpen(t, rfb.New(rfb.Options{}), target, viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
		return viewer.Answer{User: "bob", Secret: viewer.SecretString(password), Accept: true}, nil
	}), func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		inner, err := d.DialContext(ctx, network, address)
		return &oneType{Conn: inner, only: c.only, offered: offered}, err
	})
}

// The later wayvnc has RSA-AES and the login of Apple, each written by others:
// a picture after each of them, and the refusal of a wrong password.
func TestNewerWayVNC(t *testing.T) {
	root := os.Getenv("DESKVNC_NEWER")
	if root == "" {
		t.Skip("SKIPPED: .ci/newer DIR makes a system with a later wayvnc, for DESKVNC_NEWER")
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can enter the system in DESKVNC_NEWER")
	}
	s := startSwayFor(t, root)
	_, args := certificate(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"cert", "key"} {
		b, err := os.ReadFile(args[1+2*i])
		if err != nil {
			t.Fatal(err)
		}
		s.file(t, name, b)
	}
	s.file(t, "rsa", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	in := s.inside(s.dir)
	s.show(t, "first", bands(1))
	s.serve(t, fmt.Sprintf("enable_auth=true\nrelax_encryption=true\nusername=bob\npassword=pässword\nprivate_key_file=%[1]s/key\ncertificate_file=%[1]s/cert\nrsa_private_key_file=%[1]s/rsa\n",
		filepath.Clean(in)))
	for _, c := range []wayType{{"VeNCrypt", 19, true}, {"RA2-256", 129, true}, {"RA2", 5, true}, {"Apple", 30, false}} {
		t.Run(c.name, func(t *testing.T) {
			var offered []byte
			login := func(password string) (*viewertest.Live, error) {
				for {
					// In one login of Apple's of 256 it sends a value that cannot be made
					// good, and that is said.
					l, err := c.login(t, s, password, &offered)
					if c.only != 30 || viewer.KindOf(err) != viewer.Closed || !strings.Contains(err.Error(), "connect once more") {
						return l, err
					}
				}
			}
			l, err := login("pässword")
			if !slices.Contains(offered, c.only) {
				t.Fatalf("it offers the types %v, want %d among them", offered, c.only)
			}
			if err != nil {
				t.Fatal(err)
			}
			l.Look(t)
			l.Until(t, "the compositor's own picture", func() bool { return same(l, s.picture(t)) })
			if e, ok := l.Session.(viewer.Encrypter); !ok || e.Encrypted() != c.sealed {
				t.Errorf("counts as encrypted: want %v", c.sealed)
			}
			// What is sent together may arrive together, or not; and values that
			// begin with a zero come by.
			for i := range c.rounds() {
				l, err := login("pässword")
				if err != nil {
					t.Fatalf("login %d: %v", i, err)
				}
				l.Close()
			}
			if _, err := login("wrong"); viewer.KindOf(err) != viewer.Denied {
				t.Errorf("a wrong password: got %v", err)
			}
		})
	}
	t.Run("clipboard", func(t *testing.T) {
		need(t, "wl-copy")
		l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{rect.TypeZRLE}}), s.target(), viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
			return viewer.Answer{User: "bob", Secret: viewer.SecretString("pässword"), Accept: true}, nil
		}))
		l.Look(t)
		s.clip(t, l, "€ Ü 漢字 🙂")
	})
}
