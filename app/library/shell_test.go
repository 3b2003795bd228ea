package library

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskvnc/keychain/secret"
	"deskvnc/viewer"
	"deskvnc/viewer/sample"
)

// The sample shell is opened by a desk that can ask nobody, without a line in
// the known hosts: its terminal, a command and its files.
func TestSampleShell(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	l, err := Open(Options{Path: filepath.Join(t.TempDir(), "library.db"), Secrets: &secret.Memory{}, Sample: true, SampleWidth: 320, SampleHeight: 200})
	if err != nil {
		t.Fatal(err)
	}
	d := NewDesk(l, "test", false)
	defer d.Close()
	to := l.Hosts()[1]
	if to.HostID != sample.ShellID {
		t.Fatalf("got %v", to)
	}
	s, err := d.Engine.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	st, err := s.WaitState(ctx, func(st viewer.State) bool { return st.Phase == viewer.Connected || st.Phase == viewer.Disconnected })
	if err != nil || st.Phase != viewer.Connected {
		t.Fatalf("%+v, %v", st, err)
	}
	w := s.Grid().Watch()
	defer w.Close()
	for !strings.Contains(s.Grid().Screen().String(), "sample@sample:~$") {
		select {
		case <-w.Wake():
		case <-ctx.Done():
			t.Fatalf("no prompt:\n%s", s.Grid().Screen())
		}
	}
	ran, err := s.Run(ctx, viewer.Command{Line: "pwd; exit 3", Dir: "documents"})
	if err != nil || string(ran.Stdout.Head) != "/home/sample/documents\n" || !ran.Exited || ran.Code != 3 {
		t.Errorf("%+v, %v", ran, err)
	}
	short, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	ran, err = s.Run(short, viewer.Command{Line: "yes > /dev/null"})
	stop()
	if err != nil || !ran.TimedOut || !ran.Stopped {
		t.Errorf("%+v, %v", ran, err)
	}
	f, err := s.Files(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := f.Stat(ctx, "~/links/dangling"); err != nil || e.Type != viewer.Link || !e.Broken {
		t.Errorf("%+v, %v", e, err)
	}
	if n, err := f.List(ctx, "~/many", func([]viewer.FileEntry) error { return nil }); err != nil {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(home, ".ssh")); err == nil {
		t.Error("something was written beside the known hosts")
	}
}
