package trust

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

var target = viewer.Target{Protocol: viewer.VNC, Address: "desk.example", Port: 5901}

// An authority issues certificates; nil issues them for themselves.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newAuthority(t testing.TB) *authority {
	k := newKey(t)
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Authority"},
		NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{c, k}
}

// certificate is one for desk.example and fe80::1, valid around now.
func (a *authority) certificate(t testing.TB, change func(*x509.Certificate)) Key {
	k := newKey(t)
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(now.Unix()), Subject: pkix.Name{CommonName: "desk.example"},
		NotBefore: now.AddDate(0, -1, 0), NotAfter: now.AddDate(0, 1, 0),
		DNSNames: []string{"desk.example"}, IPAddresses: []net.IP{net.ParseIP("fe80::1")},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(tmpl)
	}
	parent, signer := tmpl, k
	if a != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &k.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return CertificateKey([]*x509.Certificate{c})
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func newJudge(pins Pins, roots *x509.CertPool) *Judge {
	if roots == nil {
		roots = x509.NewCertPool()
	}
	return &Judge{Pins: pins, Roots: roots, Now: func() time.Time { return now }}
}

// A person answers every question the same way and remembers them.
type person struct {
	answer viewer.Answer
	err    error
	asked  []viewer.Question
}

func (p *person) Ask(_ context.Context, q viewer.Question) (viewer.Answer, error) {
	p.asked = append(p.asked, q)
	return p.answer, p.err
}

var (
	yes     = viewer.Answer{Accept: true, Save: true}
	once    = viewer.Answer{Accept: true}
	replace = viewer.Answer{Accept: true, Replace: true}
)

func noNotice(t testing.TB) func(viewer.Event) {
	return func(e viewer.Event) { t.Errorf("got the event %#v, want none", e) }
}

func TestVouchedCertificate(t *testing.T) {
	a := newAuthority(t)
	tests := []struct {
		name    string
		target  viewer.Target
		key     Key
		verdict Verdict
		problem string
	}{
		{"as issued", target, a.certificate(t, nil), Trusted, ""},
		{"by address with a zone", viewer.Target{Protocol: viewer.VNC, Address: "fe80::1%eth0", Port: 5900}, a.certificate(t, nil), Trusted, ""},
		{"for another name", viewer.Target{Protocol: viewer.VNC, Address: "other.example", Port: 5901}, a.certificate(t, nil), Unknown, "not issued for other.example"},
		{"expired", target, a.certificate(t, func(c *x509.Certificate) { c.NotAfter = now.AddDate(0, 0, -1) }), Unknown, "expired on 2026-11-29"},
		{"not yet", target, a.certificate(t, func(c *x509.Certificate) { c.NotBefore = now.AddDate(0, 0, 2) }), Unknown, "not valid before 2026-12-02"},
		{"for itself", target, (*authority)(nil).certificate(t, nil), Unknown, "issued it for itself"},
		{"by a stranger", target, newAuthority(t).certificate(t, func(c *x509.Certificate) {}), Unknown, "no authority that this computer knows"},
		{"for clients", target, a.certificate(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }), Unknown, "no authority"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			verdict, info, err := newJudge(nil, a.pool()).Judge(tt.target, tt.key)
			if err != nil {
				t.Fatal(err)
			}
			if verdict != tt.verdict {
				t.Errorf("got %s (%v), want %s", verdict, info.Problems, tt.verdict)
			}
			if got := strings.Join(info.Problems, "; "); !strings.Contains(got, tt.problem) || tt.problem == "" && got != "" {
				t.Errorf("got the problems %q, want %q", got, tt.problem)
			}
		})
	}
}

func TestFirstUseAsksOnce(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "pins")
	key := (*authority)(nil).certificate(t, nil)
	p := &person{answer: yes}
	if err := newJudge(Folder(dir), nil).Check(ctx, target, key, p, noNotice(t)); err != nil {
		t.Fatal(err)
	}
	if len(p.asked) != 1 {
		t.Fatalf("got %d questions, want 1", len(p.asked))
	}
	q := p.asked[0]
	if q.Kind != viewer.AskCertificate || q.Key == nil || q.Key.Pinned != nil || q.Key.Subject != "CN=desk.example" ||
		q.Key.Fingerprint != key.Fingerprint() || q.Name != key.Fingerprint() || !q.Key.NotAfter.Equal(now.AddDate(0, 1, 0)) {
		t.Errorf("got the question %+v about %+v", q, q.Key)
	}
	// A second judge is another process.
	if err := newJudge(Folder(dir), nil).Check(ctx, target, key, p, noNotice(t)); err != nil || len(p.asked) != 1 {
		t.Errorf("the second time: got %v and %d questions, want none more", err, len(p.asked))
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v, want one file", files, err)
	}
	st, err := files[0].Info()
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("got the mode %v, %v, want 0600", st.Mode(), err)
	}
}

