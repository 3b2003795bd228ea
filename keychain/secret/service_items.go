//go:build !windows && !darwin

package secret

import (
	"context"
	"path"
	"unicode/utf8"

	"github.com/godbus/dbus/v5"

	"deskvnc/viewer"
)

// Attributes of an item. They are stored and searched for, so none may ever
// change, and none holds what a person can change: name, address, port, user.
const (
	attrService = "service"
	attrOwner   = "owner"
	attrKind    = "kind"

	// attrSchema is stored for other programs' sake and never searched for:
	// gnome-keyring does not find it in a locked keyring, so that a stored
	// secret would look like none.
	attrSchema = "xdg:schema"
	schema     = "org.deskvnc.Secret"
)

// query has the attributes that find the items of an owner; kind "" is any.
func (b *backend) query(owner, kind string) map[string]string {
	a := map[string]string{attrService: b.service, attrOwner: owner}
	if kind != "" {
		a[attrKind] = kind
	}
	return a
}

// attributes are those of a new item.
func (b *backend) attributes(k Key) map[string]string {
	a := b.query(k.Owner, k.Kind)
	a[attrSchema] = schema
	return a
}

// search finds the items of an owner in all collections; kind "" is any. A
// locked collection can be searched without unlocking it.
func (b *backend) search(ctx context.Context, l *link, owner, kind string) (open, locked []dbus.ObjectPath, err error) {
	err = l.call(ctx, secretsPath, ifService+".SearchItems", []any{&open, &locked}, b.query(owner, kind))
	return open, locked, err
}

func (b *backend) get(ctx context.Context, key Key) (viewer.Secret, error) {
	l, err := b.dial(ctx)
	if err != nil {
		return viewer.Secret{}, err
	}
	defer l.close()
	open, locked, err := b.search(ctx, l, key.Owner, key.Kind)
	if err != nil {
		return viewer.Secret{}, err
	}
	switch {
	case len(open) > 0:
		b.declined.Store(false) // unlocked by other means since
	case len(locked) > 0:
		open = locked[:1]
		if err := b.open(ctx, l, open, false); err != nil {
			return viewer.Secret{}, err
		}
	default:
		return viewer.Secret{}, errNotFound()
	}
	s, err := l.openSession(ctx)
	if err != nil {
		return viewer.Secret{}, err
	}
	return l.read(ctx, s, l.newest(ctx, open))
}

// newest picks the item changed last. More than one is left only when another
// program copied items, or when one was in a collection that could not be
// unlocked while a new one was stored.
func (l *link) newest(ctx context.Context, items []dbus.ObjectPath) dbus.ObjectPath {
	best, when := items[0], uint64(0)
	if len(items) == 1 {
		return best
	}
	for _, it := range items {
		if m, err := property[uint64](ctx, l, it, ifItem, "Modified"); err == nil && m > when {
			best, when = it, m
		}
	}
	return best
}

func (l *link) read(ctx context.Context, s session, item dbus.ObjectPath) (viewer.Secret, error) {
	var w wireSecret
	if err := l.call(ctx, item, ifItem+".GetSecret", []any{&w}, s.path); err != nil {
		return viewer.Secret{}, err
	}
	return s.unwrap(w)
}

