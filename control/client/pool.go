package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"deskvnc/control"
)

// acquire gives a connection that has joined the attachment and on which
// nobody has said anything unasked.
func (c *Client) acquire(ctx context.Context) (*wire, error) {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return nil, errClosed
		}
		var w *wire
		if n := len(c.idle); n > 0 {
			w, c.idle = c.idle[n-1], c.idle[:n-1]
		}
		c.mu.Unlock()
		switch {
		case w == nil:
			return c.connect(ctx)
		case w.quiet():
			return w, nil
		}
		c.drop(w)
	}
}

var errClosed = errors.New("the client was closed")

// release gives a connection back after a proper reply.
func (c *Client) release(w *wire) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.idle = append(c.idle, w)
	}
}

// drop closes a connection for good.
func (c *Client) drop(w *wire) {
	w.fail("closed")
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, w)
}

// connect opens a connection and joins the attachment, or starts one. One
// connection is opened at a time, so that calls that come together do not
// start an attachment each.
func (c *Client) connect(ctx context.Context) (*wire, error) {
	c.hello.Lock()
	defer c.hello.Unlock()
	// A wrong key proves that nothing was done: once more, with the key of a
	// window that has been started anew meanwhile.
	w, err := c.joinOnce(ctx)
	if errors.Is(err, errUnauthorized) {
		return c.joinOnce(ctx)
	}
	return w, err
}

var errUnauthorized = errors.New("the control key was not accepted")

// errSpeaksFirst is about a peer that is no control socket.
var errSpeaksFirst = errors.New("it speaks before it is spoken to, which DeskVNC never does: something else listens there")

func (c *Client) joinOnce(ctx context.Context) (*wire, error) {
	w, key, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	if !w.quiet() {
		c.drop(w)
		if w, key, err = c.dial(ctx); err != nil {
			return nil, err
		}
		if !w.quiet() {
			c.drop(w)
			return nil, errSpeaksFirst
		}
	}
	if err := c.greetings(ctx, w, key); err != nil {
		c.drop(w)
		return nil, err
	}
	return w, nil
}

// dial opens a connection.
func (c *Client) dial(ctx context.Context) (*wire, string, error) {
	nc, key, err := c.config.Dial(ctx)
	if err != nil {
		return nil, "", err
	}
	if t, ok := nc.(*net.TCPConn); ok {
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true})
	}
	w := newWire(nc, c.config.After)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		w.fail("closed")
		return nil, "", errClosed
	}
	c.open[w] = struct{}{}
	return w, key, nil
}

// greetings says hello. When the attachment is not known any more, since the
// window was started anew or we were away for too long, it starts another one.
func (c *Client) greetings(ctx context.Context, w *wire, key string) error {
	join := c.greet.Attachment != ""
	rep, err := c.sayHello(ctx, w, key)
	if err == nil && !rep.ok && join && rep.text != unauthorized {
		c.greet = control.Welcome{}
		rep, err = c.sayHello(ctx, w, key)
	}
	switch {
	case err != nil:
		return fmt.Errorf("it did not answer hello (%w)", err)
	case !rep.ok && rep.text == unauthorized:
		return errUnauthorized
	case !rep.ok:
		return errors.New("it refused: " + rep.text)
	}
	var welcome control.Welcome
	if err := json.Unmarshal(rep.result, &welcome); err != nil || welcome.Attachment == "" {
		return errors.New("its hello makes no sense: it is no DeskVNC, or another version")
	}
	if welcome.Protocol != control.Protocol {
		return fmt.Errorf("it speaks version %d of the control protocol and dvv speaks %d: install the same version of both", welcome.Protocol, control.Protocol)
	}
	c.greet = welcome
	return nil
}

func (c *Client) sayHello(ctx context.Context, w *wire, key string) (reply, error) {
	params, err := json.Marshal(control.Hello{Client: c.config.Name, Attachment: c.greet.Attachment, Secret: c.greet.Secret})
	if err != nil {
		return reply{}, err
	}
	r := request{id: c.ids.Add(1), method: control.MethodHello, params: params, key: key, what: control.MethodHello, limit: helloTime}
	b, err := r.line()
	if err != nil {
		return reply{}, err
	}
	return w.exchange(ctx, r, b, nil)
}

// cancel tells the window to stop a call. It uses the one connection that
// calls leave free. There is nothing to do about a failure: the call's own
// limit stands.
func (c *Client) cancel(call string) {
	c.stop.Lock()
	defer c.stop.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer c.config.After(cancelTime, cancel)()
	if c.stopper != nil && !c.stopper.quiet() {
		c.drop(c.stopper)
		c.stopper = nil
	}
	if c.stopper == nil {
		w, err := c.connect(ctx)
		if err != nil {
			return
		}
		c.stopper = w
	}
	params, err := json.Marshal(struct {
		ID string `json:"id"`
	}{call})
	if err != nil {
		return
	}
	r := request{id: c.ids.Add(1), method: control.MethodCancel, params: params, what: control.MethodCancel, limit: cancelTime}
	b, err := r.line()
	if err != nil {
		return
	}
	if rep, err := c.stopper.exchange(ctx, r, b, nil); err != nil || !rep.ok {
		c.drop(c.stopper)
		c.stopper = nil
	}
}
