package sshdial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/knownhosts"
)

// Accepted remembers the host keys that a person accepted without filing them,
// or that could not be filed, for as long as the program runs: a connection
// made anew asks nothing. The zero value is ready; it is safe for concurrent
// use.
type Accepted struct {
	mu   sync.Mutex
	keys map[acceptedName][]byte
}

// An acceptedName tells apart what different known_hosts files call the same.
type acceptedName struct{ file, name string }

func (a *Accepted) add(n acceptedName, key ssh.PublicKey) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keys == nil {
		a.keys = map[acceptedName][]byte{}
	}
	a.keys[n] = key.Marshal()
}

// holds reports whether the key is the one accepted for the name, and whether
// there is one.
func (a *Accepted) holds(n acceptedName, key ssh.PublicKey) (same, any bool) {
	if a == nil {
		return false, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	k, any := a.keys[n]
	return any && bytes.Equal(k, key.Marshal()), any
}

// A keyCheck decides about the host key of one machine during one connection.
type keyCheck struct {
	ctx   context.Context
	hop   *hop
	files []string // the first is written
	env   viewer.Env
	link  *link
	once  *Accepted

	entries []knownhosts.Entry // that speak of the machine
	byHost  []knownhosts.Entry // that speak of its host without a port

	mu      sync.Mutex
	checked ssh.PublicKey // what has passed; a new exchange of keys shows it again
	refused error
}

// pin is the fingerprint of the one key that the target may show, or empty.
func (k *keyCheck) pin() string { return k.hop.target.Settings().HostKey }

// read reads the files.
func (k *keyCheck) read() error {
	if k.pin() != "" {
		return nil
	}
	hosts, err := knownhosts.Read(slices.DeleteFunc(slices.Clone(k.files), func(f string) bool { return f == "" })...)
	if err != nil {
		return &viewer.Error{Op: "ssh.HostKey", Kind: viewer.Untrusted,
			Err: fmt.Errorf("whether %s is known cannot be told, because the known hosts cannot be read: %w", k.hop.target.Label(), err)}
	}
	k.entries = hosts.Find(k.hop.name())
	if k.hop.conf.HostKeyAlias == "" && k.hop.port != 22 {
		k.byHost = hosts.Find(knownhosts.Name(k.hop.host, 22))
	}
	return nil
}

// check is the callback of the exchange of keys.
func (k *keyCheck) check(_ string, remote net.Addr, key ssh.PublicKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.checked != nil {
		if bytes.Equal(k.checked.Marshal(), key.Marshal()) {
			return nil
		}
		k.refused = k.untrusted(errors.New("the machine shows another host key in the middle of the connection"))
		k.link.end(k.refused)
		return k.refused
	}
	if err := k.judge(remote, key); err != nil {
		k.refused = err
		return err
	}
	k.checked = key
	return nil
}

// judge decides about a key that was not seen on this connection before.
func (k *keyCheck) judge(remote net.Addr, key ssh.PublicKey) error {
	if err := k.revoked(key); err != nil {
		return err
	}
	if pin := k.pin(); pin != "" {
		if ssh.FingerprintSHA256(key) == pin {
			return nil
		}
		return k.untrusted(fmt.Errorf("%s shows another host key than its own: %s, not %s", k.hop.target.Label(), ssh.FingerprintSHA256(key), pin))
	}
	var problems []string
	if cert, ok := key.(*ssh.Certificate); ok {
		err := k.certificate(remote, cert)
		if err == nil {
			return nil
		}
		// As in OpenSSH the key inside is judged by itself.
		problems = append(problems, "its certificate is not valid here: "+cleanLine(err.Error(), maxLine))
		key = cert.Key
	}
	other, known := k.find(key)
	if known {
		return nil
	}
	name := acceptedName{k.files[0], k.hop.name()}
	same, accepted := k.once.holds(name, key)
	if same {
		return nil
	}
	info := &viewer.KeyInfo{What: "key, " + keyKind(key), Fingerprint: ssh.FingerprintSHA256(key), Art: Randomart(key), Problems: problems}
	switch {
	case other != nil:
		info.Pinned = &viewer.PinnedKey{What: "key, " + keyKind(other.Key), Fingerprint: ssh.FingerprintSHA256(other.Key)}
	case accepted:
		info.Pinned = &viewer.PinnedKey{What: "key", Fingerprint: "another one, accepted since this program started"}
	}
	return k.ask(key, info, other, name)
}

// revoked refuses keys that are marked so.
func (k *keyCheck) revoked(key ssh.PublicKey) error {
	all := []ssh.PublicKey{key}
	if cert, ok := key.(*ssh.Certificate); ok {
		all = append(all, cert.Key, cert.SignatureKey)
	}
	no := func(where string, bad ssh.PublicKey) error {
		return k.untrusted(fmt.Errorf("%s shows a host key that is revoked (%s, in %s): do not connect, ask who runs the machine for its new key",
			k.hop.target.Label(), ssh.FingerprintSHA256(bad), where))
	}
	for _, e := range slices.Concat(k.entries, k.byHost) {
		if e.Marker == knownhosts.Revoked {
			for _, key := range all {
				if sameKey(e.Key, key) {
					return no(fmt.Sprintf("%s line %d", e.File, e.Line), key)
				}
			}
		}
	}
	if file := k.hop.conf.RevokedHostKeys; file != "" {
		list, err := revokedList(file)
		if err != nil {
			return k.untrusted(fmt.Errorf("RevokedHostKeys cannot be read, so no host key is believed: %w", err))
		}
		for _, key := range all {
			if list[string(key.Marshal())] {
				return no(file, key)
			}
		}
	}
	return nil
}

// maxRevokedBytes bounds a list of revoked keys.
const maxRevokedBytes = 8 << 20

// revokedList reads a file with one public key a line.
func revokedList(name string) (map[string]bool, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxRevokedBytes || !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a list of keys, or larger than 8 MiB", name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte("SSHKRL\n")) {
		return nil, fmt.Errorf("%s is in the binary form (KRL), which is not known here: list the public keys, one a line", name)
	}
	list := map[string]bool{}
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, _, _, err := ssh.ParseAuthorizedKey(line)
		if err != nil {
			return nil, fmt.Errorf("%s holds a line that is no public key", name)
		}
		list[string(key.Marshal())] = true
	}
	return list, nil
}

