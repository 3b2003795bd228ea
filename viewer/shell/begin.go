package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"deskvnc/viewer"
)

// terminalType is what programs are told unless the target says otherwise.
const terminalType = "xterm-256color"

// The modes of a new terminal (RFC 4254 8): its speed, and that what is typed
// is UTF-8.
const (
	modeEnd   = 0
	modeUTF8  = 42
	modeIn    = 128
	modeOut   = 129
	modeSpeed = 38400
)

// begin opens the channel of the terminal and starts the program.
func (s *Session) begin(ctx context.Context) error {
	ch, requests, err := s.client.OpenChannel(ctx)
	if err != nil {
		return err
	}
	s.channel, s.requests = ch, requests
	set := s.target.Settings()
	s.forwardAgent(set)
	for _, v := range environment() {
		if err := send(ch, "env", ssh.Marshal(struct{ Name, Value string }{v[0], v[1]})); err != nil {
			return s.refused(err)
		}
	}
	cols, rows := s.grid.Size()
	s.size = [2]int{cols, rows}
	err = s.request(ctx, "pty-req", "gives no terminal: allow it there (PermitTTY)", ssh.Marshal(struct {
		Term          string
		Cols, Rows    uint32
		Width, Height uint32
		Modes         string
	}{first(set.Term, terminalType), uint32(cols), uint32(rows), 0, 0, s.modes()}))
	if err != nil {
		return err
	}
	if set.Command != "" {
		return s.request(ctx, "exec", "does not run the command", ssh.Marshal(struct{ Line string }{set.Command}))
	}
	return s.request(ctx, "shell", "starts no shell", nil)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// modes are the terminal's, as pty-req has them.
func (s *Session) modes() string {
	var b []byte
	add := func(code byte, v uint32) { b = append(b, code, byte(v>>24), byte(v>>16), byte(v>>8), byte(v)) }
	add(modeIn, modeSpeed)
	add(modeOut, modeSpeed)
	if s.text.utf8() {
		add(modeUTF8, 1)
	}
	return string(append(b, modeEnd))
}

// environment are the variables that a machine is told; most take those of the
// language only.
func environment() [][2]string {
	env := [][2]string{{"COLORTERM", "truecolor"}}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if (name == "LANG" || strings.HasPrefix(name, "LC_")) && len(value) <= 256 && len(env) < 32 {
			env = append(env, [2]string{name, value})
		}
	}
	return env
}

// send makes a request that is not answered.
func send(ch ssh.Channel, name string, payload []byte) error {
	_, err := ch.SendRequest(name, false, payload)
	return err
}

// request makes a request and waits for its answer, or the end of ctx, which
// ends the login. what says what the machine does when it says no.
func (s *Session) request(ctx context.Context, name, what string, payload []byte) error {
	stop := context.AfterFunc(ctx, func() { s.client.Close() })
	ok, err := s.channel.SendRequest(name, true, payload)
	switch {
	case !stop():
		return &viewer.Error{Op: "shell.Open", Kind: viewer.KindOf(ctx.Err()), Err: ctx.Err()}
	case err != nil:
		return s.refused(err)
	case !ok:
		return &viewer.Error{Op: "shell.Open", Kind: viewer.Unsupported, Err: fmt.Errorf("%s %s", s.target.Label(), what)}
	}
	return nil
}

// refused is why the channel of a terminal that begins has ended.
func (s *Session) refused(err error) error {
	select {
	case <-s.client.Done():
		if e := s.client.Err(); e != nil {
			return e
		}
	default:
	}
	return &viewer.Error{Op: "shell.Open", Kind: viewer.Closed, Err: fmt.Errorf("%s closed the terminal before it began: %w", s.target.Label(), err)}
}

// forwardAgent lets the machine use the SSH agent, when the target says so.
func (s *Session) forwardAgent(set viewer.SSHSettings) {
	if !set.ForwardAgent {
		return
	}
	err := errors.New("there is none here (SSH_AUTH_SOCK)")
	if at := os.Getenv("SSH_AUTH_SOCK"); at != "" {
		if err = agent.ForwardToRemote(s.client.SSH(), at); err == nil {
			err = send(s.channel, "auth-agent-req@openssh.com", nil)
		}
	}
	if err != nil {
		s.emit(viewer.Notice{Text: "the SSH agent is not forwarded: " + err.Error()})
	}
}

// exitOf reads how a program ended (RFC 4254 6.10); nil when a request says
// something else.
func exitOf(r *ssh.Request) *viewer.Exit {
	switch r.Type {
	case "exit-status":
		var m struct{ Code uint32 }
		if ssh.Unmarshal(r.Payload, &m) == nil {
			return &viewer.Exit{Code: int(m.Code)}
		}
	case "exit-signal":
		var m struct {
			Signal  string
			Core    bool
			Message string
			Lang    string
		}
		if ssh.Unmarshal(r.Payload, &m) == nil && m.Signal != "" {
			return &viewer.Exit{Signal: cleanSignal(m.Signal)}
		}
	}
	return nil
}

// maxSignal bounds the name of a signal.
const maxSignal = 32

// cleanSignal is the name of a signal as the machine gave it, in characters
// that names of signals have.
func cleanSignal(s string) string {
	if len(s) > maxSignal {
		s = s[:maxSignal]
	}
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '@' || r == '.' || r == '-' || r >= 'a' && r <= 'z' {
			return r
		}
		return '?'
	}, s)
}
