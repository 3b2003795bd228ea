// Package sshconf reads OpenSSH's client configuration, ~/.ssh/config and
// /etc/ssh/ssh_config, and says what it holds for one machine (ssh_config(5)).
//
// It knows Host and Match with all criteria, Include, quoting, and the tokens
// of the values that matter for a login. What it knows of but does not follow
// is reported, so that nothing is wrong in silence.
package sshconf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deskvnc/viewer/sshdial/knownhosts"
)

// The bounds of a configuration.
const (
	maxFileBytes  = 1 << 20
	maxTotalBytes = 8 << 20
	maxFiles      = 256
	maxDepth      = 16 // of Include, as in OpenSSH
	maxList       = 64 // values of an option that adds up
)

// A Query is what is asked: the name as it was typed, and what is set beside
// the configuration.
type Query struct {
	Host string
	User string // empty: what the configuration says
	Port int    // 0: what the configuration says
	// Files are the configuration, the person's before the system's. One that
	// does not exist is empty.
	Files []string
	// Home is the person's folder and LocalUser their name.
	Home, LocalUser string
	// Exec runs the command of a Match exec, and reports whether it ended well;
	// nil does not run it, and says so in Notices.
	Exec func(ctx context.Context, command string) bool
}

// Settings are what the configuration holds. Empty values are not set.
type Settings struct {
	HostName, User                            string
	Port                                      int
	IdentityFiles, CertificateFiles           []string
	IdentitiesOnly                            bool
	IdentityAgent                             string
	ProxyJump, ProxyCommand                   string
	ServerAliveInterval, ConnectTimeout       time.Duration
	ServerAliveCountMax                       int
	HostKeyAlgorithms, KexAlgorithms          string
	Ciphers, MACs, PubkeyAcceptedAlgorithms   string
	HostKeyAlias, StrictHostKeyChecking       string
	UserKnownHostsFiles, GlobalKnownHostFiles []string
	RevokedHostKeys                           string
	HashKnownHosts                            bool
	NoPubkey, NoPassword, NoKbdInteractive    bool
	// Notices say what the configuration asks for that is not followed.
	Notices []string
}

// System is the configuration of this computer.
const System = "/etc/ssh/ssh_config"

// Read reads the configuration for one machine. An error names the file, the
// line and what is wrong there.
func Read(ctx context.Context, q Query) (Settings, error) {
	r := &reader{ctx: ctx, q: q, told: map[string]bool{}}
	if err := r.pass(false); err != nil {
		return Settings{}, err
	}
	if r.final { // some Match waits for the name to be known
		r.host = r.hostName()
		r.set["hostname"] = []string{r.host}
		if err := r.pass(true); err != nil {
			return Settings{}, err
		}
	}
	return r.settings()
}

// A reader goes through the files, once or twice. The first value of an option
// stands.
type reader struct {
	ctx    context.Context
	q      Query
	set    map[string][]string
	where  map[string]string // of an option's first value: file and line
	told   map[string]bool
	notes  []string
	host   string // the name in the second pass
	second bool
	final  bool // a Match asks for a second pass

	files, bytes int
}

func (r *reader) pass(second bool) error {
	r.second, r.files, r.bytes = second, 0, 0
	if r.set == nil {
		r.set, r.where = map[string][]string{}, map[string]string{}
	}
	for i, f := range r.q.Files {
		active := true
		if err := r.file(f, 0, &active, i > 0 || f == System); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return err
		}
	}
	return nil
}

// notice keeps what is not followed, each once.
func (r *reader) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !r.told[text] && len(r.notes) < maxList {
		r.told[text] = true
		r.notes = append(r.notes, text)
	}
}

