package rfb

import (
	"context"
	"errors"
	"maps"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/native"
	"deskvnc/viewer/rfb/rect"
)

// closeTimeout bounds the writing of releases when a session is closed.
const closeTimeout = time.Second

// A Session is one live connection to a machine.
type Session struct {
	conn       *conn.Conn
	frame      *frame.Frame
	emit       func(viewer.Event)
	translator *translator
	out        *outbox

	queue  *rect.Queue  // what is to be drawn; set once
	canvas rect.Canvas  // owned by the read loop
	screen screen       // owned by the read loop
	update *update      // set once; owned by the read loop
	alpha  *alphaShapes // nil before there was one; owned by the read loop
	order  frame.Order  // set once, before the read loop starts

	decoders map[int32]vnc.Encoding // for the whole colours; set once
	streams  native.Streams         // of these; set once
	used     pixelFormat            // that is decoded; owned by the read loop
	native   *native.Format         // the same, unless it is that of the whole colours; owned by the read loop
	figures  meter                  // guarded by out.mu
	greyTold bool                   // that the machine has no shades of grey; guarded by out.mu

	asked bool // for another pixel format than the machine's own; set once

	closing sync.Once
	closed  atomic.Bool   // Close was called
	stop    chan struct{} // ends the writer
	stopped chan struct{} // the writer has ended; writeErr tells why
	done    chan struct{}

	writeErr error // owned by the writer until stopped
	err      error // set before done is closed

	signals                signals
	updates, rects, pixels atomic.Uint64
	counts                 map[int32]*atomic.Uint64 // of rectangles by encoding; the map is set once
}

var (
	_ viewer.Session   = (*Session)(nil)
	_ viewer.Desktop   = (*Session)(nil)
	_ viewer.Sparer    = (*Session)(nil)
	_ viewer.Steadier  = (*Session)(nil)
	_ viewer.Inputter  = (*Session)(nil)
	_ viewer.Releaser  = (*Session)(nil)
	_ viewer.Resizer   = (*Session)(nil)
	_ viewer.Clipboard = (*Session)(nil)
	_ viewer.Signaller = (*Session)(nil)
	_ viewer.Tuner     = (*Session)(nil)
	_ viewer.Measured  = (*Session)(nil)
)

func newSession(c *conn.Conn, env viewer.Env) *Session {
	return &Session{
		conn: c, frame: env.Frame, emit: env.Emit, out: newOutbox(),
		stop: make(chan struct{}), stopped: make(chan struct{}), done: make(chan struct{}),
	}
}

// knows reports whether a server message can be read.
func (s *Session) knows(messageType uint8) bool {
	return messageType <= msgServerCutText || messageType == msgFence || messageType == msgContinuousUpdates
}

// messages are the server messages, in the form go-vnc takes.
func (s *Session) messages(fail func(error) error) []vnc.ServerMessage {
	s.queue = rect.NewQueue(s.frame)
	s.canvas = rect.Canvas{Conn: s.conn, Frame: s.frame, Queue: s.queue}
	u := &update{s: s, encodings: map[int32]vnc.Encoding{}}
	s.update = u
	s.decoders = map[int32]vnc.Encoding{}
	for _, e := range rect.All(&s.canvas) {
		s.decoders[e.Type()] = e
		switch e := e.(type) {
		case *rect.ZRLE:
			s.streams.ZRLE = e.Stream()
		case *rect.Zlib:
			s.streams.Zlib = e.Stream()
		case *rect.Tight:
			s.streams.Tight = e.Streams()
		}
	}
	maps.Copy(u.encodings, s.decoders)
	for _, e := range []vnc.Encoding{&cursor{s}, &desktopSize{s, u}, &extendedDesktopSize{s, u}, &desktopName{s}} {
		u.encodings[e.Type()] = e
	}
	for _, e := range s.pseudos() {
		u.encodings[e.Type()] = e
	}
	s.counts = map[int32]*atomic.Uint64{}
	for n := range u.encodings {
		s.counts[n] = &atomic.Uint64{}
	}
	return []vnc.ServerMessage{
		&message{msgFramebufferUpdate, u.read, fail},
		&message{msgSetColourMapEntries, s.readColourMap, fail},
		&message{msgBell, func() error { s.emit(viewer.Bell{}); return nil }, fail},
		&message{msgServerCutText, s.readCutText, fail},
		&message{msgFence, s.readFence, fail},
		&message{msgContinuousUpdates, s.continuousOffered, fail},
	}
}

// begin brings the session to life after the handshake. The read loop waits
// until it has returned without an error.
func (s *Session) begin(init serverInit, t viewer.Target, w wish) error {
	order, kept := init.format.order()
	s.out.own, s.out.full = init.format, init.format
	if !kept {
		order, s.out.full = frame.BGRX, fullColours
	}
	if t.Picture.Colors == viewer.ColorsServer {
		if err := init.format.native().Prepare(); err != nil {
			return err
		}
	}
	s.out.wish, s.out.pace.on = w, w.auto
	s.out.wires.now = s.out.wireOf(s.out.levels())
	s.out.format = s.out.wires.now.format
	if s.asked = s.out.format != init.format; s.asked {
		s.out.hello = s.out.format.appendSet(s.out.hello)
	}
	s.out.held.mode, s.out.held.emulator = t.Keys, emulatorName(nameOf(init.name))
	if err := s.frame.Reset(init.width, init.height, order); err != nil {
		return wireError(err, "", 0)
	}
	s.order, s.canvas.Order = order, order
	s.setSize(init.width, init.height)
	s.emit(viewer.Named{Name: nameOf(init.name)})
	s.emit(viewer.Resized{Width: init.width, Height: init.height})
	s.emit(viewer.Progress{Phase: viewer.Connected})
	s.draw()
	go s.write()
	go s.supervise()
	close(s.translator.ready)
	return nil
}

