package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deskvnc/app/library"
	"deskvnc/control"
	"deskvnc/control/client"
)

const (
	// startTime bounds the wait for a holder to listen.
	startTime = 5 * time.Second
	// startAgain is the pause before another try, while another holder is
	// starting or ending.
	startAgain = 50 * time.Millisecond
)

// start starts the holder of these sessions and connects to it. When another
// caller does the same at this moment, there is one holder for both.
func (w where) start(ctx context.Context) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		said, err := w.spawn(ctx)
		if err == nil || said != "" {
			c, rerr := w.running(ctx)
			if c != nil {
				return c, nil
			}
			if rerr != nil {
				err = rerr
			}
		}
		if err == nil {
			err = errors.New(said)
		}
		// A holder that says why it cannot is not asked again, unless the
		// reason is another one.
		if !strings.Contains(said, "already") && said != readyLine {
			return nil, w.notStarted(err)
		}
		select {
		case <-ctx.Done():
			return nil, w.notStarted(err)
		case <-time.After(startAgain):
		}
	}
}

func (w where) notStarted(err error) error {
	r := control.Refuse(control.NotImplemented, fmt.Sprintf("%s does not start: %v; nothing was opened", w, err))
	r.Hint = "Run \"dvv " + strings.Join(w.arguments(), " ") + "\" to see what it says."
	return r
}

// spawn starts a holder and waits until it listens or ends. said is what it
// wrote last.
func (w where) spawn(ctx context.Context) (said string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	r, wr, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd := exec.Command(self, append(w.arguments(), "--ready")...)
	cmd.Stdout, cmd.Stderr = wr, wr
	cmd.SysProcAttr = apart()
	cmd.Env = environment()
	if home, err := os.UserHomeDir(); err == nil {
		cmd.Dir = home // it must not keep the caller's folder in use
	}
	err = cmd.Start()
	_ = wr.Close()
	if err != nil {
		return "", err
	}
	lines := make(chan string, 1)
	go func() {
		var last string
		for s := bufio.NewScanner(io.LimitReader(r, 64<<10)); last != readyLine && s.Scan(); {
			if t := strings.TrimSpace(s.Text()); t != "" {
				last = strings.TrimPrefix(t, "dvv: ")
			}
		}
		lines <- last
	}()
	select {
	case said = <-lines:
	case <-ctx.Done():
		_ = cmd.Process.Kill() // it would come too late for anybody
		_ = cmd.Wait()
		return "", errors.New("it does not listen in time")
	}
	if said == readyLine {
		return said, cmd.Process.Release()
	}
	if err = cmd.Wait(); said != "" {
		err = errors.New(said)
	}
	return said, err
}

// environment is that of the caller, but for what must not be passed on or
// depends on the caller's folder.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case connectVariable:
			continue
		case library.PathVariable:
			if abs, err := filepath.Abs(value); value != "" && err == nil {
				v = name + "=" + abs
			}
		}
		env = append(env, v)
	}
	return env
}