func TestChangedStops(t *testing.T) {
	ctx := context.Background()
	pins := Folder(t.TempDir())
	first, second := (*authority)(nil).certificate(t, nil), (*authority)(nil).certificate(t, nil)
	if err := newJudge(pins, nil).Check(ctx, target, first, &person{answer: yes}, noNotice(t)); err != nil {
		t.Fatal(err)
	}
	refusing := map[string]viewer.Asker{
		"yes, as to an unknown one": &person{answer: yes},
		"no":                        &person{},
		"replace without accepting": &person{answer: viewer.Answer{Replace: true, Save: true}},
		"nobody":                    &person{err: &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: errors.New("nobody")}},
		"accept-new":                AcceptNew(nil),
		"accept-new before one who would replace": AcceptNew(&person{answer: replace}),
	}
	for name, ask := range refusing {
		t.Run(name, func(t *testing.T) {
			err := newJudge(pins, nil).Check(ctx, target, second, ask, noNotice(t))
			if viewer.KindOf(err) != viewer.Untrusted {
				t.Fatalf("got %v, want one of kind untrusted", err)
			}
			for _, fp := range []string{first.Fingerprint(), second.Fingerprint()} {
				if !strings.Contains(err.Error(), fp) {
					t.Errorf("%v: want it to hold %s", err, fp)
				}
			}
		})
	}
	p := &person{answer: replace}
	j := newJudge(pins, nil)
	if err := j.Check(ctx, target, second, p, noNotice(t)); err != nil {
		t.Fatal(err)
	}
	if k := p.asked[0].Key; k.Pinned == nil || k.Pinned.Fingerprint != first.Fingerprint() || k.Fingerprint != second.Fingerprint() || k.Pinned.Since.IsZero() {
		t.Errorf("got the question about %+v, want one with both fingerprints", k)
	}
	if v, _, err := newJudge(pins, nil).Judge(target, second); v != Trusted || err != nil {
		t.Errorf("the replaced one: got %v, %v", v, err)
	}
	if v, _, err := newJudge(pins, nil).Judge(target, first); v != Changed || err != nil {
		t.Errorf("the old one afterwards: got %v, %v", v, err)
	}
}

func TestAcceptedOnce(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	key := RSAKey(2048, []byte("a key"), "aa-bb")
	p := &person{answer: once}
	j := newJudge(Folder(dir), nil)
	for range 2 { // a reconnect asks nothing
		if err := j.Check(ctx, target, key, p, noNotice(t)); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.asked) != 1 || p.asked[0].Kind != viewer.AskServerKey || p.asked[0].Key.AlsoShownAs != "aa-bb" {
		t.Errorf("got %+v, want one question about a key", p.asked)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("got %v, want nothing kept", files)
	}
	if err := j.Check(ctx, target, RSAKey(2048, []byte("another"), ""), p, noNotice(t)); viewer.KindOf(err) != viewer.Untrusted {
		t.Errorf("another key in the same process: got %v, want a stop", err)
	}
}

func TestNobodyToAsk(t *testing.T) {
	key := RSAKey(1024, []byte("a key"), "")
	err := newJudge(nil, nil).Check(context.Background(), target, key,
		&person{err: &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: errors.New("nobody")}}, noNotice(t))
	if viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), key.Fingerprint()) || !strings.Contains(err.Error(), "too short") {
		t.Errorf("got %v, want kind credentials, the fingerprint and the weakness", err)
	}
	err = newJudge(nil, nil).Check(context.Background(), target, key, &person{err: context.Canceled}, noNotice(t))
	if viewer.KindOf(err) != viewer.Cancelled {
		t.Errorf("got %v, want kind cancelled", err)
	}
}

