package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"deskvnc/app/library"
	"deskvnc/control"
	"deskvnc/control/client"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/control/socket"
)

// label is what dvv calls itself.
const label = "dvv"

// A backend serves tools.
type backend interface {
	Call(ctx context.Context, tool string, arguments json.RawMessage) ([]byte, error)
	Close() error
}

// A need says what a verb needs of the program that serves it.
type need int

const (
	// looking: any program will do, also one that ends with the verb.
	looking need = iota
	// acting: what the verb does must outlast it, where there is anything to
	// act on.
	acting
	// opening: a session is to stay open.
	opening
)

// open finds or starts the program that serves a verb.
func (w where) open(ctx context.Context, n need, version string, stderr io.Writer) (backend, error) {
	c, err := w.running(ctx)
	if err != nil || c != nil {
		if c != nil {
			w.tell(ctx, stderr, w.String())
		}
		return orNil(c), err
	}
	if w.window != nil {
		return w.openWindow(ctx, n)
	}
	if n == opening {
		c, err := w.start(ctx)
		if c != nil {
			w.tell(ctx, stderr, w.String())
		}
		return orNil(c), err
	}
	if other := (where{sample: true}); !w.sample {
		c, err := other.running(ctx)
		if c != nil {
			other.tell(ctx, stderr, other.String())
			return c, err
		}
	}
	w.tell(ctx, stderr, "this call itself, since no holder runs")
	return newLocal(w, version, false, false)
}

// orNil keeps a nil client from being a backend.
func orNil(c *client.Client) backend {
	if c == nil {
		return nil
	}
	return c
}

// openWindow serves a verb for a window of which no holder runs. One that only
// looks speaks to the window itself.
func (w where) openWindow(ctx context.Context, n need) (backend, error) {
	nc, _, err := socket.Dial(ctx, *w.window)
	if err != nil {
		var gone *socket.Unreachable
		r := control.Refuse(control.NotImplemented, err.Error())
		r.Hint = "Nothing was sent."
		if errors.As(err, &gone) {
			r.Hint = "Nothing was sent; leave " + w.from + " out to use dvv's own sessions."
		}
		return nil, r
	}
	_ = nc.Close()
	if n == looking {
		return client.New(client.Config{Address: *w.window, Name: label}), nil
	}
	c, err := w.start(ctx)
	return orNil(c), err
}

// running is a client of the holder that runs; nil when none does. One that is
// about to go is waited for.
func (w where) running(ctx context.Context) (*client.Client, error) {
	for end := time.Now().Add(startTime); ; {
		c, err := w.answers(ctx)
		if err == nil || !strings.Contains(err.Error(), endingText) || time.Now().After(end) {
			return c, err
		}
		select {
		case <-time.After(startAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// answers is a client of the holder that answers now; nil when none does.
func (w where) answers(ctx context.Context) (*client.Client, error) {
	a, err := socket.Named(w.holder())
	if err != nil {
		return nil, err
	}
	nc, _, err := socket.Dial(ctx, a)
	var gone *socket.Unreachable
	switch {
	case errors.As(err, &gone) && ctx.Err() == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	_ = nc.Close()
	c := client.New(client.Config{Address: a, Name: label, Peer: w.String()})
	// Its hello is what keeps the holder from ending before the call.
	if _, err := c.Request(ctx, control.MethodVersion, "hello", nil); err != nil {
		_ = c.Close()
		if again, _, derr := socket.Dial(ctx, a); derr == nil {
			_ = again.Close()
			return nil, fmt.Errorf("%s does not serve: %w", w, err)
		}
		return nil, nil // it was just ending
	}
	return c, nil
}

// tell says to a person at a terminal who answers, when a window could have.
func (w where) tell(ctx context.Context, stderr io.Writer, who string) {
	if w.window != nil || !isTerminal(stderr) {
		return
	}
	auto, err := socket.Parse(socket.Auto, false)
	if err != nil {
		return
	}
	nc, _, err := socket.Dial(ctx, auto)
	if err != nil {
		return
	}
	_ = nc.Close()
	fmt.Fprintf(stderr, "dvv: answered by %s; a DeskVNC window runs as well: --connect auto drives that one\n", who)
}

// A local is a backend in this process.
type local struct {
	desk       *library.Desk
	attachment *plane.Attachment
}

// newLocal opens the library and sessions of this process.
func newLocal(w where, version string, exec, acceptNew bool) (*local, error) {
	l, err := library.Open(library.Options{Sample: w.sample, SampleWidth: w.width, SampleHeight: w.height})
	if err != nil {
		return nil, err
	}
	b := &local{desk: library.NewDesk(l, version, acceptNew)}
	g, err := grant.Operator(true, nil, exec)
	if err == nil {
		b.attachment, err = b.desk.Plane.Attach(label, g)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Call implements [backend].
func (b *local) Call(ctx context.Context, tool string, arguments json.RawMessage) ([]byte, error) {
	return b.attachment.Call(ctx, tool, arguments), nil
}

// Close implements [backend].
func (b *local) Close() error { return b.desk.Close() }
