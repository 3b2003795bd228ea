package sshdial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

// maxKeyOffers bounds the keys that are offered: machines take six attempts
// (MaxAuthTries), and one is kept for a password. Where only keys are taken
// there is one more.
const maxKeyOffers = 5

// The bounds of what a machine may ask.
const (
	maxRounds  = 32 // of keyboard-interactive
	maxPrompts = 32 // in one round
	maxBanners = 16
)

// The methods of RFC 4252 and RFC 4256.
const (
	methodNone        = "none"
	methodKey         = "publickey"
	methodPassword    = "password"
	methodInteractive = "keyboard-interactive"
)

// An auth is one login: it chooses what is tried next.
type auth struct {
	ctx   context.Context
	hop   *hop
	env   viewer.Env
	link  *link
	limit Limits

	// All of it is owned by the goroutine that logs in.
	keys     []identity
	offered  int
	trying   string   // the method at hand
	what     string   // the same for a person; empty when nothing was shown
	tried    []string // what was refused
	passed   []string // what was taken as one of several factors
	partial  int
	allowed  []string
	password bool // the password was used
	asked    bool // a secret was sent and refused
	prompts  bool // keyboard-interactive was tried since the last factor
	rounds   int
	nobody   error // nobody was there to answer a question
	abort    error // the login is to end with this
	banners  int
}

// A switchUser is the answer of a person who named another user.
type switchUser struct {
	user   string
	secret viewer.Secret
}

func (s *switchUser) Error() string { return "another user was named" }

// next is asked by the library what to try; nil and nil end the login.
func (a *auth) next(c *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	if err := a.link.broken(); err != nil {
		return nil, err
	}
	a.allowed = c.AllowedMethods
	a.account(c)
	if a.abort != nil {
		return nil, a.abort
	}
	a.link.begin("the login", a.limit.Step)
	if a.may(methodKey) && !a.hop.conf.NoPubkey {
		if m := a.key(); m != nil {
			return m, nil
		}
	}
	if a.may(methodInteractive) && !a.prompts && !a.hop.conf.NoKbdInteractive {
		a.prompts = true
		a.try(methodInteractive, "")
		return ssh.KeyboardInteractive(a.challenge), nil
	}
	if a.may(methodPassword) && !a.password && !a.hop.conf.NoPassword {
		s, err := a.askPassword("")
		if err != nil {
			return nil, err
		}
		if s != nil {
			a.try(methodPassword, "a password")
			return ssh.Password(string(s.Open())), nil
		}
	}
	a.trying = ""
	return nil, nil
}

func (a *auth) may(method string) bool { return slices.Contains(a.allowed, method) }

func (a *auth) try(method, what string) {
	a.trying, a.what = method, what
	a.env.Emit(viewer.Progress{Phase: viewer.Authenticating, Method: method})
}

// account notes what became of the last attempt.
func (a *auth) account(c *ssh.ClientAuthContext) {
	what := a.what
	a.what = ""
	if n := len(c.PartialSuccessMethods); n > a.partial {
		a.partial = n
		a.prompts = false // the next factor may be questions again
		a.passed = append(a.passed, c.PartialSuccessMethods[n-1])
		return
	}
	if what == "" {
		return
	}
	a.tried = append(a.tried, what)
	if a.trying != methodKey {
		a.asked = true
	}
}

// key is the next key to offer, or nil.
func (a *auth) key() ssh.AuthMethod {
	limit := maxKeyOffers
	if len(a.allowed) == 1 {
		limit++
	}
	for len(a.keys) > 0 && a.offered < limit {
		k := a.keys[0]
		a.keys = a.keys[1:]
		if !usable(k.signer) {
			continue
		}
		a.offered++
		a.try(methodKey, k.name)
		return ssh.PublicKeysCallback(func() ([]ssh.Signer, error) { return []ssh.Signer{&watched{k.signer.(*lazySigner), a, k.name}}, nil })
	}
	return nil
}

// usable reports whether there is any way to sign with the key.
func usable(s ssh.Signer) bool {
	_, ok := s.(*lazySigner)
	return ok
}

// A watched signer notes why it did not sign.
type watched struct {
	*lazySigner
	auth *auth
	name string
}

func (w *watched) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	s, err := w.lazySigner.SignWithAlgorithm(rand, data, algorithm)
	if err != nil {
		switch viewer.KindOf(err) {
		case viewer.Cancelled, viewer.Timeout:
			w.auth.abort = err
		case viewer.Credentials:
			w.auth.nobody = err
		}
		w.auth.what = w.name + " (taken, but " + cleanLine(viewer.Reason(err), maxLine) + ")"
	}
	return s, err
}

// askPassword gets the password of the user: nil when nobody can give it. It is
// asked for once in a connection.
func (a *auth) askPassword(prompt string) (*viewer.Secret, error) {
	a.password = true
	if s := a.hop.secret; s != nil {
		a.hop.secret = nil
		return s, nil
	}
	ans, err := a.ask(viewer.Question{Kind: viewer.AskPassword, Name: a.hop.user, Text: prompt})
	if err != nil || a.nobody != nil {
		return nil, err
	}
	if ans.User != "" && ans.User != a.hop.user {
		a.abort = &switchUser{ans.User, ans.Secret}
		return nil, a.abort
	}
	return &ans.Secret, nil
}

// ask asks a person while the clock stands still. That nobody can be asked is
// kept, and is no error.
func (a *auth) ask(q viewer.Question) (viewer.Answer, error) {
	q.Target, q.Attempt = a.hop.target, 1
	resume := a.link.pause()
	ans, err := a.env.Ask.Ask(a.ctx, q)
	resume()
	if err == nil {
		return ans, nil
	}
	if viewer.KindOf(err) == viewer.Credentials {
		a.nobody = err
		return ans, nil
	}
	a.abort = &viewer.Error{Op: "ssh.Login", Kind: viewer.KindOf(err), Err: err}
	return ans, a.abort
}

