//go:build !windows && !darwin

package ring_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/keychain/secret/ring"
	"deskvnc/keychain/secret/secrettest"
)

// TestRing runs go-keyring against gnome-keyring: the same calls that reach
// the keychains of macOS and Windows there.
func TestRing(t *testing.T) {
	s := secrettest.New(t)
	s.StartKeyring(t, "master")
	r := ring.New(time.Minute)
	ctx := t.Context()
	const service, other = "DeskVNC/h_1", "DeskVNC/h_10"
	if _, err := r.Get(ctx, service, "password"); !errors.Is(err, ring.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	want := strings.Repeat("Wörd-🔑\n", 200)
	for _, at := range [][2]string{{service, "password"}, {service, "key-passphrase"}, {other, "password"}} {
		if err := r.Set(ctx, at[0], at[1], []byte(want)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.Get(ctx, service, "password"); err != nil || string(got) != want {
		t.Errorf("got %d bytes, %v, want the %d stored", len(got), err, len(want))
	}
	for range 2 {
		if err := r.Delete(ctx, service, "password"); err != nil {
			t.Error(err)
		}
		if err := r.DeleteAll(ctx, service); err != nil {
			t.Error(err)
		}
	}
	if items := s.Search(t, "service", service); len(items) != 0 {
		t.Errorf("left behind: %s", items)
	}
	if _, err := r.Get(ctx, other, "password"); err != nil {
		t.Error("another owner's went too: ", err)
	}
}

// TestHung is a keychain that never answers: calls end in time, only so many
// are left behind, and the ring works again when the system does.
func TestHung(t *testing.T) {
	path := filepath.Join(secrettest.Isolate(t), "run", "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	var conns sync.WaitGroup
	release := make(chan struct{})
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				io.CopyN(io.Discard, c, 1)
				<-release
				c.Close()
			})
		}
	})

	r := ring.New(100 * time.Millisecond)
	var calls sync.WaitGroup
	for range 10 { // more than are left behind
		calls.Go(func() {
			if _, err := r.Get(t.Context(), "s", "u"); !errors.Is(err, ring.ErrSilent) {
				t.Errorf("got %v, want silence", err)
			}
			if err := r.Set(t.Context(), "s", "u", []byte("never shown")); !errors.Is(err, ring.ErrSilent) {
				t.Errorf("got %v, want silence", err)
			}
		})
	}
	calls.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Delete(ctx, "s", "u"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	close(release)
	l.Close()
	conns.Wait()

	// What was left behind comes back with an error and frees its place.
	s := secrettest.New(t)
	s.StartKeyring(t, "master")
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err = r.Delete(ctx, "s", "u"); err != nil && ctx.Err() == nil; {
		err = r.Delete(ctx, "s", "u")
	}
	if err != nil {
		t.Error(err)
	}
}
