//go:build unix

package sshdial_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial"
	"deskvnc/viewer/sshdial/sshtest"
)

// A person answers questions from a list, and keeps what was asked and told.
type person struct {
	mu      sync.Mutex
	answer  func(q viewer.Question) (viewer.Answer, error)
	asked   []viewer.Question
	notices []string
	methods []string
}

func (p *person) env() viewer.Env {
	return viewer.Env{
		Ask: viewer.AskFunc(func(_ context.Context, q viewer.Question) (viewer.Answer, error) {
			p.mu.Lock()
			p.asked = append(p.asked, q)
			answer := p.answer
			p.mu.Unlock()
			if answer == nil {
				return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: errors.New("nobody is here")}
			}
			return answer(q)
		}),
		Emit: func(e viewer.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			switch e := e.(type) {
			case viewer.Notice:
				p.notices = append(p.notices, e.Text)
			case viewer.Progress:
				if e.Method != "" {
					p.methods = append(p.methods, e.Method)
				}
			}
		},
	}
}

func (p *person) kinds() (kinds []viewer.QuestionKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.asked {
		kinds = append(kinds, q.Kind)
	}
	return kinds
}

func (p *person) told() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.notices, "\n")
}

// config logs in to the server with its key, its host keys being known.
func config(s *sshtest.Server) sshdial.Config {
	return sshdial.Config{
		Target: s.Target(), Login: sshdial.Login{KeyFile: s.KeyFile, NoAgent: true}, NoConfig: true,
		KnownHostsFiles: []string{s.KnownHosts()}, Home: s.Dir,
	}
}

// hang bounds what is expected to come at once.
const hang = 60 * time.Second

func dial(t *testing.T, c sshdial.Config, p *person) (*sshdial.Client, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	client, err := sshdial.Dial(ctx, c, p.env())
	if err == nil {
		t.Cleanup(func() { client.Close() })
	}
	return client, err
}

// output runs a command on the machine.
func output(t *testing.T, c *sshdial.Client, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	s, err := c.OpenSession(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := s.Output(command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return string(b)
}

func TestLoginWithKey(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	p := &person{}
	c, err := dial(t, config(s), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, c, "echo hello"); got != "hello\n" {
		t.Errorf("got %q", got)
	}
	if c.Method() != "publickey" || !strings.HasPrefix(c.ServerVersion(), "SSH-2.0-OpenSSH") || c.User() != s.User || len(p.asked) != 0 {
		t.Errorf("got the method %q, the server %q, the user %q and %d questions", c.Method(), c.ServerVersion(), c.User(), len(p.asked))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("after Close: got %v", err)
	}
}

func hopTo(s *sshtest.Server) sshdial.Hop {
	return sshdial.Hop{Target: s.Target(), Login: sshdial.Login{KeyFile: s.KeyFile, NoAgent: true}}
}
