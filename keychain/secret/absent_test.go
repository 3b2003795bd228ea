//go:build !windows && !darwin

package secret_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"deskvnc/keychain/secret"
	"deskvnc/keychain/secret/secrettest"
	"deskvnc/viewer"
)

// all calls everything and hands each error to look.
func all(t *testing.T, k *secret.Keychain, look func(name string, err error)) {
	t.Helper()
	ctx := t.Context()
	_, err := k.Get(ctx, lab)
	look("Get", err)
	_, err = k.Has(ctx, lab)
	look("Has", err)
	look("Set", k.Set(ctx, lab, viewer.SecretString(pass)))
	look("Delete", k.Delete(ctx, lab))
	look("DeleteOwner", k.DeleteOwner(ctx, lab.Owner))
	look("Unlock", k.Unlock(ctx))
}

func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T)
	}{
		{"no bus", func(t *testing.T) { secrettest.Isolate(t) }},
		{"a bus without the service", func(t *testing.T) { secrettest.New(t) }},
		{"a bus that is gone", func(t *testing.T) {
			t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(secrettest.Isolate(t), "gone"))
		}},
		{"an address that is none", func(t *testing.T) {
			secrettest.Isolate(t)
			t.Setenv("DBUS_SESSION_BUS_ADDRESS", "/dev/null")
		}},
		{"something else that listens", func(t *testing.T) {
			listen(t, func(c net.Conn) {
				io.WriteString(c, "SSH-2.0-OpenSSH\r\n")
				c.Close()
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.prepare(t)
			for _, mayPrompt := range []bool{false, true} {
				k := secret.New(secret.Options{MayPrompt: mayPrompt})
				all(t, k, func(name string, err error) {
					t.Helper()
					wantKind(t, err, secret.Absent)
				})
				if st := k.Status(t.Context()); st.Kind != secret.Absent || st.Reason == "" || st.Advice == "" {
					t.Errorf("got state %+v, want absent, with reason and advice", st)
				}
			}
		})
	}
}

// listen is a session bus of the test's own making.
func listen(t *testing.T, serve func(net.Conn)) {
	t.Helper()
	path := filepath.Join(secrettest.Isolate(t), "run", "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { serve(c) })
		}
	})
}

// TestBusHangs finds the bus by the runtime folder alone; it accepts and never
// says a word.
func TestBusHangs(t *testing.T) {
	listen(t, func(c net.Conn) {
		io.Copy(io.Discard, c) // until the other side gives up
		c.Close()
	})
	before := runtime.NumGoroutine()
	k := secret.New(secret.Options{Timeout: 100 * time.Millisecond, MayPrompt: true})
	all(t, k, func(name string, err error) {
		t.Helper()
		wantKind(t, err, secret.Failed)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "100ms") {
			t.Errorf("%s: got %v, want one that tells how long it waited", name, err)
		}
	})
	if st := k.Status(t.Context()); st.Kind != secret.Failed || st.Advice == "" {
		t.Errorf("got state %+v, want failed, with advice", st)
	}
	settle(t, before)
}

// TestServiceHangs is a bus that works and a service that takes every call and
// answers none.
func TestServiceHangs(t *testing.T) {
	s := secrettest.New(t)
	c := s.Dial(t)
	if _, err := c.RequestName("org.freedesktop.secrets", 0); err != nil {
		t.Fatal(err)
	}
	c.Eavesdrop(make(chan *dbus.Message)) // every message is dropped
	before := runtime.NumGoroutine()
	k := secret.New(secret.Options{Timeout: 100 * time.Millisecond, MayPrompt: true})
	all(t, k, func(name string, err error) {
		t.Helper()
		wantKind(t, err, secret.Failed)
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Get(ctx, lab); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	settle(t, before)
}

// settle waits until the goroutines that were started have ended: closing a
// connection of the library does not wait for its own.
func settle(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("goroutines are left behind:\n%s", buf[:runtime.Stack(buf, true)])
		}
	}
}
