package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
)

func TestOverSSH(t *testing.T) {
	for name, subsystem := range map[string]string{"internal": "internal-sftp", "program": ""} {
		t.Run(name, func(t *testing.T) {
			if subsystem == "" {
				subsystem = sftpServer(t)
			}
			f := startLab(t, "Subsystem sftp "+subsystem).open(t)
			if l := f.Limits(); l.Read != maxChunk || l.Write != maxChunk || l.Handles == 0 {
				t.Errorf("limits %+v", l)
			}
			roundTrip(t, f, t.TempDir())
		})
	}
	t.Run("denied requests", func(t *testing.T) {
		f := startLab(t, "Subsystem sftp internal-sftp -P posix-rename,setstat,fsetstat").open(t)
		dir := t.TempDir()
		write(t, dir+"/x", []byte("old"), 0o644)
		r, err := f.Store(testContext(t), strings.NewReader("new"), 3, dir+"/x", Options{Exists: Always(Replace), Mode: 0o600, HasMode: true})
		if err != nil || len(r.Notes) != 1 || string(read(t, dir+"/x")) != "new" || len(names(t, dir)) != 1 {
			t.Errorf("%+v, %v, %q", r, err, names(t, dir))
		}
	})
	t.Run("none", func(t *testing.T) {
		l := startLab(t, "Subsystem sftp /no/such/program")
		c, err := l.dial()
		must(t, err)
		defer c.Close()
		_, err = Open(testContext(t), c)
		wantKind(t, err, viewer.Unsupported, "ended file transfer before it began")
	})
	t.Run("not here", func(t *testing.T) {
		l := startLab(t, "ForceCommand echo hello, this is no file service")
		c, err := l.dial()
		must(t, err)
		defer c.Close()
		_, err = Open(testContext(t), c)
		wantKind(t, err, viewer.Unsupported, `the machine printed "hello, this is no file service`)
	})
}

// 1 GiB goes up and comes down the same.
func TestOneGiB(t *testing.T) {
	if testing.Short() {
		t.Skip("1 GiB is moved")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	defer cancel()
	src, dst := t.TempDir(), t.TempDir()
	file, err := os.Create(src + "/big")
	must(t, err)
	h := sha256.New()
	b := pattern(1 << 20)
	for i := range 1 << 10 {
		b[0], b[1] = byte(i), byte(i>>8)
		_, err := io.MultiWriter(file, h).Write(b)
		must(t, err)
	}
	must(t, file.Close())
	sum := hex.EncodeToString(h.Sum(nil))
	f := startLab(t).open(t)
	r, err := f.Put(ctx, rootOf(t, src), "big", dst+"/up", Options{})
	if err != nil || r.Size != 1<<30 {
		t.Fatalf("up: %+v, %v", r, err)
	}
	must(t, os.Remove(src+"/big"))
	r, err = f.Get(ctx, dst+"/up", rootOf(t, src), "down", Options{Verify: true})
	if err != nil || r.Size != 1<<30 || r.SHA256 != sum {
		t.Errorf("down: %+v, %v, want %s", r, err, sum)
	}
}

// The process of the machine that serves the session is killed in the middle,
// in both directions: the target is untouched, and the queue goes on by itself.
func TestServerProcessKilled(t *testing.T) {
	l := startLab(t, "Subsystem sftp "+sftpServer(t))
	src, dst := t.TempDir(), t.TempDir()
	b := pattern(96 << 20)
	write(t, src+"/big", b, 0o644)
	for _, d := range []Direction{Download, Upload} {
		s := l.throughKill(t, Job{Direction: d, Remote: map[Direction]string{Download: src + "/big", Upload: dst + "/up"}[d],
			Local: map[Direction]string{Download: dst + "/down", Upload: src + "/big"}[d]})
		if s.State != Done || s.Attempt != 2 || s.Result.Resumed == 0 {
			t.Errorf("%s: %+v", d, s)
		}
	}
	for _, n := range []string{"/down", "/up"} {
		if !bytes.Equal(read(t, dst+n), b) {
			t.Errorf("%s differs", n)
		}
	}
	if left := leftOvers(t, dst); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// throughKill does a job in a queue whose first session is killed on the
// machine's side at half of the bytes.
func (l *lab) throughKill(t *testing.T, j Job) JobState {
	t.Helper()
	var logins []*ssh.Client
	q := NewQueue(func(ctx context.Context) (*FS, error) {
		c, err := l.dial()
		if err != nil {
			return nil, &viewer.Error{Op: "dial", Kind: viewer.Unreachable, Err: err}
		}
		logins = append(logins, c)
		if len(logins) > 1 {
			return Open(ctx, c)
		}
		s, err := c.NewSession()
		must(t, err)
		w, err := s.StdinPipe()
		must(t, err)
		r, err := s.StdoutPipe()
		must(t, err)
		must(t, s.RequestSubsystem("sftp"))
		p := &tap{r: r, w: w}
		p.after(48<<20, func() { l.killSessions(t) })
		return OpenPipe(ctx, p, p, func() { s.Close() })
	}, QueueOptions{Parallel: 1, Wait: func(int) time.Duration { return time.Millisecond }})
	id, err := q.Add(j)
	must(t, err)
	s, err := q.Wait(testContext(t), id)
	if err != nil {
		t.Errorf("%s: %v", j.Direction, err)
	}
	must(t, q.Close())
	for _, c := range logins {
		c.Close()
	}
	return s
}

// killSessions kills the processes below this lab's server that serve a login.
func (l *lab) killSessions(t *testing.T) {
	out, err := exec.Command("ps", "-e", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Errorf("ps: %v", err)
		return
	}
	below := map[int]bool{l.cmd.Process.Pid: true}
	for grown := true; grown; {
		grown = false
		for _, line := range strings.Split(string(out), "\n") {
			f := strings.Fields(line)
			if len(f) != 2 {
				continue
			}
			pid, _ := strconv.Atoi(f[0])
			parent, _ := strconv.Atoi(f[1])
			if below[parent] && !below[pid] {
				below[pid], grown = true, true
			}
		}
	}
	for pid := range below {
		if pid != l.cmd.Process.Pid {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
	}
}
