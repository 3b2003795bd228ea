package keyfile

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("DESKVNC_PEERS") == "required" {
			t.Fatalf("%s is missing", program)
		}
		t.Skipf("SKIPPED, NOTHING IS TESTED: %s is missing", program)
	}
}

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

const passphrase = "correct horse"

// check opens the file and proves that it is the private half of pub.
func check(t *testing.T, file string, pub ssh.PublicKey, encrypted, publicKnown bool) {
	t.Helper()
	f, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if f.Encrypted != encrypted {
		t.Errorf("encrypted: got %v", f.Encrypted)
	}
	if (f.Public != nil) != publicKnown {
		t.Errorf("the public half is known: got %v", f.Public != nil)
	}
	if f.Public != nil && !bytes.Equal(f.Public.Marshal(), pub.Marshal()) {
		t.Error("the public half is another key's")
	}
	if encrypted {
		for _, wrong := range []string{"", "wrong", passphrase + " "} {
			if _, err := f.Open([]byte(wrong)); !errors.Is(err, ErrPassphrase) {
				t.Errorf("with the passphrase %q: got %v", wrong, err)
			}
		}
	}
	s, err := f.Open([]byte(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("what is signed")
	sig, err := s.Sign(rand.Reader, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.Verify(data, sig); err != nil {
		t.Errorf("the signature is not that of the key: %v", err)
	}
}

func public(t testing.TB, line string) ssh.PublicKey {
	t.Helper()
	pub, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return pub
}

var kinds = []string{"ed25519", "ecdsa-256", "ecdsa-384", "ecdsa-521", "rsa-2048"}

// made are keys without a passphrase, one of each kind: RSA keys take long.
func made(t *testing.T) map[string]string {
	t.Helper()
	need(t, "ssh-keygen")
	dir := t.TempDir()
	files := map[string]string{}
	for _, kind := range kinds {
		name, bits, _ := strings.Cut(kind, "-")
		file := filepath.Join(dir, kind)
		args := []string{"-q", "-t", name, "-N", "", "-C", "me", "-f", file}
		if bits != "" {
			args = append(args, "-b", bits)
		}
		run(t, "ssh-keygen", args...)
		files[kind] = file
	}
	return files
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestKeysOfOpenSSH(t *testing.T) {
	keys := made(t)
	for _, kind := range kinds {
		for _, form := range []string{"RFC4716", "PEM", "PKCS8"} { // OpenSSH's own is the one that is no such form
			for _, pass := range []string{"", passphrase} {
				if kind == "ed25519" && form != "RFC4716" {
					continue // always in the own form
				}
				t.Run(fmt.Sprintf("%s %s encrypted %v", kind, form, pass != ""), func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "key")
					copied(t, keys[kind], file)
					run(t, "ssh-keygen", "-q", "-p", "-m", form, "-a", "4", "-P", "", "-N", pass, "-f", file)
					b, _ := os.ReadFile(keys[kind] + ".pub")
					own := form == "RFC4716"
					check(t, file, public(t, string(b)), pass != "", pass == "" || own)
				})
			}
		}
		if _, err := Read(keys[kind] + ".pub"); err == nil || !strings.Contains(err.Error(), "public half") {
			t.Errorf("the public half: got %v", err)
		}
	}
}

func TestKeysOfOpenSSL(t *testing.T) {
	need(t, "openssl")
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	run(t, "openssl", "genpkey", "-algorithm", "ED25519", "-out", plain)
	f, err := Read(plain)
	if err != nil {
		t.Fatal(err)
	}
	check(t, plain, f.Public, false, true)
	for _, args := range [][]string{
		{"-v2", "aes-128-cbc"}, {"-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA1"}, {"-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512"},
		{"-v2", "des3"}, {"-scrypt"}, {"-v2", "aes-256-cbc", "-iter", "3"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			file := filepath.Join(dir, strings.Join(args, "_"))
			run(t, "openssl", append([]string{"pkcs8", "-topk8", "-in", plain, "-out", file, "-passout", "pass:" + passphrase}, args...)...)
			check(t, file, f.Public, true, false)
		})
	}
}

func TestKeysOfPuTTY(t *testing.T) {
	need(t, "puttygen")
	keys := made(t)
	dir := t.TempDir()
	passFile := filepath.Join(dir, "pass")
	if err := os.WriteFile(passFile, []byte(passphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		for _, version := range []string{"2", "3", "3,kdf=argon2i", "3,memory=1024,passes=3,parallelism=2"} {
			for _, pass := range []string{empty, passFile} {
				if pass == empty && version != "2" && version != "3" {
					continue
				}
				t.Run(fmt.Sprintf("%s version %s encrypted %v", kind, version, pass != empty), func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "key.ppk")
					run(t, "puttygen", keys[kind], "-C", "a comment", "-O", "private", "-o", file, "--new-passphrase", pass, "--ppk-param", "version="+version)
					pub := public(t, run(t, "puttygen", file, "-L", "--old-passphrase", pass))
					check(t, file, pub, pass != empty, true)
					f, _ := Read(file)
					if f.Comment != "a comment" {
						t.Errorf("got the comment %q", f.Comment)
					}
					// One byte of the private half, changed.
					b, _ := os.ReadFile(file)
					at := bytes.Index(b, []byte("Private-Lines: ")) + len("Private-Lines: 1\n") + 3
					b[at] = 'A' + (b[at]+1)%26
					if f, err := Parse(b); err == nil {
						if _, err := f.Open([]byte(passphrase)); err == nil {
							t.Error("a changed key was opened")
						}
					}
				})
			}
		}
	}
}

