//go:build unix

package sshdial_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial"
	"deskvnc/viewer/sshdial/sshtest"
)

// trusting answers as given, and takes every new host key without filing it.
func trusting(answer func(q viewer.Question) (viewer.Answer, error)) *person {
	return &person{answer: func(q viewer.Question) (viewer.Answer, error) {
		if q.Kind == viewer.AskServerKey {
			return viewer.Answer{Accept: true}, nil
		}
		return answer(q)
	}}
}

func password(p string) func(viewer.Question) (viewer.Answer, error) {
	return func(q viewer.Question) (viewer.Answer, error) {
		if q.Kind != viewer.AskPassword {
			return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: fmt.Errorf("no answer to %s", q.Kind)}
		}
		return viewer.Answer{Secret: viewer.SecretString(p)}, nil
	}
}

// scripted logs in to a server that follows a script.
func scripted(t *testing.T, s *sshtest.Scripted) sshdial.Config {
	return sshdial.Config{Target: s.Target(), Login: sshdial.Login{NoAgent: true}, NoConfig: true, KnownHostsFiles: []string{filepath.Join(t.TempDir(), "kh")}, Home: t.TempDir()}
}

// The password answers the one hidden question for it; the code is asked for
// with the machine's own words; rounds without questions pass.
func TestRoundsOfQuestions(t *testing.T) {
	s := sshtest.StartScript(t, sshtest.Script{User: "alice", Banner: "be \x1b[31mwelcome\r\nhere", Rounds: []sshtest.Round{
		{Instruction: "first, nothing"},
		{Prompts: []sshtest.Prompt{{Text: "Password:"}}, Want: []string{"hunter2"}},
		{Name: "Second", Instruction: "look at your token\x07", Prompts: []sshtest.Prompt{{Text: "Code: ", Echo: true}}, Want: []string{"123456"}},
		{},
	}})
	p := trusting(func(q viewer.Question) (viewer.Answer, error) {
		switch q.Kind {
		case viewer.AskPassword:
			return viewer.Answer{Secret: viewer.SecretString("hunter2")}, nil
		case viewer.AskPrompts:
			return viewer.Answer{Secrets: []viewer.Secret{viewer.SecretString("123456")}}, nil
		}
		return viewer.Answer{}, fmt.Errorf("unexpected %s", q.Kind)
	})
	c, err := dial(t, scripted(t, s), p)
	if err != nil {
		t.Fatal(err)
	}
	if c.Method() != "keyboard-interactive" {
		t.Errorf("got the method %q", c.Method())
	}
	if got := p.kinds(); !slices.Equal(got, []viewer.QuestionKind{viewer.AskServerKey, viewer.AskPassword, viewer.AskPrompts}) {
		t.Fatalf("got the questions %v", got)
	}
	q := p.asked[2]
	if !reflect.DeepEqual(q.Prompts, []viewer.Prompt{{Text: "Code:", Echo: true}}) || q.Text != "Second\nlook at your token" || q.Target.User != "alice" {
		t.Errorf("got the question %+v", q)
	}
	if told := p.told(); !strings.Contains(told, "be [31mwelcome\nhere") || !strings.Contains(told, "first, nothing") {
		t.Errorf("got the notices %q", told)
	}
	const want = "[{keyboard-interactive [] true false} {keyboard-interactive [hunter2] true false} {keyboard-interactive [123456] true false} {keyboard-interactive [] true false}]"
	if got := fmt.Sprint(s.Attempts()); got != want {
		t.Errorf("the machine got %s", got)
	}
}

// What a machine may call a hidden question decides whether the password goes
// there.
func TestPasswordGoesNowhereElse(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		gets   bool
	}{
		{"(alice@host) Password: ", true}, {"One-time password (OATH) for `alice': ", false}, {"New password: ", false},
	} {
		s := sshtest.StartScript(t, sshtest.Script{User: "alice", Rounds: []sshtest.Round{{Prompts: []sshtest.Prompt{{Text: tt.prompt}}, Want: []string{"x"}}}})
		p := trusting(password("hunter2"))
		_, err := dial(t, scripted(t, s), p)
		if err == nil {
			t.Fatal("it was let in")
		}
		sent := fmt.Sprint(s.Attempts())
		if got := strings.Contains(sent, "hunter2"); got != tt.gets {
			t.Errorf("%q: the password was sent: %v (%s)", tt.prompt, got, sent)
		}
		if strings.Contains(err.Error(), "hunter2") || strings.Contains(p.told(), "hunter2") {
			t.Errorf("the password shows: %v, %q", err, p.told())
		}
	}
}

