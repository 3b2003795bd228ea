//go:build !windows && !darwin

package secret

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/godbus/dbus/v5"
)

// MaxBytes bounds one secret. The Secret Service has no limit of its own, but
// keeps all secrets in memory and rewrites them all at each change.
const MaxBytes = 8 << 10

// Names of the Secret Service API draft 0.2 and of the bus.
const (
	secretsName = "org.freedesktop.secrets"
	secretsPath = dbus.ObjectPath("/org/freedesktop/secrets")
	ifService   = "org.freedesktop.Secret.Service"
	ifItem      = "org.freedesktop.Secret.Item"
	ifColl      = "org.freedesktop.Secret.Collection"
	ifPrompt    = "org.freedesktop.Secret.Prompt"

	busName = "org.freedesktop.DBus"
	busPath = dbus.ObjectPath("/org/freedesktop/DBus")

	noObject = dbus.ObjectPath("/")
)

// A backend speaks to the Secret Service on the session bus. It does so
// without go-keyring, which there waits for a prompt without end, shows one
// wherever it runs, and cannot tell a locked keyring from a missing one.
//
// Each operation has a connection of its own: nothing is held between calls,
// and a bus or service that was restarted is simply found again.
type backend struct {
	service       string
	mayPrompt     bool
	timeout       time.Duration
	promptTimeout time.Duration

	asking   chan struct{} // one place: held by the call that asks a person
	declined atomic.Bool   // a person said no, or did not answer
}

func newBackend(o Options) *backend {
	return &backend{
		service:       o.Service,
		mayPrompt:     o.MayPrompt,
		timeout:       o.Timeout,
		promptTimeout: o.PromptTimeout,
		asking:        make(chan struct{}, 1),
	}
}

// A link is a connection to the bus and the service behind it.
type link struct {
	conn    *dbus.Conn
	peer    string        // the unique name of the running service
	timeout time.Duration // of each call
}

// dial connects to the session bus, and has it start the service if need be.
func (b *backend) dial(ctx context.Context) (*link, error) {
	address := busAddress()
	if address == "" {
		return nil, errNoBus(nil)
	}
	conn, err := connect(ctx, b.timeout, address)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, peer: busName, timeout: b.timeout}
	peer, err := l.owner(ctx)
	if KindOf(err) == Absent {
		// Not running yet; a service that does not start this way counts as none.
		var started uint32
		err = l.call(ctx, busPath, busName+".StartServiceByName", []any{&started}, secretsName, uint32(0))
		if err == nil {
			peer, err = l.owner(ctx)
		}
	}
	if err != nil {
		l.close()
		return nil, err
	}
	l.peer = peer
	return l, nil
}

func (l *link) close() { l.conn.Close() }

// owner asks the bus who has the service's name.
func (l *link) owner(ctx context.Context) (peer string, err error) {
	err = l.call(ctx, busPath, busName+".GetNameOwner", []any{&peer}, secretsName)
	return peer, err
}

// busAddress finds the session bus, or gives "". Unlike the library it never
// starts a bus: its keyring would be an empty one that nobody sees.
func busAddress() string {
	switch a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a {
	case "", "autolaunch:", "disabled:":
	default:
		return a
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	}
	bus := filepath.Join(dir, "bus")
	if fi, err := os.Stat(bus); err != nil || fi.Mode().Type() != os.ModeSocket {
		return ""
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(bus)
}

// connect opens a connection of its own. The library's dialling knows no
// context, so it runs aside; ending the life of the connection ends it.
func connect(ctx context.Context, timeout time.Duration, address string) (*dbus.Conn, error) {
	type result struct {
		conn *dbus.Conn
		err  error
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan result, 1)
	go func() {
		conn, err := dbus.Connect(address, dbus.WithContext(life))
		if err != nil {
			end()
		}
		done <- result{conn, err}
	}()
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, errNoBus(r.err)
		}
		// Closing the connection ends its context, and with it this one.
		context.AfterFunc(r.conn.Context(), end)
		return r.conn, nil
	case <-ctx.Done():
		end()
		return nil, ctx.Err()
	case <-late.C:
		end()
		return nil, errSilent(timeout)
	}
}

// call calls a method of the service and stores what it returns.
func (l *link) call(ctx context.Context, path dbus.ObjectPath, method string, out []any, args ...any) error {
	bounded, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	c := l.conn.Object(l.peer, path).CallWithContext(bounded, method, 0, args...)
	switch {
	case c.Err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		return errSilent(l.timeout)
	default:
		return errBus(c.Err)
	}
	if len(out) == 0 {
		return nil
	}
	if dbus.Store(c.Body, out...) != nil {
		// The library's words are not passed on: a body may hold a secret.
		return &Error{Kind: Failed, Reason: "the keyring service gave an answer of another form to " + method}
	}
	return nil
}

// property reads one property of an object of the service.
func property[T any](ctx context.Context, l *link, path dbus.ObjectPath, iface, name string) (T, error) {
	var v dbus.Variant
	var value T
	err := l.call(ctx, path, "org.freedesktop.DBus.Properties.Get", []any{&v}, iface, name)
	if err == nil {
		var ok bool
		if value, ok = v.Value().(T); !ok {
			err = &Error{Kind: Failed, Reason: "the keyring service gave a property " + name + " of another form"}
		}
	}
	return value, err
}

const getService = "install and start a keyring service (gnome-keyring, KWallet or KeePassXC); until then passwords are asked for each time"

func errNoBus(cause error) *Error {
	return &Error{Kind: Absent, Reason: "there is no session bus (D-Bus), and so no keychain", Err: cause,
		Advice: "start the program inside a desktop session, or under dbus-run-session with a keyring service"}
}

// errBus sorts an error that the bus or the service answered with.
func errBus(err error) *Error {
	var answer dbus.Error
	if p := (*dbus.Error)(nil); errors.As(err, &p) {
		answer = *p
	} else if !errors.As(err, &answer) {
		return &Error{Kind: Failed, Reason: "the connection to the keyring service broke", Err: err, Advice: "try again"}
	}
	name := strings.TrimPrefix(answer.Name, "org.freedesktop.")
	switch {
	case name == "DBus.Error.ServiceUnknown", name == "DBus.Error.NameHasNoOwner", strings.HasPrefix(name, "DBus.Error.Spawn."):
		return &Error{Kind: Absent, Reason: "no keyring service runs in this session", Err: err, Advice: getService}
	case name == "DBus.Error.AccessDenied":
		return &Error{Kind: Absent, Reason: "this program may not speak to the keyring service", Err: err,
			Advice: "allow the name " + secretsName + " in its sandbox"}
	case name == "Secret.Error.IsLocked":
		return errLocked()
	case name == "Secret.Error.NoSuchObject", name == "DBus.Error.UnknownObject":
		return errNotFound() // removed since it was found
	}
	return &Error{Kind: Failed, Reason: "the keyring service answered with an error", Err: err, Advice: "try again, or restart the keyring service"}
}
