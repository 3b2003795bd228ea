//go:build unix

package sshdial_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial"
	"deskvnc/viewer/sshdial/sshtest"
)

// serve gives every connection to fn; all of it ends with the test.
func serve(t *testing.T, fn func(c net.Conn)) viewer.Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var conns []net.Conn
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			serving.Go(func() {
				defer c.Close()
				fn(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	at := l.Addr().(*net.TCPAddr)
	return viewer.Target{Protocol: viewer.SSH, Address: "127.0.0.1", Port: at.Port, User: "x"}
}

func quick(t *testing.T, target viewer.Target) sshdial.Config {
	return sshdial.Config{Target: target, Login: sshdial.Login{NoAgent: true}, NoConfig: true, KnownHostsFiles: []string{filepath.Join(t.TempDir(), "kh")}, Home: t.TempDir(),
		Limits: sshdial.Limits{Greeting: time.Second, Keys: 2 * time.Second, Step: 2 * time.Second}}
}

// wait reads until the client has gone.
func wait(c net.Conn) { io.Copy(io.Discard, c) }

func TestHostileGreetings(t *testing.T) {
	for _, tt := range []struct {
		name string
		fn   func(net.Conn)
		kind viewer.Kind
		text string
	}{
		{"silence", wait, viewer.Timeout, "greeting"},
		{"gone at once", func(net.Conn) {}, viewer.Closed, "before it spoke"},
		{"lines without an end", func(c net.Conn) {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(c, "hello\r\n")
			}
		}, viewer.Malformed, "does not speak SSH"},
		{"a line without an end", func(c net.Conn) {
			for err := error(nil); err == nil; {
				_, err = c.Write(bytes.Repeat([]byte("x"), 4096))
			}
		}, viewer.Malformed, "does not speak SSH"},
		{"a greeting without an end", func(c net.Conn) {
			io.WriteString(c, "SSH-2.0-")
			for err := error(nil); err == nil; {
				_, err = c.Write(bytes.Repeat([]byte("x"), 4096))
			}
		}, viewer.Malformed, ""},
		{"one byte now and then", func(c net.Conn) {
			for err := error(nil); err == nil; {
				_, err = c.Write([]byte("x"))
				time.Sleep(20 * time.Millisecond) // this is the attack
			}
		}, viewer.Malformed, "does not speak SSH"},
		{"another protocol", func(c net.Conn) { io.WriteString(c, "RFB 003.008\n"); wait(c) }, viewer.Malformed, "does not speak SSH"},
		{"SSH 1", func(c net.Conn) { io.WriteString(c, "SSH-1.5-old\r\n"); wait(c) }, viewer.Timeout, ""},
		{"a greeting and silence", func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n"); wait(c) }, viewer.Timeout, "exchange of keys"},
		{"a greeting and the end", func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n") }, viewer.Closed, "exchange of keys"},
		{"a packet of 4 GiB", func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n\xff\xff\xff\xff\x04"); wait(c) }, viewer.Malformed, ""},
		{"a packet of nothing", func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n"+strings.Repeat("\x00", 64)); wait(c) }, viewer.Malformed, ""},
		{"noise", func(c net.Conn) {
			io.WriteString(c, "SSH-2.0-x\r\n")
			io.CopyN(c, rand.Reader, 1<<20)
		}, "", ""},
		{"a greeting with colours", func(c net.Conn) { io.WriteString(c, "SSH-2.0-\x1b[31mx\r\n"); wait(c) }, viewer.Timeout, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := dial(t, quick(t, serve(t, tt.fn)), &person{})
			if tt.kind == "" && err == nil || tt.kind != "" && viewer.KindOf(err) != tt.kind || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("got %s: %v, want %s: %s", viewer.KindOf(err), err, tt.kind, tt.text)
			}
			if strings.Contains(err.Error(), "\x1b") {
				t.Errorf("the error is not clean: %q", err)
			}
		})
	}
}

// A real machine falls silent, or is cut off, after every number of bytes that
// matters: there is an error in time each time, and a cancel at once.
func TestSilenceAtEveryStage(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{HostKeys: []string{"ed25519"}})
	r := sshtest.StartRelay(t, s)
	c := config(s)
	c.Target = r.Target()
	c.Target.User = s.User
	c.Accepted = &sshdial.Accepted{}
	yes := answering(viewer.Answer{Accept: true})
	c.Limits = sshdial.Limits{Greeting: 5 * time.Second, Keys: 5 * time.Second, Step: 5 * time.Second}
	r.StopAfter(-1, false)
	if _, err := dial(t, c, yes); err != nil {
		t.Fatal(err)
	}
	c.Limits = sshdial.Limits{Greeting: time.Second, Keys: time.Second, Step: time.Second}
	patient := c
	patient.Limits = sshdial.Limits{Greeting: time.Hour, Keys: time.Hour, Step: time.Hour}
	var wg sync.WaitGroup
	stages := map[string]bool{}
	for _, n := range []int{0, 3, 20, 45, 300, 1000, 1500, 1650, 1800} {
		r.StopAfter(n, false)
		_, err := dial(t, c, yes)
		if err == nil {
			t.Logf("%d bytes are enough for a login", n)
			continue
		}
		if viewer.KindOf(err) != viewer.Timeout {
			t.Errorf("silence after %d bytes: got %v", n, err)
		}
		for _, stage := range []string{"greeting", "exchange of keys", "the login"} {
			if strings.Contains(err.Error(), stage) {
				stages[stage] = true
				t.Logf("%d bytes: %s", n, stage)
			}
		}
		r.StopAfter(n, true)
		if _, err := dial(t, patient, yes); viewer.KindOf(err) != viewer.Closed {
			t.Errorf("cut after %d bytes: got %v", n, err)
		}
		r.StopAfter(n, false)
		ctx, cancel := context.WithCancel(context.Background())
		wg.Go(func() {
			if _, err := sshdial.Dial(ctx, patient, yes.env()); viewer.KindOf(err) != viewer.Cancelled {
				t.Errorf("cancelled after %d bytes: got %v", n, err)
			}
		})
		cancel()
	}
	wg.Wait()
	if len(stages) != 3 {
		t.Errorf("got to the stages %v only", stages)
	}
}

// bare is a server of the library, for what OpenSSH does not do.
func bare(t *testing.T, c *ssh.ServerConfig) viewer.Target {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c.AddHostKey(signer)
	return serve(t, func(conn net.Conn) {
		sc, channels, requests, err := ssh.NewServerConn(conn, c)
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		for ch := range channels {
			ch.Reject(ssh.Prohibited, "nothing\x1b here")
		}
		sc.Close()
	})
}

func TestStallInTheLogin(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	target := bare(t, &ssh.ServerConfig{PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) {
		<-stop
		return nil, errors.New("no")
	}})
	_, err := dial(t, quick(t, target), trusting(password("x")))
	if viewer.KindOf(err) != viewer.Timeout || !strings.Contains(err.Error(), "the login") {
		t.Errorf("got %v", err)
	}
}

func TestEndlessBanners(t *testing.T) {
	target := bare(t, &ssh.ServerConfig{PreAuthConnCallback: func(c ssh.ServerPreAuthConn) {
		go func() {
			for c.SendAuthBanner(strings.Repeat("buy! ", 2000)) == nil {
			}
		}()
	}, PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, nil }})
	p := trusting(password("x"))
	c := quick(t, target)
	c.Limits = sshdial.Limits{}
	_, err := dial(t, c, p)
	if err == nil {
		t.Log("the login was faster than the banners")
	} else if viewer.KindOf(err) != viewer.Limit {
		t.Errorf("got %v", err)
	}
	if n := len(p.told()); n > 16*4100 || len(p.notices) > 16 {
		t.Errorf("got %d notices of %d bytes", len(p.notices), n)
	}
}

