package conn

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"deskvnc/viewer"
)

// pieces is a connection that brings its pieces one by one, then its error.
type pieces struct {
	net.Conn
	list   [][]byte
	end    error
	closed int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.list) == 0 {
		return 0, p.end
	}
	n := copy(b, p.list[0])
	if p.list[0] = p.list[0][n:]; len(p.list[0]) == 0 {
		p.list = p.list[1:]
	}
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error) { return len(b), nil }
func (p *pieces) Close() error                { p.closed++; return errors.New("closed it") }

func split(s string, n int) (list [][]byte) {
	for b := []byte(s); len(b) > 0; {
		k := min(n, len(b))
		list = append(list, b[:k])
		b = b[k:]
	}
	return list
}

func TestPeekAndDiscard(t *testing.T) {
	for _, size := range []int{1, 3, 100} {
		c := New(&pieces{list: split("abcdefghij", size), end: io.EOF})
		if b, err := c.Peek(4); err != nil || string(b) != "abcd" {
			t.Fatalf("got %q, %v", b, err)
		}
		if b, err := c.Peek(2); err != nil || string(b) != "ab" || cap(b) < 2+Slack {
			t.Fatalf("got %q with room for %d, %v", b, cap(b), err)
		}
		if err := c.Discard(3); err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 2)
		if n, err := io.ReadFull(c, p); err != nil || string(p[:n]) != "de" {
			t.Fatalf("got %q, %v", p[:n], err)
		}
		if b, err := c.Some(3); err != nil || len(b) == 0 || len(b) > 3 || b[0] != 'f' {
			t.Fatalf("got %q, %v", b, err)
		}
		if err := c.Discard(4); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Peek(2); err != io.ErrUnexpectedEOF {
			t.Errorf("an end within a piece: got %v", err)
		}
		if b, err := c.Peek(1); err != nil || string(b) != "j" {
			t.Errorf("what is there can still be read: got %q, %v", b, err)
		}
		if err := c.Discard(1); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Peek(1); err != io.EOF || c.Err() != io.EOF {
			t.Errorf("an end between pieces: got %v, kept %v", err, c.Err())
		}
		if c.Received() != 10 {
			t.Errorf("%d bytes are counted", c.Received())
		}
	}
}

// The buffer grows with what arrives, not with what is asked for, and shrinks
// again.
func TestPeekGrows(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 3*BufferSize/16)
	c := New(&pieces{list: split(string(data), 1<<20), end: io.EOF})
	b, err := c.Peek(len(data))
	if err != nil || !bytes.Equal(b, data) {
		t.Fatalf("got %d bytes, %v", len(b), err)
	}
	if err := c.Discard(len(data)); err != nil {
		t.Fatal(err)
	}
	if len(c.buf) != BufferSize+Slack {
		t.Errorf("the buffer stays at %d bytes", len(c.buf))
	}
	c = New(&pieces{list: split("short", 9), end: io.EOF})
	if _, err := c.Peek(MaxPeek); err != io.ErrUnexpectedEOF || len(c.buf) != BufferSize+Slack {
		t.Errorf("a large claim: got %v and a buffer of %d bytes", err, len(c.buf))
	}
	if _, err := c.Peek(MaxPeek + 1); err != ErrTooLong {
		t.Errorf("a claim over the bound: got %v", err)
	}
}

