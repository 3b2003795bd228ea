package sshdial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"deskvnc/viewer"
)

// maxComplaint bounds what is kept of what a ProxyCommand complains.
const maxComplaint = 2 << 10

// shellCommand runs a line the way ssh does.
func shellCommand(line string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.Command("cmd", "/c", line)
	}
	return exec.Command("/bin/sh", "-c", "exec "+line)
}

// matchExec runs the command of a Match exec.
func matchExec(ctx context.Context, line string) bool {
	ctx, cancel := context.WithTimeout(ctx, matchExecTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/c", line)
	}
	cmd.WaitDelay = matchExecTimeout
	return cmd.Run() == nil
}

// command starts the ProxyCommand of the SSH configuration and talks through
// it.
func (d *dialer) command(h *hop) (net.Conn, error) {
	if d.c.Unattended {
		return nil, invalid("%s is reached by a ProxyCommand of the SSH configuration, which is run for a person only: let a person open it, or set a jump host or a proxy for it", h.target.Label())
	}
	cmd := shellCommand(h.conf.ProxyCommand)
	c := &commandConn{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &c.complaint
	in, err := cmd.StdinPipe()
	if err == nil {
		c.stdin = in
		c.stdout, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, &viewer.Error{Op: "ssh.ProxyCommand", Kind: viewer.Unreachable, Err: fmt.Errorf("the ProxyCommand did not start: %w", err)}
	}
	return newPiped(c, named("proxy command"), named(h.address()), nil), nil
}

// A commandConn is a stream through a program.
type commandConn struct {
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	stdout    io.ReadCloser
	complaint tail
	waiting   sync.Once
	ended     chan struct{}
}

func (c *commandConn) Read(p []byte) (int, error) {
	n, err := c.stdout.Read(p)
	if err != nil && n == 0 {
		c.end()
		if said := c.complaint.String(); said != "" {
			return 0, &viewer.Error{Op: "ssh.ProxyCommand", Kind: viewer.Unreachable, Err: fmt.Errorf("the ProxyCommand ended: %s", said)}
		}
		if errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
	}
	return n, err
}

func (c *commandConn) Write(p []byte) (int, error) { return c.stdin.Write(p) }

// Close ends the program.
func (c *commandConn) Close() error {
	c.stdin.Close()
	if c.cmd.Process != nil {
		_ = c.cmd.Process.Kill() // it may have ended
	}
	c.end()
	return nil
}

// end waits for the program, once.
func (c *commandConn) end() {
	c.waiting.Do(func() {
		c.stdin.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait() // what it complained about says more than its code
		close(c.ended)
	})
	<-c.ended
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - maxComplaint; over > 0 {
		t.b = append([]byte(nil), t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cleanLine(strings.TrimSpace(string(t.b)), maxLine)
}
