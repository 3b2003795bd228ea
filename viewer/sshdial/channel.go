package sshdial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

// openTime bounds the opening of a channel when the caller's ctx does not.
const openTime = 30 * time.Second

// OpenSession opens a channel for a shell, a command or a subsystem.
func (c *Client) OpenSession(ctx context.Context) (*ssh.Session, error) {
	return within(ctx, c, func() (*ssh.Session, error) { return c.ssh.NewSession() }, func(s *ssh.Session) { s.Close() })
}

// OpenChannel opens a session channel as it is, with the requests that come on
// it; these have to be taken. An error of kind Limit says that the machine has no
// place for it.
func (c *Client) OpenChannel(ctx context.Context) (ssh.Channel, <-chan *ssh.Request, error) {
	type opened struct {
		ssh.Channel
		requests <-chan *ssh.Request
	}
	o, err := within(ctx, c, func() (opened, error) {
		ch, requests, err := c.ssh.OpenChannel("session", nil)
		var refused *ssh.OpenChannelError
		if errors.As(err, &refused) {
			err = &viewer.Error{Op: "ssh.Channel", Kind: viewer.Limit, Err: fmt.Errorf("%s opens no more channels for this login (MaxSessions): %s", c.label, cleanLine(refused.Message, maxLine))}
		}
		return opened{ch, requests}, err
	}, func(o opened) {
		go ssh.DiscardRequests(o.requests)
		o.Close()
	})
	return o.Channel, o.requests, err
}

// Subsystem starts a subsystem of the machine, for example sftp, and returns
// the stream to it.
func (c *Client) Subsystem(ctx context.Context, name string) (net.Conn, error) {
	open := func() (net.Conn, error) {
		ch, requests, err := c.ssh.OpenChannel("session", nil)
		if err != nil {
			return nil, err
		}
		s := newStream(ch, requests, c, "subsystem "+name)
		ok, err := ch.SendRequest("subsystem", true, ssh.Marshal(struct{ Name string }{name}))
		if err == nil && !ok {
			err = &viewer.Error{Op: "ssh.Subsystem", Kind: viewer.Unsupported, Err: fmt.Errorf("%s does not offer %s", c.label, name)}
		}
		if err != nil {
			s.Close()
			return nil, err
		}
		return s, nil
	}
	return within(ctx, c, open, func(s net.Conn) { s.Close() })
}

// DialThrough has the machine connect: to host:port over "tcp", "tcp4" or
// "tcp6", names being looked up there, or to a socket of it over "unix". The
// connection keeps deadlines.
func (c *Client) DialThrough(ctx context.Context, network, address string) (net.Conn, error) {
	kind, payload, err := direct(network, address)
	if err != nil {
		return nil, err
	}
	open := func() (net.Conn, error) {
		ch, requests, err := c.ssh.OpenChannel(kind, payload)
		if err != nil {
			return nil, c.notOpened(address, err)
		}
		return newStream(ch, requests, c, address), nil
	}
	return within(ctx, c, open, func(s net.Conn) { s.Close() })
}

// direct is the request for a connection (RFC 4254 7.2; PROTOCOL 2.4).
func direct(network, address string) (kind string, payload []byte, err error) {
	switch network {
	case "unix":
		return "direct-streamlocal@openssh.com", ssh.Marshal(struct {
			Path, Reserved string
			Zero           uint32
		}{Path: address}), nil
	case "tcp", "tcp4", "tcp6":
		host, text, err := net.SplitHostPort(address)
		if err != nil {
			return "", nil, invalid("%q is not host:port", address)
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 || host == "" {
			return "", nil, invalid("%q is not host:port", address)
		}
		return "direct-tcpip", ssh.Marshal(struct {
			Host       string
			Port       uint32
			Origin     string
			OriginPort uint32
		}{host, uint32(port), "127.0.0.1", 0}), nil
	}
	return "", nil, invalid("an SSH connection does not carry %q", network)
}

// notOpened gives the refusal of a connection in words (RFC 4254 5.1).
func (c *Client) notOpened(address string, err error) error {
	var refused *ssh.OpenChannelError
	if !errors.As(err, &refused) {
		return err
	}
	said := cleanLine(refused.Message, maxLine)
	e := &viewer.Error{Op: "ssh.Tunnel", Kind: viewer.Unreachable}
	switch refused.Reason {
	case ssh.Prohibited, ssh.UnknownChannelType:
		e.Kind, e.Err = viewer.Unsupported, fmt.Errorf("%s makes no connections for others: allow it there (AllowTcpForwarding), or take another way (it said: %s)", c.label, said)
	default:
		e.Err = fmt.Errorf("%s could not connect to %s: %s", c.label, address, said)
	}
	return e
}

// Listen has the machine listen for us: on host:port over "tcp", or on a socket
// over "unix". Connections to it come out of the listener; it ends with the
// client.
func (c *Client) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	if network != "tcp" && network != "unix" {
		return nil, invalid("an SSH connection does not carry %q", network)
	}
	l, err := within(ctx, c, func() (net.Listener, error) { return c.ssh.Listen(network, address) }, func(l net.Listener) { l.Close() })
	if err != nil && strings.Contains(err.Error(), "denied by peer") {
		err = &viewer.Error{Op: "ssh.Listen", Kind: viewer.Unsupported, Err: fmt.Errorf("%s does not listen on %s for others: the port is taken, or forwarding is not allowed there", c.label, address)}
	}
	if err != nil {
		return nil, err
	}
	return &listener{l, c}, nil
}

// A listener gives its connections deadlines.
type listener struct {
	net.Listener
	client *Client
}

func (l *listener) Accept() (net.Conn, error) {
	in, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newPiped(in, in.LocalAddr(), in.RemoteAddr(), l.client.quit), nil
}

// within runs open, which waits for the machine, until ctx ends. What comes too
// late is dropped.
func within[T any](ctx context.Context, c *Client, open func() (T, error), drop func(T)) (T, error) {
	var none T
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, openTime)
		defer cancel()
	}
	if err := ctx.Err(); err != nil {
		return none, &viewer.Error{Op: "ssh", Kind: viewer.KindOf(err), Err: err}
	}
	type result struct {
		v   T
		err error
	}
	got := make(chan result)
	gone := make(chan struct{})
	go func() {
		v, err := open()
		select {
		case got <- result{v, err}:
		case <-gone:
			if err == nil {
				drop(v)
			}
		}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			r.err = c.because(r.err)
		}
		return r.v, r.err
	case <-c.quit: // the library does not notice an end in the very moment of opening
		close(gone)
		return none, c.because(net.ErrClosed)
	case <-ctx.Done():
		close(gone)
		kind := viewer.KindOf(ctx.Err())
		err := error(ctx.Err())
		if kind == viewer.Timeout {
			err = fmt.Errorf("%s did not answer in time", c.label)
		}
		return none, &viewer.Error{Op: "ssh", Kind: kind, Err: err}
	}
}

// because is err, or why the whole connection has ended.
func (c *Client) because(err error) error {
	var own *viewer.Error
	if errors.As(err, &own) {
		return err
	}
	if cause := c.link.broken(); cause != nil {
		if errors.As(cause, &own) {
			return cause
		}
		return errClosed
	}
	return &viewer.Error{Op: "ssh", Kind: viewer.Closed, Err: readable(err)}
}
