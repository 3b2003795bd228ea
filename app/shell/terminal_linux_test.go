package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"deskvnc/viewer"
)

// newTerminal is a pseudo terminal: what a person types at is master.
func newTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo terminals: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// shownOn collects what a terminal shows; prompted is closed once it has shown
// something.
type shownOn struct {
	mu       sync.Mutex
	b        bytes.Buffer
	prompted chan struct{}
	once     sync.Once
}

func (s *shownOn) read(master *os.File) {
	for b := make([]byte, 256); ; {
		n, err := master.Read(b)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.b.Write(b[:n])
		s.mu.Unlock()
		s.once.Do(func() { close(s.prompted) })
	}
}

func (s *shownOn) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A password that is typed is not shown, and the echo comes back after it.
func TestPasswordIsNotShown(t *testing.T) {
	for _, leave := range []bool{false, true} {
		master, slave := newTerminal(t)
		shown := &shownOn{prompted: make(chan struct{})}
		go shown.read(master)
		cmd := &cobra.Command{}
		ctx, cancel := context.WithCancel(t.Context())
		cmd.SetContext(ctx)
		cmd.SetIn(slave)
		cmd.SetErr(slave)
		type answer struct {
			s   viewer.Secret
			err error
		}
		got := make(chan answer, 1)
		go func() {
			s, err := readSecret(cmd, "", "Password for lab: ")
			got <- answer{s, err}
		}()
		select {
		case <-shown.prompted:
		case <-time.After(time.Minute):
			t.Fatal("no prompt")
		}
		if leave {
			cancel() // as ^C does
		} else if _, err := master.WriteString("sesame 9\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case a := <-got:
			if leave == (a.err == nil) || !leave && string(a.s.Open()) != "sesame 9" {
				t.Errorf("leave %v: got %v and %d bytes", leave, a.err, len(a.s.Open()))
			}
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
		}
		if strings.Contains(shown.String(), "ses") {
			t.Errorf("the terminal shows %q", shown)
		}
		st, err := unix.IoctlGetTermios(int(slave.Fd()), getTermios)
		if err != nil || st.Lflag&unix.ECHO == 0 {
			t.Errorf("leave %v: the echo is off afterwards: %v", leave, err)
		}
		if leave { // the reader ends with its line
			if _, err := master.WriteString("\n"); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
	}
}
