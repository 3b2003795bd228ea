//go:build !windows && !darwin

package secret_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"deskvnc/keychain/secret"
	"deskvnc/keychain/secret/secrettest"
	"deskvnc/viewer"
)

// others is a key under which nothing is stored.
var others = secret.Key{Owner: "h_other", Kind: secret.Password}

func TestLockedHeadless(t *testing.T) {
	s, k := locked(t, secret.Options{})
	p := s.StartPrompter(t, secrettest.Reply{Password: master})
	if st := k.Status(t.Context()); st.Kind != secret.Locked || st.Advice == "" {
		t.Errorf("got state %+v, want locked, with advice", st)
	}
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.Locked)
	wantKind(t, k.Set(t.Context(), lab, viewer.SecretString(pass)), secret.Locked)
	wantKind(t, k.Delete(t.Context(), lab), secret.Locked)
	wantKind(t, k.DeleteOwner(t.Context(), lab.Owner), secret.Locked)
	wantKind(t, k.Unlock(t.Context()), secret.Locked)
	if ok, err := k.Has(t.Context(), lab); !ok || err != nil {
		t.Errorf("Has: got %v, %v, want true without unlocking", ok, err)
	}
	_, err = k.Get(t.Context(), others)
	wantKind(t, err, secret.NotFound)
	if err := k.Delete(t.Context(), others); err != nil {
		t.Error(err)
	}
	if n := p.Count(); n != 0 {
		t.Errorf("a headless caller had %d questions shown, want none", n)
	}
}

func TestLockedAsksOnce(t *testing.T) {
	s, k := locked(t, secret.Options{MayPrompt: true})
	p := s.StartPrompter(t, secrettest.Reply{Password: master})
	for range 10 {
		_, err := k.Get(t.Context(), others)
		wantKind(t, err, secret.NotFound)
		if _, err := k.Has(t.Context(), lab); err != nil {
			t.Error(err)
		}
		if st := k.Status(t.Context()); st.Kind != secret.Locked {
			t.Errorf("got state %+v, want locked", st)
		}
	}
	if n := p.Count(); n != 0 {
		t.Errorf("%d questions were shown where nothing is stored, want none", n)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { wantValue(t, k, lab, pass) })
	}
	wg.Wait()
	put(t, k, lab, pass+"2")
	wantValue(t, k, lab, pass+"2")
	if n := p.Count(); n != 1 {
		t.Errorf("%d questions were shown for 10 connections, want 1", n)
	}
}

func TestDismissed(t *testing.T) {
	s, k := locked(t, secret.Options{MayPrompt: true})
	p := s.StartPrompter(t, secrettest.Reply{Dismiss: true})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, err := k.Get(t.Context(), lab)
			wantKind(t, err, secret.Dismissed)
		})
	}
	wg.Wait()
	if n := p.Count(); n != 1 {
		t.Errorf("%d questions were shown to a person who declines, want 1", n)
	}
	// What the person asks for themselves asks again.
	wantKind(t, k.Set(t.Context(), lab, viewer.SecretString(pass)), secret.Dismissed)
	wantKind(t, k.DeleteOwner(t.Context(), lab.Owner), secret.Dismissed)
	wantKind(t, k.Unlock(t.Context()), secret.Dismissed)
	if n := p.Count(); n != 4 {
		t.Errorf("got %d questions, want 4", n)
	}
	p.Answer(secrettest.Reply{Password: master})
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.Dismissed)
	if err := k.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	wantValue(t, k, lab, pass)
	if n := p.Count(); n != 5 {
		t.Errorf("got %d questions, want 5", n)
	}
}

func TestUnlockedElsewhere(t *testing.T) {
	s, k := locked(t, secret.Options{MayPrompt: true})
	p := s.StartPrompter(t, secrettest.Reply{Dismiss: true})
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.Dismissed)
	// The person unlocks it in another program, which asks them.
	p.Answer(secrettest.Reply{Password: master})
	if err := secret.New(secret.Options{MayPrompt: true}).Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantValue(t, k, lab, pass)
	if err := k.DeleteOwner(t.Context(), lab.Owner); err != nil {
		t.Error(err)
	}
	if items := s.Search(t, "owner", lab.Owner); len(items) != 0 {
		t.Errorf("left behind: %s", items)
	}
}