// draw starts the drawer, where a second processor can run it. A fault in what
// it draws ends the reading.
func (s *Session) draw() {
	if runtime.GOMAXPROCS(0) > 1 {
		s.queue.Start(func() { s.conn.Close() })
		s.conn.OnWait(s.queue.Flush)
	}
}

// setSize notes the frame's size where it is needed.
func (s *Session) setSize(w, h int) {
	s.canvas.Width, s.canvas.Height = w, h
	s.out.update(func() { s.out.resized([2]int{w, h}) })
}

// supervise waits for the read loop and then ends what else there is.
func (s *Session) supervise() {
	<-s.translator.ended
	err := s.translator.err
	// What could not be drawn came before what could not be read.
	fault := s.queue.End()
	if fault != nil {
		err = wireError(fault, "", 0)
	}
	ended := err
	if s.closed.Load() {
		err, ended = nil, errClosed
	}
	s.out.stop(ended)
	close(s.stop)
	<-s.stopped
	if err != nil && fault == nil && errors.Is(s.translator.Err(), net.ErrClosed) && s.writeErr != nil {
		err = wireError(s.writeErr, "", 0)
	}
	s.err = s.blameFormat(err)
	close(s.done)
}

// write is the writer: it alone writes to the machine once the session lives.
func (s *Session) write() {
	defer close(s.stopped)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		b, wait := s.out.take(time.Now())
		if len(b) > 0 {
			if _, err := s.conn.Write(b); err != nil {
				s.writeErr = err
				s.conn.Close()
				return
			}
			s.out.wrote()
			continue
		}
		var later <-chan time.Time
		if wait > 0 {
			timer.Reset(wait)
			later = timer.C
		}
		select {
		case <-s.out.kick:
		case <-later:
		case <-s.stop:
			return
		}
	}
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err tells why the session has ended; nil before that, and after Close.
func (s *Session) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Close releases what is held, within a second, and ends the session.
func (s *Session) Close() error {
	s.closing.Do(func() {
		s.closed.Store(true)
		n := s.out.seal()
		_ = s.conn.SetWriteDeadline(time.Now().Add(closeTimeout))
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = s.out.wait(ctx, n) // what cannot be written now never will be
		s.queue.Stop()
		s.conn.Close()
	})
	<-s.done
	return nil
}

// Demand says whether anybody looks.
func (s *Session) Demand(on bool) {
	s.out.update(func() { s.out.requests.setDemand(on) })
}

// Spare says whether those who look do so now and then only.
func (s *Session) Spare(on bool) {
	s.out.update(func() { s.out.requests.setSparse(on) })
}

// Refresh asks for the whole picture once more.
func (s *Session) Refresh() {
	s.out.update(func() {
		if s.out.requests.demand {
			s.out.requests.whole = true
		}
	})
}

// askAfterResize asks for the pixels that a resize in this update has left
// open. A machine that has sent them all is asked for changes anew: a request
// that was on its way had the size of before.
func (s *Session) askAfterResize() {
	if s.frame.Whole(noRegion) {
		s.out.update(s.out.answered)
	} else {
		s.Refresh()
	}
}

// Post queues inputs.
func (s *Session) Post(in ...viewer.Input) error { return s.out.post(in) }

// Queued is the number of inputs not written yet.
func (s *Session) Queued() int {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	return s.out.inputs()
}

// Flush waits until all that was posted before has been written.
func (s *Session) Flush(ctx context.Context) error {
	s.out.mu.Lock()
	n := s.out.counter
	s.out.mu.Unlock()
	return s.out.wait(ctx, n)
}

// ReleaseAll lets go of every button and key.
func (s *Session) ReleaseAll(ctx context.Context) error {
	s.out.mu.Lock()
	n := s.out.releaseAll()
	s.out.mu.Unlock()
	return s.out.wait(ctx, n)
}

// Stats counts what a session has decoded.
type Stats struct {
	Updates, Rects, Pixels uint64 // pseudo rectangles not counted
	Received, Sent         uint64 // bytes
	// Encodings counts the rectangles by encoding, pseudo ones too.
	Encodings map[int32]uint64
}

// Encrypted reports whether the login put encryption around the connection.
func (s *Session) Encrypted() bool { return s.conn.Sealed() }

// Stats returns the counts so far.
func (s *Session) Stats() Stats {
	st := Stats{Updates: s.updates.Load(), Rects: s.rects.Load(), Pixels: s.pixels.Load(),
		Received: s.conn.Received(), Sent: s.conn.Sent(), Encodings: map[int32]uint64{}}
	for n, c := range s.counts {
		if v := c.Load(); v > 0 {
			st.Encodings[n] = v
		}
	}
	return st
}
