package sshdial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/keyfile"
)

// usualKeys are the key files that are tried when none is named, the best
// first.
var usualKeys = []string{"id_ed25519", "id_ecdsa", "id_rsa"}

// maxPassphrases bounds how often the passphrase of one file is asked for.
const maxPassphrases = 3

// An identity is a key that can be offered.
type identity struct {
	name   string // for a person
	agent  bool
	signer ssh.Signer
}

// identities are the keys for one machine, in the order they are offered.
type identities struct {
	ctx   context.Context
	hop   *hop
	env   viewer.Env
	home  string
	agent *keyAgent
	held  []agentKey
	pause func() (resume func())

	list    []identity
	sha1    bool             // the configuration allows signatures with SHA-1
	trouble map[string]error // of keys that were offered, by name
}

// load finds the keys. The key file that the login names is opened here, before
// there is a connection; all others when the machine takes them.
func (ids *identities) load() error {
	h := ids.hop
	ids.trouble = map[string]error{}
	ids.sha1 = namesAlgorithm(h.conf.PubkeyAcceptedAlgorithms, ssh.KeyAlgoRSA)
	if h.login.Method == Password || h.conf.NoPubkey {
		return nil
	}
	if !h.login.NoAgent {
		ids.held = ids.agent.keys()
	}
	named := map[string]bool{}
	if f := h.login.KeyFile; f != "" {
		if err := ids.named(f); err != nil {
			return err
		}
		named[f] = true
	}
	files := h.conf.IdentityFiles
	if h.login.Method == Agent {
		files = nil
	}
	for _, f := range files {
		if !named[f] {
			named[f] = true
			ids.file(f, "")
		}
	}
	only := h.login.IdentitiesOnly || h.conf.IdentitiesOnly || h.login.Method == Key
	if !only {
		for _, k := range ids.held {
			if !ids.has(k.signer.PublicKey()) {
				ids.add(ids.agentName(k), true, ids.signer(k.signer.PublicKey(), ids.byAgent(k)))
			}
		}
	}
	if len(named) == 0 && h.login.Method != Agent {
		for _, n := range usualKeys {
			ids.file(filepath.Join(ids.home, ".ssh", n), "")
		}
	}
	return nil
}

func (ids *identities) add(name string, agent bool, s ssh.Signer) {
	ids.list = append(ids.list, identity{name, agent, s})
}

// has reports whether the key, or a certificate for it, is in the list.
func (ids *identities) has(key ssh.PublicKey) bool {
	for _, i := range ids.list {
		if sameKey(i.signer.PublicKey(), key) {
			return true
		}
	}
	return false
}

// named puts the key file of the login first, opened.
func (ids *identities) named(path string) error {
	path = expandHome(path, ids.home)
	f, err := keyfile.Read(path)
	if err != nil {
		var inFile *os.PathError
		if errors.As(err, &inFile) {
			err = fmt.Errorf("the key file %s cannot be read: %w", ids.short(path), inFile.Err)
		}
		return invalid("%w", err)
	}
	if f.Public != nil && ids.inAgent(f.Public) != nil {
		ids.file(path, ids.hop.login.CertificateFile)
		return nil
	}
	s, err := ids.open(f, path)
	if err != nil {
		return err
	}
	as, ok := s.(ssh.AlgorithmSigner)
	if !ok {
		return invalid("the key in %s cannot be used", ids.short(path))
	}
	return ids.both(path, ids.hop.login.CertificateFile, s.PublicKey(), func() (ssh.AlgorithmSigner, error) { return as, nil }, false)
}

