package knownhosts

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

func newKey(t testing.TB) ssh.PublicKey {
	t.Helper()
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func text(k ssh.PublicKey) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k))) }

func write(t testing.TB, content string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(f, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// sample has a line of every form, and nonsense among them.
func sample(t testing.TB) (content string, keys []ssh.PublicKey) {
	var lines []string
	add := func(format string) {
		k := newKey(t)
		keys = append(keys, k)
		lines = append(lines, fmt.Sprintf(format, text(k)))
	}
	add("plain.lab %s")
	add("# a comment about %s")
	add("plain.lab,10.0.0.1,[plain.lab]:2222 %s with a comment")
	add("*.wild.lab,!not.wild.lab %s")
	add("[*.ports.lab]:2222 %s")
	add("@revoked plain.lab %s")
	add("@cert-authority *.ca.lab,ca.lab %s")
	add("@unknown plain.lab %s")
	add(hashName("hashed.lab") + " %s")
	add(hashName("[hashed.lab]:2200") + " %s")
	add("::1,[fe80::1]:2222 %s")
	add("  \tindented.lab\t %s  ")
	add("UPPER.lab %s")
	add("a?c.lab %s")
	lines = append(lines, "plain.lab ssh-ed25519 AAAAnonsense", "plain.lab ssh-ed25519", "", "|1|x|y ssh-rsa AAAA", "!plain.lab "+text(newKey(t)),
		"plain.lab ssh-rsa "+strings.Fields(text(newKey(t)))[1], "plain.lab 1024 35 123456789")
	return strings.Join(lines, "\n") + "\n", keys
}

// The lines that are found are those that ssh-keygen -F finds.
func TestFindIsThatOfOpenSSH(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatal("ssh-keygen is missing")
		}
		t.Skip("SKIPPED, NOTHING IS COMPARED: ssh-keygen is missing")
	}
	content, _ := sample(t)
	file := write(t, content)
	hosts, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for _, name := range []string{
		"plain.lab", "[plain.lab]:2222", "10.0.0.1", "x.wild.lab", "not.wild.lab", "wild.lab", "[x.ports.lab]:2222", "[x.ports.lab]:2223", "x.ports.lab",
		"ca.lab", "x.ca.lab", "hashed.lab", "[hashed.lab]:2200", "[hashed.lab]:2201", "::1", "[fe80::1]:2222", "fe80::1", "indented.lab",
		"upper.lab", "UPPER.lab", "abc.lab", "ac.lab", "nobody.lab", "[x.wild.lab]:2222",
	} {
		out, _ := exec.Command(keygen, "-F", name, "-f", file).Output() // not found ends with 1
		var want []string
		for _, l := range strings.Split(string(out), "\n") {
			if l == "" || strings.HasPrefix(l, "#") {
				continue
			}
			if p, ok := parse([]byte(l)); !ok || p.key() == nil {
				continue // ssh-keygen looks at names only, ssh passes such keys over
			}
			f := strings.Fields(l)
			if strings.HasPrefix(f[0], "@") {
				want = append(want, f[0]+" "+f[3])
			} else {
				want = append(want, " "+f[2])
			}
		}
		var got []string
		for _, e := range hosts.Find(name) {
			got = append(got, string(e.Marker)+" "+strings.Fields(text(e.Key))[1])
		}
		hits += len(got)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if hits < 15 {
		t.Errorf("only %d lines were found: the comparison says nothing", hits)
	}
}

// ssh-keygen finds what is written here, hashed or not.
func TestAddIsReadByOpenSSH(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("SKIPPED, NOTHING IS COMPARED: ssh-keygen is missing")
	}
	file := filepath.Join(t.TempDir(), "new", "known_hosts")
	for i, hashed := range []bool{false, true} {
		for _, name := range []string{Name("Some.Host", 22), Name("some.host", 2222), Name("::1", 22), Name("fe80::1%eth0", 2222)} {
			name = strings.Replace(name, "host", fmt.Sprintf("host%d", i), 1)
			k := newKey(t)
			for range 2 { // the second time it is there
				if err := Add(file, name, k, hashed); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command(keygen, "-F", name, "-f", file).Output()
			if err != nil || strings.Count(string(out), strings.Fields(text(k))[1]) != 1 {
				t.Errorf("%s, hashed %v: got %v and\n%s", name, hashed, err, out)
			}
		}
	}
	st, err := os.Stat(file)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("got the mode %v, %v", st.Mode(), err)
	}
	if st, err = os.Stat(filepath.Dir(file)); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder: got the mode %v, %v", st.Mode(), err)
	}
}

func TestAddKeepsTheRest(t *testing.T) {
	for _, old := range []string{"", "# only a comment", "no line end", "a b c\r\n\r\n", "\xff\xfe\x00binary\n"} {
		file := write(t, old)
		k := newKey(t)
		if err := Add(file, "new.lab", k, false); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(file)
		want := old
		if old != "" && !strings.HasSuffix(old, "\n") {
			want += "\n"
		}
		if string(got) != want+"new.lab "+text(k)+"\n" {
			t.Errorf("%q: got %q", old, got)
		}
	}
	for _, name := range []string{"", "a b", "a,b", "*", "|1|", "@x", "a\nb", "#x", "!a"} {
		if err := Add(write(t, ""), name, newKey(t), false); err == nil {
			t.Errorf("%q was filed", name)
		}
	}
}