// Two machines with one address behind two tunnels, and one machine under two
// saved hosts, keep pins of their own.
func TestPinsBelongToTheTarget(t *testing.T) {
	ctx := context.Background()
	pins := Folder(t.TempDir())
	a, b := RSAKey(2048, []byte("a"), ""), RSAKey(2048, []byte("b"), "")
	behind := func(host string) viewer.Target {
		return viewer.Target{Protocol: viewer.VNC, Address: "10.0.0.5", Port: 5900, HostID: host}
	}
	accept := AcceptNew(nil)
	for host, key := range map[string]Key{"first": a, "second": b} {
		if err := newJudge(pins, nil).Check(ctx, behind(host), key, accept, noNotice(t)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		target viewer.Target
		key    Key
		want   Verdict
	}{
		{"the first's own", behind("first"), a, Trusted},
		{"the second's own", behind("second"), b, Trusted},
		{"swapped", behind("first"), b, Changed},
		{"another port", viewer.Target{Protocol: viewer.VNC, Address: "10.0.0.5", Port: 5901, HostID: "first"}, a, Unknown},
		{"another protocol", viewer.Target{Protocol: viewer.RDP, Address: "10.0.0.5", Port: 5900, HostID: "first"}, a, Unknown},
		{"typed", behind(""), a, Unknown},
		{"another spelling", viewer.Target{Protocol: viewer.VNC, Address: "::ffff:10.0.0.5", Port: 5900, HostID: "first"}, a, Trusted},
	}
	for _, tt := range tests {
		if got, _, err := newJudge(pins, nil).Judge(tt.target, tt.key); got != tt.want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	// What was pinned for a typed address counts when the machine is saved.
	if err := newJudge(pins, nil).Check(ctx, target, a, accept, noNotice(t)); err != nil {
		t.Fatal(err)
	}
	saved := target
	saved.HostID = "third"
	if got, _, _ := newJudge(pins, nil).Judge(saved, b); got != Changed {
		t.Errorf("saved later, changed: got %v", got)
	}
	if err := newJudge(pins, nil).Check(ctx, saved, b, &person{answer: replace}, noNotice(t)); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := newJudge(pins, nil).Judge(saved, b); got != Trusted {
		t.Errorf("saved later, replaced: got %v", got)
	}
}

// A machine that has proved itself before and now shows nothing is stopped.
func TestNothingShown(t *testing.T) {
	ctx := context.Background()
	pins := Folder(t.TempDir())
	j := newJudge(pins, nil)
	if err := j.Check(ctx, target, Key{}, &person{}, noNotice(t)); err != nil {
		t.Fatalf("one that never proved anything: got %v", err)
	}
	key := RSAKey(2048, []byte("a key"), "")
	if err := j.Check(ctx, target, key, &person{answer: yes}, noNotice(t)); err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]viewer.Asker{"yes": &person{answer: yes}, "accept-new": AcceptNew(nil)} {
		if err := j.Check(ctx, target, Key{}, ask, noNotice(t)); viewer.KindOf(err) != viewer.Untrusted || !strings.Contains(err.Error(), key.Fingerprint()) {
			t.Errorf("%s: got %v, want a stop that names the pin", name, err)
		}
	}
	if err := j.Check(ctx, target, Key{}, &person{answer: replace}, noNotice(t)); err != nil {
		t.Fatal(err)
	}
	if p, err := pins.Pin(IDOf(target)); p != nil || err != nil {
		t.Errorf("got the pin %v, %v, want it gone", p, err)
	}
}

func TestUnwritableStoreWarns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var notices []viewer.Notice
	j := newJudge(unwritable{}, nil)
	p := &person{answer: yes}
	for range 2 {
		err := j.Check(context.Background(), target, RSAKey(2048, []byte("a key"), ""), p, func(e viewer.Event) {
			if n, ok := e.(viewer.Notice); ok {
				notices = append(notices, n)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(p.asked) != 1 || len(notices) != 1 || !strings.Contains(notices[0].Text, "could not be kept") {
		t.Errorf("got %d questions and the notices %v, want one of each", len(p.asked), notices)
	}
	// A folder that cannot be made is such a store.
	if err := Folder(filepath.Join(file, "pins")).SetPin(IDOf(target), pinOf(RSAKey(2048, nil, ""), now)); err == nil {
		t.Error("got no error from a folder below a file")
	}
}

type unwritable struct{}

func (unwritable) Pin(ID) (*Pin, error)  { return nil, nil }
func (unwritable) SetPin(ID, *Pin) error { return errors.New("read-only file system") }

func TestDamagedPinStops(t *testing.T) {
	pins := Folder(t.TempDir())
	id := IDOf(target)
	key := RSAKey(2048, []byte("a key"), "")
	other, err := os.ReadFile(func() string {
		o := ID{Protocol: viewer.VNC, Address: "other", Port: 1}
		if err := pins.SetPin(o, pinOf(key, now)); err != nil {
			t.Fatal(err)
		}
		return pins.file(o)
	}())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": nil, "cut": other[:len(other)/2], "another machine's": other, "large": bytes.Repeat([]byte(" "), maxPinBytes+1), "no pin": []byte("{}"),
	} {
		if err := os.WriteFile(pins.file(id), content, 0o600); err != nil {
			t.Fatal(err)
		}
		err := newJudge(pins, nil).Check(context.Background(), target, key, AcceptNew(nil), noNotice(t))
		if viewer.KindOf(err) != viewer.Untrusted || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: got %v, want a stop that says what to do", name, err)
		}
	}
}

// Many writers of one folder lose nothing and never show half a file.
func TestFolderIsShared(t *testing.T) {
	pins := Folder(t.TempDir())
	const writers, rounds = 8, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			own := ID{Protocol: viewer.VNC, Address: fmt.Sprintf("host%d", w), Port: 5900}
			common := IDOf(target)
			for r := range rounds {
				p := pinOf(RSAKey(2048, fmt.Appendf(nil, "%d %d", w, r), ""), now)
				if err := errors.Join(pins.SetPin(own, p), pins.SetPin(common, p)); err != nil {
					t.Error(err)
				}
				if got, err := pins.Pin(own); err != nil || *got != *p {
					t.Errorf("got %v, %v, want %v", got, err, p)
				}
				if got, err := pins.Pin(common); err != nil || got == nil {
					t.Errorf("got %v, %v of the common pin", got, err)
				}
			}
		})
	}
	wg.Wait()
	files, err := os.ReadDir(string(pins))
	if err != nil || len(files) != writers+1 {
		t.Errorf("got %d files, %v, want %d", len(files), err, writers+1)
	}
}