func (b *backend) set(ctx context.Context, key Key, label string, value viewer.Secret) error {
	l, err := b.dial(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	coll, err := b.collection(ctx, l)
	if err != nil {
		return err
	}
	if coll == "" {
		coll, err = b.makeCollection(ctx, l)
	} else {
		err = b.open(ctx, l, []dbus.ObjectPath{coll}, true)
	}
	if err != nil {
		return err
	}
	s, err := l.openSession(ctx)
	if err != nil {
		return err
	}
	w, err := s.wrap(value)
	if err != nil {
		return err
	}
	properties := map[string]dbus.Variant{
		ifItem + ".Label":      dbus.MakeVariant(label),
		ifItem + ".Attributes": dbus.MakeVariant(b.attributes(key)),
	}
	var item, prompt dbus.ObjectPath
	const replace = true
	if err := l.call(ctx, coll, ifColl+".CreateItem", []any{&item, &prompt}, properties, w, replace); err != nil {
		return err
	}
	if prompt != noObject {
		v, err := b.answer(ctx, l, prompt)
		if err != nil {
			return err
		}
		item, _ = v.Value().(dbus.ObjectPath)
	}
	back, err := l.read(ctx, s, item)
	if err != nil {
		return err
	}
	if !back.Equal(value) {
		return &Error{Kind: Failed, Reason: "the keychain gave back something else than what was stored",
			Advice: "do not rely on it; look at the item in the computer's password manager"}
	}
	return b.removeOthers(ctx, l, key, item)
}

// removeOthers deletes older items of the same key that lie elsewhere, where
// that needs nobody to be asked; [link.newest] passes the rest over.
func (b *backend) removeOthers(ctx context.Context, l *link, key Key, keep dbus.ObjectPath) error {
	open, _, err := b.search(ctx, l, key.Owner, key.Kind)
	if err != nil {
		return err
	}
	for _, it := range open {
		if it != keep {
			if err := b.removeItem(ctx, l, it); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove deletes the items of an owner; kind "" is any.
func (b *backend) remove(ctx context.Context, owner, kind string) error {
	l, err := b.dial(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	open, locked, err := b.search(ctx, l, owner, kind)
	if err != nil {
		return err
	}
	// What is open goes first: a locked rest must not keep it.
	for _, it := range open {
		if err := b.removeItem(ctx, l, it); err != nil {
			return err
		}
	}
	if len(locked) == 0 {
		return nil
	}
	if err := b.open(ctx, l, locked, true); err != nil {
		return err
	}
	for _, it := range locked {
		if err := b.removeItem(ctx, l, it); err != nil {
			return err
		}
	}
	return nil
}

func (b *backend) removeItem(ctx context.Context, l *link, item dbus.ObjectPath) error {
	var prompt dbus.ObjectPath
	err := l.call(ctx, item, ifItem+".Delete", []any{&prompt})
	if KindOf(err) == NotFound {
		return nil // somebody else was faster
	}
	if err == nil && prompt != noObject {
		_, err = b.answer(ctx, l, prompt)
	}
	return err
}

func (b *backend) has(ctx context.Context, key Key) (bool, error) {
	l, err := b.dial(ctx)
	if err != nil {
		return false, err
	}
	defer l.close()
	open, locked, err := b.search(ctx, l, key.Owner, key.Kind)
	return len(open)+len(locked) > 0, err
}

func (b *backend) status(ctx context.Context) State {
	l, err := b.dial(ctx)
	if err != nil {
		return stateOf(err)
	}
	defer l.close()
	coll, err := b.collection(ctx, l)
	switch {
	case err != nil:
		return stateOf(err)
	case coll == "" && b.mayPrompt:
		return State{Available, "there is no keyring yet", "the first saved password asks you to choose a password for a new one"}
	case coll == "":
		return stateOf(errNoCollection())
	}
	locked, err := property[bool](ctx, l, coll, ifColl, "Locked")
	switch {
	case err != nil:
		return stateOf(err)
	case locked:
		return stateOf(errLocked())
	}
	return State{Kind: Available}
}

func (b *backend) unlock(ctx context.Context) error {
	l, err := b.dial(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	coll, err := b.collection(ctx, l)
	switch {
	case err != nil:
		return err
	case coll == "":
		return errNoCollection()
	}
	return b.open(ctx, l, []dbus.ObjectPath{coll}, true)
}

// collection is the keyring that new secrets go to: the default one, or that
// of the login where no default was chosen; "" when there is neither. The
// keyring named session lives in memory only and is never taken.
func (b *backend) collection(ctx context.Context, l *link) (dbus.ObjectPath, error) {
	var coll dbus.ObjectPath
	if err := l.call(ctx, secretsPath, ifService+".ReadAlias", []any{&coll}, "default"); err != nil {
		return "", err
	}
	if coll != noObject && path.Base(string(coll)) != "session" {
		return coll, nil
	}
	all, err := property[[]dbus.ObjectPath](ctx, l, secretsPath, ifService, "Collections")
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if path.Base(string(c)) == "login" {
			return c, nil
		}
	}
	return "", nil
}

// makeCollection has the person choose a password for a new default keyring.
func (b *backend) makeCollection(ctx context.Context, l *link) (dbus.ObjectPath, error) {
	if !b.mayPrompt {
		return "", errNoCollection()
	}
	if err := b.turn(ctx); err != nil {
		return "", err
	}
	defer b.endTurn()
	// Another call may have made it while this one waited.
	if coll, err := b.collection(ctx, l); err != nil || coll != "" {
		return coll, err
	}
	properties := map[string]dbus.Variant{ifColl + ".Label": dbus.MakeVariant("Default keyring")}
	var coll, prompt dbus.ObjectPath
	if err := l.call(ctx, secretsPath, ifService+".CreateCollection", []any{&coll, &prompt}, properties, "default"); err != nil {
		return "", err
	}
	if prompt != noObject {
		v, err := b.answer(ctx, l, prompt)
		if err != nil {
			return "", err
		}
		coll, _ = v.Value().(dbus.ObjectPath)
	}
	if coll == "" || coll == noObject {
		return "", errNoCollection()
	}
	return coll, nil
}

func errNoCollection() *Error {
	return &Error{Kind: Absent, Reason: "the keyring service has no keyring to keep passwords in",
		Advice: "make a password keyring in the computer's password manager and set it as the default (in Seahorse: +, Password Keyring)"}
}

// contentType tells other programs whether a secret is text.
func contentType(s []byte) string {
	if utf8.Valid(s) {
		return "text/plain; charset=utf8"
	}
	return "application/octet-stream"
}