// What a file may ask for is bounded, and what is wrong is said.
func TestRefused(t *testing.T) {
	openssh := func(rounds uint32) []byte {
		var b []byte
		str := func(s []byte) { b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...) }
		b = append(b, openSSHMagic...)
		str([]byte("aes256-ctr"))
		str([]byte("bcrypt"))
		str(binary.BigEndian.AppendUint32(append(binary.BigEndian.AppendUint32(nil, 16), make([]byte, 16)...), rounds))
		b = binary.BigEndian.AppendUint32(b, 1)
		pub, _ := base64.StdEncoding.DecodeString("AAAAC3NzaC1lZDI1NTE5AAAAIBvpvdwdpVO+eypZ+4Q1bGQQ0ItCC2Ol3bOBsOKs+te0")
		str(pub)
		str(make([]byte, 64))
		return pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: b})
	}
	ppk := func(kdf, memory, passes string) []byte {
		return []byte("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: aes256-cbc\nComment: c\nPublic-Lines: 1\n" +
			"AAAAC3NzaC1lZDI1NTE5AAAAIBvpvdwdpVO+eypZ+4Q1bGQQ0ItCC2Ol3bOBsOKs+te0\nKey-Derivation: " + kdf + "\nArgon2-Memory: " + memory +
			"\nArgon2-Passes: " + passes + "\nArgon2-Parallelism: 1\nArgon2-Salt: 00\nPrivate-Lines: 1\nAAAAAAAAAAAAAAAAAAAAAA==\nPrivate-MAC: 00\n")
	}
	for _, tt := range []struct {
		name string
		in   []byte
		want string
	}{
		{"nothing", nil, "not a private key"},
		{"text", []byte("hello"), "not a private key"},
		{"large", make([]byte, maxFileBytes+1), "larger"},
		{"bcrypt without an end", openssh(1 << 31), "rounds"},
		{"cut", pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: []byte(openSSHMagic)}), "damaged"},
		{"argon2 of all memory", ppk("Argon2id", "4294967295", "1"), "more work"},
		{"argon2 for ever", ppk("Argon2id", "8192", "9999"), "more work"},
		{"argon2d", ppk("Argon2d", "8192", "13"), "Argon2id"},
		{"putty 1", []byte("PuTTY-User-Key-File-1: ssh-rsa\n"), "version 1"},
		{"certificate request", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte{1}}), "damaged or of an unknown kind"},
	} {
		if _, err := Parse(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	dir := f.TempDir()
	i := 0
	seed := func(name string, args ...string) {
		if _, err := exec.LookPath(name); err != nil {
			return
		}
		i++
		file := filepath.Join(dir, fmt.Sprint(i))
		for n, a := range args {
			args[n] = strings.ReplaceAll(a, "FILE", file)
		}
		run(f, name, args...)
		if b, err := os.ReadFile(file); err == nil {
			f.Add(b)
		}
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		f.Fatal(err)
	}
	pass := filepath.Join(dir, "pass")
	if err := os.WriteFile(pass, []byte("x"), 0o600); err != nil {
		f.Fatal(err)
	}
	for _, kind := range []string{"ed25519", "ecdsa"} {
		for _, form := range []string{"RFC4716", "PEM", "PKCS8"} {
			seed("ssh-keygen", "-q", "-t", kind, "-m", form, "-N", "", "-f", "FILE")
			seed("ssh-keygen", "-q", "-t", kind, "-m", form, "-a", "1", "-N", "xxxxx", "-f", "FILE")
		}
		for _, v := range []string{"2", "3,memory=8,passes=1"} {
			seed("puttygen", "-t", kind, "-q", "-o", "FILE", "--new-passphrase", empty, "--ppk-param", "version="+v)
			seed("puttygen", "-t", kind, "-q", "-o", "FILE", "--new-passphrase", pass, "--ppk-param", "version="+v)
		}
	}
	seed("ssh-keygen", "-q", "-t", "rsa", "-b", "1024", "-m", "PEM", "-N", "", "-f", "FILE")
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := Parse(b)
		if err != nil {
			return
		}
		if k.Encrypted { // to open it may take seconds of honest work
			return
		}
		s, err := k.Open(nil)
		if err != nil {
			return
		}
		if k.Public == nil || !bytes.Equal(s.PublicKey().Marshal(), k.Public.Marshal()) {
			t.Errorf("got the public half %v", k.Public)
		}
	})
}