// file reads one file. active says whether its lines count, and changes with
// every Host and Match.
func (r *reader) file(name string, depth int, active *bool, system bool) error {
	if depth > maxDepth {
		return fmt.Errorf("%s is included over more than %d files: perhaps it includes itself", name, maxDepth)
	}
	if r.files++; r.files > maxFiles {
		return fmt.Errorf("the SSH configuration has more than %d files", maxFiles)
	}
	st, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !system && writable(st) {
		return fmt.Errorf("%s can be written by other users, and is not believed: run chmod go-w %s", name, name)
	}
	if st.IsDir() || st.Size() > maxFileBytes || r.bytes+int(st.Size()) > maxTotalBytes {
		return fmt.Errorf("%s is not a configuration, or larger than one may be", name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if len(b) > maxFileBytes {
		return fmt.Errorf("%s is larger than a configuration may be", name)
	}
	r.bytes += len(b)
	// What is included under a Host that does not match never counts.
	never := depth > 0 && !*active
	number := 0
	for text := range strings.SplitSeq(string(b), "\n") {
		number++
		at := fmt.Sprintf("%s line %d", name, number)
		if err := r.line(text, at, depth, active, never, system); err != nil {
			return err
		}
	}
	return nil
}

// line reads one line.
func (r *reader) line(text, at string, depth int, active *bool, never, system bool) error {
	text = strings.Trim(text, " \t\r\f")
	if text == "" || text[0] == '#' {
		return nil
	}
	end := strings.IndexAny(text, " \t=")
	if end == 0 {
		return fmt.Errorf("%s: a line does not begin with =", at)
	}
	if end < 0 {
		return fmt.Errorf("%s: %s has no value", at, text)
	}
	word := text[:end]
	if word[0] == '"' {
		word = strings.Trim(word, `"`)
	}
	key := strings.ToLower(word)
	rest := strings.TrimLeft(text[end:], " \t")
	if after, ok := strings.CutPrefix(rest, "="); ok {
		rest = strings.TrimLeft(after, " \t")
	}
	args, err := split(rest)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if key == "proxycommand" || key == "knownhostscommand" || key == "remotecommand" || key == "localcommand" {
		args = []string{strings.TrimLeft(rest, " \t=")} // the rest of the line, as it is
	}
	if len(args) == 0 {
		return fmt.Errorf("%s: %s has no value", at, word)
	}
	switch key {
	case "host":
		// Names of machines are kept in lower case here, so case does not count.
		name := r.q.Host
		if r.second {
			name = r.host
		}
		*active = !never && matchHosts(strings.ToLower(name), lower(args))
		return nil
	case "match":
		ok, err := r.match(args)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		*active = ok && !never
		return nil
	case "include":
		return r.include(args, at, depth, active, system)
	}
	if !*active {
		return nil
	}
	r.option(key, word, args, at)
	return nil
}

func lower(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = strings.ToLower(w)
	}
	return all
}

// include reads other files in the place of the line.
func (r *reader) include(args []string, at string, depth int, active *bool, system bool) error {
	for _, a := range args {
		path := r.home(a)
		if !filepath.IsAbs(path) {
			if system {
				path = filepath.Join(filepath.Dir(System), path)
			} else {
				path = filepath.Join(r.q.Home, ".ssh", path)
			}
		}
		names, err := filepath.Glob(path)
		if err != nil {
			return fmt.Errorf("%s: %q is not a pattern", at, a)
		}
		for _, n := range names {
			inner := *active
			err := r.file(n, depth+1, &inner, system)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				return err
			}
		}
	}
	return nil
}

// home puts the person's folder in the place of a ~.
func (r *reader) home(path string) string {
	if path == "~" {
		return r.q.Home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(r.q.Home, rest)
	}
	return path
}

// split takes the words of a line apart: quotes keep spaces, a backslash keeps
// a quote, a space or itself, and a # that begins a word ends the line.
func split(s string) ([]string, error) {
	var words []string
	for i := 0; i < len(s); {
		if s[i] == ' ' || s[i] == '\t' {
			i++
			continue
		}
		if s[i] == '#' {
			break
		}
		var b strings.Builder
		quote := byte(0)
	word:
		for ; i < len(s); i++ {
			c := s[i]
			switch {
			case c == '\\' && i+1 < len(s) && (s[i+1] == '\'' || s[i+1] == '"' || s[i+1] == '\\' || quote == 0 && s[i+1] == ' '):
				i++
				b.WriteByte(s[i])
			case quote == 0 && (c == ' ' || c == '\t'):
				break word
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case quote != 0 && c == quote:
				quote = 0
			default:
				b.WriteByte(c)
			}
		}
		if quote != 0 {
			return nil, errors.New("a quote is not closed")
		}
		words = append(words, b.String())
	}
	return words, nil
}

// matchHosts is the rule of Host: one pattern fits, and none that is negated.
func matchHosts(name string, patterns []string) bool {
	found := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		if !knownhosts.Match(name, p) {
			continue
		}
		if not {
			return false
		}
		found = true
	}
	return found
}

// hostName is the name of the machine as far as it is known.
func (r *reader) hostName() string {
	if h := r.set["hostname"]; h != nil {
		return expand(h[0], map[byte]string{'h': r.q.Host})
	}
	if r.host != "" {
		return r.host
	}
	return r.q.Host
}

// expand puts values in the place of %x tokens; %% is a %. A token that is not
// known stays.
func expand(s string, tokens map[byte]string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if v, ok := tokens[s[i]]; ok {
			b.WriteString(v)
		} else if s[i] == '%' {
			b.WriteByte('%')
		} else {
			b.WriteByte('%')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// seconds reads a time: a number, or numbers with units.
func seconds(s string) (time.Duration, error) {
	var total, n int64
	digits := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' {
			if n = n*10 + int64(c-'0'); n > 1<<31 {
				return 0, errors.New("too long")
			}
			digits = true
			continue
		}
		unit, ok := map[byte]int64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 604800}[c|0x20]
		if !ok || !digits {
			return 0, errors.New("not a time")
		}
		total, n, digits = total+n*unit, 0, false
	}
	if s == "" {
		return 0, errors.New("not a time")
	}
	if total += n; total > 1<<31 {
		return 0, errors.New("too long")
	}
	return time.Duration(total) * time.Second, nil
}

func port(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not a port", s)
	}
	return int(n), nil
}
