// Package knownhosts reads and writes OpenSSH's known_hosts files: plain and
// hashed names, ports, wildcards, negation, comments, and the markers
// @cert-authority and @revoked.
//
// It finds the lines that speak of a machine and adds or replaces a machine's
// own line; whether a machine is trusted is decided by its user. As in OpenSSH
// a line that makes no sense is passed over, and nothing else is lost by it.
package knownhosts

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// maxFileBytes bounds one known_hosts file; some 300 000 machines fit.
const maxFileBytes = 32 << 20

// maxNamesBytes bounds the names of one line that are compared (OpenSSH has the
// same bound for one pattern).
const maxNamesBytes = 1024

// A Marker stands before a line that is not a machine's own key.
type Marker string

// The markers (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
const (
	Plain     Marker = ""
	Authority Marker = "@cert-authority"
	Revoked   Marker = "@revoked"
)

// An Entry is a line that speaks of a machine.
type Entry struct {
	Marker Marker
	Key    ssh.PublicKey
	File   string
	Line   int // the first is 1
}

// Hosts are the known_hosts files as they were when they were read.
type Hosts struct{ files []file }

type file struct {
	name string
	text []byte
}

// Read reads the files; those that do not exist are empty.
func Read(names ...string) (*Hosts, error) {
	h := &Hosts{}
	for _, n := range names {
		b, err := readFile(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		h.files = append(h.files, file{n, b})
	}
	return h, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, name)
}

func readAll(f io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(b) > maxFileBytes {
		err = fmt.Errorf("%s is larger than 32 MiB", name)
	}
	return b, err
}

// Name is the name under which a machine is filed: the host in lower case, with
// the port unless it is 22.
func Name(host string, port int) string {
	host = strings.ToLower(host)
	if port == 22 || port == 0 {
		return host
	}
	return "[" + host + "]:" + strconv.Itoa(port)
}

// Host takes the port off a name that [Name] made.
func Host(name string) string {
	if strings.HasPrefix(name, "[") {
		if host, _, err := net.SplitHostPort(name); err == nil {
			return host
		}
	}
	return name
}

// Find returns the lines that speak of name, in the order of the files.
func (h *Hosts) Find(name string) []Entry {
	var found []Entry
	name = strings.ToLower(name)
	for _, f := range h.files {
		number := 0
		for rest := f.text; len(rest) > 0; {
			var raw []byte
			raw, rest = nextLine(rest)
			number++
			l, ok := parse(raw)
			if !ok || !l.speaksOf(name) {
				continue
			}
			if key := l.key(); key != nil {
				found = append(found, Entry{l.marker, key, f.name, number})
			}
		}
	}
	return found
}

// nextLine cuts the first line off, with its end.
func nextLine(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i+1], b[i+1:]
	}
	return b, nil
}

// line is one line, taken apart. The slices are parts of the text.
type line struct {
	marker Marker
	names  []byte
	typ    []byte
	blob   []byte
}

// parse takes a line apart; not ok is a comment or nonsense.
func parse(raw []byte) (l line, ok bool) {
	fields := bytes.FieldsFunc(bytes.TrimRight(raw, "\r\n"), func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) == 0 || fields[0][0] == '#' {
		return l, false
	}
	if fields[0][0] == '@' {
		l.marker = Marker(fields[0])
		if l.marker != Authority && l.marker != Revoked {
			return l, false
		}
		fields = fields[1:]
	}
	if len(fields) < 3 {
		return l, false
	}
	l.names, l.typ, l.blob = fields[0], fields[1], fields[2]
	return l, true
}

// key is the line's key, nil when it cannot be understood.
func (l line) key() ssh.PublicKey {
	b, err := base64.StdEncoding.DecodeString(string(l.blob))
	if err != nil {
		return nil
	}
	key, err := ssh.ParsePublicKey(b)
	if err != nil || key.Type() != string(l.typ) {
		return nil
	}
	return key
}

func (l line) speaksOf(name string) bool {
	if l.hashed() {
		return l.hashOf(name)
	}
	return MatchList(name, string(l.names))
}

func (l line) hashed() bool { return l.names[0] == '|' }

// hashOf reports whether the hashed name of the line is name.
func (l line) hashOf(name string) bool {
	part := strings.Split(string(l.names), "|")
	if len(part) != 4 || part[0] != "" || part[1] != "1" {
		return false
	}
	salt, err1 := base64.StdEncoding.DecodeString(part[2])
	sum, err2 := base64.StdEncoding.DecodeString(part[3])
	return err1 == nil && err2 == nil && hmac.Equal(sum, hash(salt, name))
}

func hash(salt []byte, name string) []byte {
	m := hmac.New(sha1.New, salt)
	m.Write([]byte(name))
	return m.Sum(nil)
}

// hashName hides a name the way OpenSSH does.
func hashName(name string) string {
	salt := make([]byte, sha1.Size)
	rand.Read(salt) // never fails
	e := base64.StdEncoding
	return "|1|" + e.EncodeToString(salt) + "|" + e.EncodeToString(hash(salt, name))
}

// MatchList reports whether name fits a list of patterns, separated by commas:
// at least one, and none that is negated by a !. The case of letters does not
// count (ssh_config(5), PATTERNS).
func MatchList(name, patterns string) bool {
	found := false
	name = strings.ToLower(name)
	for p := range strings.SplitSeq(strings.ToLower(patterns), ",") {
		p, not := strings.CutPrefix(p, "!")
		if p == "" || len(p) > maxNamesBytes || !Match(name, p) {
			continue
		}
		if not {
			return false
		}
		found = true
	}
	return found
}

// Match reports whether s fits one pattern, in which * stands for any
// characters and ? for one. It takes time of the product of both lengths at
// most.
func Match(s, pattern string) bool {
	i, p, star, from := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			i++
			p++
		case star >= 0:
			from++
			i, p = from, star+1
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