// challenge answers one round of keyboard-interactive (RFC 4256 3.2).
func (a *auth) challenge(name, instruction string, prompts []string, echo []bool) ([]string, error) {
	if a.rounds++; a.rounds > maxRounds || len(prompts) > maxPrompts {
		a.abort = &viewer.Error{Op: "ssh.Login", Kind: viewer.Limit, Err: fmt.Errorf("the machine asks without an end: %d rounds, %d questions", a.rounds, len(prompts))}
		return nil, a.abort
	}
	a.link.begin("the login", a.limit.Step)
	said := strings.TrimSpace(cleanText(name, maxLine) + "\n" + cleanText(instruction, maxBanner))
	if len(prompts) == 0 {
		if said != "" {
			a.env.Emit(viewer.Notice{Text: said})
		}
		return []string{}, nil
	}
	answers := make([]string, len(prompts))
	var open []int
	for i, p := range prompts {
		if echo[i] || a.password || !asksPassword(p, a.hop.user) {
			open = append(open, i)
			continue
		}
		s, err := a.askPassword(cleanLine(p, maxLine))
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, a.nobody
		}
		answers[i] = string(s.Open())
		a.what = "a password (by keyboard-interactive)"
	}
	if len(open) == 0 {
		return answers, nil
	}
	q := viewer.Question{Kind: viewer.AskPrompts, Name: a.hop.user, Text: said}
	for _, i := range open {
		q.Prompts = append(q.Prompts, viewer.Prompt{Text: cleanLine(prompts[i], maxLine), Echo: echo[i]})
	}
	ans, err := a.ask(q)
	if err != nil {
		return nil, err
	}
	if a.nobody != nil {
		return nil, a.nobody
	}
	if len(ans.Secrets) != len(open) {
		a.abort = &viewer.Error{Op: "ssh.Login", Kind: viewer.Invalid, Err: fmt.Errorf("the machine asked %d questions and was to get %d answers", len(open), len(ans.Secrets))}
		return nil, a.abort
	}
	for n, i := range open {
		answers[i] = string(ans.Secrets[n].Open())
	}
	if a.what == "" {
		a.what = "answers to its questions (keyboard-interactive)"
	}
	return answers, nil
}

// passwordWords are how machines call a password; otherWords turn it into
// something else.
var (
	passwordWords = []string{"password", "passwort", "kennwort", "mot de passe", "contraseña", "senha", "wachtwoord", "lösenord", "hasło", "пароль", "パスワード", "密码", "密碼", "암호"}
	otherWords    = []string{"one-time", "one time", "onetime", "otp", "token", "code", "pin", "new", "retype", "again", "confirm", "current", "old", "verification", "passcode", "neues", "nouveau", "expired"}
)

// asksPassword reports whether a hidden question is the one for the password of
// the user.
func asksPassword(prompt, user string) bool {
	p := strings.ToLower(cleanLine(prompt, maxLine))
	// OpenSSH writes (user@host) before it; that is no part of the question.
	if strings.HasPrefix(p, "("+strings.ToLower(user)+"@") {
		if _, rest, ok := strings.Cut(p, ") "); ok {
			p = rest
		}
	}
	p = strings.ReplaceAll(p, strings.ToLower(user), " ") // "Password for alice:"
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(p, w) })
	}
	return has(passwordWords) && !has(otherWords)
}

// banner takes what the machine says before the login (RFC 4252 5.4).
func (a *auth) banner(text string) error {
	if a.banners++; a.banners > maxBanners {
		a.abort = &viewer.Error{Op: "ssh.Login", Kind: viewer.Limit, Err: fmt.Errorf("the machine sent more than %d banners", maxBanners)}
		a.link.end(a.abort)
		return a.abort
	}
	if t := cleanText(text, maxBanner); strings.TrimSpace(t) != "" {
		a.env.Emit(viewer.Notice{Text: t})
	}
	return nil
}

// failed is the error of a login that nothing was left to try in.
func (a *auth) failed(cause error) error {
	if a.what != "" { // the last attempt was not answered
		a.tried = append(a.tried, a.what)
		a.asked = a.asked || a.trying != methodKey
		a.what = ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s did not let us in", a.hop)
	if len(a.passed) > 0 {
		fmt.Fprintf(&b, "; it took %s, and wants more", strings.Join(a.passed, ", "))
	}
	if len(a.tried) > 0 {
		fmt.Fprintf(&b, "; it refused %s", strings.Join(a.tried, ", "))
	}
	if left := len(a.keys); left > 0 && a.offered >= maxKeyOffers {
		fmt.Fprintf(&b, "; %d more keys were not offered, because machines take few attempts: name the key of this machine", left)
	}
	if len(a.allowed) > 0 {
		fmt.Fprintf(&b, "; it takes %s", cleanLine(strings.Join(a.allowed, ", "), maxLine))
	}
	kind := viewer.Denied
	switch {
	case a.nobody != nil && !a.asked:
		kind = viewer.Credentials
		fmt.Fprintf(&b, "; %s", viewer.Reason(a.nobody))
	case len(a.tried) == 0:
		kind = viewer.Credentials
		b.WriteString("; there is no key, agent or password to try")
	}
	if cause != nil {
		fmt.Fprintf(&b, " (%s)", cleanLine(cause.Error(), maxLine))
	}
	return &viewer.Error{Op: "ssh.Login", Kind: kind, Err: errors.New(b.String())}
}
