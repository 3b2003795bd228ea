package library

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/keychain"
	"deskvnc/keychain/secret"
	"deskvnc/keychain/store"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// patience bounds every wait, so that only what hangs fails.
const patience = time.Minute

// A lab is a library with an engine over it, and a real machine that wants a
// password.
type lab struct {
	t       *testing.T
	path    string
	l       *Library
	keys    *secret.Memory
	person  *person
	engine  *engine.Engine
	machine viewer.Target // as somebody types it
	saved   chan error    // what came of secrets to be kept
}

// A person answers with what it was told to, and remembers what was asked.
type person struct {
	mu     sync.Mutex
	answer viewer.Answer
	asked  []viewer.Question
}

func (p *person) Ask(_ context.Context, q viewer.Question) (viewer.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	return p.answer, nil
}

func (p *person) says(a viewer.Answer) {
	p.mu.Lock()
	p.answer = a
	p.mu.Unlock()
}

// questions takes what was asked since it was last called.
func (p *person) questions() []viewer.Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.asked
	p.asked = nil
	return got
}

// newLab starts a machine with a password. Without a person nobody can be
// asked.
func newLab(t *testing.T, password string, withPerson bool) *lab {
	t.Helper()
	m, err := sample.Start(sample.Options{Width: 320, Height: 200, Password: viewer.SecretString(password)})
	if err != nil {
		t.Fatal(err)
	}
	target := m.Targets()[0]
	b := &lab{t: t, path: filepath.Join(t.TempDir(), "library.db"), keys: &secret.Memory{}, saved: make(chan error, 8),
		machine: viewer.Target{Protocol: viewer.VNC, Address: target.Address, Port: target.Port}}
	b.l = b.open(b.keys)
	var who func(*engine.Session) viewer.Asker
	if withPerson {
		b.person = &person{}
		who = func(*engine.Session) viewer.Asker { return b.person }
	}
	b.engine = engine.New(engine.Config{Drivers: drivers.Registry(), Asker: b.l.Asker(who)})
	stop := b.l.Follow(b.engine)
	t.Cleanup(func() {
		b.engine.Close()
		stop()
		if err := errors.Join(b.l.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// open opens the lab's library.
func (b *lab) open(s Secrets) *Library {
	b.t.Helper()
	l, err := Open(Options{Path: b.path, Secrets: s, Saved: func(_ viewer.Target, err error) { b.saved <- err }})
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// add saves the machine.
func (b *lab) add(h keychain.Host) keychain.Host {
	b.t.Helper()
	h.Protocol, h.Address, h.Port = b.machine.Protocol, b.machine.Address, b.machine.Port
	h, err := b.l.Store().Add(b.t.Context(), h)
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

// keep puts a password into the keychain.
func (b *lab) keep(owner, password string) {
	b.t.Helper()
	if err := b.keys.Set(b.t.Context(), secret.Key{Owner: owner, Kind: secret.VNCPassword}, viewer.SecretString(password)); err != nil {
		b.t.Fatal(err)
	}
}

// kept is the password in the keychain; empty for none.
func (b *lab) kept(owner string) string {
	s, err := b.keys.Get(b.t.Context(), secret.Key{Owner: owner, Kind: secret.VNCPassword})
	if secret.KindOf(err) != "" && secret.KindOf(err) != secret.NotFound {
		b.t.Fatal(err)
	}
	return string(s.Open())
}

// connect opens a machine and waits until it is connected or has given up.
func (b *lab) connect(t viewer.Target) (*engine.Session, viewer.State) {
	b.t.Helper()
	s, err := b.engine.Open(t)
	if err != nil {
		b.t.Fatal(err)
	}
	return s, b.settled(s)
}

func (b *lab) settled(s *engine.Session) viewer.State {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	st, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected || st.Phase == viewer.Disconnected })
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

// reconnect connects a session again that has given up.
func (b *lab) reconnect(s *engine.Session) viewer.State {
	b.t.Helper()
	began := make(chan struct{}, 1)
	cancel := s.Subscribe(func(ev viewer.Event) {
		if st, ok := ev.(viewer.StateChanged); ok && st.State.Phase == viewer.Connecting {
			select {
			case began <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	s.Reconnect()
	select {
	case <-began:
	case <-time.After(patience):
		b.t.Fatal("it does not reconnect")
	}
	return b.settled(s)
}

// savedNow waits for a secret to be kept.
func (b *lab) savedNow() error {
	b.t.Helper()
	select {
	case err := <-b.saved:
		return err
	case <-time.After(patience):
		b.t.Fatal("nothing is kept")
		return nil
	}
}

func (b *lab) close(s *engine.Session) {
	s.Close()
	<-s.Done()
}

func TestStoredPasswordIsUsed(t *testing.T) {
	b := newLab(t, "sesame", true)
	h := b.add(keychain.Host{Name: "lab"})
	b.keep(h.ID, "sesame")
	_, st := b.connect(b.l.Hosts()[0])
	if st.Phase != viewer.Connected {
		t.Fatalf("got %+v", st)
	}
	if q := b.person.questions(); len(q) > 0 {
		t.Errorf("the person was asked %v", q)
	}
	for end := time.Now().Add(patience); ; {
		r, err := b.l.Store().Recents(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(r) == 1 && r[0].HostID == h.ID {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("recent: got %v", r)
		}
	}
	if !b.l.CredentialStored(b.l.Hosts()[0]) {
		t.Error("the password is not said to be stored")
	}
}

// What a person asks to keep is kept when the machine has accepted it, and not
// before.
func TestSaveWhenAccepted(t *testing.T) {
	b := newLab(t, "sesame", true)
	h := b.add(keychain.Host{Name: "lab"})
	b.person.says(viewer.Answer{Secret: viewer.SecretString("wrong"), Save: true})
	s, st := b.connect(b.l.Hosts()[0])
	if st.Phase != viewer.Disconnected || st.Kind != viewer.Denied {
		t.Fatalf("got %+v", st)
	}
	if got := b.kept(h.ID); got != "" {
		t.Errorf("a refused password was kept")
	}
	b.person.says(viewer.Answer{Secret: viewer.SecretString("sesame"), Save: true})
	if st := b.reconnect(s); st.Phase != viewer.Connected {
		t.Fatalf("got %+v", st)
	}
	if err := b.savedNow(); err != nil || b.kept(h.ID) != "sesame" {
		t.Errorf("got %v and %d bytes kept", err, len(b.kept(h.ID)))
	}
	b.close(s)
	if len(b.person.questions()) != 2 {
		t.Error("not asked twice")
	}
	if s, st := b.connect(b.l.Hosts()[0]); st.Phase != viewer.Connected || len(b.person.questions()) > 0 {
		t.Errorf("asked again, or not connected: %+v", st)
	} else {
		b.close(s)
	}
}

func TestNotTickedIsNotKept(t *testing.T) {
	b := newLab(t, "sesame", true)
	b.person.says(viewer.Answer{Secret: viewer.SecretString("sesame")})
	s, st := b.connect(b.machine)
	if st.Phase != viewer.Connected {
		t.Fatalf("got %+v", st)
	}
	b.close(s)
	if n := len(b.l.Hosts()); n != 0 {
		t.Errorf("a machine that was typed became %d saved ones without being asked for", n)
	}
}

// A machine that was typed, with the box ticked: one host, and not asked again.
func TestTypedMachineIsRemembered(t *testing.T) {
	b := newLab(t, "sesame", true)
	b.person.says(viewer.Answer{Secret: viewer.SecretString("sesame"), Save: true})
	for i := range 3 {
		s, st := b.connect(b.machine)
		if st.Phase != viewer.Connected {
			t.Fatalf("got %+v", st)
		}
		if asked := len(b.person.questions()); asked != map[bool]int{true: 1}[i == 0] {
			t.Errorf("connection %d: asked %d times", i+1, asked)
		}
		if i == 0 {
			if err := b.savedNow(); err != nil {
				t.Fatal(err)
			}
		}
		b.close(s)
		hosts := b.l.Hosts()
		if len(hosts) != 1 || hosts[0].Address != b.machine.Address || hosts[0].Port != b.machine.Port {
			t.Fatalf("connection %d: got hosts %v", i+1, hosts)
		}
	}
}

// What the machine refused is not given again in this session; it stays
// stored, the person is asked and told why, and a newly stored one is given.
func TestRefusedPasswordIsGivenOnce(t *testing.T) {
	b := newLab(t, "sesame", true)
	h := b.add(keychain.Host{Name: "lab"})
	b.keep(h.ID, "stale")
	b.person.says(viewer.Answer{Secret: viewer.SecretString("also wrong")})
	s, st := b.connect(b.l.Hosts()[0])
	if st.Kind != viewer.Denied || len(b.person.questions()) != 0 {
		t.Fatalf("got %+v", st)
	}
	for range 2 {
		if st := b.reconnect(s); st.Kind != viewer.Denied {
			t.Fatalf("got %+v", st)
		}
		q := b.person.questions()
		if len(q) != 1 || !strings.Contains(q[0].Note, "refused") {
			t.Errorf("got questions %+v", q)
		}
	}
	if b.kept(h.ID) != "stale" {
		t.Error("a refused password does not stay stored")
	}
	b.keep(h.ID, "sesame")
	if st := b.reconnect(s); st.Phase != viewer.Connected || len(b.person.questions()) != 0 {
		t.Errorf("a newly stored password is not used: %+v", st)
	}
}

// headless errors say what to do.
func TestNobodyToAsk(t *testing.T) {
	b := newLab(t, "sesame", false)
	_, st := b.connect(b.machine)
	if st.Kind != viewer.Credentials || !strings.Contains(st.Reason, "dvv hosts add") {
		t.Errorf("typed: got %+v", st)
	}
	h := b.add(keychain.Host{Name: "lab"})
	s, st := b.connect(b.l.Hosts()[0])
	if st.Kind != viewer.Credentials || !strings.Contains(st.Reason, "none is stored") || !strings.Contains(st.Reason, `"dvv login lab"`) {
		t.Errorf("none: got %+v", st)
	}
	b.keep(h.ID, "stale")
	if st := b.reconnect(s); st.Kind != viewer.Denied {
		t.Errorf("stale: got %+v", st)
	}
	if st := b.reconnect(s); st.Kind != viewer.Credentials || !strings.Contains(st.Reason, "refused") || !strings.Contains(st.Reason, `"dvv login lab"`) {
		t.Errorf("refused: got %+v", st)
	}
}

// A name that a shell would not take as one word is not given as advice.
func TestAdviceCanBeTyped(t *testing.T) {
	for name, want := range map[string]string{"lab01": "lab01", "Büro 2": "h_1", "a;b": "h_1", "-x": "h_1", "": "h_1"} {
		if got := shown(viewer.Target{Name: name, HostID: "h_1"}); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// A locked keychain: what the real one answers then.
type locked struct{ secret.Memory }

func (*locked) Get(context.Context, secret.Key) (viewer.Secret, error) {
	return viewer.Secret{}, &secret.Error{Op: "get", Kind: secret.Locked, Reason: "it is locked"}
}

func TestLockedKeychainIsNamed(t *testing.T) {
	b := newLab(t, "sesame", true)
	b.add(keychain.Host{Name: "lab"})
	l := b.open(&locked{})
	defer l.Close()
	m := newMemory()
	target := l.Hosts()[0]
	q := viewer.Question{Kind: viewer.AskVNCPassword, Target: target, Attempt: 1}
	_, err := l.ask(t.Context(), m, nil, q)
	if viewer.KindOf(err) != viewer.Credentials || !strings.Contains(viewer.Reason(err), "it is locked") {
		t.Errorf("headless: got %v", err)
	}
	b.person.says(viewer.Answer{Secret: viewer.SecretString("x")})
	if _, err := l.ask(t.Context(), m, b.person, q); err != nil {
		t.Fatal(err)
	}
	if asked := b.person.questions(); len(asked) != 1 || !strings.Contains(asked[0].Note, "it is locked") {
		t.Errorf("got %+v", asked)
	}
}

// Every question but that for a password is the person's.
func TestOtherQuestions(t *testing.T) {
	b := newLab(t, "sesame", true)
	h := b.add(keychain.Host{Name: "lab"})
	b.keep(h.ID, "sesame")
	for _, k := range []viewer.QuestionKind{viewer.AskCertificate, viewer.AskServerKey, viewer.AskUnencrypted} {
		q := viewer.Question{Kind: k, Target: b.l.Hosts()[0]}
		b.person.says(viewer.Answer{Accept: true})
		if a, err := b.l.ask(t.Context(), newMemory(), b.person, q); err != nil || !a.Accept || !a.Secret.Empty() {
			t.Errorf("%s: got %+v, %v", k, a, err)
		}
		if _, err := b.l.ask(t.Context(), newMemory(), nil, q); viewer.KindOf(err) != viewer.Credentials {
			t.Errorf("%s: got %v", k, err)
		}
	}
}

// The user of a host, or of the login it shares, goes with the password, which
// is the login's.
func TestUsers(t *testing.T) {
	b := newLab(t, "sesame", true)
	login, err := b.l.Store().AddLogin(t.Context(), keychain.Login{Name: "office", User: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	shared := b.add(keychain.Host{Name: "shared", Login: login.ID, User: "nobody"})
	plain := b.add(keychain.Host{Name: "plain"})
	for owner, pw := range map[string]string{login.ID: "of alice", plain.ID: "of nobody"} {
		if err := b.keys.Set(t.Context(), secret.Key{Owner: owner, Kind: secret.Password}, viewer.SecretString(pw)); err != nil {
			t.Fatal(err)
		}
	}
	q := viewer.Question{Kind: viewer.AskPassword, Target: viewer.Target{HostID: shared.ID, Protocol: viewer.VNC}}
	a, err := b.l.ask(t.Context(), newMemory(), nil, q)
	if err != nil || a.User != "alice" || !a.Secret.Equal(viewer.SecretString("of alice")) {
		t.Errorf("shared: got %+v, %v", a, err)
	}
	q.Target.HostID = plain.ID
	_, err = b.l.ask(t.Context(), newMemory(), nil, q)
	if viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), "--user") {
		t.Errorf("without a user: got %v", err)
	}
	q.Name = "bob" // the machine's address named one
	if a, err := b.l.ask(t.Context(), newMemory(), nil, q); err != nil || !a.Secret.Equal(viewer.SecretString("of nobody")) {
		t.Errorf("named: got %+v, %v", a, err)
	}
	o, err := b.l.Owner(t.Context(), "shared")
	if err != nil || o.ID != login.ID || !o.Shared || o.Kind != secret.Password {
		t.Errorf("owner: got %+v, %v", o, err)
	}
	if o, err = b.l.Owner(t.Context(), "office"); err != nil || o.ID != login.ID {
		t.Errorf("login by name: got %+v, %v", o, err)
	}
	if o, err = b.l.Owner(t.Context(), "plain"); err != nil || o.Kind != secret.VNCPassword {
		t.Errorf("plain: got %+v, %v", o, err)
	}
}

// Two processes have one library: what one saves the other has at once.
func TestChangesElsewhere(t *testing.T) {
	b := newLab(t, "sesame", false)
	other := b.open(&secret.Memory{})
	defer other.Close()
	if n := len(other.Hosts()); n != 0 {
		t.Fatalf("got %d hosts", n)
	}
	h := b.add(keychain.Host{Name: "lab", ViewOnly: true})
	hosts := other.Hosts()
	if len(hosts) != 1 || hosts[0].HostID != h.ID || hosts[0].Name != "lab" || !other.ViewOnly(hosts[0]) {
		t.Fatalf("got %v", hosts)
	}
	h.Name, h.ViewOnly = "lab2", false
	if _, err := b.l.Store().Update(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if hosts = other.Hosts(); hosts[0].Name != "lab2" || other.ViewOnly(hosts[0]) {
		t.Errorf("got %v", hosts)
	}
	if h, err := other.Find(t.Context(), "lab2"); err != nil || h.Name != "lab2" {
		t.Errorf("got %v, %v", h, err)
	}
}

// A removed host leaves no password behind.
func TestRemove(t *testing.T) {
	b := newLab(t, "sesame", false)
	h := b.add(keychain.Host{Name: "lab"})
	b.keep(h.ID, "sesame")
	s, _ := b.connect(b.l.Hosts()[0])
	if removed, err := b.l.Remove(t.Context(), h.ID); !removed || err != nil {
		t.Fatalf("got %v, %v", removed, err)
	}
	if b.kept(h.ID) != "" || len(b.l.Hosts()) != 0 || b.l.CredentialStored(s.Target()) {
		t.Error("something of it is left")
	}
	if removed, err := b.l.Remove(t.Context(), h.ID); removed || kindOf(err) != keychain.NotFound {
		t.Errorf("again: got %v, %v", removed, err)
	}
}

// A keychain that never answers in time is asked once for a whole list.
type dumb struct {
	secret.Memory
	asked int
}

func (d *dumb) Has(context.Context, secret.Key) (bool, error) {
	d.asked++
	return false, &secret.Error{Op: "has", Kind: secret.Failed, Reason: "no answer"}
}

func TestDumbKeychain(t *testing.T) {
	b := newLab(t, "sesame", false)
	d := &dumb{}
	l := b.open(d)
	defer l.Close()
	for range 20 {
		b.add(keychain.Host{Name: "lab"})
	}
	for _, h := range l.Hosts() {
		if l.CredentialStored(h) {
			t.Fatal("a password is said to be stored")
		}
	}
	if d.asked != 1 {
		t.Errorf("the keychain was asked %d times", d.asked)
	}
	if err := l.Login(t.Context(), Owner{ID: "h_1"}, secret.VNCPassword, viewer.SecretString("x")); err != nil {
		t.Fatal(err)
	}
	l.CredentialStored(l.Hosts()[0])
	if d.asked != 2 {
		t.Error("it is left alone although it has just answered")
	}
}

// A library that cannot be opened is not replaced, and the error says why.
func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "library.db")
	t.Setenv(PathVariable, path)
	l, err := Open(Options{Secrets: &secret.Memory{}, Sample: true, SampleWidth: 320, SampleHeight: 200})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Store().Path(); got != path {
		t.Errorf("got %s, want that of the variable", got)
	}
	if h := l.Hosts(); len(h) != 2 || h[0].HostID != "sample" || h[1].HostID != sample.ShellID || h[1].Protocol != viewer.SSH ||
		l.CredentialStored(h[0]) || l.CredentialStored(h[1]) || len(l.Samples()) != 2 {
		t.Errorf("got %v", h)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(Options{Path: path, Sample: true, SampleWidth: 1, SampleHeight: 1}); err == nil {
		t.Error("a sample desktop of one pixel was served")
	}
	if _, err := store.Open(filepath.Dir(path)); err == nil {
		t.Error("a folder was opened as a library")
	}
	if _, err := Open(Options{Path: filepath.Dir(path)}); err == nil {
		t.Error("a folder was opened as a library")
	}
}