// certificate judges a host certificate by the authorities that are filed.
func (k *keyCheck) certificate(remote net.Addr, cert *ssh.Certificate) error {
	checker := ssh.CertChecker{IsHostAuthority: func(auth ssh.PublicKey, _ string) bool {
		for _, e := range slices.Concat(k.entries, k.byHost) {
			if e.Marker == knownhosts.Authority && sameKey(e.Key, auth) {
				return true
			}
		}
		return false
	}}
	host := k.hop.host
	if a := k.hop.conf.HostKeyAlias; a != "" {
		host = strings.ToLower(a)
	}
	return checker.CheckHostKey(net.JoinHostPort(host, portText(k.hop.port)), remote, cert)
}

// find looks the key up: known is true for one that is filed. Otherwise other
// is a key that is filed for the machine instead, of the same kind if there is
// one.
func (k *keyCheck) find(key ssh.PublicKey) (other *knownhosts.Entry, known bool) {
	for i, e := range k.entries {
		if e.Marker != knownhosts.Plain {
			continue
		}
		if sameKey(e.Key, key) {
			return nil, true
		}
		if other == nil || other.Key.Type() != key.Type() && e.Key.Type() == key.Type() {
			other = &k.entries[i]
		}
	}
	if other == nil {
		for _, e := range k.byHost { // a key of the host counts for its other ports
			if e.Marker == knownhosts.Plain && sameKey(e.Key, key) {
				return nil, true
			}
		}
	}
	return other, false
}

