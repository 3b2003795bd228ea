//go:build unix

package sshtest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"deskvnc/viewer"
)

// A Script is how a server of asyncssh behaves that lets somebody in.
type Script struct {
	User string `json:"user"`
	// Password is what the method password takes; empty: it is not offered.
	Password string `json:"password"`
	// Rounds are those of keyboard-interactive; none: it is not offered.
	Rounds []Round `json:"rounds"`
	// Expired says that the password has to be changed.
	Expired bool `json:"expired"`
	// Banner is sent before the login.
	Banner string `json:"banner"`
}

// A Round of keyboard-interactive: the questions, and the answers that let the
// login go on.
type Round struct {
	Name        string   `json:"name"`
	Instruction string   `json:"instruction"`
	Prompts     []Prompt `json:"prompts"`
	Want        []string `json:"want"`
}

// A Prompt is one question.
type Prompt struct {
	Text string `json:"text"`
	Echo bool   `json:"echo"`
}

// A Scripted is a running server of asyncssh.
type Scripted struct {
	Port int
	User string

	in     io.Writer
	synced chan struct{}
	done   chan struct{}

	mu     sync.Mutex // guards below
	events []Attempt
}

// An Attempt is what somebody tried: the method and what was sent.
type Attempt struct {
	Method string   `json:"method"`
	Sent   []string `json:"sent"`
	Good   bool     `json:"good"`
	Synced bool     `json:"synced"` // an answer of the server, not an attempt
}

//go:embed script.py
var program string

// python is Debian's; another one has no asyncssh.
const python = "/usr/bin/python3"

// StartScript starts a server that behaves as the script says.
func StartScript(t testing.TB, s Script) *Scripted {
	t.Helper()
	Need(t, python)
	if err := exec.Command(python, "-c", "import asyncssh").Run(); err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatal("python3-asyncssh is required and missing")
		}
		t.Skip("SKIPPED, NOTHING IS TESTED: python3-asyncssh is missing")
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "ignore", "-c", program, string(b))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &Scripted{User: s.User, in: in, synced: make(chan struct{}), done: make(chan struct{})}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the server did not start")
	}
	if err := json.Unmarshal(lines.Bytes(), &r.Port); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		for lines.Scan() {
			var a Attempt
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				t.Errorf("the server said %q", lines.Text())
				continue
			}
			if a.Synced {
				r.synced <- struct{}{}
				continue
			}
			r.mu.Lock()
			r.events = append(r.events, a)
			r.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-r.done
		_ = cmd.Wait()
	})
	return r
}

// Target is the server as a machine.
func (s *Scripted) Target() viewer.Target {
	return viewer.Target{Protocol: viewer.SSH, Address: "127.0.0.1", Port: s.Port, User: s.User}
}

// Attempts are what was tried so far.
func (s *Scripted) Attempts() []Attempt {
	if _, err := io.WriteString(s.in, "sync\n"); err == nil {
		select {
		case <-s.synced: // what was said before it has been read
		case <-s.done:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Attempt(nil), s.events...)
}
