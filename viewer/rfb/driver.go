package rfb

import (
	"context"
	"slices"
	"time"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/rfb/auth"
	"deskvnc/viewer/trust"
)

// Options are what may differ from one driver to another. The zero value is
// right for every machine.
type Options struct {
	// Encodings are the encodings of the picture that machines are asked for,
	// best first; nil for the driver's own preference.
	Encodings []int32
	// Quality is that of JPEG, from 1 (worst) to 9 (best); 0 for a picture
	// without losses.
	Quality int
	// Compression is how hard the machine compresses, from 1 (fast) to 9
	// (small); 0 leaves it to the machine.
	Compression int
	// Judge decides about certificates and keys of machines, and keeps those
	// that were accepted; nil keeps them for this driver only.
	Judge *trust.Judge
	// StageTimeout bounds each step of the handshake; 0 means [StageTimeout].
	StageTimeout time.Duration
	// Silence is how long a machine may say nothing before it is asked whether
	// it is there; 0 means [Silence].
	Silence time.Duration

	fixed bool // encodings or quality were given: they do not follow the connection
}

// wish is how the picture of a target is asked for: by the options, where they
// say so, else by the target.
func (o Options) wish(p viewer.Picture) (wish, error) {
	w, err := wishOf(p)
	if err != nil || !o.fixed {
		return w, err
	}
	w.auto, w.levels = false, levels{quality: o.Quality, compression: o.Compression}
	if w.encodings = o.Encodings; w.encodings == nil {
		if w.encodings = preference; o.Quality > 0 {
			w.encodings = slices.Concat(preference, losing)
		}
	}
	return w, nil
}

// A Driver opens sessions over VNC.
type Driver struct{ o Options }

var _ viewer.Driver = (*Driver)(nil)

// New returns a driver.
func New(o Options) *Driver {
	o.fixed = o.Encodings != nil || o.Quality > 0 || o.Compression > 0
	if o.Judge == nil {
		o.Judge = &trust.Judge{}
	}
	if o.Silence == 0 {
		o.Silence = Silence
	}
	if o.StageTimeout == 0 {
		o.StageTimeout = StageTimeout
	}
	return &Driver{o: o}
}

// Open dials the machine, logs in and negotiates. The session asks for no
// pixels before its Demand is called.
func (d *Driver) Open(ctx context.Context, t viewer.Target, env viewer.Env) (viewer.Session, error) {
	w, err := d.o.wish(t.Picture)
	if err != nil {
		return nil, err
	}
	env.Emit(viewer.Progress{Phase: viewer.Connecting})
	dial, err := conn.Route(ctx, t, env)
	if err != nil {
		return nil, err
	}
	c, err := conn.Dial(ctx, t.HostPort(), dial)
	if err != nil {
		return nil, err
	}
	s := newSession(c, env)
	var init serverInit
	tr := &translator{
		Conn: c, timeout: d.o.StageTimeout, repeater: t.RepeaterID,
		chosen: func(m auth.Method) {
			env.Emit(viewer.Progress{Phase: viewer.Authenticating, Method: auth.Name(m.Type())})
		},
		started: func(i serverInit) {
			init = i
			env.Emit(viewer.Progress{Phase: viewer.Negotiating})
		},
		known: s.knows,
		ready: make(chan struct{}),
		ended: make(chan struct{}),
	}
	s.translator = tr
	tr.login = auth.NewLogin(ctx, t, env, d.o.Judge, tr.pause)
	tr.methods = auth.Methods(tr.login)
	cfg := &vnc.ClientConfig{Exclusive: t.Exclusive, ServerMessages: s.messages(tr.fail)}
	for _, m := range tr.methods {
		cfg.Auth = append(cfg.Auth, step{tr, m})
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	_, err = vnc.Client(tr, cfg)
	if err == nil && stop() {
		err = s.begin(init, t, w)
		if err == nil {
			go s.watch(d.o.Silence)
			return s, nil
		}
		close(tr.ready)
		c.Close()
		<-tr.ended
		return nil, err
	}
	if err == nil { // ended in the same moment
		close(tr.ready)
		c.Close()
		<-tr.ended
	}
	stop()
	switch {
	case ctx.Err() != nil:
		return nil, &viewer.Error{Op: "rfb.Open", Kind: viewer.KindOf(ctx.Err()), Err: ctx.Err()}
	case tr.err != nil:
		return nil, tr.err
	}
	return nil, &viewer.Error{Op: "rfb.Open", Kind: viewer.Malformed, Err: err}
}