// ask asks a person about a key that is not filed.
func (k *keyCheck) ask(key ssh.PublicKey, info *viewer.KeyInfo, other *knownhosts.Entry, name acceptedName) error {
	q := viewer.Question{Kind: viewer.AskServerKey, Target: k.hop.target, Attempt: 1, Name: info.Fingerprint, Key: info, Text: k.describe(info, other)}
	if strict := k.hop.conf.StrictHostKeyChecking; info.Pinned == nil && (strict == "yes" || strict == "true") {
		return k.untrusted(fmt.Errorf("%s; the SSH configuration (StrictHostKeyChecking yes) takes no new machines", q.Text))
	}
	resume := k.link.pause()
	a, err := k.env.Ask.Ask(k.ctx, q)
	resume()
	if err != nil {
		return k.unanswered(q, err)
	}
	if !a.Accept || info.Pinned != nil && !a.Replace {
		return k.untrusted(errors.New(q.Text + "; it was not accepted"))
	}
	if !a.Save && info.Pinned == nil {
		k.once.add(name, key)
		return nil
	}
	if err := k.file(key, info.Pinned != nil); err != nil {
		k.once.add(name, key)
		k.env.Emit(viewer.Notice{Text: fmt.Sprintf("the host key of %s could not be kept, and will be asked about again: %v", k.hop.target.Label(), err)})
	}
	return nil
}

// file keeps a key.
func (k *keyCheck) file(key ssh.PublicKey, replace bool) error {
	path := k.files[0]
	if path == "" {
		return errors.New("the SSH configuration names no file for host keys")
	}
	if replace {
		return knownhosts.Replace(path, k.hop.name(), key, k.hop.conf.HashKnownHosts)
	}
	return knownhosts.Add(path, k.hop.name(), key, k.hop.conf.HashKnownHosts)
}

// describe says in one sentence what the machine shows.
func (k *keyCheck) describe(info *viewer.KeyInfo, other *knownhosts.Entry) string {
	var b strings.Builder
	label := k.hop.target.Label()
	if as := knownhosts.Host(k.hop.name()); as != k.hop.target.Address && as != label {
		label += " (" + as + ")"
	}
	if info.Pinned == nil {
		fmt.Fprintf(&b, "%s is not known yet: it shows a %s with the fingerprint %s", label, info.What, info.Fingerprint)
	} else {
		fmt.Fprintf(&b, "%s has changed, or it is another machine: it shows a %s with the fingerprint %s, but the known %s has %s",
			label, info.What, info.Fingerprint, info.Pinned.What, info.Pinned.Fingerprint)
		if other != nil {
			fmt.Fprintf(&b, " (%s line %d)", filepath.Base(other.File), other.Line)
		}
	}
	if len(info.Problems) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(info.Problems, "; "))
	}
	return b.String()
}

// unanswered is the error for a question that nobody answered.
func (k *keyCheck) unanswered(q viewer.Question, err error) error {
	switch kind := viewer.KindOf(err); kind {
	case viewer.Credentials:
		if q.Key.Pinned == nil {
			return &viewer.Error{Op: "ssh.HostKey", Kind: viewer.Credentials, Err: errors.New(q.Text + "; nobody is here to accept it")}
		}
		return k.untrusted(errors.New(q.Text + "; nobody is here to replace it"))
	case viewer.Untrusted, viewer.Cancelled, viewer.Timeout:
		return &viewer.Error{Op: "ssh.HostKey", Kind: kind, Err: err}
	}
	return k.untrusted(fmt.Errorf("%s; nobody answered: %w", q.Text, err))
}

func (k *keyCheck) untrusted(err error) error {
	return &viewer.Error{Op: "ssh.HostKey", Kind: viewer.Untrusted, Err: err}
}

// why is the reason for which the key was refused, or nil.
func (k *keyCheck) why() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refused
}

func sameKey(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }
