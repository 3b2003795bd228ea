//go:build unix

package sshdial_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/sshtest"
)

// echo serves connections that come back.
func echo(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				io.Copy(c, c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return l
}

// back sends n random bytes and expects them back.
func back(t *testing.T, c net.Conn, n int64) {
	t.Helper()
	var seed [32]byte
	sent, got := sha256.New(), sha256.New()
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := io.Copy(c, io.TeeReader(io.LimitReader(rand.NewChaCha8(seed), n), sent)); err != nil {
			t.Error(err)
		}
	})
	if _, err := io.CopyN(got, c, n); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
		t.Error("what came back is something else")
	}
}

func TestTunnels(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	client, err := dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tcp, unix := echo(t, "tcp", "127.0.0.1:0"), echo(t, "unix", filepath.Join(dir, "s"))
	for _, l := range []net.Listener{tcp, unix} {
		c, err := client.DialThrough(ctx, l.Addr().Network(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		back(t, c, 4<<20)
		if c.RemoteAddr().String() != l.Addr().String() {
			t.Errorf("got the address %v", c.RemoteAddr())
		}
		c.Close()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("read from a closed connection")
		}
		if _, err := c.Write([]byte("x")); err == nil {
			t.Error("wrote to a closed connection")
		}
		c.Close()
	}
	// The end of one direction reaches the far side, and the other goes on.
	c, err := client.DialThrough(ctx, "tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); err != nil || string(b) != "last words" {
		t.Errorf("got %q, %v", b, err)
	}
	for _, tt := range []struct {
		network, address string
		want             viewer.Kind
	}{
		{"tcp", "127.0.0.1:1", viewer.Unreachable}, {"tcp", "no-such-host.invalid:22", viewer.Unreachable}, {"unix", "/no/such/socket", viewer.Unreachable},
		{"udp", "127.0.0.1:1", viewer.Invalid}, {"tcp", "127.0.0.1", viewer.Invalid}, {"tcp", "127.0.0.1:0", viewer.Invalid}, {"tcp", ":80", viewer.Invalid},
	} {
		if _, err := client.DialThrough(ctx, tt.network, tt.address); viewer.KindOf(err) != tt.want {
			t.Errorf("%s %s: got %v, want %s", tt.network, tt.address, err, tt.want)
		}
	}
	s.SetConfig("AllowTcpForwarding no")
	client, err = dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.DialThrough(ctx, "tcp", tcp.Addr().String()); viewer.KindOf(err) != viewer.Unsupported || !strings.Contains(err.Error(), "AllowTcpForwarding") {
		t.Errorf("where tunnels are not allowed: got %v", err)
	}
}

func TestDeadlinesOfATunnel(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	client, err := dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and reads nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c, err := client.DialThrough(context.Background(), "tcp", silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := make([]byte, 1<<20)
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// One that is set while a read waits.
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := c.Read(b)
		got <- err
	}()
	if err := c.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-got:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	case <-time.After(hang):
		t.Fatal("the read goes on")
	}
	// A write that the far side does not take.
	if err := c.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var werr error
	for range 100 { // windows and buffers take some of it
		if _, werr = c.Write(b); werr != nil {
			break
		}
	}
	if !errors.Is(werr, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", werr)
	}
}

func TestListenThere(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	client, err := dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := client.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.Copy(c, c)
	})
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	back(t, c, 1<<20)
	c.Close()
	serving.Wait()
	taken := echo(t, "tcp", "127.0.0.1:0")
	if _, err := client.Listen(context.Background(), "tcp", taken.Addr().String()); viewer.KindOf(err) != viewer.Unsupported {
		t.Errorf("a port that is taken: got %v", err)
	}
	client.Close()
	if _, err := l.Accept(); err == nil {
		t.Error("the listener outlives the client")
	}
}

func TestSubsystem(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	client, err := dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Subsystem(context.Background(), "sftp")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// SSH_FXP_INIT of version 3 is answered by SSH_FXP_VERSION.
	if _, err := c.Write([]byte{0, 0, 0, 5, 1, 0, 0, 0, 3}); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 9)
	if _, err := io.ReadFull(c, b); err != nil || b[4] != 2 {
		t.Errorf("got %v, %v", b, err)
	}
	if _, err := client.Subsystem(context.Background(), "nothing"); viewer.KindOf(err) != viewer.Unsupported {
		t.Errorf("got %v", err)
	}
}

// Everything that runs through a client ends with it, and says why.
func TestConnectionIsLost(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	near := sshtest.Start(t, sshtest.Options{})
	l := echo(t, "tcp", "127.0.0.1:0")
	for _, lost := range []*sshtest.Server{s, near} {
		c := config(s)
		c.KnownHostsFiles = nil
		c.KnownHostsFiles = append(c.KnownHostsFiles, s.KnownHosts(), near.KnownHosts())
		c.Via = append(c.Via, hopTo(near))
		client, err := dial(t, c, &person{})
		if err != nil {
			t.Fatal(err)
		}
		tunnel, err := client.DialThrough(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		session, err := client.OpenSession(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 2)
		go func() { ended <- session.Run("cat") }()
		go func() {
			_, err := tunnel.Read(make([]byte, 1))
			ended <- err
		}()
		lost.KillConnections()
		for range 2 {
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it ended well")
				}
			case <-time.After(hang):
				t.Fatal("something outlives the connection")
			}
		}
		select {
		case <-client.Done():
		case <-time.After(hang):
			t.Fatal("the client does not notice")
		}
		if viewer.KindOf(client.Err()) != viewer.Closed {
			t.Errorf("got %v", client.Err())
		}
		if _, err := client.OpenSession(context.Background()); viewer.KindOf(err) != viewer.Closed {
			t.Errorf("a session afterwards: got %v", err)
		}
		if _, err := client.DialThrough(context.Background(), "tcp", l.Addr().String()); viewer.KindOf(err) != viewer.Closed {
			t.Errorf("a tunnel afterwards: got %v", err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A machine that hangs is noticed by the keep-alive; one that is only quiet is
// kept.
func TestKeepAlive(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	c.KeepAlive.Every, c.KeepAlive.Count = 500*time.Millisecond, 3
	client, err := dial(t, c, &person{})
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, client, "sleep 2; echo alive"); got != "alive\n" {
		t.Errorf("got %q", got)
	}
	session, err := client.OpenSession(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Run("cat") }()
	s.Freeze()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	if _, err := client.OpenSession(ctx); err == nil || ctx.Err() != nil { // ends with the client
		t.Errorf("a session on a machine that hangs: got %v", err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the command ended well")
		}
	case <-time.After(hang):
		t.Fatal("the command goes on")
	}
	<-client.Done()
	if viewer.KindOf(client.Err()) != viewer.Timeout || !strings.Contains(client.Err().Error(), "has not answered") {
		t.Errorf("got %v", client.Err())
	}
	s.Thaw()
}

// A call ends with its ctx although the machine hangs, and the client lives on.
func TestCallEndsWithItsContext(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	client, err := dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	for name, call := range map[string]func(context.Context) error{
		"session":   func(ctx context.Context) error { _, err := client.OpenSession(ctx); return err },
		"subsystem": func(ctx context.Context) error { _, err := client.Subsystem(ctx, "sftp"); return err },
		"tunnel":    func(ctx context.Context) error { _, err := client.DialThrough(ctx, "tcp", "127.0.0.1:1"); return err },
		"listen":    func(ctx context.Context) error { _, err := client.Listen(ctx, "tcp", "127.0.0.1:0"); return err },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		if err := call(ctx); viewer.KindOf(err) != viewer.Timeout {
			t.Errorf("%s: got %v", name, err)
		}
		cancel()
		ctx, cancel = context.WithCancel(context.Background())
		cancel()
		if err := call(ctx); viewer.KindOf(err) != viewer.Cancelled {
			t.Errorf("%s, cancelled: got %v", name, err)
		}
	}
	s.Thaw()
	if got := output(t, client, "echo still here"); got != "still here\n" {
		t.Errorf("got %q", got)
	}
}

// Many things at once over one client.
func TestManyTogether(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{Config: []string{"MaxSessions 50"}})
	client, err := dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	l := echo(t, "tcp", "127.0.0.1:0")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c, err := client.DialThrough(context.Background(), "tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			back(t, c, 1<<20)
		})
		wg.Go(func() {
			session, err := client.OpenSession(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			b, err := session.Output(fmt.Sprintf("echo %d", i))
			if err != nil || string(b) != fmt.Sprintf("%d\n", i) {
				t.Errorf("got %q, %v", b, err)
			}
		})
	}
	wg.Wait()
}