// file puts a key file into the list that need not be there. It is opened when
// the machine takes it; its public half stands in it or beside it.
func (ids *identities) file(path, certificate string) {
	f, err := keyfile.Read(path)
	if err != nil {
		// As with ssh, only the public half may be here: the agent has the other.
		if pub := readPublic(path); pub != nil && ids.inAgent(pub) != nil {
			ids.take(path, certificate, pub, nil)
		} else if !errors.Is(err, os.ErrNotExist) {
			ids.env.Emit(viewer.Notice{Text: "a key was left out: " + cleanLine(err.Error(), maxLine)})
		}
		return
	}
	pub := f.Public
	if pub == nil {
		pub = readPublic(path + ".pub")
	}
	if pub == nil { // nothing to offer before it is open
		s, err := ids.open(f, path)
		if err != nil {
			ids.trouble[ids.short(path)] = err
			return
		}
		f, pub = &keyfile.File{}, s.PublicKey()
		ids.take(path, certificate, pub, func() (ssh.Signer, error) { return s, nil })
		return
	}
	ids.take(path, certificate, pub, func() (ssh.Signer, error) { return ids.open(f, path) })
}

// take puts a key with its certificates into the list; the agent signs when it
// holds the key.
func (ids *identities) take(path, certificate string, pub ssh.PublicKey, open func() (ssh.Signer, error)) {
	unlock := func() (ssh.AlgorithmSigner, error) {
		s, err := open()
		if err != nil {
			return nil, err
		}
		if !sameKey(s.PublicKey(), pub) {
			return nil, errors.New("the public half beside it is another key's")
		}
		as, ok := s.(ssh.AlgorithmSigner)
		if !ok {
			return nil, errors.New("the key cannot be used")
		}
		return as, nil
	}
	agent := false
	if k := ids.inAgent(pub); k != nil {
		unlock, agent = ids.byAgent(*k), true
	}
	if err := ids.both(path, certificate, pub, unlock, agent); err != nil {
		ids.env.Emit(viewer.Notice{Text: "a certificate was left out: " + viewer.Reason(err)})
	}
}

// both lists a key's certificates and then the key.
func (ids *identities) both(path, certificate string, pub ssh.PublicKey, unlock func() (ssh.AlgorithmSigner, error), agent bool) error {
	var certs []string
	must := certificate != ""
	if must {
		certs = append(certs, expandHome(certificate, ids.home))
	} else {
		certs = append(certs, path+"-cert.pub")
	}
	certs = append(certs, ids.hop.conf.CertificateFiles...)
	unlock = keep(unlock)
	var bad error
	for i, file := range certs {
		cert, err := readCertificate(file)
		if err == nil && !sameKey(cert.Key, pub) {
			err = errors.New("it is a certificate of another key")
		}
		if err != nil {
			if must && i == 0 {
				bad = invalid("the certificate %s: %w", ids.short(file), err)
			}
			continue
		}
		if !ids.has(cert) {
			ids.add(ids.short(path)+" with its certificate", agent, ids.signer(cert, unlock))
		}
	}
	if !ids.has(pub) {
		ids.add(ids.short(path), agent, ids.signer(pub, unlock))
	}
	return bad
}

// keep remembers what unlock has opened.
func keep(unlock func() (ssh.AlgorithmSigner, error)) func() (ssh.AlgorithmSigner, error) {
	var s ssh.AlgorithmSigner
	return func() (ssh.AlgorithmSigner, error) {
		if s != nil {
			return s, nil
		}
		got, err := unlock()
		if err == nil {
			s = got
		}
		return got, err
	}
}

func (ids *identities) inAgent(pub ssh.PublicKey) *agentKey {
	for i := range ids.held {
		if sameKey(ids.held[i].signer.PublicKey(), pub) {
			return &ids.held[i]
		}
	}
	return nil
}

func (ids *identities) agentName(k agentKey) string {
	if k.comment == "" {
		return "the agent's key " + ssh.FingerprintSHA256(k.signer.PublicKey())
	}
	return "the agent's key " + k.comment
}

// byAgent has the agent sign. A person may have to allow it there.
func (ids *identities) byAgent(k agentKey) func() (ssh.AlgorithmSigner, error) {
	return func() (ssh.AlgorithmSigner, error) { return &agentSigner{k.signer, ids}, nil }
}

type agentSigner struct {
	ssh.AlgorithmSigner
	ids *identities
}

func (s *agentSigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	defer s.ids.pause()()
	defer s.ids.agent.within(agentSignTime)()
	return s.AlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}

