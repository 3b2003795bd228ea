package rfb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/auth"
)

// StageTimeout bounds each step of the handshake.
const StageTimeout = 15 * time.Second

// maxNameClaim bounds the length that a machine may claim for its name or a
// reason. More than [keptBytes] of it is read and thrown away.
const maxNameClaim = 4 << 20

// A stage is where the handshake is: what go-vnc reads next.
type stage int

const (
	stageGreeting stage = iota
	stageTypes
	stageResult
	stageInit
	stageLive
)

// A translator is the connection handed to go-vnc. Until the session is live
// it reads the machine's own handshake, checks it, and gives go-vnc the bytes
// of a well-behaved 3.8 server; after that it gives the type of each message.
type translator struct {
	*conn.Conn
	timeout time.Duration
	// repeater names the machine to a repeater; empty when there is none.
	repeater string
	login    *auth.Login
	methods  []auth.Method
	chosen   func(auth.Method)            // called when a method is chosen
	started  func(init serverInit)        // called when ServerInit is read
	known    func(messageType uint8) bool // server messages that can be read
	ready    chan struct{}                // closed when messages may be read
	ended    chan struct{}                // closed when go-vnc has let go

	// The rest is owned by the goroutine that go-vnc runs on: the caller of
	// Open, then its loop. It may be read after ended.
	stage   stage
	pending []byte // what go-vnc reads next
	writes  int    // messages that go-vnc has written
	version version
	types   []uint8 // what the machine offers
	method  auth.Method
	part    string // what is waited for
	err     error  // the first error, with its Kind

	ending sync.Once
}

// serverInit is the machine's ServerInit message (RFC 6143 7.3.2).
type serverInit struct {
	width, height int
	format        pixelFormat
	name          []byte
}