// A password is tried once, not by two methods, and a refused one ends the
// login with what was tried and what is taken.
func TestPasswordIsTriedOnce(t *testing.T) {
	s := sshtest.StartScript(t, sshtest.Script{User: "alice", Password: "right", Rounds: []sshtest.Round{{Prompts: []sshtest.Prompt{{Text: "Password:"}}, Want: []string{"right"}}}})
	p := trusting(password("wrong"))
	_, err := dial(t, scripted(t, s), p)
	if viewer.KindOf(err) != viewer.Denied {
		t.Fatalf("got %v", err)
	}
	if n := len(s.Attempts()); n != 1 {
		t.Errorf("the password was sent %d times", n)
	}
	for _, want := range []string{"alice@127.0.0.1", "refused a password", "password", "keyboard-interactive"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	p = trusting(password("right"))
	if _, err := dial(t, scripted(t, s), p); err != nil {
		t.Fatal(err)
	}
}

func TestExpiredPassword(t *testing.T) {
	s := sshtest.StartScript(t, sshtest.Script{User: "alice", Password: "right", Expired: true})
	_, err := dial(t, scripted(t, s), trusting(password("right")))
	if viewer.KindOf(err) != viewer.Denied || !strings.Contains(err.Error(), "wants a new password") || len(s.Attempts()) != 1 {
		t.Errorf("got %v", err)
	}
}

// Only one of the two methods is there: the same password works.
func TestPasswordByEitherMethod(t *testing.T) {
	for _, script := range []sshtest.Script{
		{User: "alice", Password: "right"},
		{User: "alice", Rounds: []sshtest.Round{{Prompts: []sshtest.Prompt{{Text: "Password:"}}, Want: []string{"right"}}}},
	} {
		s := sshtest.StartScript(t, script)
		c, err := dial(t, scripted(t, s), trusting(password("right")))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.Attempts()); n != 1 {
			t.Errorf("%s: %d attempts", c.Method(), n)
		}
	}
}

func TestNobodyToAskForThePassword(t *testing.T) {
	s := sshtest.StartScript(t, sshtest.Script{User: "alice", Password: "right"})
	p := trusting(func(viewer.Question) (viewer.Answer, error) {
		return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: fmt.Errorf("nobody is here to give a password")}
	})
	_, err := dial(t, scripted(t, s), p)
	if viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), "nobody is here") || !strings.Contains(err.Error(), "it takes") {
		t.Errorf("got %v", err)
	}
	p.answer = func(viewer.Question) (viewer.Answer, error) {
		return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Cancelled, Err: fmt.Errorf("the person said no")}
	}
	if _, err = dial(t, scripted(t, s), p); viewer.KindOf(err) != viewer.Cancelled {
		t.Errorf("got %v", err)
	}
	if n := len(s.Attempts()); n != 0 {
		t.Errorf("%d attempts were made", n)
	}
}

