package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deskvnc/keychain/secret"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// Asker answers the questions of sessions, for [engine.Config]: a password of
// a saved machine from the keychain, and everything else by the person. person
// says who that is for a session; nil, or a nil Asker, means nobody.
//
// A stored password is given once. What the machine refused stays stored and
// is not given again in that session; another one stored since is. A keychain
// that is locked or absent is named in the question, or in the error.
//
// The engine is to be given to [Library.Follow], which learns what came of the
// answers.
func (l *Library) Asker(person func(*engine.Session) viewer.Asker) func(*engine.Session) viewer.Asker {
	return func(s *engine.Session) viewer.Asker {
		var p viewer.Asker
		if person != nil {
			p = person(s)
		}
		m := l.memory(s)
		return viewer.AskFunc(func(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
			return l.ask(ctx, m, p, q)
		})
	}
}

// ask answers one question.
func (l *Library) ask(ctx context.Context, m *memory, person viewer.Asker, q viewer.Question) (viewer.Answer, error) {
	if !slices.Contains(passwords, q.Kind) {
		if person == nil {
			return viewer.Answer{}, nobody("the machine asks about " + thing(q.Kind) + " and nobody is here to answer: open it once in the DeskVNC window")
		}
		return person.Ask(ctx, q)
	}
	e, saved := l.entry(q.Target)
	if saved && l.fits(e, q) {
		a, why, err := l.fromKeychain(ctx, m, e, q)
		if err != nil || why == "" {
			return a, err
		}
		q.Note = why
		if why == noneStored {
			q.Note = ""
		}
		if person == nil {
			text := fmt.Sprintf("%s asks for %s and %s", asking(q.Kind), thing(q.Kind), why)
			switch why {
			case noneStored, noUser, wasRefused:
				text += ": " + advice(e, q.Kind, why)
			}
			return viewer.Answer{}, nobody(text)
		}
	}
	if person == nil {
		return viewer.Answer{}, nobody(fmt.Sprintf("%s asks for %s and nobody is here to give one: save the machine with \"dvv hosts add NAME %s\", then its password with \"dvv login NAME%s\"",
			asking(q.Kind), thing(q.Kind), address(q.Target), ofKind(q.Kind)))
	}
	a, err := person.Ask(ctx, q)
	if err == nil && a.Save && !a.Secret.Empty() {
		m.keepLater(q, a)
	}
	return a, err
}

// Why the keychain did not answer, in words that follow "the machine asks for
// a password and".
const (
	noneStored = "none is stored"
	wasRefused = "it refused the one that is stored"
	noUser     = "one is stored, but no user name"
)

// fromKeychain looks for a stored answer. why is empty when there is one.
func (l *Library) fromKeychain(ctx context.Context, m *memory, e entry, q viewer.Question) (a viewer.Answer, why string, err error) {
	s, err := l.secrets.Get(ctx, e.key(q.Kind))
	if ctx.Err() != nil {
		return a, "", ctx.Err()
	}
	if err != nil {
		var own *secret.Error
		switch {
		case !errors.As(err, &own):
			return a, "the keychain cannot be read", nil
		case own.Kind == secret.NotFound:
			return a, noneStored, nil
		}
		why = "the keychain cannot give the stored one, since " + own.Reason
		if own.Advice != "" {
			why += "; " + own.Advice
		}
		return a, why, nil
	}
	user := e.target.User
	if q.Kind == viewer.AskProxyPassword || q.Kind == viewer.AskPassphrase {
		user = "" // it is in the proxy's address; a key has none
	}
	if q.Kind == viewer.AskPassword && user == "" && q.Name == "" {
		return a, noUser, nil
	}
	if !m.offer(q, s) {
		return a, wasRefused, nil
	}
	return viewer.Answer{User: user, Secret: s}, "", nil
}

// passwords are the questions that the keychain may answer.
var passwords = []viewer.QuestionKind{viewer.AskVNCPassword, viewer.AskPassword, viewer.AskProxyPassword, viewer.AskPassphrase}

// fits reports whether what is stored for a machine may answer a question: the
// passphrase that is kept belongs to the machine's own key file, when it has
// one.
func (l *Library) fits(e entry, q viewer.Question) bool {
	own := e.target.Settings().KeyFile
	return q.Kind != viewer.AskPassphrase || own == "" || sameFile(own, q.Name)
}

// sameFile reports whether two paths name the same key file. One may begin
// with ~.
func sameFile(a, b string) bool {
	whole := func(p string) string {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				return filepath.Join(home, rest)
			}
		}
		return filepath.Clean(p)
	}
	return whole(a) == whole(b)
}

// key names the secret that answers a question about a machine. Its proxy's is
// its own, also when it shares its login with others.
func (e entry) key(k viewer.QuestionKind) secret.Key {
	if k == viewer.AskProxyPassword {
		return secret.Key{Owner: e.target.HostID, Kind: string(k)}
	}
	return secret.Key{Owner: e.owner, Kind: string(k)}
}

// asking is who asks a question.
func asking(k viewer.QuestionKind) string {
	switch k {
	case viewer.AskProxyPassword:
		return "the proxy"
	case viewer.AskPassphrase:
		return "the key"
	}
	return "the machine"
}

// ofKind is what "dvv login" needs for a secret that it does not mean by
// itself.
func ofKind(k viewer.QuestionKind) string {
	if k == viewer.AskProxyPassword || k == viewer.AskPassphrase {
		return " --kind " + string(k)
	}
	return ""
}

// address is a machine's address as it is written on a command line.
func address(t viewer.Target) string {
	if t.Socket() {
		return "unix:" + t.Address
	}
	return t.HostPort()
}

// advice says what a person can do about a question that nobody answers.
func advice(e entry, k viewer.QuestionKind, why string) string {
	name := shown(e.target) + ofKind(k)
	switch why {
	case noUser:
		return fmt.Sprintf("give it a user with \"dvv hosts edit %s --user USER\"", shown(e.target))
	case wasRefused:
		return fmt.Sprintf("store the right one with \"dvv login %s\", then reconnect", name)
	}
	return fmt.Sprintf("store one with \"dvv login %s\"", name)
}

// shown is the name of a machine as it is written on a command line.
func shown(t viewer.Target) string {
	for _, r := range t.Name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.') {
			return t.HostID
		}
	}
	if t.Name == "" || t.Name[0] == '-' {
		return t.HostID
	}
	return t.Name
}

// thing is what a question is about, with its article.
func thing(k viewer.QuestionKind) string {
	switch k {
	case viewer.AskVNCPassword, viewer.AskPassword, viewer.AskProxyPassword:
		return "a password"
	case viewer.AskPassphrase:
		return "a passphrase"
	case viewer.AskPrompts:
		return "something in its own words"
	case viewer.AskCertificate:
		return "its certificate"
	case viewer.AskServerKey:
		return "its key"
	case viewer.AskUnencrypted:
		return "sending unencrypted what should not be seen"
	}
	return "something (" + string(k) + ")"
}

func nobody(text string) error {
	return &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: errors.New(text)}
}
