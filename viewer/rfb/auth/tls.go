package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/rfb/auth/anontls"
	"deskvnc/viewer/trust"
)

// startTLS encrypts the connection and has the machine's certificate judged,
// before anything secret is asked for or sent.
func (l *Login) startTLS(c *conn.Conn) error {
	cfg := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// The certificate is judged below: most are issued by the machine for
		// itself, and the judge can ask.
		InsecureSkipVerify: true,
	}
	if name := trust.NameOf(l.Target); !l.Target.Socket() {
		if _, err := netip.ParseAddr(name); err != nil {
			cfg.ServerName = name
		}
	}
	var state tls.ConnectionState
	err := c.Replace(func(inner net.Conn) (net.Conn, error) {
		t := tls.Client(inner, cfg)
		// Whoever closes the connection ends the handshake; no context is
		// needed for it.
		if err := t.HandshakeContext(context.Background()); err != nil {
			return nil, err
		}
		state = t.ConnectionState()
		return t, nil
	})
	if err != nil {
		return tlsError(err)
	}
	if len(state.PeerCertificates) == 0 { // the library does not let that happen
		return malformed("the machine showed no certificate")
	}
	return l.Judge(trust.CertificateKey(state.PeerCertificates))
}

// startAnonTLS encrypts the connection to a machine that has no certificate.
func (l *Login) startAnonTLS(c *conn.Conn) error {
	if err := l.Judge(trust.Key{}); err != nil {
		return err
	}
	err := c.Replace(func(inner net.Conn) (net.Conn, error) {
		// Not a plain return: a nil *Conn would be a connection that is not nil.
		t, err := anontls.Client(inner)
		if err != nil {
			return nil, err
		}
		return t, nil
	})
	if errors.Is(err, anontls.HandshakeFailure) {
		return &viewer.Error{Op: "rfb.TLS", Kind: viewer.Unsupported, Err: fmt.Errorf("the machine offers TLS without a certificate, but none of the ciphers for it that this viewer can do (%w): give its VNC server a certificate (X509 types), or connect through SSH", err)}
	}
	if err != nil {
		return tlsError(err)
	}
	l.Notice("the connection is encrypted, but nothing proves which machine it leads to (TLS without a certificate)")
	return nil
}

// tlsError says that encrypting failed: no password is to blame.
func tlsError(err error) error {
	e := &viewer.Error{Op: "rfb.TLS", Kind: viewer.Unsupported}
	var alert tls.AlertError
	var header tls.RecordHeaderError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.Kind, e.Err = viewer.Timeout, errors.New("the machine did not finish the TLS handshake in time")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Kind, e.Err = viewer.Closed, errors.New("the machine closed the connection during the TLS handshake: its server's log tells why")
	case errors.Is(err, net.ErrClosed):
		e.Kind, e.Err = viewer.Closed, errors.New("the connection was closed during the TLS handshake")
	case errors.As(err, &header):
		e.Kind, e.Err = viewer.Malformed, errors.New("the machine does not speak TLS where it said it would")
	case errors.As(err, &alert):
		e.Err = fmt.Errorf("encrypting the connection: the machine refused the TLS handshake: %w", err)
	default:
		e.Err = fmt.Errorf("encrypting the connection: %w", err)
	}
	return e
}

// anonTLS is security type 18: TLS without a certificate, and inside it a
// second choice of a security type (libvncserver and vino).
type anonTLS struct{ l *Login }

func (anonTLS) Type() uint8 { return TypeTLS }

func (a anonTLS) Login(c *conn.Conn) error {
	if err := a.l.startAnonTLS(c); err != nil {
		return err
	}
	offered, err := takeTypes(c)
	if err != nil {
		return err
	}
	m := choose(a.l.plain(), offered)
	if m == nil {
		return unsupported("inside of TLS the machine offers %s, none of which this viewer can do", Names(offered))
	}
	if err := write(c, m.Type()); err != nil {
		return err
	}
	a.l.Chosen("TLS, " + Name(m.Type()))
	return m.Login(c)
}