func TestReplace(t *testing.T) {
	content, keys := sample(t)
	k := newKey(t)
	file := write(t, content)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := Replace(link, "plain.lab", k, false); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	want := strings.Replace(content, "plain.lab "+text(keys[0])+"\n", "", 1)
	want = strings.Replace(want, "plain.lab,10.0.0.1,[plain.lab]:2222 ", "10.0.0.1,[plain.lab]:2222 ", 1)
	want += "plain.lab " + text(k) + "\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("got the mode %v, %v", st.Mode(), err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", st, err)
	}
	// A hashed name goes too; a new one is only added.
	for _, name := range []string{"hashed.lab", "[hashed.lab]:2200", "new.lab"} {
		if err := Replace(file, name, k, true); err != nil {
			t.Fatal(err)
		}
		h, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if e := h.Find(name); len(e) != 1 || !bytes.Equal(e[0].Key.Marshal(), k.Marshal()) {
			t.Errorf("%s: got %v", name, e)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
		t.Errorf("got %v left behind", left)
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		s, pattern string
		want       bool
	}{
		{"", "", true}, {"a", "", false}, {"", "*", true}, {"abc", "a*c", true}, {"abc", "a?c", true}, {"ac", "a?c", false},
		{"abcabd", "*abd", true}, {"abcab", "*abd", false}, {"aaa", "*a*a*", true}, {"x", "**", true}, {"a.b", "a.b", true}, {"axb", "a.b", false},
		{strings.Repeat("a", 2000), strings.Repeat("*a", 400) + "b", false}, // done at once
	} {
		if got := Match(tt.s, tt.pattern); got != tt.want {
			t.Errorf("Match(%.20q, %.20q) = %v", tt.s, tt.pattern, got)
		}
	}
}

// Many writers, in this process and in others that are killed at any moment,
// lose nothing of what was there and leave no half line.
func TestWritersTogether(t *testing.T) {
	if file := os.Getenv("DESKVNC_TEST_KNOWN_HOSTS"); file != "" {
		for i := 0; ; i++ {
			if err := Add(file, fmt.Sprintf("killed%d-%d.lab", os.Getpid(), i), newKey(t), i%2 == 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	var old strings.Builder
	for i := range 200 {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&old, "# comment %d\n", i)
		case 1:
			fmt.Fprintf(&old, "sk%d.lab sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAA%d a key\n", i, i)
		default:
			fmt.Fprintf(&old, "host%d.lab %s\n", i, text(newKey(t)))
		}
	}
	file := write(t, old.String())
	const writers = 12
	keys := make([]ssh.PublicKey, writers)
	var wg sync.WaitGroup
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWritersTogether$")
		cmd.Env = append(os.Environ(), "DESKVNC_TEST_KNOWN_HOSTS="+file)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for { // until it has written, then in the middle of something
				b, err := os.ReadFile(file)
				if err != nil {
					t.Error(err)
				}
				if err != nil || bytes.Count(b, []byte("\n")) > 230 {
					break
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			cmd.Wait()
		})
	}
	for w := range writers {
		keys[w] = newKey(t)
		wg.Go(func() {
			for range 5 {
				if err := Add(file, fmt.Sprintf("new%d.lab", w), keys[w], false); err != nil {
					t.Error(err)
				}
				if err := Add(file, "common.lab", keys[0], false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(b), old.String()) {
		t.Fatalf("what was there has changed (%v)", err)
	}
	added := string(b[old.Len():])
	if n := strings.Count(added, "common.lab "); n != 1 {
		t.Errorf("got %d lines of the machine that all filed, want 1", n)
	}
	for w := range writers {
		if strings.Count(added, fmt.Sprintf("new%d.lab %s\n", w, text(keys[w]))) != 1 {
			t.Errorf("the line of writer %d is not there once", w)
		}
	}
	for _, l := range strings.SplitAfter(added, "\n") {
		if l == "" {
			continue
		}
		if p, ok := parse([]byte(l)); !ok || p.key() == nil || !strings.HasSuffix(l, "\n") {
			t.Errorf("got the damaged line %q", l)
		}
	}
}

func FuzzKnownHosts(f *testing.F) {
	content, _ := sample(f)
	f.Add([]byte(content), "plain.lab")
	f.Add([]byte("|1|AAAA|BBBB ssh-rsa x\n@revoked"), "[::1]:22")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		h := Hosts{[]file{{"f", b}}}
		for _, e := range h.Find(name) {
			if e.Key == nil || e.Line < 1 {
				t.Errorf("got %+v", e)
			}
		}
		kept, changed := without(b, strings.ToLower(name))
		if !changed && !bytes.Equal(kept, b) || len(kept) > len(b) {
			t.Errorf("%q became %q", b, kept)
		}
		if again, changed := without(kept, strings.ToLower(name)); changed || !bytes.Equal(again, kept) {
			t.Errorf("%q became %q the second time", kept, again)
		}
	})
}
