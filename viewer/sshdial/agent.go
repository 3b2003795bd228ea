package sshdial

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// How long an agent may take: to tell its keys, and to sign, which a person may
// have to allow or to touch a token for.
const (
	agentListTime = 10 * time.Second
	agentSignTime = 2 * time.Minute
)

// maxAgentKeys bounds how many keys of an agent are looked at.
const maxAgentKeys = 64

// A keyAgent is a running ssh-agent. It is asked one thing at a time.
type keyAgent struct {
	mu     sync.Mutex
	conn   io.ReadWriteCloser
	client agent.Agent
}

// An agentKey is a key that an agent holds.
type agentKey struct {
	comment string
	signer  ssh.AlgorithmSigner
}

// agentPath is where the agent is, of what IdentityAgent of the SSH
// configuration says (ssh_config(5)); empty for the one of this system.
func agentPath(conf string) string {
	switch {
	case conf == "" || conf == "SSH_AUTH_SOCK":
		return os.Getenv("SSH_AUTH_SOCK")
	case strings.HasPrefix(conf, "$"):
		return os.Getenv(strings.Trim(conf[1:], "{}"))
	}
	return conf
}

// openAgent connects to the agent at path, or to that of this system when path
// is empty. An agent that is not there has no keys.
func openAgent(ctx context.Context, path string) *keyAgent {
	conn := dialAgent(ctx, path)
	if conn == nil {
		return nil
	}
	return &keyAgent{conn: conn, client: agent.NewClient(conn)}
}

// keys lists what the agent holds. An agent that does not answer has nothing.
func (a *keyAgent) keys() []agentKey {
	if a == nil {
		return nil
	}
	defer a.within(agentListTime)()
	list, err := a.client.List()
	if err != nil {
		return nil
	}
	signers, err := a.client.Signers()
	if err != nil {
		return nil
	}
	var keys []agentKey
	for _, s := range signers {
		as, ok := s.(ssh.AlgorithmSigner)
		if !ok || len(keys) == maxAgentKeys {
			continue
		}
		k := agentKey{signer: as}
		for _, l := range list {
			if string(l.Blob) == string(s.PublicKey().Marshal()) {
				k.comment = cleanLine(l.Comment, maxLine)
			}
		}
		keys = append(keys, k)
	}
	return keys
}

// within has the agent to itself for so long; after that its connection ends.
func (a *keyAgent) within(d time.Duration) (done func()) {
	a.mu.Lock()
	t := time.AfterFunc(d, func() { a.conn.Close() })
	return func() {
		t.Stop()
		a.mu.Unlock()
	}
}

func (a *keyAgent) close() {
	if a != nil {
		a.conn.Close()
	}
}

// dialSocket connects to an agent's socket.
func dialSocket(ctx context.Context, path string) io.ReadWriteCloser {
	ctx, cancel := context.WithTimeout(ctx, agentListTime)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil
	}
	return c
}
