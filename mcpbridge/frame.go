package mcpbridge

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"sync/atomic"
)

// The faults of a frame. None of them ends the stream.
var (
	errTooLong   = errors.New("the message is longer than this server takes")
	errHeader    = errors.New("the message has a header without a usable Content-Length")
	errTruncated = errors.New("the stream ended inside a message")
)

const (
	frameBuffer    = 64 << 10 // one read; also the longest header line
	maxHeaderLines = 16
)

// byteOrderMark may stand once before everything else.
var byteOrderMark = []byte("\xef\xbb\xbf")

// frames splits a stream into messages: one a line, or one after a block of
// headers with Content-Length. It is owned by one goroutine, framed aside.
type frames struct {
	r    *bufio.Reader
	max  int // bytes of one message, with the newline that ends a line
	seen bool

	// What is left of a message that was refused for its length.
	skipLine bool
	skip     int64

	framed atomic.Bool // a Content-Length has been seen, for good
}

func newFrames(r io.Reader, limit int) *frames {
	return &frames{r: bufio.NewReaderSize(r, frameBuffer), max: limit}
}

// next returns the bytes of the next message, which are the caller's. Blank
// ones are skipped. errTooLong, errHeader and errTruncated are about one
// message; any other error ends the stream.
func (f *frames) next() ([]byte, error) {
	for {
		if err := f.drain(); err != nil {
			return nil, err
		}
		line, err := f.line(f.max)
		if err != nil {
			return nil, err
		}
		if !f.seen {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		body := bytes.TrimSpace(line)
		if len(body) == 0 {
			continue
		}
		f.seen = true
		if headerName(body) == "" {
			return body, nil
		}
		if body, err = f.body(body); err != nil || len(body) > 0 {
			return body, err
		}
	}
}

// drain throws away what is left of an overlong message, without storing it.
func (f *frames) drain() error {
	for f.skipLine {
		_, err := f.r.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return err
		}
		f.skipLine = err != nil
	}
	for f.skip > 0 {
		n, err := f.r.Discard(int(min(f.skip, frameBuffer)))
		f.skip -= int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// line reads one line of at most limit bytes, its newline included. A last line
// without one is as good. It fails as soon as the limit is passed; the rest is
// drained by the next call.
func (f *frames) line(limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := f.r.ReadSlice('\n')
		size := len(line) + len(part)
		if err != nil {
			size++ // for the newline that is missing so far
		}
		if size > limit {
			f.seen = true
			f.skipLine = err == bufio.ErrBufferFull
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case err == io.EOF && len(line) > 0:
			return line, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// headerName is the lower-case name of a header line that can open a framed
// message, or nothing. JSON never starts like one.
func headerName(line []byte) string {
	name, _, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return ""
	}
	switch n := string(bytes.ToLower(bytes.TrimSpace(name))); n {
	case "content-length", "content-type":
		return n
	}
	return ""
}

// body reads the rest of the headers and what follows them. A body of nothing
// but spaces is returned as no bytes.
func (f *frames) body(line []byte) ([]byte, error) {
	length := int64(-1)
	for n := 0; len(line) > 0; n++ {
		if n == maxHeaderLines {
			return nil, errHeader
		}
		if headerName(line) == "content-length" {
			_, value, _ := bytes.Cut(line, []byte(":"))
			v, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
			if err != nil || length >= 0 && length != int64(v) {
				return nil, errHeader
			}
			length = int64(v)
		}
		next, err := f.line(frameBuffer)
		switch {
		case err == errTooLong:
			return nil, errHeader
		case err != nil:
			return nil, errTruncated
		}
		line = bytes.TrimSpace(next)
	}
	if length < 0 {
		return nil, errHeader
	}
	f.framed.Store(true)
	if length > int64(f.max) {
		f.skip = length
		return nil, errTooLong
	}
	body := make([]byte, 0, min(length, frameBuffer))
	buf := bytes.NewBuffer(body)
	if _, err := io.CopyN(buf, f.r, length); err != nil {
		return nil, errTruncated
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}

// tooLong says what an overlong message led to.
func tooLong(limit int) string {
	return "the message is longer than the " + strconv.Itoa(limit) + " bytes that this server takes, its newline included; nothing was done"
}
