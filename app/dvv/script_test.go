package main

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A transcript is all that a script's programs have printed.
type transcript struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *transcript) add(text ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range text {
		s.b.WriteString(t)
	}
}

func (s *transcript) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.b.Bytes(), []byte(text))
}

// A stage is where scripts run: dvv on the path, a home of their own, and what
// more setup gives.
type stage struct {
	files []string // of testdata/script, by name
	setup func(t testing.TB, vars func(name, value string))
	also  []string // more folders that secret is looked for in
	cmds  map[string]func(*testscript.TestScript, bool, []string)
}

func (s stage) run(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "dvv")); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	said := &transcript{}
	var files []string
	for _, f := range s.files {
		files = append(files, filepath.Join("testdata", "script", f+".txtar"))
	}
	cmds := map[string]func(*testscript.TestScript, bool, []string){
		"dvv":        said.dvv,
		"code":       said.code,
		"gone":       gone,
		"up":         up,
		"killholder": killHolder,
		"keep":       keep,
		"logins":     logins,
		"secret": func(ts *testscript.TestScript, _ bool, args []string) {
			said.secret(ts, args[0], append([]string{ts.Getenv("WORK")}, s.also...))
		},
	}
	maps.Copy(cmds, s.cmds)
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(env *testscript.Env) error {
			run := filepath.Join(env.WorkDir, "run")
			if err := os.Mkdir(run, 0o700); err != nil {
				return err
			}
			for name, value := range map[string]string{
				asProgram: "1", "HOME": env.WorkDir, "XDG_RUNTIME_DIR": run, "XDG_CONFIG_HOME": filepath.Join(env.WorkDir, "config"),
				"XDG_DATA_HOME": filepath.Join(env.WorkDir, "data"), "PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"),
				"DISPLAY": "", "WAYLAND_DISPLAY": "", "DBUS_SESSION_BUS_ADDRESS": "", "DVV_CONNECT": "", "DESKVNC_LIBRARY": "", "DESKVNC_CONTROL_KEY": "",
			} {
				env.Setenv(name, value)
			}
			if s.setup != nil {
				s.setup(env.T().(testing.TB), env.Setenv)
			}
			env.Defer(func() { leftOver(t, bin, env) })
			return nil
		},
		Cmds: cmds,
	})
}

// dvv runs dvv and expects it to do, or with ! not to do, what it was told.
func (s *transcript) dvv(ts *testscript.TestScript, neg bool, args []string) {
	err := s.exec(ts, args)
	if (err != nil) != neg {
		ts.Fatalf("dvv %v: %v", args, err)
	}
}

// code runs dvv and expects an exit code.
func (s *transcript) code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = s.exec(ts, args[1:])
	got := 0
	var e *exec.ExitError
	if errors.As(err, &e) {
		got = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("dvv %v: %v", args[1:], err)
	}
	if got != want {
		ts.Fatalf("dvv %v: got exit code %d, want %d", args[1:], got, want)
	}
}

func (s *transcript) exec(ts *testscript.TestScript, args []string) error {
	err := ts.Exec("dvv", args...)
	s.add(ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	return err
}

// secret fails if a secret was printed, or is in a file of a folder.
func (s *transcript) secret(ts *testscript.TestScript, text string, folders []string) {
	if s.has(text) {
		ts.Fatalf("the secret was printed")
	}
	files := 0
	for _, dir := range folders {
		ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			files++
			if bytes.Contains(b, []byte(text)) && !strings.HasSuffix(path, ".given") {
				ts.Fatalf("the secret is in %s", path)
			}
			return err
		}))
	}
	if files == 0 {
		ts.Fatalf("no file was looked into")
	}
}

// gone waits until a holder's socket is not there any more.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	socketIs(ts, args[0], false)
}

// up waits until a holder's socket is there.
func up(ts *testscript.TestScript, _ bool, args []string) {
	socketIs(ts, args[0], true)
}

// socketIs waits until the socket of a holder is there, or not.
func socketIs(ts *testscript.TestScript, holder string, there bool) {
	path := filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "deskvnc", holder+".sock")
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, err := os.Lstat(path)
		if there && err == nil || !there && errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s: want there %v, but: %v", path, there, err)
		}
	}
}

// keep puts a part of the last output into a variable: keep NAME PREFIX takes
// the word that begins with the prefix.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	out := ts.ReadFile("stdout")
	_, rest, ok := strings.Cut(out, args[1])
	if !ok {
		ts.Fatalf("%q is not in %s", args[1], out)
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '_')
	})
	if end < 0 {
		end = len(rest)
	}
	ts.Setenv(args[0], args[1]+rest[:end])
}

// leftOver ends the holders that a script has left, so that none outlives it;
// one that does not end is an error.
func leftOver(t testing.TB, bin string, env *testscript.Env) {
	socks, err := filepath.Glob(filepath.Join(env.WorkDir, "run", "deskvnc", "holder*.sock"))
	if err != nil {
		t.Error(err)
	}
	for _, sock := range socks {
		args := []string{"hold", "--stop"}
		switch name := filepath.Base(sock); {
		case name == "holder-sample.sock":
			args = append(args, "--sample")
		case name != "holder.sock":
			args = append(args, "--connect", env.Getenv("WINDOW"))
		}
		cmd := exec.Command(filepath.Join(bin, "dvv"), args...)
		cmd.Env = env.Vars
		if out, err := cmd.CombinedOutput(); err != nil && !bytes.Contains(out, []byte("no such holder runs")) {
			t.Errorf("dvv %v: %v %s", args, err, out)
		}
	}
}

func TestScripts(t *testing.T) {
	stage{files: []string{"sample", "group", "hosts", "share", "hold", "usage", "complete", "settings", "quality"}}.run(t)
}

// A window's sessions from a shell.
func TestScriptWindow(t *testing.T) {
	home(t)
	stage{files: []string{"window"}, setup: func(t testing.TB, set func(name, value string)) {
		dir, err := os.MkdirTemp("", "w")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		w := newWindow(t, filepath.Join(dir, "s"))
		set("WINDOW", w.port())
	}}.run(t)
}