// A person who names another user is logged in as that one.
func TestAnotherUser(t *testing.T) {
	s := sshtest.StartScript(t, sshtest.Script{User: "bob", Password: "bobs"})
	c := scripted(t, s)
	c.Target.User = "alice"
	c.Accepted = &sshdial.Accepted{}
	p := trusting(func(q viewer.Question) (viewer.Answer, error) {
		return viewer.Answer{User: "bob", Secret: viewer.SecretString("bobs")}, nil
	})
	client, err := dial(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	if client.User() != "bob" || len(p.asked) != 2 || p.asked[1].Name != "alice" {
		t.Errorf("got the user %q after %v", client.User(), p.kinds())
	}
}

// A machine that asks without an end is left.
func TestEndlessQuestions(t *testing.T) {
	var rounds []sshtest.Round
	for range 100 {
		rounds = append(rounds, sshtest.Round{})
	}
	s := sshtest.StartScript(t, sshtest.Script{User: "alice", Rounds: rounds})
	_, err := dial(t, scripted(t, s), trusting(password("x")))
	if viewer.KindOf(err) != viewer.Limit || len(s.Attempts()) > 40 {
		t.Errorf("got %v after %d rounds", err, len(s.Attempts()))
	}
}

// Real OpenSSH with PAM: password, keyboard-interactive alone, a key and then
// the password.
func TestPasswordOfOpenSSH(t *testing.T) {
	name, secret := sshtest.Account(t)
	for _, tt := range []struct {
		name, method string
		config       []string
		key          bool
	}{
		{"password", "password", []string{"PasswordAuthentication yes", "KbdInteractiveAuthentication no"}, false},
		{"keyboard-interactive alone", "keyboard-interactive", []string{"PasswordAuthentication no", "KbdInteractiveAuthentication yes"}, false},
		{"both", "keyboard-interactive", []string{"PasswordAuthentication yes", "KbdInteractiveAuthentication yes"}, false},
		{"key, then questions", "keyboard-interactive", []string{"KbdInteractiveAuthentication yes", "AuthenticationMethods publickey,keyboard-interactive"}, true},
		{"key, then password", "password", []string{"PasswordAuthentication yes", "AuthenticationMethods publickey,password"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sshtest.Start(t, sshtest.Options{Config: append(tt.config, "UsePAM yes")})
			c := config(s)
			c.Target.User = name
			if !tt.key {
				c.KeyFile = ""
			}
			p := &person{answer: password(secret)}
			client, err := dial(t, c, p)
			if err != nil {
				t.Fatal(err)
			}
			if client.Method() != tt.method || len(p.asked) != 1 {
				t.Errorf("got the method %q and the questions %v", client.Method(), p.kinds())
			}
			if got := strings.TrimSpace(output(t, client, "id -un")); got != name {
				t.Errorf("got the user %q", got)
			}
			if n := strings.Count(s.Log(), "Failed password") + strings.Count(s.Log(), "Failed keyboard"); n != 0 {
				t.Errorf("%d failures were counted:\n%s", n, s.Log())
			}
			client.Close()

			p = &person{answer: password("not it")}
			if _, err = dial(t, c, p); viewer.KindOf(err) != viewer.Denied || strings.Contains(err.Error(), "not it") {
				t.Errorf("with a wrong password: got %v", err)
			}
			if n := strings.Count(s.Log(), "authentication failure;"); len(p.asked) != 1 || n > 1 {
				t.Errorf("a wrong password: %d questions, %d failures", len(p.asked), n)
			}
			if tt.key && !strings.Contains(err.Error(), "it took publickey") {
				t.Errorf("got %v, want it to say that the key was taken", err)
			}
		})
	}
}

// Keys of every kind and form, and each time the passphrase is asked for once.
func TestKeyFiles(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	type key struct {
		name, file string
		encrypted  bool
	}
	var keys []key
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		for _, pass := range []string{"", "open it"} {
			f := sshtest.Key(t, s.Dir, kind, pass)
			s.Authorize(f + ".pub")
			keys = append(keys, key{kind, f, pass != ""})
		}
	}
	pem := sshtest.Key(t, s.Dir, "ecdsa", "open it", "-m", "PEM")
	s.Authorize(pem + ".pub")
	os.Remove(pem + ".pub") // nothing tells the public half now
	keys = append(keys, key{"pem without .pub", pem, true})
	if _, err := exec.LookPath("puttygen"); err == nil {
		ppk := filepath.Join(s.Dir, "key.ppk")
		pass := filepath.Join(s.Dir, "pass")
		if err := os.WriteFile(pass, []byte("open it"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("puttygen", keys[0].file, "-o", ppk, "--new-passphrase", pass).CombinedOutput(); err != nil {
			t.Fatalf("puttygen: %v\n%s", err, out)
		}
		keys = append(keys, key{"ppk", ppk, true})
	}
	for _, k := range keys {
		t.Run(fmt.Sprintf("%s encrypted %v", k.name, k.encrypted), func(t *testing.T) {
			c := config(s)
			c.KeyFile = k.file
			p := &person{answer: func(q viewer.Question) (viewer.Answer, error) {
				return viewer.Answer{Secret: viewer.SecretString("open it")}, nil
			}}
			if _, err := dial(t, c, p); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: 1}[k.encrypted]; len(p.asked) != want {
				t.Errorf("got the questions %v", p.kinds())
			}
			if k.encrypted && (p.asked[0].Kind != viewer.AskPassphrase || p.asked[0].Name != k.file) {
				t.Errorf("got the question %+v", p.asked[0])
			}
		})
	}
}

// A wrong passphrase is said before there is a connection, and asked for again.
func TestWrongPassphrase(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	c.KeyFile = sshtest.Key(t, s.Dir, "ed25519", "right")
	s.Authorize(c.KeyFile + ".pub")
	p := &person{answer: func(q viewer.Question) (viewer.Answer, error) {
		if s.Accepted() != 0 {
			t.Error("asked after the connection was made")
		}
		if q.Attempt == 1 {
			return viewer.Answer{Secret: viewer.SecretString("wrong")}, nil
		}
		return viewer.Answer{Secret: viewer.SecretString("right")}, nil
	}}
	if _, err := dial(t, c, p); err != nil {
		t.Fatal(err)
	}
	if len(p.asked) != 2 || p.asked[1].Attempt != 2 || !strings.Contains(p.asked[1].Note, "does not open") {
		t.Errorf("got the questions %+v", p.asked)
	}
	before := s.Accepted()
	for name, answer := range map[string]func(viewer.Question) (viewer.Answer, error){
		"always the same": func(q viewer.Question) (viewer.Answer, error) {
			return viewer.Answer{Secret: viewer.SecretString("wrong")}, nil
		},
		"nobody for another": func(q viewer.Question) (viewer.Answer, error) {
			if q.Attempt > 1 {
				return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials, Err: fmt.Errorf("nobody")}
			}
			return viewer.Answer{Secret: viewer.SecretString("wrong")}, nil
		},
	} {
		p := &person{answer: answer}
		_, err := dial(t, c, p)
		if k := viewer.KindOf(err); k != viewer.Denied && k != viewer.Credentials || !strings.Contains(err.Error(), "does not open the key") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: got %v", name, err)
		}
		if len(p.asked) > 2 {
			t.Errorf("%s: asked %d times", name, len(p.asked))
		}
	}
	if s.Accepted() != before {
		t.Error("a connection was made for nothing")
	}
	c.KeyFile = filepath.Join(s.Dir, "not there")
	if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a key that is not there: got %v", err)
	}
}