// Read gives go-vnc its next bytes.
func (t *translator) Read(p []byte) (int, error) {
	for len(t.pending) == 0 {
		if t.stage == stageLive {
			return t.messageType(p)
		}
		if err := t.advance(); err != nil {
			return 0, t.fail(err)
		}
	}
	n := copy(p, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}

// Write takes what go-vnc writes in the handshake: the version, the security
// type and the shared flag, in this order.
func (t *translator) Write(p []byte) (int, error) {
	t.writes++
	out := p
	switch t.writes {
	case 1:
		out = t.version.reply()
	case 2:
		if t.version == 3 {
			out = nil // the machine has chosen by itself
		}
	}
	if len(out) > 0 {
		if _, err := t.Conn.Write(out); err != nil {
			return 0, t.fail(err)
		}
	}
	return len(p), nil
}

// Close is called by go-vnc when it stops, and closes the connection.
func (t *translator) Close() error {
	err := t.Conn.Close()
	t.ending.Do(func() { close(t.ended) })
	return err
}

// messageType reads the type of the next message.
func (t *translator) messageType(p []byte) (int, error) {
	<-t.ready
	b, err := t.Peek(1)
	if err != nil {
		return 0, t.fail(err)
	}
	if !t.known(b[0]) {
		return 0, t.fail(&viewer.Error{Op: "rfb.Message", Kind: viewer.Malformed,
			Err: fmt.Errorf("unknown server message %d", b[0])})
	}
	p[0] = b[0]
	if err := t.Discard(1); err != nil {
		return 0, t.fail(err) // not 1: a reader that got its byte looks at no error
	}
	return 1, nil
}

// advance reads the machine's next piece of the handshake.
func (t *translator) advance() error {
	switch t.stage {
	case stageGreeting:
		return t.readGreeting()
	case stageTypes:
		return t.readTypes()
	case stageResult:
		return t.readResult()
	}
	return t.readInit()
}

// await names the part of the handshake that is waited for, and bounds the
// waiting.
func (t *translator) await(part string) {
	t.part = part
	_ = t.SetReadDeadline(time.Now().Add(t.timeout)) // a connection without deadlines waits longer
}

// arrived ends the waiting.
func (t *translator) arrived() {
	t.part = ""
	_ = t.SetReadDeadline(time.Time{})
}

// pause stops the clock while a person is asked something; what it returns
// starts it again.
func (t *translator) pause() (resume func()) {
	part := t.part
	t.arrived()
	return func() { t.await(part) }
}

// take returns the next n bytes, consumed; they are valid until the next read.
func (t *translator) take(n int) ([]byte, error) {
	b, err := t.Peek(n)
	if err != nil {
		return nil, err
	}
	return b, t.Discard(n)
}

func (t *translator) readGreeting() error {
	t.await("greeting")
	if t.repeater != "" {
		if err := t.passRepeater(); err != nil {
			return err
		}
	}
	b, err := t.take(greetingBytes)
	if err != nil {
		return err
	}
	if t.version, err = parseGreeting(b); err != nil {
		return err
	}
	t.pending = version(8).reply()
	t.stage = stageTypes
	return nil
}

// readTypes reads the security types (RFC 6143 7.1.2; 3.3 sends one word).
func (t *translator) readTypes() error {
	t.await("list of security types")
	if t.version == 3 {
		b, err := t.take(4)
		if err != nil {
			return err
		}
		word := binary.BigEndian.Uint32(b)
		switch {
		case word == auth.TypeInvalid:
			return t.refused("rfb.Security")
		case word > 255:
			return &viewer.Error{Op: "rfb.Security", Kind: viewer.Unsupported,
				Err: fmt.Errorf("unsupported scheme %d (%#x) for logging in", word, word)}
		}
		t.types = []uint8{uint8(word)}
	} else {
		b, err := t.take(1)
		if err != nil {
			return err
		}
		n := int(b[0])
		if n == 0 {
			return t.refused("rfb.Security")
		}
		if b, err = t.take(n); err != nil {
			return err
		}
		t.types = append([]uint8(nil), b...)
	}
	t.arrived()
	for _, m := range t.methods {
		for _, offered := range t.types {
			if t.method == nil && m.Type() == offered {
				t.method = m
			}
		}
	}
	if t.method == nil {
		return auth.NoMethod(t.login, t.types)
	}
	t.chosen(t.method)
	t.pending = append([]byte{uint8(len(t.types))}, t.types...)
	t.stage = stageResult
	return nil
}

// refused reads the reason of a machine that offers no way to log in.
func (t *translator) refused(op string) error {
	reason, err := t.reason()
	if err != nil {
		return err
	}
	if reason == "" {
		reason = "the machine refused the connection and gave no reason"
	} else {
		reason = "the machine refused the connection; " + said(reason)
	}
	return &viewer.Error{Op: op, Kind: viewer.Closed, Err: errors.New(reason)}
}

// reason reads a counted text for a person (RFC 6143 7.1.2). A machine that
// leaves it out, or cuts it short, has given none.
func (t *translator) reason() (string, error) {
	t.await("reason of the refusal")
	b, err := t.take(4)
	if err != nil {
		return "", nil
	}
	n := binary.BigEndian.Uint32(b)
	if n > maxNameClaim {
		return "", &viewer.Error{Op: "rfb.Reason", Kind: viewer.Limit,
			Err: fmt.Errorf("the machine refused the connection with a reason of %d bytes; at most %d are read", n, maxNameClaim)}
	}
	if b, err = t.Peek(int(min(n, keptBytes))); err != nil {
		b = t.Buffered()
	}
	return cleanText(b, keptBytes), nil
}

// readResult reads the security result (RFC 6143 7.1.3). Before 3.8 the type
// None has none, and a failure no reason.
func (t *translator) readResult() error {
	if t.version == 8 || !auth.Passwordless(t.method) {
		t.await("answer to the login")
		b, err := t.take(4)
		if err != nil {
			return err
		}
		if result := binary.BigEndian.Uint32(b); result != 0 {
			var reason string
			if t.version == 8 {
				if reason, err = t.reason(); err != nil {
					return err
				}
			}
			return t.denied(result, reason)
		}
		if reason, ok := misplacedReason(t.Buffered()); ok && !auth.Passwordless(t.method) {
			return t.denied(1, reason)
		}
	}
	t.pending = []byte{0, 0, 0, 0}
	t.stage = stageInit
	return nil
}

// denied is the error of a login that failed.
func (t *translator) denied(result uint32, reason string) error {
	switch {
	case reason != "" && auth.Passwordless(t.method):
		reason = "the machine refused the connection; " + said(reason)
	case reason != "":
		reason = "the machine refused the login; " + said(reason)
	default:
		switch {
		case result == 2: // RFC 6143 names 0 and 1; 2 is "too many attempts" since 3.3.
			reason = "the machine has had too many failed logins: wait a while"
		case auth.Passwordless(t.method):
			reason = "the machine refused the connection and gave no reason"
		default:
			reason = "the machine refused the login"
		}
	}
	e := &viewer.Error{Op: "rfb.Login", Kind: viewer.Denied, Err: errors.New(reason)}
	if auth.Passwordless(t.method) {
		e.Kind = viewer.Closed // there was nothing to get wrong
	}
	return e
}

// readInit reads ServerInit (RFC 6143 7.3.2).
func (t *translator) readInit() error {
	const fixed = 24 // width, height, pixel format, length of the name
	t.await("size and pixel format of the screen (ServerInit)")
	b, err := t.Peek(fixed)
	if err != nil {
		return err
	}
	init := serverInit{
		width:  int(binary.BigEndian.Uint16(b)),
		height: int(binary.BigEndian.Uint16(b[2:])),
		format: parseFormat(b[4:20]),
	}
	n := binary.BigEndian.Uint32(b[20:])
	if err := frame.CheckSize(init.width, init.height); err != nil {
		return &viewer.Error{Op: "rfb.ServerInit", Kind: viewer.Limit, Err: err}
	}
	if n > maxNameClaim {
		return &viewer.Error{Op: "rfb.ServerInit", Kind: viewer.Limit,
			Err: fmt.Errorf("a desktop name of %d bytes is more than the %d that are read", n, maxNameClaim)}
	}
	kept := min(n, keptBytes)
	header := append([]byte(nil), b...)
	binary.BigEndian.PutUint32(header[20:], kept)
	if err := t.Discard(fixed); err != nil {
		return err
	}
	t.await("desktop name (ServerInit)")
	name, err := t.take(int(kept))
	if err != nil {
		return err
	}
	t.pending = append(header, name...)
	init.name = append([]byte(nil), name...)
	if err := t.Discard(int(n - kept)); err != nil {
		return err
	}
	if auth.HasAbilities(t.method) {
		t.await("abilities (ServerInit of the Tight type)")
		if err := auth.DiscardAbilities(t.Conn); err != nil {
			return err
		}
	}
	t.arrived()
	t.stage = stageLive
	t.started(init)
	return nil
}

// fail keeps the first error, with a Kind, and returns it.
func (t *translator) fail(err error) error {
	if t.err == nil {
		t.err = wireError(err, t.part, t.timeout)
	}
	return t.err
}

// wireError gives an error of the connection its Kind and the words a person
// needs. part names what was waited for, if anything was.
func wireError(err error, part string, timeout time.Duration) error {
	var own *viewer.Error
	if errors.As(err, &own) {
		return err
	}
	var limit *frame.LimitError
	if errors.As(err, &limit) {
		return &viewer.Error{Op: "rfb.Size", Kind: viewer.Limit, Err: err}
	}
	e := &viewer.Error{Op: "rfb.Read", Kind: viewer.Closed}
	missing := ""
	if part != "" {
		missing = " before it sent its " + part
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && part == "", errors.Is(err, syscall.ETIMEDOUT):
		e.Kind, e.Err = viewer.Timeout, errors.New("the machine no longer answers: the connection was lost")
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.Kind = viewer.Timeout
		e.Err = fmt.Errorf("the machine did not send its %s within %v", part, timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Err = fmt.Errorf("the machine closed the connection%s", missing)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Err = fmt.Errorf("the machine broke the connection off%s", missing)
	case errors.Is(err, conn.ErrTooLong):
		e.Kind, e.Err = viewer.Limit, err
	case errors.Is(err, net.ErrClosed):
		e.Err = errors.New("the connection was closed")
	default:
		e.Err = err
	}
	return e
}

// A step makes a login method one of go-vnc's.
type step struct {
	t *translator
	m auth.Method
}

var _ vnc.ClientAuth = step{}

// SecurityType is the method's number.
func (s step) SecurityType() uint8 { return s.m.Type() }

// Handshake logs in.
func (s step) Handshake(net.Conn) error {
	s.t.await("part of the login")
	if err := s.m.Login(s.t.Conn); err != nil {
		return s.t.fail(err)
	}
	s.t.arrived()
	return nil
}