func TestHostileTextIsCleaned(t *testing.T) {
	key := (*authority)(nil).certificate(t, func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: "a\x1b[31m\u202eb\n" + strings.Repeat("x", 5000)}
		c.DNSNames = nil
		for i := range 100 {
			c.IPAddresses = append(c.IPAddresses, net.IPv4(10, 0, 0, byte(i)))
		}
	})
	_, info, err := newJudge(nil, nil).Judge(target, key)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(info.Subject, "\x1b\n\u202e") || len([]rune(info.Subject)) > maxText+1 || len(info.Names) != maxNames+1 {
		t.Errorf("got the subject %q and the names %v", info.Subject, info.Names)
	}
}

func TestAcceptNewPassesOtherQuestions(t *testing.T) {
	p := &person{answer: viewer.Answer{User: "u"}}
	if a, err := AcceptNew(p).Ask(context.Background(), viewer.Question{Kind: viewer.AskPassword}); err != nil || a.User != "u" {
		t.Errorf("got %v, %v", a, err)
	}
	if _, err := AcceptNew(nil).Ask(context.Background(), viewer.Question{Kind: viewer.AskPassword}); viewer.KindOf(err) != viewer.Credentials {
		t.Errorf("got %v, want kind credentials", err)
	}
}

// The fingerprint is the one openssl x509 -fingerprint -sha256 prints: that of
// the whole certificate, here of three bytes (computed with sha256sum).
func TestFingerprint(t *testing.T) {
	k := Key{Kind: KindCertificate, Data: []byte("abc")}
	const want = "BA:78:16:BF:8F:01:CF:EA:41:41:40:DE:5D:AE:22:23:B0:03:61:A3:96:17:7A:9C:B4:10:FF:61:F2:00:15:AD"
	if got := k.Fingerprint(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (Key{}).Fingerprint(); got != "" {
		t.Errorf("got %s for nothing, want none", got)
	}
}

func TestWeakKeys(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now, NotAfter: now}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &small.PublicKey, small)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	if k := CertificateKey([]*x509.Certificate{c}); !k.Weak || k.What != "RSA 1024 bits" {
		t.Errorf("got %q, weak %v", k.What, k.Weak)
	}
}
