//go:build unix

package shell

import (
	"context"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/sshtest"
	"deskvnc/viewer/viewertest"
)

// A peer is a server of the lab with a plain shell.
type peer struct{ *sshtest.Server }

func (p peer) Target(testing.TB) viewer.Target { return command(p.Server, plainShell) }
func (p peer) Kill(testing.TB)                 { p.KillConnections() }

func TestContract(t *testing.T) {
	var servers []*sshtest.Server
	machine := func(t *testing.T) viewertest.TerminalPeer {
		s := start(t)
		servers = append(servers, s)
		return peer{s}
	}
	trusting := viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
		if q.Kind != viewer.AskServerKey {
			t.Errorf("asked for %s", q.Kind)
		}
		return viewer.Answer{Accept: true}, nil
	})
	d := New(Options{Home: t.TempDir(), KnownHostsFiles: []string{t.TempDir() + "/known"}})
	viewertest.TerminalSuite{Driver: d, Machine: machine, Ask: trusting}.Run(t)
	if len(servers) == 0 {
		t.Error("nothing was tried")
	}
}
