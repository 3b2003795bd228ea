package conn

import (
	"errors"
	"io"
	"net"
	"testing"
)

// pair is a connection over a socket and its other end.
func pair(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	inner, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := New(inner)
	t.Cleanup(func() { c.Close(); far.Close() })
	return c, far
}

// Work that was put off is done before a wait, and the bytes come all the same.
func TestOnWait(t *testing.T) {
	c, far := pair(t)
	calls := 0
	c.OnWait(func() {
		// Nothing was sent before: the reader waits until this has run.
		if calls++; calls <= 3 {
			if _, err := far.Write([]byte{byte(calls)}); err != nil {
				t.Error(err)
			}
			return
		}
		far.Close()
	})
	for i := range 3 {
		b, err := c.Peek(1)
		if err != nil {
			t.Fatal(err)
		}
		if b[0] != byte(i+1) {
			t.Fatalf("got %d, want %d", b[0], i+1)
		}
		if err := c.Discard(1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Peek(1); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
	if calls != 4 || c.Received() != 3 || c.Consumed() != 3 {
		t.Errorf("got %d calls, %d bytes, %d consumed", calls, c.Received(), c.Consumed())
	}
}

// A connection that is closed here, even by what is done before a wait, ends
// the read.
func TestOnWaitCloses(t *testing.T) {
	c, _ := pair(t)
	c.OnWait(func() { c.Close() })
	if _, err := c.Peek(1); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want that it was closed", err)
	}
}

// Behind a layer, and on what is no socket, it is called as well.
func TestOnWaitBehindALayer(t *testing.T) {
	c, far := pair(t)
	if err := c.Replace(func(inner net.Conn) (net.Conn, error) { return inner, nil }); err != nil {
		t.Fatal(err)
	}
	c.OnWait(func() {
		if _, err := far.Write([]byte{7}); err != nil {
			t.Error(err)
		}
	})
	if b, err := c.Peek(1); err != nil || b[0] != 7 {
		t.Errorf("got %v, %v", b, err)
	}
}
