package rfbtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Load reads a recorded stream: all that a server without a password sent,
// from its greeting on, in version 3.8. A name ending in .zst is compressed
// with zstd.
func Load(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".zst") {
		return io.ReadAll(f)
	}
	z, err := zstd.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(z)
}

// Replay is a script for [Serve]: it performs the recorded handshake, waits
// for the first request, sends the rest, and closes when the client has.
func Replay(stream []byte) func(*Conn) error {
	return func(c *Conn) error {
		rest, err := replayHandshake(c, stream)
		if err != nil {
			return err
		}
		if _, err := c.Until(UpdateRequest); err != nil {
			return err
		}
		// Reading goes on, so that the end does not reset the connection and
		// lose what the client has not taken yet.
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_ = c.Drain()
		}()
		_, err = c.Write(rest)
		if t, ok := c.Conn.(*net.TCPConn); ok && err == nil {
			err = t.CloseWrite()
		}
		if err != nil {
			c.Close()
		}
		<-gone
		return err
	}
}

// replayHandshake sends the handshake of a stream, and returns what follows.
func replayHandshake(c *Conn, stream []byte) ([]byte, error) {
	r := bytes.NewReader(stream)
	var err error
	send := func(n, want int) []byte {
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(r, b)
		}
		if err == nil {
			err = c.Send(b)
		}
		if err == nil {
			_, err = c.Expect(want)
		}
		return b
	}
	send(12, 12) // version
	types := send(1, 0)
	send(int(types[0]), 1) // security type
	send(4, 1)             // result; ClientInit
	head := send(24, 0)    // ServerInit
	name := binary.BigEndian.Uint32(head[20:])
	if err == nil && int64(name) > int64(r.Len()) {
		err = errors.New("the recorded name is longer than the recording")
	}
	if err != nil {
		return nil, err
	}
	send(int(name), 0)
	return stream[len(stream)-r.Len():], err
}
