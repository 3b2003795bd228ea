package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
)

// A Listener takes connections of this user's own programs.
type Listener struct {
	l       net.Listener
	address Address
	key     string
	files   []string // removed at the end
	release func()   // of what else the listener holds

	once sync.Once
	err  error
}

// Listen listens on "auto", on a port of 127.0.0.1 (0 for any free one), or on
// the path of a unix socket. On TCP it makes a new key and writes it where
// [Dial] looks for it.
func Listen(text string) (*Listener, error) {
	a, err := Parse(text, true)
	if err != nil {
		return nil, err
	}
	return ListenAt(a)
}

// ListenAt is [Listen] for an address that was parsed, or of [Named].
func ListenAt(a Address) (*Listener, error) {
	l := &Listener{address: a, release: func() {}}
	if a.Path != "" {
		var err error
		if l.l, l.release, err = listenUnix(a.Path); err != nil {
			return nil, err
		}
		l.files = []string{a.Path}
		return l, nil
	}
	if err := l.listenTCP(); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

func (l *Listener) listenTCP() error {
	t, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.address.Port)))
	if err != nil {
		return fmt.Errorf("the control socket cannot listen on port %d: %w", l.address.Port, err)
	}
	l.l = t
	port := t.Addr().(*net.TCPAddr).Port
	name := l.address.named
	l.address = Address{Host: "127.0.0.1", Port: port}
	path, err := keyFile(port)
	if err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	if err := writePrivate(path, key+"\n"); err != nil {
		return fmt.Errorf("the control key cannot be written: %w", err)
	}
	l.key, l.files = key, append(l.files, path)
	if name != "" {
		path, err := portFile(name)
		if err != nil {
			return err
		}
		if err := writePrivate(path, strconv.Itoa(port)+"\n"); err != nil {
			return fmt.Errorf("the control port cannot be written: %w", err)
		}
		l.files = append(l.files, path)
	}
	return nil
}

// Key is what a caller must give on every connection, or empty when who the
// peer is is known already.
func (l *Listener) Key() string { return l.key }

// Address is where the listener is.
func (l *Listener) Address() Address { return l.address }

// Addr is Address for a [net.Listener].
func (l *Listener) Addr() net.Addr { return l.l.Addr() }

// Accept waits for the next connection. One of another user is closed without
// a word.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.l.Accept()
		if err != nil {
			return nil, err
		}
		if l.address.Path == "" || ours(c) {
			return c, nil
		}
		_ = c.Close()
	}
}

// Close stops listening and removes the files that led here. Connections stay.
func (l *Listener) Close() error {
	l.once.Do(func() {
		for _, f := range l.files {
			if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
				l.err = err
			}
		}
		if l.l != nil {
			if err := l.l.Close(); err != nil {
				l.err = err
			}
		}
		l.release()
	})
	return l.err
}