// TestNobodyAnswers leaves the question on the screen, where it is answered
// when the person comes back.
func TestNobodyAnswers(t *testing.T) {
	s, k := locked(t, secret.Options{MayPrompt: true, PromptTimeout: 300 * time.Millisecond})
	p := s.StartPrompter(t, secrettest.Reply{Ignore: true})
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.Locked)
	_, err = k.Get(t.Context(), lab)
	wantKind(t, err, secret.Dismissed)
	_, err = secret.New(secret.Options{}).Get(t.Context(), lab)
	wantKind(t, err, secret.Locked)
	p.AnswerLate(secrettest.Reply{Password: master})
	<-p.Stopped
	wantValue(t, k, lab, pass)
	if n := p.Count(); n != 1 {
		t.Errorf("got %d questions, want 1", n)
	}
}

func TestNoPrompter(t *testing.T) {
	_, k := locked(t, secret.Options{MayPrompt: true})
	_, err := k.Get(t.Context(), lab)
	wantKind(t, err, secret.Dismissed)
}

func TestPromptCancelled(t *testing.T) {
	s, k := locked(t, secret.Options{MayPrompt: true})
	p := s.StartPrompter(t, secrettest.Reply{Ignore: true})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-p.Shown
		cancel()
	}()
	if _, err := k.Get(ctx, lab); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	// Nobody declined, so the next one waits for the person too, and the
	// question that is still on the screen serves it.
	done := make(chan struct{})
	go func() {
		defer close(done)
		wantValue(t, k, lab, pass)
	}()
	p.AnswerLate(secrettest.Reply{Password: master})
	<-done
	if n := p.Count(); n != 1 {
		t.Errorf("got %d questions, want 1", n)
	}
}

func TestServiceEndsWhileAsking(t *testing.T) {
	s, k := locked(t, secret.Options{MayPrompt: true})
	p := s.StartPrompter(t, secrettest.Reply{Ignore: true})
	got := make(chan error, 1)
	go func() {
		_, err := k.Get(t.Context(), lab)
		got <- err
	}()
	<-p.Shown
	s.StopKeyring(t)
	wantKind(t, <-got, secret.Failed)
}

// TestNoDefaultKeyring is a keyring service that never saw a login.
func TestNoDefaultKeyring(t *testing.T) {
	s := secrettest.New(t)
	s.StartKeyring(t, "")
	p := s.StartPrompter(t, secrettest.Reply{Password: "chosen by the person"})

	headless := secret.New(secret.Options{})
	if st := headless.Status(t.Context()); st.Kind != secret.Absent || st.Advice == "" {
		t.Errorf("got state %+v, want absent, with advice", st)
	}
	wantKind(t, headless.Set(t.Context(), lab, viewer.SecretString(pass)), secret.Absent)
	wantKind(t, headless.Unlock(t.Context()), secret.Absent)
	_, err := headless.Get(t.Context(), lab)
	wantKind(t, err, secret.NotFound)
	if n := p.Count(); n != 0 {
		t.Errorf("a headless caller had %d questions shown, want none", n)
	}

	k := secret.New(secret.Options{MayPrompt: true})
	if st := k.Status(t.Context()); st.Kind != secret.Available || st.Advice == "" {
		t.Errorf("got state %+v, want available, with a word about the first", st)
	}
	p.Answer(secrettest.Reply{Dismiss: true})
	wantKind(t, k.Set(t.Context(), lab, viewer.SecretString(pass)), secret.Dismissed)
	p.Answer(secrettest.Reply{Password: "chosen by the person"})
	asked := p.Count()
	var wg sync.WaitGroup
	for _, kind := range []string{secret.VNCPassword, secret.Password, secret.KeyPassphrase} {
		wg.Go(func() { put(t, k, secret.Key{Owner: lab.Owner, Kind: kind}, pass) })
	}
	wg.Wait()
	if n := p.Count() - asked; n != 1 {
		t.Errorf("%d questions were shown to make one keyring, want 1", n)
	}
	wantValue(t, headless, lab, pass)

	// It outlives the service: it is no keyring of the session only.
	s.StopKeyring(t)
	s.StartKeyring(t, "")
	wantValue(t, k, lab, pass)
}

// TestKeyringWithoutPassword opens by itself, also for a headless caller.
func TestKeyringWithoutPassword(t *testing.T) {
	s := secrettest.New(t)
	s.StartKeyring(t, "")
	s.StartPrompter(t, secrettest.Reply{Password: ""})
	put(t, secret.New(secret.Options{MayPrompt: true}), lab, pass)
	s.StopKeyring(t)
	s.StartKeyring(t, "")
	wantValue(t, secret.New(secret.Options{}), lab, pass)
}
