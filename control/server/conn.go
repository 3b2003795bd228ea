package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"deskvnc/control"
)

// A conn is one connection.
type conn struct {
	s        *Server
	nc       net.Conn
	stranger bool // counted as one without an attachment; guarded by s.mu

	authorised bool // owned by serve

	mu         sync.Mutex // guards below
	attachment *attachment
	stop       context.CancelFunc // of the call that runs, or nil
	away       bool               // the caller has gone
}

// A line is what was read.
type line struct {
	b   []byte
	err error
}

var errTooLong = errors.New("the request is longer than a line may be")

// serve answers requests one after the other. The next line is not read before
// the reply was written, but a caller that goes is noticed at once.
func (c *conn) serve() {
	gone := make(chan struct{})
	turn := make(chan struct{})
	lines := make(chan line)
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(turn, lines, gone)
	}()
	defer func() {
		_ = c.nc.Close()
		close(turn)
		<-read
		c.left()
		c.s.forget(c)
	}()
	_ = c.nc.SetReadDeadline(time.Now().Add(c.s.times.auth))
	for {
		turn <- struct{}{}
		l := <-lines
		if l.err != nil {
			if errors.Is(l.err, errTooLong) {
				c.write(errorReply(nil, "the request is longer than 16777216 bytes"))
			}
			return
		}
		reply, keep := c.answer(l.b, gone)
		if !c.write(reply) || !keep {
			return
		}
	}
}

// read reads a line whenever it is its turn. Between the turns it waits for
// the next byte, so that the end of the stream is noticed; gone is closed then.
func (c *conn) read(turn <-chan struct{}, lines chan<- line, gone chan<- struct{}) {
	r := bufio.NewReaderSize(c.nc, 64<<10)
	ended := false
	for {
		if !ended {
			if _, err := r.Peek(1); err != nil {
				ended = true
				close(gone)
			}
		}
		if _, ok := <-turn; !ok {
			return
		}
		b, err := readLine(r)
		if err != nil && !ended {
			ended = true
			close(gone)
		}
		lines <- line{b, err}
	}
}

// readLine reads one line that is not blank, without its end. A last line that
// is not ended is none: it may have been cut short and still be JSON.
func readLine(r *bufio.Reader) ([]byte, error) {
	for {
		var b []byte
		for {
			part, err := r.ReadSlice('\n')
			if len(b)+len(part) > control.MaxMessage {
				return nil, errTooLong
			}
			b = append(b, part...)
			if err == nil {
				break
			}
			if err != bufio.ErrBufferFull {
				return nil, err
			}
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			return b, nil
		}
	}
}

// joined gives the connection its attachment; it reports false when the caller
// has gone meanwhile.
func (c *conn) joined(a *attachment) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return false
	}
	c.attachment = a
	return true
}

// current is the connection's attachment, or nil.
func (c *conn) current() *attachment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attachment
}

// runs says how to stop the call that runs; nil when none does.
func (c *conn) runs(stop context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = stop
	if c.away && stop != nil {
		stop()
	}
}

// left stops the call whose reply nobody can take any more and lets go of the
// attachment: the caller has gone.
func (c *conn) left() {
	c.mu.Lock()
	a := c.attachment
	c.attachment, c.away = nil, true
	if c.stop != nil {
		c.stop()
	}
	c.mu.Unlock()
	if a != nil {
		a.leave()
	}
}

// write sends one reply, replaced when it is too long.
func (c *conn) write(b []byte) bool {
	_ = c.nc.SetWriteDeadline(time.Now().Add(c.s.times.write))
	n, err := c.nc.Write(append(b, '\n'))
	return err == nil && n == len(b)+1
}

// answer serves one line. keep is false when the connection ends.
func (c *conn) answer(b []byte, gone <-chan struct{}) (reply []byte, keep bool) {
	req, err := parse(b)
	if err != nil {
		return errorReply(nil, err.Error()), false
	}
	if !c.authorise(req) {
		return errorReply(req.ID, "unauthorized"), false
	}
	if !c.authorised {
		c.authorised = true
		_ = c.nc.SetReadDeadline(time.Time{})
	}
	if len(req.Params) > 0 && req.Params[0] != '{' {
		return errorReply(req.ID, shown(req.Method)+": params must be an object"), true
	}
	// The plane is told at once when the caller goes, so that nothing stays
	// held down for nobody.
	stop := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-gone:
			c.left()
		case <-stop:
		}
	}()
	result, err := c.call(req)
	close(stop)
	<-watched
	var command *commandError
	switch {
	case errors.As(err, &command):
		return errorReply(req.ID, command.Error()), true
	case errors.Is(err, errUnknown):
		return errorReply(req.ID, "unknown method "+strconv.Quote(shown(req.Method))), true
	case err != nil:
		return errorReply(req.ID, req.Method+": "+err.Error()), true
	}
	return limited(req, okReply(req.ID, result)), true
}

// authorise compares the key. It must come with the first request, as a key
// beside the method or as the parameter of auth; a wrong one is never ignored.
func (c *conn) authorise(req control.Request) bool {
	key := req.Key
	if req.Method == control.MethodAuth {
		var p struct{ Key string }
		if json.Unmarshal(orEmpty(req.Params), &p) == nil && p.Key != "" {
			key = p.Key
		}
	}
	if c.s.config.Key == "" || c.authorised && key == "" && req.Method != control.MethodAuth {
		return true
	}
	return subtle.ConstantTimeCompare([]byte(key), []byte(c.s.config.Key)) == 1
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// maxID bounds the id of a request, which comes back with the reply.
const maxID = 4096

// shown cuts a caller's text to what fits a message.
func shown(s string) string {
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	return s
}

// parse reads a request. Its errors end the connection: an HTTP request of a
// web page is refused at its first line, before its body is looked at.
func parse(b []byte) (control.Request, error) {
	var req control.Request
	switch {
	case !utf8.Valid(b):
		return req, errors.New("malformed request: not valid UTF-8")
	case !json.Valid(b):
		return req, errors.New("malformed request: not valid JSON")
	case b[0] != '{':
		return req, errors.New("malformed request: not an object")
	}
	// Go's decoder takes keys in any case and the last of two; a request has
	// each at most once, spelled as it is.
	seen := map[string]bool{}
	method := false
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return req, err
	}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return req, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return req, err
		}
		name, _ := tok.(string)
		if seen[name] {
			return req, errors.New("malformed request: a key is there twice")
		}
		seen[name] = true
		switch name {
		case "id":
			if len(raw) > maxID {
				return req, errors.New("malformed request: the id is too long")
			}
			req.ID = raw
		case "method":
			method = raw[0] == '"' && json.Unmarshal(raw, &req.Method) == nil
		case "params":
			if string(raw) != "null" {
				req.Params = raw
			}
		case "key":
			if raw[0] != '"' || json.Unmarshal(raw, &req.Key) != nil {
				return req, errors.New("malformed request: the key is not a string")
			}
		}
	}
	if !method || req.Method == "" {
		return req, errors.New("malformed request: no method")
	}
	return req, nil
}

// call carries out a request. A panic is answered, not fatal.
func (c *conn) call(req control.Request) (result json.RawMessage, err error) {
	defer func() {
		if recover() != nil {
			result, err = nil, errors.New("the program made a mistake; the request may or may not have acted")
		}
	}()
	return c.dispatch(req)
}