// An agent with more keys than a machine takes attempts.
func TestAgentWithManyKeys(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{Config: []string{"MaxAuthTries 6"}})
	var keys []string
	for range 8 {
		keys = append(keys, sshtest.Key(t, s.Dir, "ed25519", ""))
	}
	sshtest.Agent(t, keys...)
	c := config(s)
	c.NoAgent = false
	t.Run("a key file is named", func(t *testing.T) {
		if _, err := dial(t, c, &person{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.Log(), "Failed publickey"); n != 0 {
			t.Errorf("%d other keys were offered", n)
		}
	})
	t.Run("the named key is in the agent too, and locked on disk", func(t *testing.T) {
		locked := sshtest.Key(t, s.Dir, "ed25519", "never asked")
		s.Authorize(locked + ".pub")
		c := c
		c.KeyFile = keys[7]
		s.Authorize(keys[7] + ".pub")
		p := &person{}
		if _, err := dial(t, c, p); err != nil || len(p.asked) != 0 {
			t.Errorf("got %v and the questions %v", err, p.kinds())
		}
	})
	t.Run("none is named: the login ends before the machine loses patience", func(t *testing.T) {
		c := c
		c.KeyFile = ""
		fresh := sshtest.Start(t, sshtest.Options{Config: []string{"MaxAuthTries 6"}})
		c.Target, c.KnownHostsFiles = fresh.Target(), []string{fresh.KnownHosts()}
		_, err := dial(t, c, &person{})
		if viewer.KindOf(err) != viewer.Denied && viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), "name the key") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a password is chosen", func(t *testing.T) {
		name, secret := sshtest.Account(t)
		c := c
		c.Login = sshdial.Login{}
		pam := sshtest.Start(t, sshtest.Options{Config: []string{"MaxAuthTries 6", "UsePAM yes", "PasswordAuthentication yes"}})
		c.Target, c.KnownHostsFiles = pam.Target(), []string{pam.KnownHosts()}
		c.Target.User = name
		p := &person{answer: password(secret)}
		if _, err := dial(t, c, p); err != nil { // five keys, then the password: the sixth attempt
			t.Errorf("after the agent's keys: got %v", err)
		}
		c.Method = sshdial.Password
		before := strings.Count(pam.Log(), "publickey")
		if _, err := dial(t, c, p); err != nil || strings.Count(pam.Log(), "publickey") != before {
			t.Errorf("by the password alone: got %v\n%s", err, pam.Log())
		}
	})
}