// A person may take longer than any step.
func TestAPersonTakesTime(t *testing.T) {
	target := bare(t, &ssh.ServerConfig{PasswordCallback: func(_ ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
		if string(p) != "right" {
			return nil, errors.New("no")
		}
		return nil, nil
	}})
	c := quick(t, target)
	c.Limits = sshdial.Limits{Greeting: 3 * time.Second, Keys: 3 * time.Second, Step: 3 * time.Second}
	p := &person{answer: func(q viewer.Question) (viewer.Answer, error) {
		<-time.After(3500 * time.Millisecond) // longer than a step
		return viewer.Answer{Accept: true, Secret: viewer.SecretString("right")}, nil
	}}
	client, err := dial(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.DialThrough(context.Background(), "tcp", "10.0.0.1:80"); viewer.KindOf(err) != viewer.Unsupported || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("got %q", err)
	}
	// Cancelled while a question is open.
	ctx, cancel := context.WithCancel(context.Background())
	asked := viewer.Env{Emit: func(viewer.Event) {}, Ask: viewer.AskFunc(func(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
		cancel()
		<-ctx.Done()
		return viewer.Answer{}, ctx.Err()
	})}
	if _, err := sshdial.Dial(ctx, c, asked); viewer.KindOf(err) != viewer.Cancelled {
		t.Errorf("got %v", err)
	}
}

// New keys are agreed on in mid-stream without a question.
func TestNewKeysInMidStream(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{Config: []string{"RekeyLimit 256K"}})
	client, err := dial(t, config(s), &person{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.DialThrough(context.Background(), "tcp", echo(t, "tcp", "127.0.0.1:0").Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	back(t, c, 2<<20)
	if n := strings.Count(s.Log(), "rekey"); n > 0 {
		t.Logf("the server logged %d lines about new keys", n)
	}
}

// Nothing is left behind by logins that work and by those that do not.
func TestNothingIsLeftBehind(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{HostKeys: []string{"ed25519"}})
	silent := serve(t, wait)
	l := echo(t, "tcp", "127.0.0.1:0")
	before := runtime.NumGoroutine()
	for range 5 {
		client, err := dial(t, config(s), &person{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.DialThrough(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if _, err := client.Subsystem(context.Background(), "sftp"); err != nil {
			t.Error(err)
		}
		client.Close() // and all that runs through it
		if _, err := dial(t, quick(t, silent), &person{}); err == nil {
			t.Error("a silent machine let us in")
		}
	}
	for deadline := time.Now().Add(hang); runtime.NumGoroutine() > before+12; runtime.Gosched() {
		if time.Now().After(deadline) {
			b := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), b[:runtime.Stack(b, true)])
		}
	}
}
