package knownhosts

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
)

// writing keeps the writers of this process apart; a lock on the file keeps
// processes apart.
var writing sync.Mutex

// Add files a machine's key under its name, at the end of the file, unless it
// is there. Nothing else in the file is touched: the line is appended by one
// write. The file and its folder are made when they are missing. With hashed
// the name cannot be read from the file.
func Add(path, name string, key ssh.PublicKey, hashed bool) error {
	return locked(path, func(f *os.File, old []byte) error { return add(f, old, name, key, hashed) })
}

func add(f *os.File, old []byte, name string, key ssh.PublicKey, hashed bool) error {
	text, err := lineOf(name, key, hashed)
	if err != nil {
		return err
	}
	h := Hosts{[]file{{"", old}}}
	for _, e := range h.Find(name) {
		if e.Marker == Plain && bytes.Equal(e.Key.Marshal(), key.Marshal()) {
			return nil
		}
	}
	if n := len(old); n > 0 && old[n-1] != '\n' {
		text = "\n" + text
	}
	n, err := f.Write([]byte(text))
	if err == nil {
		return f.Sync()
	}
	if n > 0 { // no half line stays behind, unless somebody wrote after it
		if st, serr := f.Stat(); serr == nil && st.Size() == int64(len(old)+n) {
			err = errors.Join(err, f.Truncate(int64(len(old))))
		}
	}
	return err
}

func lineOf(name string, key ssh.PublicKey, hashed bool) (string, error) {
	name = strings.ToLower(name)
	if name == "" || strings.ContainsAny(name, " \t\r\n,*?!|@#") {
		return "", fmt.Errorf("%q cannot be filed as the name of a machine", name)
	}
	if hashed {
		name = hashName(name)
	}
	return name + " " + key.Type() + " " + base64.StdEncoding.EncodeToString(key.Marshal()) + "\n", nil
}

// Replace takes the machine's other keys out of the file and adds key. Lines
// that also name other machines keep those; lines with a marker or a wildcard,
// comments and nonsense stay as they are, byte for byte. At any moment, and
// after a crash, the file is the old one or the new one.
func Replace(path, name string, key ssh.PublicKey, hashed bool) error {
	return locked(path, func(f *os.File, old []byte) error {
		kept, changed := without(old, strings.ToLower(name))
		if !changed {
			return add(f, old, name, key, hashed)
		}
		text, err := lineOf(name, key, hashed)
		if err != nil {
			return err
		}
		if n := len(kept); n > 0 && kept[n-1] != '\n' {
			kept = append(kept, '\n')
		}
		return replaceFile(f, append(kept, text...))
	})
}

// without returns the text without the machine's own keys.
func without(old []byte, name string) (kept []byte, changed bool) {
	kept = make([]byte, 0, len(old))
	for rest := old; len(rest) > 0; {
		var raw []byte
		raw, rest = nextLine(rest)
		l, ok := parse(raw)
		if !ok || l.marker != Plain || l.key() == nil {
			kept = append(kept, raw...)
			continue
		}
		if l.hashed() {
			if l.hashOf(name) {
				changed = true
			} else {
				kept = append(kept, raw...)
			}
			continue
		}
		var names []string
		own := false
		for n := range strings.SplitSeq(string(l.names), ",") {
			if strings.EqualFold(n, name) {
				own = true
			} else {
				names = append(names, n)
			}
		}
		if !own {
			kept = append(kept, raw...)
			continue
		}
		changed = true
		if len(names) > 0 {
			at := bytes.Index(raw, l.names)
			kept = append(kept, raw[:at]...)
			kept = append(kept, strings.Join(names, ",")...)
			kept = append(kept, raw[at+len(l.names):]...)
		}
	}
	return kept, changed
}

// replaceFile puts new text in the place of f's file.
func replaceFile(f *os.File, text []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(f.Name()), ".known_hosts-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	if st, serr := f.Stat(); serr == nil {
		err = tmp.Chmod(st.Mode().Perm())
	}
	if err == nil {
		_, err = tmp.Write(text)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), f.Name())
	}
	return err
}

// maxReopen bounds how often a file is opened anew because somebody has put
// another one in its place.
const maxReopen = 100

// locked opens the file for appending, keeps other writers of ours out, and
// gives fn the file, whose name is the real one behind links, and its text.
func locked(path string, fn func(f *os.File, old []byte) error) error {
	writing.Lock()
	defer writing.Unlock()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	for range maxReopen {
		again, err := lockedOnce(path, fn)
		if !again {
			return err
		}
	}
	return fmt.Errorf("%s is being replaced all the time", path)
}

func lockedOnce(path string, fn func(f *os.File, old []byte) error) (again bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close() // and with it the lock
	if err := lock(f); err != nil {
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(mine, there) {
		return true, nil
	}
	old, err := readAll(f, path)
	if err != nil {
		return false, err
	}
	return false, fn(f, old)
}
