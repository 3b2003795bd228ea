package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestSample(t *testing.T) {
	s := Sample()
	if used, nodes := s.Used(); used != 0 || nodes < ManyFiles {
		t.Errorf("got %d bytes, %d nodes", used, nodes)
	}
	if kids, err := s.List(Home + "/many"); err != nil || len(kids) != ManyFiles {
		t.Errorf("got %d, %v", len(kids), err)
	}
	f, err := s.Open(Home+"/logs/big.log", Read, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || len(b) != BigSize || bytes.Count(b, []byte("\n")) != BigLines || b[BigSize-1] != '\n' {
		t.Errorf("got %d bytes, %d lines, %v", len(b), bytes.Count(b, []byte("\n")), err)
	}
	part := make([]byte, 77)
	if n, err := f.ReadAt(part, 12345); n != 77 || err != nil || !bytes.Equal(part, b[12345:][:77]) {
		t.Errorf("a part of it is something else: %d, %v", n, err)
	}
}

func write(t *testing.T, s *Tree, p string, n int) error {
	t.Helper()
	f, err := s.Open(p, Write|Create|Truncate, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(make([]byte, n))
	return err
}

// TestBytes: what is written counts until it is removed and nobody has it open.
func TestBytes(t *testing.T) {
	s := Sample()
	used := func(want int64) {
		t.Helper()
		if got, _ := s.Used(); got != want {
			t.Errorf("got %d bytes in use, want %d", got, want)
		}
	}
	if err := write(t, s, "/tmp/a", MaxBytes); err != nil {
		t.Fatal(err)
	}
	used(MaxBytes)
	if err := write(t, s, "/tmp/b", 1); err != NoSpace {
		t.Errorf("got %v, want no space", err)
	}
	f, err := s.Open("/tmp/a", Read, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("/tmp/a"); err != nil {
		t.Fatal(err)
	}
	used(MaxBytes)
	f.Close()
	used(0)
	// A file of the sample counts from the first change on.
	f, err = s.Open(Home+"/welcome.txt", Read|Write, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("T"), 0); err != nil {
		t.Fatal(err)
	}
	used(int64(len(welcome)))
	b, err := io.ReadAll(f)
	if err != nil || string(b) != welcome {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := f.WriteAt([]byte("x"), 1<<62); err != NoSpace {
		t.Errorf("far away: %v", err)
	}
	if err := s.Truncate("/tmp/b", 1<<62); err != NoSpace {
		t.Errorf("far away: %v", err)
	}
}

func TestNodes(t *testing.T) {
	s := New()
	s.root.owner = User
	var err error
	for i := 0; err == nil; i++ {
		err = s.Mkdir(fmt.Sprintf("/d%d", i), 0o755)
	}
	if _, nodes := s.Used(); err != NoSpace || nodes != MaxNodes {
		t.Errorf("got %d, %v", nodes, err)
	}
	s = New()
	s.root.owner = User
	p := ""
	for range maxDepth + 1 {
		p += "/d"
		err = s.Mkdir(p, 0o755)
	}
	if err != TooLong {
		t.Errorf("got %v, want a bound of the depth", err)
	}
	if err := s.Mkdir("/"+strings.Repeat("n", maxName+1), 0o755); err != TooLong {
		t.Errorf("got %v", err)
	}
}

func TestRefusals(t *testing.T) {
	s := Sample()
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"a folder of root", s.Mkdir("/etc/x", 0o755), Forbidden},
		{"the root", s.Remove("/"), Forbidden},
		{"a full folder", s.Remove(Home + "/many"), NotEmpty},
		{"into itself", s.Rename(Home+"/many", Home+"/many/x", true), Invalid},
		{"over a folder", s.Rename(Home+"/welcome.txt", Home+"/many", true), IsFolder},
		{"over a file", s.Rename(Home+"/welcome.txt", Home+"/documents/poem.txt", false), Exists},
		{"a loop", func() error { _, err := s.Stat(Home + "/links/loop"); return err }(), Loop},
		{"through a file", func() error { _, err := s.Stat(Home + "/welcome.txt/x"); return err }(), NotFolder},
		{"mode of root's", s.Chmod("/etc/motd", 0o777), Forbidden},
		{"a dot", s.Mkdir(Home+"/..", 0o755), Exists},
		{"locked", s.Remove(Home + "/locked/secret.txt"), Forbidden},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.err, tt.want)
		}
	}
	if err := errors.Join(s.Chmod(Home+"/locked", 0o700), s.Remove(Home+"/locked/secret.txt")); err != nil {
		t.Errorf("unlocked: %v", err)
	}
}
