package sshdial

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

// A Client is a machine that has let us in. Terminals, files and tunnels share
// it; it is safe for concurrent use.
type Client struct {
	ssh    *ssh.Client
	link   *link
	under  *Client // the jump host it runs through, or nil
	method string
	user   string
	label  string

	done    chan struct{} // closed when all of it has stopped
	quit    chan struct{} // closed when the connection has ended
	working sync.WaitGroup

	mu      sync.Mutex // guards below
	started bool
	closed  bool
	err     error
}

func newClient(s *ssh.Client, l *link, h *hop, method string) *Client {
	return &Client{ssh: s, link: l, method: method, user: h.user, label: h.target.Label(), done: make(chan struct{}), quit: make(chan struct{})}
}

// start serves the client to its end. Jump hosts are not started: they end with
// the client that runs through them.
func (c *Client) start(k KeepAlive) {
	c.mu.Lock()
	c.started = true
	c.mu.Unlock()
	c.working.Go(func() { c.keepAlive(k) })
	go c.serve()
}

func (c *Client) serve() {
	err := c.ssh.Wait()
	ours := c.link.ended()
	c.mu.Lock()
	switch {
	case c.closed:
	case ours != nil:
		c.err = ours
	default:
		c.err = &viewer.Error{Op: "ssh", Kind: viewer.Closed, Err: fmt.Errorf("%s ended the SSH connection: %w", c.label, readable(err))}
	}
	c.mu.Unlock()
	close(c.quit)
	c.link.Conn.Close()
	for u := c.under; u != nil; u = u.under {
		u.ssh.Close()
		u.link.Conn.Close()
		u.ssh.Wait()
	}
	c.working.Wait()
	close(c.done)
}

// Done is closed when the connection has ended and all of it has stopped. Err
// then tells why; nil means that Close was called.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is why the connection has ended.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and everything that runs through it. It may be
// called twice.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	started := c.started
	c.mu.Unlock()
	c.ssh.Close()
	c.link.Conn.Close()
	if !started { // a jump host whose target was not reached
		if c.under != nil {
			c.under.Close()
		}
		c.ssh.Wait()
		return nil
	}
	<-c.done
	return nil
}

// Encrypted reports that the connection is protected on its way: always.
func (c *Client) Encrypted() bool { return true }

// Method is how the login was made: publickey, password, keyboard-interactive
// or none (RFC 4252).
func (c *Client) Method() string { return c.method }

// User is who is logged in.
func (c *Client) User() string { return c.user }

// ServerVersion is what the machine calls its SSH server, cleaned.
func (c *Client) ServerVersion() string { return cleanLine(string(c.ssh.ServerVersion()), maxLine) }

// SSH is the client of the library, for what is not offered here. Its Close
// is not to be called.
func (c *Client) SSH() *ssh.Client { return c.ssh }

// keepAlive notices that the machine is gone.
func (c *Client) keepAlive(k KeepAlive) {
	t := time.NewTimer(k.Every)
	defer t.Stop()
	for {
		select {
		case <-c.quit:
			return
		case <-t.C:
		}
		if left := k.Every - c.link.silence(); left > 0 {
			t.Reset(left)
			continue
		}
		if !c.answers(k) {
			return
		}
		t.Reset(k.Every)
	}
}

// answers asks the machine whether it is there, and ends the connection when it
// does not say a word in time.
func (c *Client) answers(k KeepAlive) bool {
	answered := make(chan error, 1)
	c.working.Go(func() {
		_, _, err := c.ssh.SendRequest("keepalive@openssh.com", true, nil)
		answered <- err
	})
	wait := k.Every * time.Duration(k.Count)
	t := time.NewTimer(wait)
	defer t.Stop()
	for {
		select {
		case <-c.quit:
			return false
		case err := <-answered:
			return err == nil
		case <-t.C:
			if left := wait - c.link.silence(); left > 0 { // busy with something long
				t.Reset(left)
				continue
			}
			c.link.end(&viewer.Error{Op: "ssh", Kind: viewer.Timeout, Err: fmt.Errorf("%s has not answered for %v: the connection to it is lost", c.label, c.link.silence().Round(time.Second))})
			return false
		}
	}
}
