package sshconf

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A lab is a folder with a configuration.
type lab struct {
	home, file string
}

func newLab(t testing.TB, config string, more map[string]string) lab {
	t.Helper()
	home := t.TempDir()
	l := lab{home, filepath.Join(home, ".ssh", "config")}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range more {
		if err := os.WriteFile(filepath.Join(home, ".ssh", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(l.file, []byte(strings.ReplaceAll(config, "LAB", home)), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l lab) read(t testing.TB, host, user string, port int) (Settings, error) {
	t.Helper()
	return Read(context.Background(), Query{Host: host, User: user, Port: port, Files: []string{l.file}, Home: l.home, LocalUser: localName(t),
		Exec: func(_ context.Context, c string) bool { return exec.Command("/bin/sh", "-c", c).Run() == nil }})
}

func localName(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("id", "-un").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// configs are configurations of every form; each is read for all the hosts.
var configs = []struct {
	name, text string
	hosts      []string
	more       map[string]string
}{
	{"hosts", `
# a comment
User everybody
Host plain
	HostName plain.example.com
	Port 2022
Host *.lab !not.lab
	User labuser
	HostName %h.example.com
Host a?c "quoted host" tab	bed
	Port 99
Host *
	Port=77
	User nobody
`, []string{"plain", "x.lab", "not.lab", "abc", "ac", "bed", "other"}, nil},
	{"equals and quotes", `
Host = plain
  User="with equals"
  IdentityFile "~/my keys/id one"
  IdentityFile ~/second   # with a comment
  IdentityFile=~/third#not-a-comment
  HostName   "h.example.com"
  ProxyCommand=nc -X connect "%h" %p # not a comment
Host other
  User 'single quoted'
  IdentityFile ~/a\ b
`, []string{"plain", "other"}, nil},
	{"tokens", `
IdentityFile ~/.ssh/%r@%h:%p-%n
IdentityFile %d/keys/%u
IdentityFile ~/.ssh/100%%
CertificateFile ~/.ssh/%h-cert.pub
UserKnownHostsFile ~/.ssh/known_%h ~/.ssh/%k "LAB/with space"
User bob
Host plain
	HostName real-%h
	Port 2222
	HostKeyAlias alias
`, []string{"plain", "other"}, nil},
	{"match", `
Match host plain
	User matched
Match originalhost or?ginal,!not user root,bob
	Port 1001
Match !host plain
	Port 1002
Host plain
	HostName real.example.com
Match host real.example.com
	HostKeyAlias by-real-name
Match originalhost plain
	ServerAliveInterval 17
Match all
	ServerAliveCountMax 9
Match user nobody-at-all
	Port 1
Match localuser nobody-at-all
	User x
Match host *.example.com,!real.example.com
	ConnectTimeout 5
`, []string{"plain", "original", "other.example.com"}, nil},
	{"match exec", `
Match exec "test %n = plain"
	User executed
Match !exec "test %h = plain"
	User refused
`, []string{"plain", "other"}, nil},
	{"match final", `
Match final host final.example.com
	User finally
Host plain
	HostName final.example.com
Host final.example.com
	Port 4000
`, []string{"plain", "other"}, nil},
	{"includes", `
Include one two*
Host plain
	Include inside
	Port 5
Host *
	User last
Include LAB/.ssh/absolute
Include nothing-there
`, []string{"plain", "other", "inner"}, map[string]string{
		"one": "Host plain\n User fromone\n", "two1": "Host inner\nPort 61\n", "two2": "Host inner\nPort 62\nUser two\n",
		"inside": "ServerAliveInterval 3\nHost inner\nServerAliveInterval 4\nHost *\nConnectTimeout 8\n", "absolute": "Host *\nServerAliveCountMax 2\n",
	}},
	{"jumps", `
Host plain
	ProxyJump first,bob@second:2222,ssh://third
	ProxyCommand never %h
Host other
	ProxyCommand nc %h %p
	ProxyJump never
Host none
	ProxyJump none
Host *
	ProxyJump everybody
`, []string{"plain", "other", "none", "rest"}, nil},
	{"times", `
Host plain
	ServerAliveInterval 1m30s
	ConnectTimeout 2h
Host other
	ServerAliveInterval 90
	ConnectTimeout none
`, []string{"plain", "other"}, nil},
	{"switches", `
IdentitiesOnly yes
HashKnownHosts yes
PasswordAuthentication no
PubkeyAuthentication no
KbdInteractiveAuthentication no
StrictHostKeyChecking accept-new
HostKeyAlgorithms ssh-ed25519,rsa-sha2-512
Ciphers aes128-ctr
GlobalKnownHostsFile /one /two
IdentityAgent ~/agent.sock
`, []string{"plain"}, nil},
	{"older names and windows line ends", "Host plain\r\n\tChallengeResponseAuthentication no\r\n\tPort 44\r\nHost *\r\n\tUser crlf\r\n", []string{"plain", "other"}, nil},
}

// What is read is what ssh -G says.
func TestReadIsThatOfOpenSSH(t *testing.T) {
	client, err := exec.LookPath("ssh")
	if err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatal("ssh is missing")
		}
		t.Skip("SKIPPED, NOTHING IS COMPARED: ssh is missing")
	}
	for _, c := range configs {
		for _, host := range c.hosts {
			t.Run(c.name+" "+host, func(t *testing.T) {
				l := newLab(t, c.text, c.more)
				got, err := l.read(t, host, "", 0)
				if err != nil {
					t.Fatal(err)
				}
				// ssh knows no other home than that of the user; includes are in it.
				text, _ := os.ReadFile(l.file)
				abs := strings.NewReplacer("~/", l.home+"/", "%d", l.home, "Include one two*", "Include "+l.home+"/.ssh/one "+l.home+"/.ssh/two*",
					"Include inside", "Include "+l.home+"/.ssh/inside", "Include nothing-there", "").Replace(string(text))
				forSSH := filepath.Join(l.home, "for-ssh")
				if err := os.WriteFile(forSSH, []byte(abs), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(client, "-G", "-F", forSSH, host).CombinedOutput()
				if err != nil {
					t.Fatalf("ssh -G: %v\n%s", err, out)
				}
				want := map[string][]string{}
				for line := range strings.SplitSeq(string(out), "\n") {
					k, v, _ := strings.Cut(line, " ")
					want[k] = append(want[k], v)
				}
				compare(t, l, host, got, want)
				if len(got.Notices) != 0 {
					t.Errorf("got the notices %q", got.Notices)
				}
			})
		}
	}
}

// compare holds settings against the lines of ssh -G.
func compare(t *testing.T, l lab, host string, s Settings, want map[string][]string) {
	t.Helper()
	one := func(key, got string) {
		w := ""
		if v := want[key]; len(v) > 0 {
			w = v[0]
		}
		if got != w {
			t.Errorf("%s: got %q, ssh has %q", key, got, w)
		}
	}
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	user := or(s.User, localName(t))
	one("hostname", s.HostName)
	one("user", user)
	one("port", or(strings.TrimPrefix(fmt.Sprint(s.Port), "0"), "22"))
	one("hostkeyalias", s.HostKeyAlias)
	one("proxyjump", strings.ReplaceAll(s.ProxyJump, "ssh://", ""))
	one("identitiesonly", yes(s.IdentitiesOnly))
	one("hashknownhosts", yes(s.HashKnownHosts))
	one("passwordauthentication", yes(!s.NoPassword))
	one("kbdinteractiveauthentication", yes(!s.NoKbdInteractive))
	if got := want["pubkeyauthentication"][0] == "false" || want["pubkeyauthentication"][0] == "no"; got != s.NoPubkey {
		t.Errorf("pubkeyauthentication: got %v, ssh has %v", !s.NoPubkey, want["pubkeyauthentication"])
	}
	one("serveraliveinterval", fmt.Sprint(int(s.ServerAliveInterval/time.Second)))
	if s.ServerAliveCountMax != 0 {
		one("serveralivecountmax", fmt.Sprint(s.ServerAliveCountMax))
	} else {
		one("serveralivecountmax", "3")
	}
	if s.ConnectTimeout != 0 {
		one("connecttimeout", fmt.Sprint(int(s.ConnectTimeout/time.Second)))
	} else {
		one("connecttimeout", "none")
	}
	if s.HostKeyAlgorithms != "" {
		one("hostkeyalgorithms", s.HostKeyAlgorithms)
	}
	if s.Ciphers != "" {
		one("ciphers", s.Ciphers)
	}
	if s.StrictHostKeyChecking != "" {
		one("stricthostkeychecking", s.StrictHostKeyChecking)
	}
	// ssh -G shows these with their tokens; ours have theirs filled in.
	port := or(strings.TrimPrefix(fmt.Sprint(s.Port), "0"), "22")
	fill := map[byte]string{'h': s.HostName, 'n': host, 'p': port, 'r': user, 'u': localName(t), 'd': l.home, 'k': or(s.HostKeyAlias, host)}
	if s.ProxyCommand != "" || len(want["proxycommand"]) > 0 {
		if len(want["proxycommand"]) == 0 {
			t.Errorf("proxycommand: got %q, ssh has none", s.ProxyCommand)
		}
		if len(want["proxycommand"]) > 0 {
			if w := expand(want["proxycommand"][0], fill); w != s.ProxyCommand {
				t.Errorf("proxycommand: got %q, ssh has %q", s.ProxyCommand, w)
			}
		}
	}
	list := func(key string, got []string, split bool) {
		if got == nil {
			return
		}
		var w []string
		for _, v := range want[key] {
			if split {
				v = strings.ReplaceAll(v, "with space", "with\x00space")
				for _, f := range strings.Fields(v) {
					w = append(w, expand(strings.ReplaceAll(f, "\x00", " "), fill))
				}
				continue
			}
			w = append(w, expand(v, fill))
		}
		if !slices.Equal(got, w) {
			t.Errorf("%s: got %q, ssh has %q", key, got, w)
		}
	}
	list("identityfile", s.IdentityFiles, false)
	list("certificatefile", s.CertificateFiles, false)
	list("userknownhostsfile", s.UserKnownHostsFiles, true)
	list("globalknownhostsfile", s.GlobalKnownHostFiles, true)
}

func TestGivenUserAndPortWin(t *testing.T) {
	l := newLab(t, "Host x\nMatch user alice\nIdentityFile LAB/alice-%p\n", nil)
	s, err := l.read(t, "x", "alice", 2222)
	if err != nil || !slices.Equal(s.IdentityFiles, []string{l.home + "/alice-2222"}) {
		t.Errorf("got %v, %v", s.IdentityFiles, err)
	}
}

// What is not followed is said, once, and what is wrong names its line.
func TestNoticesAndErrors(t *testing.T) {
	l := newLab(t, "CanonicalizeHostname yes\nPKCS11Provider /lib/x.so\nNoSuchOption 1\nBindAddress 10.0.0.1\nForwardAgent yes\nCanonicalizeHostname no\nMatch tagged x\nUser no\n", nil)
	s, err := l.read(t, "x", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(s.Notices, "\n")
	for _, want := range []string{"CanonicalizeHostname", "line 1", "PKCS11Provider", "NoSuchOption", "BindAddress", "Match tagged"} {
		if !strings.Contains(all, want) {
			t.Errorf("got the notices %q, want one with %q", s.Notices, want)
		}
	}
	if len(s.Notices) != 5 || s.User != "" {
		t.Errorf("got the notices %q and the user %q", s.Notices, s.User)
	}
	s, err = Read(context.Background(), Query{Host: "x", Files: []string{newLab(t, "Match exec \"true\"\nUser a\nMatch !exec \"true\"\nUser b\n", nil).file}})
	if err != nil || s.User != "" || len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "Match exec") {
		t.Errorf("without commands: got %+v, %v", s, err)
	}
	for config, want := range map[string]string{
		"Host x\nPort abc\n":          "line 2",
		"Port 70000\n":                "not a port",
		"ConnectTimeout soon\n":       "not a time",
		"IdentitiesOnly maybe\n":      "yes or no",
		"User \"open\n":               "quote",
		"User\n":                      "no value",
		"Match\n":                     "no value",
		"Match nonsense x\nUser y\n":  "nonsense",
		"Match host\n":                "no value",
		"Include ~/.ssh/config\n":     "includes itself",
		"ServerAliveCountMax many\n":  "not a number",
		"Match all host x\nPort 22\n": "stands alone",
	} {
		l := newLab(t, config, nil)
		if _, err := l.read(t, "x", "", 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", config, err, want)
		}
	}
	l = newLab(t, "User x\n", nil)
	if err := os.Chmod(l.file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := l.read(t, "x", "", 0); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("a file that everybody can write: got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range configs {
		f.Add(c.text, "plain")
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		if strings.Contains(strings.ToLower(text), "include") {
			return // other files of this computer
		}
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(context.Background(), Query{Host: host, Files: []string{file}, Home: "/nowhere", LocalUser: "me"})
		if err != nil {
			return
		}
		if len(s.Notices) > maxList || len(s.IdentityFiles) > maxList || s.Port < 0 || s.Port > 65535 {
			t.Errorf("got %+v", s)
		}
	})
}
