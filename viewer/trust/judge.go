package trust

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"deskvnc/viewer"
)

// A Verdict is what is known of a machine's key.
type Verdict string

// The verdicts.
const (
	Trusted Verdict = "trusted" // an authority vouches for it, or it is the pinned one
	Unknown Verdict = "unknown" // never seen
	Changed Verdict = "changed" // another one is pinned
)

// A Judge decides about the keys of machines. Its fields are set before its
// first use; it is safe for concurrent use.
type Judge struct {
	// Pins is where pins are kept; nil keeps them for this process only.
	Pins Pins
	// Roots are the authorities that are believed; nil means the system's.
	Roots *x509.CertPool
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	mu sync.Mutex // guards below
	// once holds what was accepted without being kept, for this process: a
	// reconnect asks nothing.
	once map[ID]*Pin
}

// Judge compares what a machine shows with what is known of it. The info
// describes it for a person. An error means that the pins could not be read.
func (j *Judge) Judge(t viewer.Target, k Key) (Verdict, *viewer.KeyInfo, error) {
	now := time.Now()
	if j.Now != nil {
		now = j.Now()
	}
	info := &viewer.KeyInfo{What: k.what(), Fingerprint: k.Fingerprint(), AlsoShownAs: k.AlsoShownAs}
	vouched := false
	if len(k.Chain) > 0 {
		c := k.Chain[0]
		info.Subject, info.Issuer = name(c.Subject), name(c.Issuer)
		info.Names = addresses(c)
		info.NotBefore, info.NotAfter = c.NotBefore, c.NotAfter
		info.Problems, vouched = j.problems(t, k.Chain, now)
	}
	if k.Weak {
		info.Problems = append(info.Problems, fmt.Sprintf("its key (%s) is too short to be safe", k.What))
	}
	if vouched {
		return Trusted, info, nil
	}
	p, err := j.pin(IDOf(t))
	switch {
	case err != nil:
		return Unknown, info, err
	case k.Kind == "" && (p == nil || p.Kind == ""):
		return Trusted, info, nil // nothing was promised, nothing is shown
	case p == nil, p.Kind == "":
		return Unknown, info, nil
	case p.fits(k):
		return Trusted, info, nil
	}
	info.Pinned = &viewer.PinnedKey{What: p.What, Fingerprint: p.Fingerprint, Subject: p.Subject, Issuer: p.Issuer, Since: p.Since}
	return Changed, info, nil
}

// Pinned is the form of what is pinned for a machine, or empty.
func (j *Judge) Pinned(t viewer.Target) Kind {
	p, err := j.pin(IDOf(t))
	if err != nil || p == nil {
		return "" // what cannot be read is told when it is judged
	}
	return p.Kind
}

// problems says why a certificate is not trusted by itself, and whether an
// authority vouches for it.
func (j *Judge) problems(t viewer.Target, chain []*x509.Certificate, now time.Time) (problems []string, vouched bool) {
	c := chain[0]
	const day = "2006-01-02"
	switch {
	case now.After(c.NotAfter):
		problems = append(problems, "it expired on "+c.NotAfter.UTC().Format(day))
	case now.Before(c.NotBefore):
		problems = append(problems, "it is not valid before "+c.NotBefore.UTC().Format(day))
	}
	host := NameOf(t)
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.WithZone("").String() // certificates know no zones
	}
	switch {
	case host == "":
		problems = append(problems, "no certificate can be issued for a number at a repeater")
	case c.VerifyHostname(host) != nil:
		problems = append(problems, "it is not issued for "+NameOf(t))
	}
	others := x509.NewCertPool()
	for _, o := range chain[1:] {
		others.AddCert(o)
	}
	_, err := c.Verify(x509.VerifyOptions{Roots: j.Roots, Intermediates: others, DNSName: host, CurrentTime: now})
	if err == nil && host != "" {
		return problems, true
	}
	var authority x509.UnknownAuthorityError
	switch {
	case c.CheckSignatureFrom(c) == nil, slices.Equal(c.RawIssuer, c.RawSubject):
		problems = append(problems, "the machine issued it for itself")
	case errors.As(err, &authority), len(problems) == 0:
		problems = append(problems, "no authority that this computer knows has issued it")
	}
	return problems, false
}

// NameOf is the name or address that a certificate of the machine has to be
// issued for: behind a repeater, which is another machine, that of the machine
// behind it, or none when only a number is known.
func NameOf(t viewer.Target) string {
	if t.RepeaterID == "" {
		return t.Address
	}
	id := IDOf(t).Repeater
	at := strings.LastIndexByte(id, ':')
	if at < 0 {
		return ""
	}
	return viewer.Normalize(strings.TrimSuffix(id[:at], ":")) // host:port or host::port
}