func TestDiscardMoreThanIsBuffered(t *testing.T) {
	c := New(&pieces{list: split(string(make([]byte, 5*BufferSize))+"x", 70000), end: io.EOF})
	if err := c.Discard(5 * BufferSize); err != nil {
		t.Fatal(err)
	}
	if b, err := c.Peek(1); err != nil || b[0] != 'x' {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestCloseOnce(t *testing.T) {
	p := &pieces{}
	c := New(p)
	first, second := c.Close(), c.Close()
	if first == nil || first != second || p.closed != 1 {
		t.Errorf("got %v and %v, closed %d times", first, second, p.closed)
	}
}

// TLS starts in mid-stream, when its first bytes have arrived already.
// What is buffered when the connection is closed here is not read any more.
func TestNothingIsReadAfterClose(t *testing.T) {
	c := New(&pieces{list: split("abcdef", 6)})
	if b, err := c.Peek(6); err != nil || string(b) != "abcdef" {
		t.Fatalf("got %q, %v", b, err)
	}
	if err := c.Discard(2); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := c.Discard(1); !errors.Is(err, net.ErrClosed) || !errors.Is(c.Err(), net.ErrClosed) {
		t.Errorf("got %v, kept %v", err, c.Err())
	}
}

func TestReplaceByTLS(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS() // for its certificate
	cert := web.TLS.Certificates[0]
	web.Close()
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		defer theirs.Close()
		if _, err := theirs.Write([]byte("hello")); err != nil {
			ended <- err
			return
		}
		s := tls.Server(theirs, &tls.Config{Certificates: []tls.Certificate{cert}})
		_, err := s.Write([]byte("secret words"))
		ended <- err
	}()
	c := New(ours)
	defer c.Close()
	if b, err := c.Peek(5); err != nil || string(b) != "hello" {
		t.Fatalf("got %q, %v", b, err)
	}
	if err := c.Discard(5); err != nil {
		t.Fatal(err)
	}
	err := c.Replace(func(inner net.Conn) (net.Conn, error) {
		return tls.Client(inner, &tls.Config{InsecureSkipVerify: true}), nil // a test of layers, not of trust
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.Peek(12); err != nil || string(b) != "secret words" {
		t.Fatalf("got %q, %v", b, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestReplaceKeepsWhatIsBuffered(t *testing.T) {
	c := New(&pieces{list: split("abcdef", 6), end: io.EOF})
	if _, err := c.Peek(2); err != nil {
		t.Fatal(err)
	}
	var seen []byte
	err := c.Replace(func(inner net.Conn) (net.Conn, error) {
		b := make([]byte, 4)
		n, err := io.ReadFull(inner, b)
		seen = b[:n]
		return inner, err
	})
	if err != nil || string(seen) != "abcd" {
		t.Fatalf("got %q, %v", seen, err)
	}
	if b, err := c.Peek(2); err != nil || string(b) != "ef" {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestReadDeadline(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(context.Background(), l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestDialErrors(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	fail := func(err error) DialFunc {
		return func(context.Context, string, string) (net.Conn, error) { return nil, err }
	}
	own := &viewer.Error{Op: "tunnel", Kind: viewer.Untrusted, Err: errors.New("the host key has changed")}
	for _, c := range []struct {
		name string
		ctx  context.Context
		dial DialFunc
		kind viewer.Kind
		text string
	}{
		{"refused", context.Background(), fail(syscall.ECONNREFUSED), viewer.Unreachable, "there:1 refused the connection"},
		{"no such name", context.Background(), fail(&net.DNSError{Name: "there", IsNotFound: true}), viewer.Unreachable, "no machine is called there"},
		{"name server down", context.Background(), fail(&net.DNSError{Name: "there", Err: "down"}), viewer.Unreachable, "could not be looked up"},
		{"silence", context.Background(), fail(context.DeadlineExceeded), viewer.Timeout, "does not answer"},
		{"no route", context.Background(), fail(syscall.EHOSTUNREACH), viewer.Unreachable, "no connection to there:1"},
		{"cancelled", cancelled, nil, viewer.Cancelled, "canceled"},
		{"a tunnel's own error", context.Background(), fail(own), viewer.Untrusted, "host key has changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Dial(c.ctx, "there:1", c.dial)
			if viewer.KindOf(err) != c.kind || !bytes.Contains([]byte(err.Error()), []byte(c.text)) {
				t.Errorf("got %q: %v, want %q with %q", viewer.KindOf(err), err, c.kind, c.text)
			}
		})
	}
}
