//go:build unix

package sshdial_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial"
	"deskvnc/viewer/sshdial/knownhosts"
	"deskvnc/viewer/sshdial/sshtest"
	"deskvnc/viewer/trust"
)

func answering(a viewer.Answer) *person {
	return &person{answer: func(viewer.Question) (viewer.Answer, error) { return a, nil }}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func line(key ssh.PublicKey) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) }

// An unknown machine is a question with the fingerprint and the drawing that
// ssh-keygen makes; what is filed then is what ssh believes.
func TestUnknownHostKey(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	file := filepath.Join(s.Dir, "new", "known_hosts")
	c.KnownHostsFiles = []string{file}
	p := answering(viewer.Answer{Accept: true, Save: true})
	if _, err := dial(t, c, p); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ssh-keygen", "-lvf", s.HostKeyFile("ed25519")+".pub").Output()
	if err != nil {
		t.Fatal(err)
	}
	first, art, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	q := p.asked[0]
	if q.Kind != viewer.AskServerKey || q.Key.Fingerprint != strings.Fields(first)[1] || q.Key.Art != art || q.Key.What != "key, ED25519 256 bits" || q.Key.Pinned != nil {
		t.Errorf("got the question %+v\n%s\nwant the drawing\n%s", q.Key, q.Key.Art, art)
	}
	if want := fmt.Sprintf("[127.0.0.1]:%d %s\n", s.Port, line(s.HostKey("ed25519"))); read(t, file) != want {
		t.Errorf("got %q filed, want %q", read(t, file), want)
	}
	if out, err := exec.Command("ssh", "-F", "none", "-o", "UserKnownHostsFile="+file, "-o", "GlobalKnownHostsFile=none", "-o", "StrictHostKeyChecking=yes", "-o", "IdentitiesOnly=yes",
		"-o", "BatchMode=yes", "-i", s.KeyFile, "-p", fmt.Sprint(s.Port), s.User+"@127.0.0.1", "true").CombinedOutput(); err != nil {
		t.Errorf("ssh does not believe it: %v\n%s", err, out)
	}
	if _, err := dial(t, c, &person{}); err != nil { // the second time nothing is asked
		t.Error(err)
	}
	for name, p := range map[string]*person{"no": answering(viewer.Answer{}), "nobody": {}} {
		c.KnownHostsFiles = []string{filepath.Join(s.Dir, "empty")}
		_, err := dial(t, c, p)
		want := viewer.Untrusted
		if name == "nobody" {
			want = viewer.Credentials
		}
		if viewer.KindOf(err) != want || !strings.Contains(err.Error(), q.Key.Fingerprint) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The drawings of keys of all kinds are those of ssh-keygen.
func TestRandomart(t *testing.T) {
	sshtest.Need(t, "ssh-keygen")
	for _, kind := range []string{"ed25519", "ecdsa", "rsa", "ed25519", "ecdsa"} {
		f := sshtest.Key(t, t.TempDir(), kind, "")
		out, err := exec.Command("ssh-keygen", "-lvf", f+".pub").Output()
		if err != nil {
			t.Fatal(err)
		}
		_, want, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if got := sshdial.Randomart(sshtest.PublicKey(t, f+".pub")); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", kind, got, want)
		}
	}
}

// Accepted without being filed: this program asks once, the next one again.
func TestAcceptedOnce(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	file := filepath.Join(s.Dir, "kh")
	c.KnownHostsFiles, c.Accepted = []string{file}, &sshdial.Accepted{}
	p := answering(viewer.Answer{Accept: true})
	for range 2 {
		if _, err := dial(t, c, p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(file); len(p.asked) != 1 || err == nil {
		t.Errorf("asked %d times; the file is there: %v", len(p.asked), err == nil)
	}
	s.NewHostKeys()
	if _, err := dial(t, c, p); viewer.KindOf(err) != viewer.Untrusted || p.asked[1].Key.Pinned == nil {
		t.Errorf("another key afterwards: got %v", err)
	}
}

// A changed key stops everybody; only a person who has seen both fingerprints
// replaces it.
func TestChangedHostKey(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	file := c.KnownHostsFiles[0]
	rest := "# kept\nother.lab " + line(s.HostKey("ecdsa")) + "\n@revoked * " + line(sshtest.PublicKey(t, s.KeyFile+".pub")) + "\n"
	if err := os.WriteFile(file, []byte(rest+read(t, file)), 0o600); err != nil {
		t.Fatal(err)
	}
	before := read(t, file)
	old := ssh.FingerprintSHA256(s.HostKey("ed25519"))
	s.NewHostKeys()
	fresh := ssh.FingerprintSHA256(s.HostKey("ed25519"))
	nobody := &person{}
	for name, env := range map[string]viewer.Env{
		"nobody":            nobody.env(),
		"yes":               answering(viewer.Answer{Accept: true, Save: true}).env(),
		"accept new":        {Ask: trust.AcceptNew(nil), Emit: func(viewer.Event) {}},
		"replace without":   answering(viewer.Answer{Replace: true}).env(),
		"accept new nested": {Ask: trust.AcceptNew(answering(viewer.Answer{Accept: true, Replace: true}).env().Ask), Emit: func(viewer.Event) {}},
	} {
		_, err := sshdial.Dial(context.Background(), c, env)
		if viewer.KindOf(err) != viewer.Untrusted || !strings.Contains(err.Error(), old) || !strings.Contains(err.Error(), fresh) {
			t.Errorf("%s: got %v, want both fingerprints", name, err)
		}
	}
	if read(t, file) != before {
		t.Error("the file was changed")
	}
	p := answering(viewer.Answer{Accept: true, Replace: true})
	if _, err := dial(t, c, p); err != nil {
		t.Fatal(err)
	}
	if k := p.asked[0].Key; k.Pinned == nil || k.Pinned.Fingerprint != old || k.Fingerprint != fresh {
		t.Errorf("got the question about %+v", k)
	}
	if got, want := read(t, file), rest+fmt.Sprintf("[127.0.0.1]:%d %s\n", s.Port, line(s.HostKey("ed25519"))); got != want {
		t.Errorf("got the file\n%s\nwant\n%s", got, want)
	}
	if _, err := dial(t, c, &person{}); err != nil {
		t.Error(err)
	}
}

// Headless with --accept-new: unknown machines are filed.
func TestAcceptNew(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	c.KnownHostsFiles = []string{filepath.Join(s.Dir, "kh")}
	client, err := sshdial.Dial(context.Background(), c, viewer.Env{Ask: trust.AcceptNew(nil), Emit: func(viewer.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if _, err := dial(t, c, &person{}); err != nil {
		t.Error(err)
	}
}

// The kind of key that is filed is the one that is asked for; a machine that
// was filed as ssh-rsa is reached with rsa-sha2.
func TestFiledKindIsAskedFor(t *testing.T) {
	for _, tt := range []struct {
		name, filed string
		config      []string
	}{
		{"only ed25519", "ed25519", nil}, {"only rsa", "rsa", nil}, {"only ecdsa", "ecdsa", nil},
		{"rsa by sha2 alone", "rsa", []string{"HostKeyAlgorithms rsa-sha2-512,rsa-sha2-256"}},
		{"rsa by sha2-256 alone", "rsa", []string{"HostKeyAlgorithms rsa-sha2-256"}},
	} {
		s := sshtest.Start(t, sshtest.Options{Config: tt.config, HostKeys: []string{"ed25519", "ecdsa", "rsa"}})
		c := config(s)
		file := filepath.Join(s.Dir, "kh")
		c.KnownHostsFiles = []string{file}
		if err := knownhosts.Add(file, knownhosts.Name(s.Host, s.Port), s.HostKey(tt.filed), false); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := dial(t, c, &person{}); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
	// A machine that has lost its filed kind of key is a changed one.
	s := sshtest.Start(t, sshtest.Options{HostKeys: []string{"rsa"}})
	c := config(s)
	file := filepath.Join(s.Dir, "kh")
	c.KnownHostsFiles = []string{file}
	if err := knownhosts.Add(file, knownhosts.Name(s.Host, s.Port), s.HostKey("rsa"), false); err != nil {
		t.Fatal(err)
	}
	s.NewHostKeys("ed25519")
	if _, err := dial(t, c, answering(viewer.Answer{Accept: true, Save: true})); viewer.KindOf(err) != viewer.Untrusted {
		t.Errorf("got %v", err)
	}
}

// Every form of a line has the verdict that ssh has.
func TestVerdictsAreThoseOfOpenSSH(t *testing.T) {
	sshtest.Need(t, "ssh")
	s := sshtest.Start(t, sshtest.Options{HostKeys: []string{"ed25519", "rsa"}})
	key, other := line(s.HostKey("ed25519")), line(sshtest.PublicKey(t, sshtest.Key(t, s.Dir, "ed25519", "")+".pub"))
	port := fmt.Sprint(s.Port)
	host := "[127.0.0.1]:" + port
	hashed := filepath.Join(s.Dir, "hashed")
	if err := os.WriteFile(hashed, []byte(host+" "+key+"\n127.0.0.1 "+other+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-H", "-f", hashed).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ca := sshtest.Key(t, s.Dir, "ed25519", "")
	caLine := line(sshtest.PublicKey(t, ca+".pub"))
	sign := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ssh-keygen", append(append([]string{"-q", "-s", ca, "-I", "host", "-h"}, args...), s.HostKeyFile("ed25519")+".pub")...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	cert := func(args ...string) func() {
		return func() {
			sign(args...)
			s.SetConfig("HostCertificate " + s.HostKeyFile("ed25519") + "-cert.pub")
		}
	}
	for _, tt := range []struct {
		name, file string
		before     func()
		want       bool
	}{
		{"plain", host + " " + key, nil, true},
		{"hashed", read(t, hashed), nil, true},
		{"without the port", "127.0.0.1 " + key, nil, true},
		{"another key without the port", "127.0.0.1 " + other, nil, false},
		{"wildcard", "[127.0.0.*]:* " + key, nil, true},
		{"wildcard without the port", "127.* " + key, nil, true},
		{"negated", "!" + host + ",[127.0.0.*]:* " + key, nil, false},
		{"several names and a comment", "a.lab," + host + " " + key + " somebody's", nil, true},
		{"a wrong one and the right one", host + " " + other + "\n" + host + " " + key, nil, true},
		{"a wrong one", host + " " + other, nil, false},
		{"another port", "[127.0.0.1]:1 " + key, nil, false},
		{"revoked", "@revoked " + host + " " + key + "\n" + host + " " + key, nil, false},
		{"revoked for all", host + " " + key + "\n@revoked * " + key, nil, false},
		{"revoked for another", host + " " + key + "\n@revoked a.lab " + key, nil, true},
		{"another one revoked", host + " " + key + "\n@revoked * " + other, nil, true},
		{"nonsense around it", "x\n\xff\xfe\n" + host + " ssh-ed25519 AAAA\n  " + host + " " + key + "\nssh-rsa\n", nil, true},
		{"an authority, but no certificate", "@cert-authority * " + caLine, nil, false},
		{"a certificate of the authority", "@cert-authority " + host + " " + caLine, cert("-n", "127.0.0.1"), true},
		{"a certificate, the authority for all", "@cert-authority * " + caLine, cert("-n", "127.0.0.1,a.lab"), true},
		{"a certificate for nobody by name", "@cert-authority * " + caLine, cert(), true},
		{"a certificate for another", "@cert-authority * " + caLine, cert("-n", "a.lab"), false},
		{"a certificate for another, the key is filed", "@cert-authority * " + caLine + "\n" + host + " " + key, cert("-n", "a.lab"), true},
		{"a certificate that has expired", "@cert-authority * " + caLine, cert("-n", "127.0.0.1", "-V", "-2w:-1w"), false},
		{"a certificate of another authority", "@cert-authority * " + other, cert("-n", "127.0.0.1"), false},
		{"a certificate of a revoked authority", "@cert-authority * " + caLine + "\n@revoked * " + caLine, cert("-n", "127.0.0.1"), false},
		{"a certificate, its key filed, no authority", host + " " + key, cert("-n", "127.0.0.1"), true},
		{"a certificate, the authority for another", "@cert-authority a.lab " + caLine, cert("-n", "127.0.0.1"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.SetConfig()
			if tt.before != nil {
				tt.before()
			}
			file := filepath.Join(t.TempDir(), "kh")
			if err := os.WriteFile(file, []byte(tt.file+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("ssh", "-F", "none", "-o", "UserKnownHostsFile="+file, "-o", "GlobalKnownHostsFile=none", "-o", "StrictHostKeyChecking=yes",
				"-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-i", s.KeyFile, "-p", port, s.User+"@127.0.0.1", "true").CombinedOutput()
			if (err == nil) != tt.want {
				t.Errorf("ssh itself: %v, want %v\n%s", err, tt.want, out)
			}
			c := config(s)
			c.KnownHostsFiles = []string{file}
			if _, err := dial(t, c, answering(viewer.Answer{})); (err == nil) != tt.want || err != nil && viewer.KindOf(err) != viewer.Untrusted {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if read(t, file) != tt.file+"\n" {
				t.Error("the file was changed")
			}
		})
	}
}

// Revoked keys are refused whatever a person says.
func TestRevokedIsFinal(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{HostKeys: []string{"ed25519"}})
	c := config(s)
	c.KnownHostsFiles = []string{filepath.Join(s.Dir, "kh")}
	yes := viewer.Answer{Accept: true, Save: true, Replace: true}
	if err := os.WriteFile(c.KnownHostsFiles[0], []byte("@revoked * "+line(s.HostKey("ed25519"))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := answering(yes)
	if _, err := dial(t, c, p); viewer.KindOf(err) != viewer.Untrusted || !strings.Contains(err.Error(), "revoked") || len(p.asked) != 0 {
		t.Errorf("got %v after %d questions", err, len(p.asked))
	}
	// A list of them that the configuration names.
	list := filepath.Join(s.Dir, "revoked")
	conf := filepath.Join(s.Dir, "ssh_config")
	if err := os.WriteFile(conf, []byte("RevokedHostKeys "+list+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.KnownHostsFiles, c.NoConfig, c.ConfigFiles = []string{s.KnownHosts()}, false, []string{conf}
	for content, want := range map[string]string{"# none\n": "", line(s.HostKey("ed25519")) + "\n": "revoked", "SSHKRL\n\x00": "KRL", "nonsense\n": "no public key"} {
		if err := os.WriteFile(list, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := dial(t, c, answering(yes))
		if want == "" && err != nil || want != "" && (viewer.KindOf(err) != viewer.Untrusted || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", content, err, want)
		}
	}
}

// Twelve first connections at once file one line, and lose nothing.
func TestFirstConnectionsTogether(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{Config: []string{"MaxStartups 100"}})
	file := filepath.Join(s.Dir, "kh")
	var old strings.Builder
	for i := range 200 {
		fmt.Fprintf(&old, "# comment %d\nhost%d.lab sk-ssh-ed25519@openssh.com AAAA%d\n", i, i, i)
	}
	if err := os.WriteFile(file, []byte(old.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(s)
	c.KnownHostsFiles = []string{file}
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if _, err := dial(t, c, answering(viewer.Answer{Accept: true, Save: true})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := old.String() + fmt.Sprintf("[127.0.0.1]:%d %s\n", s.Port, line(s.HostKey("ed25519")))
	if got := read(t, file); got != want {
		t.Errorf("got the end %q", got[max(0, len(got)-600):])
	}
}

// A store that cannot be written is no reason not to connect, and is said.
func TestStoreThatCannotBeWritten(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	file := filepath.Join(s.Dir, "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(s)
	c.KnownHostsFiles = []string{filepath.Join(s.Dir, "nowhere", "kh")}
	if err := os.WriteFile(filepath.Join(s.Dir, "nowhere"), nil, 0o600); err != nil { // no folder can be made here
		t.Fatal(err)
	}
	c.KnownHostsFiles[0] = filepath.Join("/proc", "no such folder", "kh")
	c.Accepted = &sshdial.Accepted{}
	p := answering(viewer.Answer{Accept: true, Save: true})
	for range 2 {
		if _, err := dial(t, c, p); err != nil {
			t.Fatal(err)
		}
	}
	if told := p.told(); !strings.Contains(told, "could not be kept") || len(p.asked) != 1 {
		t.Errorf("got the notices %q and %d questions", told, len(p.asked))
	}
}

// What cannot be read is not taken for empty.
func TestStoreThatCannotBeRead(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	c.KnownHostsFiles = []string{s.Dir} // a folder
	if _, err := dial(t, c, answering(viewer.Answer{Accept: true, Save: true})); viewer.KindOf(err) != viewer.Untrusted {
		t.Errorf("got %v", err)
	}
}

func TestStrictHostKeyChecking(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	for value, asked := range map[string]int{"yes": 0, "ask": 1, "no": 1, "off": 1, "accept-new": 1} {
		conf := filepath.Join(s.Dir, "conf-"+value)
		if err := os.WriteFile(conf, []byte("StrictHostKeyChecking "+value+"\nUserKnownHostsFile "+s.Dir+"/kh-%h\nGlobalKnownHostsFile none\nHashKnownHosts yes\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := config(s)
		c.NoConfig, c.ConfigFiles, c.KnownHostsFiles = false, []string{conf}, nil
		p := answering(viewer.Answer{})
		_, err := dial(t, c, p)
		if viewer.KindOf(err) != viewer.Untrusted || len(p.asked) != asked {
			t.Errorf("%s: got %v after %d questions", value, err, len(p.asked))
		}
		if value != "ask" {
			continue
		}
		if _, err := dial(t, c, answering(viewer.Answer{Accept: true, Save: true})); err != nil {
			t.Fatal(err)
		}
		if got := read(t, s.Dir+"/kh-127.0.0.1"); !strings.HasPrefix(got, "|1|") {
			t.Errorf("got %q, want a hashed name", got)
		}
		if _, err := dial(t, c, &person{}); err != nil {
			t.Error(err)
		}
		os.Remove(s.Dir + "/kh-127.0.0.1")
	}
}

// The way leads over one and two jump hosts; each is judged under its own name.
func TestJumpHosts(t *testing.T) {
	var servers [3]*sshtest.Server
	for i := range servers {
		servers[i] = sshtest.Start(t, sshtest.Options{HostKeys: []string{"ed25519"}})
	}
	target, near, far := servers[0], servers[1], servers[2]
	file := filepath.Join(target.Dir, "kh")
	base := sshdial.Config{Target: target.Target(), Login: sshdial.Login{KeyFile: target.KeyFile, NoAgent: true}, NoConfig: true, KnownHostsFiles: []string{file}, Home: target.Dir}
	via := func(s *sshtest.Server) sshdial.Hop {
		return sshdial.Hop{Target: s.Target(), Login: sshdial.Login{KeyFile: s.KeyFile, NoAgent: true}}
	}
	conf := filepath.Join(target.Dir, "ssh_config")
	text := ""
	for _, s := range servers {
		text += fmt.Sprintf("Match originalhost 127.0.0.1 exec \"test %%p = %d\"\nIdentityFile %s\n", s.Port, s.KeyFile)
	}
	for i, name := range []string{"target", "near", "far"} {
		text += fmt.Sprintf("Host %s\nHostName 127.0.0.1\nPort %d\nIdentityFile %s\n", name, servers[i].Port, servers[i].KeyFile)
	}
	text += "Host target\nProxyJump near,far\nHost one\nHostName 127.0.0.1\nProxyJump near\nPort " + fmt.Sprint(target.Port) + "\nIdentityFile " + target.KeyFile + "\nHost loop\nProxyJump loop2\nHost loop2\nProxyJump loop\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		via  []sshdial.Hop
		host string
		want []*sshtest.Server
	}{
		{"one", []sshdial.Hop{via(near)}, "", []*sshtest.Server{near, target}},
		{"two", []sshdial.Hop{via(near), via(far)}, "", []*sshtest.Server{near, far, target}},
		{"one of the configuration", nil, "one", []*sshtest.Server{near, target}},
		{"two of the configuration", nil, "target", []*sshtest.Server{near, far, target}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			os.Remove(file)
			c := base
			c.Via = tt.via
			if tt.host != "" {
				c.NoConfig, c.ConfigFiles, c.KeyFile = false, []string{conf}, ""
				c.Target = viewer.Target{Protocol: viewer.SSH, Address: tt.host, Port: 22, User: target.User}
			}
			var before [3]int
			for i, s := range servers {
				before[i] = s.Accepted()
			}
			p := answering(viewer.Answer{Accept: true, Save: true})
			client, err := dial(t, c, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(output(t, client, "echo $SSH_CONNECTION")); !strings.HasSuffix(got, fmt.Sprintf("127.0.0.1 %d", target.Port)) {
				t.Errorf("got the connection %q", got)
			}
			if len(p.asked) != len(tt.want) {
				t.Fatalf("got %d questions, want %d", len(p.asked), len(tt.want))
			}
			var names []string
			for l := range strings.SplitSeq(strings.TrimSpace(read(t, file)), "\n") {
				names = append(names, strings.Fields(l)[0])
			}
			var want []string
			for i, s := range tt.want {
				want = append(want, knownhosts.Name(s.Host, s.Port))
				if got := p.asked[i].Key.Fingerprint; got != ssh.FingerprintSHA256(s.HostKey("ed25519")) {
					t.Errorf("the question %d is about %s", i, got)
				}
			}
			if !slices.Equal(names, want) {
				t.Errorf("got %v filed, want %v", names, want)
			}
			client.Close()
			// The key of each on the way, swapped.
			for _, s := range tt.want {
				s.NewHostKeys()
				if _, err := dial(t, c, answering(viewer.Answer{Accept: true, Save: true})); viewer.KindOf(err) != viewer.Untrusted || !strings.Contains(err.Error(), ssh.FingerprintSHA256(s.HostKey("ed25519"))) {
					t.Errorf("after a new key of %s: got %v", s.Addr(), err)
				}
				if _, err := dial(t, c, answering(viewer.Answer{Accept: true, Save: true, Replace: true})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	c := base
	c.NoConfig, c.ConfigFiles = false, []string{conf}
	c.Target = viewer.Target{Protocol: viewer.SSH, Address: "loop", Port: 22, User: "x"}
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), "back to itself") {
		t.Errorf("a loop: got %v", err)
	}
	// A jump host that refuses is named.
	c = base
	c.Via = []sshdial.Hop{via(near)}
	c.Via[0].KeyFile = target.KeyFile
	c.KnownHostsFiles = []string{near.KnownHosts()}
	if _, err := dial(t, c, &person{}); !strings.Contains(fmt.Sprint(err), "the jump host "+near.Addr()) {
		t.Errorf("got %v", err)
	}
}
