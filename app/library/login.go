package library

import (
	"context"
	"errors"
	"strings"

	"deskvnc/keychain"
	"deskvnc/keychain/secret"
	"deskvnc/viewer"
)

// Find returns the saved machine that a person names: by its id or its name.
func (l *Library) Find(ctx context.Context, name string) (keychain.Host, error) {
	if strings.HasPrefix(name, "h_") {
		h, err := l.store.Get(ctx, name)
		if kindOf(err) != keychain.NotFound {
			return h, err
		}
	}
	return l.store.ByName(ctx, name)
}

func kindOf(err error) keychain.Kind {
	var e *keychain.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// An Owner is who a secret belongs to.
type Owner struct {
	ID     string
	Name   string
	Shared bool // a login that several hosts may use
	// Host is the id of the machine that was named; empty for a login.
	Host string
	// Kind is the secret that the machine asks for first.
	Kind string
	// User is who logs in; empty when none is known.
	User string
}

// Owner finds who owns the secrets of the machine, or of the shared login,
// that a person names.
func (l *Library) Owner(ctx context.Context, name string) (Owner, error) {
	h, err := l.Find(ctx, name)
	if err == nil {
		o := Owner{ID: h.ID, Host: h.ID, Name: h.Name, Kind: secret.Password, User: h.User}
		if h.Login != "" {
			login, err := l.store.Login(ctx, h.Login)
			if err != nil {
				return Owner{}, err
			}
			o.ID, o.Name, o.Shared, o.User = login.ID, login.Name, true, login.User
		}
		if h.Protocol == viewer.VNC && o.User == "" {
			o.Kind = secret.VNCPassword
		}
		return o, nil
	}
	if kindOf(err) != keychain.NotFound {
		return Owner{}, err
	}
	logins, lerr := l.store.Logins(ctx)
	if lerr != nil {
		return Owner{}, lerr
	}
	for _, login := range logins {
		if login.ID == name || login.Name == name {
			return Owner{ID: login.ID, Name: login.Name, Shared: true, Kind: secret.Password, User: login.User}, nil
		}
	}
	return Owner{}, err
}

// Login keeps a secret of an owner. The password of a proxy is the machine's
// own, whoever logs in there.
func (l *Library) Login(ctx context.Context, o Owner, kind string, s viewer.Secret) error {
	owner, err := o.of(kind)
	if err != nil {
		return err
	}
	return l.keep(ctx, secret.Key{Owner: owner, Kind: kind}, s)
}

// of is who owns a secret of a kind.
func (o Owner) of(kind string) (string, error) {
	switch {
	case kind != secret.ProxyPassword:
		return o.ID, nil
	case o.Host == "":
		return "", &keychain.Error{Op: "login", Kind: keychain.Invalid, Err: errors.New("the password of a proxy belongs to a machine, not to a shared login: name the machine")}
	}
	return o.Host, nil
}

// Logout removes a secret of an owner, or with no kind all of them.
func (l *Library) Logout(ctx context.Context, o Owner, kind string) error {
	defer l.looked()
	if kind == "" {
		err := l.secrets.DeleteOwner(ctx, o.ID)
		if o.Host != "" && o.Host != o.ID {
			err = errors.Join(err, l.secrets.DeleteOwner(ctx, o.Host))
		}
		return err
	}
	owner, err := o.of(kind)
	if err != nil {
		return err
	}
	return l.secrets.Delete(ctx, secret.Key{Owner: owner, Kind: kind})
}

// Remove takes a host out of the library, and its own secrets out of the
// keychain. A secret that could not be removed is the error's alone: removed
// says that the host has gone.
func (l *Library) Remove(ctx context.Context, id string) (removed bool, err error) {
	if err := l.store.Delete(ctx, id); err != nil {
		return false, err
	}
	defer l.looked()
	return true, l.secrets.DeleteOwner(ctx, id)
}