// pin is what is pinned for a machine: for one from the library, what was
// pinned when its address was typed counts too.
func (j *Judge) pin(id ID) (*Pin, error) {
	ids := []ID{id}
	if id.HostID != "" {
		ids = append(ids, id.typed())
	}
	for _, id := range ids {
		j.mu.Lock()
		p := j.once[id]
		j.mu.Unlock()
		if p != nil {
			return p, nil
		}
		if j.Pins == nil {
			continue
		}
		if p, err := j.Pins.Pin(id); p != nil || err != nil {
			return p, err
		}
	}
	return nil, nil
}

// Check lets a machine pass whose key is trusted, or asks a person. The error
// of one that may not pass is of kind Untrusted, or Credentials when nobody
// can be asked. Notices about what could not be kept go to emit.
func (j *Judge) Check(ctx context.Context, t viewer.Target, k Key, ask viewer.Asker, emit func(viewer.Event)) error {
	verdict, info, err := j.Judge(t, k)
	if err != nil {
		return untrusted(fmt.Errorf("whether %s is still the same machine is not known, because its pin cannot be read: %w", t.Label(), err))
	}
	if verdict == Trusted {
		return nil
	}
	q := viewer.Question{Kind: viewer.AskCertificate, Target: t, Attempt: 1, Name: info.Fingerprint, Key: info, Text: Describe(t, info)}
	if k.Kind == KindServerKey {
		q.Kind = viewer.AskServerKey
	}
	a, err := ask.Ask(ctx, q)
	if err != nil {
		return refusal(err, q)
	}
	if !a.Accept || verdict == Changed && !a.Replace {
		return untrusted(errors.New(q.Text + "; it was not accepted"))
	}
	j.accept(t, k, a.Save || verdict == Changed, emit)
	return nil
}

// accept keeps a key that a person has accepted. What replaces a pin is always
// kept: otherwise the old pin would come back with the next process.
func (j *Judge) accept(t viewer.Target, k Key, keep bool, emit func(viewer.Event)) {
	id, p := IDOf(t), (*Pin)(nil)
	if k.Kind != "" {
		now := time.Now()
		if j.Now != nil {
			now = j.Now()
		}
		p = pinOf(k, now)
	}
	if keep && j.Pins != nil {
		err := j.Pins.SetPin(id, p)
		if typed := id.typed(); err == nil && p == nil && typed != id {
			err = j.Pins.SetPin(typed, nil)
		}
		if err == nil {
			j.mu.Lock()
			delete(j.once, id)
			j.mu.Unlock()
			return
		}
		emit(viewer.Notice{Text: fmt.Sprintf("the answer holds until this program ends: it could not be kept (%v)", err)})
	}
	if p == nil {
		p = &Pin{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.once == nil {
		j.once = make(map[ID]*Pin)
	}
	j.once[id] = p
}

// refusal is the error for a question that nobody answered.
func refusal(err error, q viewer.Question) error {
	switch kind := viewer.KindOf(err); kind {
	case viewer.Credentials:
		if q.Key.Pinned == nil {
			return &viewer.Error{Op: "trust", Kind: viewer.Credentials, Err: errors.New(q.Text + "; nobody is here to accept it")}
		}
		return untrusted(errors.New(q.Text + "; nobody is here to replace it"))
	case viewer.Untrusted, viewer.Cancelled, viewer.Timeout:
		return &viewer.Error{Op: "trust", Kind: kind, Err: err}
	}
	return untrusted(fmt.Errorf("%s; nobody answered: %w", q.Text, err))
}

func untrusted(err error) error { return &viewer.Error{Op: "trust", Kind: viewer.Untrusted, Err: err} }

// Describe says in one sentence what a machine shows and what is wrong with
// it.
func Describe(t viewer.Target, k *viewer.KeyInfo) string {
	var b strings.Builder
	switch {
	case k.Pinned != nil && k.Fingerprint == "":
		fmt.Fprintf(&b, "%s shows nothing that proves which machine it is, but it did before: the pinned %s has the fingerprint %s",
			t.Label(), k.Pinned.What, k.Pinned.Fingerprint)
	case k.Pinned != nil:
		fmt.Fprintf(&b, "%s has changed, or it is another machine: it shows a %s with the fingerprint %s, but the pinned %s has %s",
			t.Label(), k.What, k.Fingerprint, k.Pinned.What, k.Pinned.Fingerprint)
	default:
		fmt.Fprintf(&b, "%s is not known yet: it shows a %s with the fingerprint %s", t.Label(), k.What, k.Fingerprint)
	}
	if len(k.Problems) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(k.Problems, "; "))
	}
	return b.String()
}
