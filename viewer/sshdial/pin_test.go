//go:build unix

package sshdial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/sshtest"
)

// A target that brings its key is believed by that key alone, whatever the
// known hosts say, and nothing is asked or written.
func TestPinnedByTarget(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{HostKeys: []string{"ed25519"}})
	known := filepath.Join(t.TempDir(), "known_hosts")
	dial := func(pin string) error {
		to := s.Target()
		to.SSH = &viewer.SSHSettings{HostKey: pin}
		c, err := Dial(t.Context(), Config{
			Target: to, Login: Login{KeyFile: s.KeyFile, NoAgent: true}, NoConfig: true, KnownHostsFiles: []string{known}, Home: s.Dir,
		}, viewer.Env{Emit: func(viewer.Event) {}, Ask: viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
			t.Errorf("asked about %v", q.Kind)
			return viewer.Answer{}, errors.New("nobody")
		})})
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := dial(ssh.FingerprintSHA256(s.HostKey("ed25519"))); err != nil {
		t.Error(err)
	}
	if err := dial("SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); viewer.KindOf(err) != viewer.Untrusted {
		t.Errorf("got %v, want an untrusted key", err)
	}
	if _, err := os.Stat(known); err == nil {
		t.Error("known hosts were written")
	}
}