// Without an agent the key file or the password is used, and nothing blames the
// agent.
func TestNoAgent(t *testing.T) {
	sshtest.Agent(t)
	s := sshtest.Start(t, sshtest.Options{})
	c := config(s)
	c.NoAgent = false
	if _, err := dial(t, c, &person{}); err != nil {
		t.Errorf("with a key file: %v", err)
	}
	c.KeyFile = ""
	_, err := dial(t, c, &person{})
	if viewer.KindOf(err) != viewer.Credentials || strings.Contains(err.Error(), "agent's") {
		t.Errorf("with nothing: got %v", err)
	}
	script := sshtest.StartScript(t, sshtest.Script{User: "alice", Password: "right"})
	c = scripted(t, script)
	c.NoAgent = false
	if _, err := dial(t, c, trusting(password("right"))); err != nil {
		t.Errorf("with a password: %v", err)
	}
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(t.TempDir(), "gone"))
	if _, err := dial(t, c, trusting(password("right"))); err != nil {
		t.Errorf("with an agent that is gone: %v", err)
	}
}

// The usual key files are found; a locked one is opened only when the machine
// takes it.
func TestUsualKeyFiles(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	home := t.TempDir()
	dir := filepath.Join(home, ".ssh")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	place := func(from, name string) {
		t.Helper()
		for _, end := range []string{"", ".pub"} {
			b, err := os.ReadFile(from + end)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name+end), b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	other := sshtest.Key(t, s.Dir, "ed25519", "never asked for")
	locked := sshtest.Key(t, s.Dir, "rsa", "open it")
	s.Authorize(locked + ".pub")
	place(other, "id_ed25519")
	place(locked, "id_rsa")
	c := config(s)
	c.KeyFile, c.Home = "", home
	p := &person{answer: func(q viewer.Question) (viewer.Answer, error) {
		return viewer.Answer{Secret: viewer.SecretString("open it")}, nil
	}}
	if _, err := dial(t, c, p); err != nil {
		t.Fatal(err)
	}
	if len(p.asked) != 1 || p.asked[0].Name != filepath.Join(dir, "id_rsa") {
		t.Errorf("got the questions %+v", p.asked)
	}
	// Nobody is there to open it: the error says so.
	_, err := dial(t, c, &person{})
	if viewer.KindOf(err) != viewer.Credentials || !strings.Contains(err.Error(), "~/.ssh/id_rsa") || !strings.Contains(err.Error(), "passphrase") {
		t.Errorf("got %v", err)
	}
}

func TestUserCertificate(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	ca := sshtest.Key(t, s.Dir, "ed25519", "")
	s.SetConfig("TrustedUserCAKeys " + ca + ".pub")
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		key := sshtest.Key(t, s.Dir, kind, "")
		if out, err := exec.Command("ssh-keygen", "-q", "-s", ca, "-I", "me", "-n", s.User, key+".pub").CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
		c := config(s)
		c.KeyFile = key
		if _, err := dial(t, c, &person{}); err != nil {
			t.Errorf("%s: the certificate beside the key: %v", kind, err)
		}
		elsewhere := filepath.Join(s.Dir, kind+"-elsewhere")
		if err := os.Rename(key+"-cert.pub", elsewhere); err != nil {
			t.Fatal(err)
		}
		if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Credentials && viewer.KindOf(err) != viewer.Denied {
			t.Errorf("%s: without its certificate: got %v", kind, err)
		}
		c.CertificateFile = elsewhere
		if _, err := dial(t, c, &person{}); err != nil {
			t.Errorf("%s: the certificate that is named: %v", kind, err)
		}
		c.CertificateFile = ca + ".pub"
		if _, err := dial(t, c, &person{}); viewer.KindOf(err) != viewer.Invalid || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: what is no certificate: got %v", kind, err)
		}
		sshtest.Agent(t, key) // the agent signs, with the certificate on disk
		c.NoAgent, c.CertificateFile = false, elsewhere
		if _, err := dial(t, c, &person{}); err != nil {
			t.Errorf("%s: by the agent: %v", kind, err)
		}
	}
}