// open opens a key file, with the passphrase that a person gives when it takes
// one. A wrong one is asked for again, and never leaves this computer.
func (ids *identities) open(f *keyfile.File, path string) (ssh.Signer, error) {
	if !f.Encrypted {
		return f.Open(nil)
	}
	const no = "the passphrase does not open the key "
	var last viewer.Secret
	note := ""
	for attempt := 1; attempt <= maxPassphrases; attempt++ {
		resume := ids.pause()
		a, err := ids.env.Ask.Ask(ids.ctx, viewer.Question{Kind: viewer.AskPassphrase, Target: ids.hop.target, Attempt: attempt, Name: path, Note: note})
		resume()
		kind := viewer.KindOf(err)
		switch {
		case err != nil && kind == viewer.Credentials && attempt > 1:
			return nil, &viewer.Error{Op: "ssh.Key", Kind: kind, Err: errors.New(no + ids.short(path) + ", and nobody is here to give another one")}
		case err != nil && kind == viewer.Credentials:
			return nil, &viewer.Error{Op: "ssh.Key", Kind: kind, Err: fmt.Errorf("the key %s takes a passphrase, and nobody is here to give it", ids.short(path))}
		case err != nil:
			return nil, &viewer.Error{Op: "ssh.Key", Kind: kind, Err: err}
		case attempt > 1 && a.Secret.Equal(last):
			return nil, &viewer.Error{Op: "ssh.Key", Kind: viewer.Denied, Err: errors.New(no + ids.short(path))}
		}
		s, err := f.Open(a.Secret.Open())
		if !errors.Is(err, keyfile.ErrPassphrase) {
			return s, err
		}
		last, note = a.Secret, no+ids.short(path)+": try again"
	}
	return nil, &viewer.Error{Op: "ssh.Key", Kind: viewer.Denied, Err: errors.New(no + ids.short(path))}
}

// signer makes a signer of a public key and of what opens the private one.
func (ids *identities) signer(pub ssh.PublicKey, unlock func() (ssh.AlgorithmSigner, error)) ssh.Signer {
	base := pub
	if cert, ok := pub.(*ssh.Certificate); ok {
		base = cert.Key
	}
	if cert, ok := base.(*ssh.Certificate); ok { // no such thing as a certificate of one
		base = cert.Key
	}
	algorithms := []string{base.Type()}
	if base.Type() == ssh.KeyAlgoRSA {
		algorithms = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
		if ids.sha1 {
			algorithms = append(algorithms, ssh.KeyAlgoRSA)
		}
	}
	return &lazySigner{pub, algorithms, unlock}
}

// A lazySigner opens its key when it is to sign.
type lazySigner struct {
	pub        ssh.PublicKey
	algorithms []string
	unlock     func() (ssh.AlgorithmSigner, error)
}

func (s *lazySigner) PublicKey() ssh.PublicKey { return s.pub }

func (s *lazySigner) Algorithms() []string { return s.algorithms }

func (s *lazySigner) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return s.SignWithAlgorithm(rand, data, s.algorithms[0])
}

func (s *lazySigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	in, err := s.unlock()
	if err != nil {
		return nil, err
	}
	return in.SignWithAlgorithm(rand, data, algorithm)
}

// short is a path as a person writes it.
func (ids *identities) short(path string) string {
	if rest, ok := strings.CutPrefix(path, ids.home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}

// maxPublicBytes bounds a file with a public key or a certificate.
const maxPublicBytes = 256 << 10

func readPublic(path string) ssh.PublicKey {
	b, err := readSmall(path)
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		return nil
	}
	return key
}

func readCertificate(path string) (*ssh.Certificate, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		return nil, errors.New("it holds no certificate")
	}
	cert, ok := key.(*ssh.Certificate)
	if !ok || cert.CertType != ssh.UserCert {
		return nil, errors.New("it is no certificate of a user")
	}
	return cert, nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPublicBytes+1))
	if err == nil && len(b) > maxPublicBytes {
		err = errors.New("the file is larger than a public key")
	}
	return b, err
}
