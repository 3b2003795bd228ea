package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/trust"
)

// A Login is what methods need to know of the one who logs in, and how they
// ask. All functions are set; each may take as long as a person needs.
type Login struct {
	Target viewer.Target
	// Pinned is the form in which the machine has proved itself before.
	Pinned trust.Kind
	// Password asks for the password of types that know no users.
	Password func() (viewer.Secret, error)
	// User asks for a user and a password.
	User func() (string, viewer.Secret, error)
	// Judge decides about what the machine shows to prove who it is; the zero
	// Key when it shows nothing.
	Judge func(trust.Key) error
	// Consent asks whether what is named may be sent unencrypted.
	Consent func(what string) error
	// Notice tells a person something about the login.
	Notice func(text string)
	// Chosen is told the name of what was chosen within a method.
	Chosen func(name string)
}

// NewLogin asks by env for the target t. pause is called before each question,
// and what it returns after it: a deadline of the connection must not run
// while a person thinks.
func NewLogin(ctx context.Context, t viewer.Target, env viewer.Env, judge *trust.Judge, pause func() (resume func())) *Login {
	ask := func(q viewer.Question) (viewer.Answer, error) {
		defer pause()()
		q.Target, q.Attempt = t, 1
		a, err := env.Ask.Ask(ctx, q)
		var own *viewer.Error
		if err != nil && !errors.As(err, &own) {
			err = &viewer.Error{Op: "rfb.Login", Kind: viewer.KindOf(err), Err: err}
		}
		return a, err
	}
	l := &Login{
		Target: t,
		Pinned: judge.Pinned(t),
		Notice: func(text string) { env.Emit(viewer.Notice{Text: text}) },
		Chosen: func(name string) { env.Emit(viewer.Progress{Phase: viewer.Authenticating, Method: name}) },
	}
	l.Password = func() (viewer.Secret, error) {
		a, err := ask(viewer.Question{Kind: viewer.AskVNCPassword})
		return a.Secret, err
	}
	l.User = func() (string, viewer.Secret, error) {
		a, err := ask(viewer.Question{Kind: viewer.AskPassword, Name: t.User})
		if a.User == "" {
			a.User = t.User
		}
		if err == nil && a.User == "" {
			err = &viewer.Error{Op: "rfb.Login", Kind: viewer.Credentials, Err: errors.New("the machine wants a user name: give one with the password")}
		}
		return a.User, a.Secret, err
	}
	l.Judge = func(k trust.Key) error {
		defer pause()()
		return judge.Check(ctx, t, k, env.Ask, env.Emit)
	}
	l.Consent = func(what string) error {
		ip, err := netip.ParseAddr(t.Address)
		direct := t.Proxy == "" && t.RepeaterID == ""
		if t.Socket() || direct && (err == nil && ip.IsLoopback() || t.Address == "localhost") {
			return nil // it does not leave this machine
		}
		text := fmt.Sprintf("%s wants %s sent unencrypted: anybody on the way can read it", t.Label(), what)
		a, err := ask(viewer.Question{Kind: viewer.AskUnencrypted, Text: text})
		if err == nil && !a.Accept {
			err = &viewer.Error{Op: "rfb.Login", Kind: viewer.Cancelled, Err: errors.New(text + "; it was not sent")}
		}
		return err
	}
	return l
}

// Methods are the ways to log in, the best first: encrypted ones before all
// others, and of those the ones for which the target has what they need.
func Methods(l *Login) []Method {
	list := []Method{&rsaAES{l, TypeRA2x256}, &rsaAES{l, TypeRA2}, veNCrypt{l}, anonTLS{l}}
	if l.Pinned == trust.KindCertificate {
		// A server that has learnt RA2 since has not changed.
		list = []Method{veNCrypt{l}, &rsaAES{l, TypeRA2x256}, &rsaAES{l, TypeRA2}, anonTLS{l}}
	}
	if l.Target.RequireEncryption {
		return list
	}
	list = append(list, &rsaAES{l, TypeRA2nex256}, &rsaAES{l, TypeRA2ne})
	list = append(list, l.plain()...)
	return append(list, &tight{l: l}, ultraVNC{l})
}

// plain are the methods that can stand inside another one. With a user name at
// hand, those that take one come before the password without a user.
func (l *Login) plain() []Method {
	none := unproven{l, None{}}
	vnc := unproven{l, l.vnc()}
	// Apple's oldest type first: it is the one that other viewers use.
	users := []Method{unproven{l, appleDH{l}}, unproven{l, appleSRP{l}}, appleRSA{l}, unproven{l, msLogon{l}}}
	if l.Target.User != "" {
		return append(append([]Method{none}, users...), vnc)
	}
	return append([]Method{none, vnc}, users...)
}

// vnc is security type 2.
func (l *Login) vnc() VNC {
	return VNC{Password: func() (viewer.Secret, error) {
		s, err := l.Password()
		if len(s.Open()) > PasswordBytes {
			l.Notice("VNC uses only the first 8 bytes of a password; the rest of this one protects nothing")
		}
		return s, err
	}}
}

// choose returns the first method that is offered.
func choose(methods []Method, offered []uint8) Method {
	for _, m := range methods {
		for _, t := range offered {
			if m.Type() == t {
				return m
			}
		}
	}
	return nil
}

// NoMethod is the error for a machine that offers nothing usable.
func NoMethod(l *Login, offered []uint8) error {
	if l.Target.RequireEncryption {
		return unsupported("encryption is required for %s, but it offers only %s: turn on TLS (VeNCrypt) or RA2 there, or connect through SSH and allow unencrypted logins for it",
			l.Target.Label(), Names(offered))
	}
	var own []uint8
	for _, m := range Methods(l) {
		own = append(own, m.Type())
	}
	return unsupported("unsupported scheme for logging in: the machine offers %s, this viewer can do %s", Names(offered), Names(own))
}

// An unproven method does not prove who the machine is: one that has proved it
// before is not believed.
type unproven struct {
	l *Login
	Method
}

// Login has the judge agree first.
func (u unproven) Login(c *conn.Conn) error {
	if err := u.l.Judge(trust.Key{}); err != nil {
		return err
	}
	return u.Method.Login(c)
}

// Passwordless reports whether the method that was logged in by asked for
// nothing, after which servers of before 3.8 send no security result.
func Passwordless(m Method) bool {
	if u, ok := m.(unproven); ok {
		m = u.Method
	}
	t, ok := m.(*tight)
	return ok && t.none || m.Type() == TypeNone
}

// HasAbilities reports whether abilities follow ServerInit after a login by m.
func HasAbilities(m Method) bool { return m.Type() == TypeTight }

func unsupported(format string, args ...any) error {
	return &viewer.Error{Op: "rfb.Security", Kind: viewer.Unsupported, Err: fmt.Errorf(format, args...)}
}

func malformed(format string, args ...any) error {
	return &viewer.Error{Op: "rfb.Login", Kind: viewer.Malformed, Err: fmt.Errorf(format, args...)}
}

func tooLong(format string, args ...any) error {
	return &viewer.Error{Op: "rfb.Login", Kind: viewer.Limit, Err: fmt.Errorf(format, args...)}
}

func unusable(format string, args ...any) error {
	return &viewer.Error{Op: "rfb.Login", Kind: viewer.Invalid, Err: fmt.Errorf(format, args...)}
}
