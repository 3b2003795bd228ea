package rfb

import (
	"context"
	"slices"
	"time"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/rfb/auth"
	"deskvnc/viewer/rfb/rect"
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

	fixed bool // encodings or quality were given: they do not follow the connection
}

// preference is the order in which encodings are asked for: Tight costs the
// least for a pixel, and alone has JPEG everywhere.
var preference = []int32{
	rect.TypeTight, rect.TypeZRLE, rect.TypeTRLE, rect.TypeHextile, rect.TypeZlib, rect.TypeTightPNG,
	rect.TypeZlibHex, rect.TypeCoRRE, rect.TypeRRE, rect.TypeCopyRect, rect.TypeRaw,
}

// lossy are the encodings that always lose something. They are asked for, after
// all others, with a quality only.
var lossy = []int32{rect.TypeZYWRLE, rect.TypeJPEG}

// The pseudo-encodings of the levels 0, from which they count upwards.
const (
	qualityLevel0     = -32
	compressionLevel0 = -256
)

// levels are the pseudo-encodings of the options. Compression level 0, which
// some machines take for no compression at all, is never asked for.
func (o Options) levels() []int32 {
	var list []int32
	if o.Quality > 0 {
		list = append(list, qualityLevel0+int32(min(o.Quality, 9)))
	}
	if o.Compression > 0 {
		list = append(list, compressionLevel0+int32(min(o.Compression, 9)))
	}
	return list
}

// A Driver opens sessions over VNC.
type Driver struct{ o Options }

var _ viewer.Driver = (*Driver)(nil)

// New returns a driver.
func New(o Options) *Driver {
	o.fixed = o.Encodings != nil || o.Quality > 0 || o.Compression > 0
	if o.Encodings == nil {
		o.Encodings = preference
		if o.Quality > 0 {
			o.Encodings = slices.Concat(preference, lossy, rect.Video)
		}
	}
	if o.Judge == nil {
		o.Judge = &trust.Judge{}
	}
	if o.StageTimeout == 0 {
		o.StageTimeout = StageTimeout
	}
	return &Driver{o: o}
}

// Open dials the machine, logs in and negotiates. The session asks for no
// pixels before its Demand is called.
func (d *Driver) Open(ctx context.Context, t viewer.Target, env viewer.Env) (viewer.Session, error) {
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
	s.canvas.Quality = d.o.Quality
	for _, m := range tr.methods {
		cfg.Auth = append(cfg.Auth, step{tr, m})
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	_, err = vnc.Client(tr, cfg)
	if err == nil && stop() {
		err = s.begin(init, t, d.o)
		if err == nil {
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
