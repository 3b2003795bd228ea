package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxName bounds one name in a folder; no system has longer ones.
	maxName = 4096
	// maxPath bounds a path, both ways.
	maxPath = 32 << 10
	// maxShown bounds what is shown of a text of the far side, in runes.
	maxShown = 512
)

// Shown is a name or text of the far side for a person: one line of valid,
// visible text of bounded length. Bytes that are no text, control characters
// and those that turn the direction of the text become \x.. or \u....
func Shown(s string) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); n++ {
		if n == maxShown {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && r != '\u200d' || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// goodName reports whether a name of a listing can be one entry of a folder.
func goodName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= maxName && !strings.ContainsAny(s, "/\x00")
}

// goodPath checks a path of the caller's.
func goodPath(p string) error {
	switch {
	case len(p) > maxPath:
		return fmt.Errorf("the path has %d bytes; the most is %d", len(p), maxPath)
	case strings.IndexByte(p, 0) >= 0:
		return errors.New("a path cannot hold a zero byte")
	}
	return nil
}

// Join puts a name below a folder of the machine. Nothing is collapsed: ".."
// behind a link is the machine's business.
func Join(folder, name string) string {
	if folder == "" || strings.HasSuffix(folder, "/") {
		return folder + name
	}
	return folder + "/" + name
}

// split cuts a path of the machine before its last component; slashes at the
// end do not count.
func split(p string) (folder, name string) {
	for len(p) > 1 && strings.HasSuffix(p, "/") {
		p = p[:len(p)-1]
	}
	i := strings.LastIndexByte(p, '/')
	switch {
	case i < 0:
		return ".", p
	case i == 0:
		return "/", p[1:]
	}
	return p[:i], p[i+1:]
}

// Base is the last component of a path of the machine.
func Base(p string) string {
	_, name := split(p)
	return name
}

// LocalName is the name that a file of the machine gets on this side, one
// component: the same bytes wherever the system takes them, else with what it
// does not take replaced by an underscore. It is never empty, a way up, a path,
// or the name of a device.
func LocalName(name string) string { return localName(name, runtime.GOOS) }

func localName(name, system string) string {
	if system == "windows" {
		return windowsName(name)
	}
	if system == "darwin" && !utf8.ValidString(name) {
		name = Shown(name) // its file systems take text only
	}
	if strings.ContainsAny(name, "/\x00") {
		name = strings.NewReplacer("/", "_", "\x00", "_").Replace(name)
	}
	switch name = cutBytes(name, 255); name {
	case "", ".", "..":
		return "_" + name
	}
	return name
}

// windowsName keeps a name within what Windows takes.
func windowsName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r < 0x20 || strings.ContainsRune(`<>:"/\|?*`, r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	s = cutBytes(s, 240)
	if t := strings.TrimRight(s, ". "); t != s {
		s = t + strings.Repeat("_", len(s)-len(t))
	}
	if s == "" || DeviceName(s) {
		s = "_" + s
	}
	return s
}

// DeviceName reports whether Windows takes a component for a device, whatever
// its ending and trailing spaces.
func DeviceName(component string) bool {
	stem, _, _ := strings.Cut(component, ".")
	stem, _, _ = strings.Cut(stem, ":")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	if port, ok := strings.CutPrefix(stem, "COM"); ok {
		return devicePort(port)
	}
	if port, ok := strings.CutPrefix(stem, "LPT"); ok {
		return devicePort(port)
	}
	return false
}

// devicePort is 1 to 9, also written high.
func devicePort(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n == len(s) && (r >= '1' && r <= '9' || r == '¹' || r == '²' || r == '³')
}

// cutBytes cuts a name to n bytes, not inside a rune.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := 0; i < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); i++ {
		n--
	}
	return s[:n]
}

// partName is the name of an unfinished copy of one version of a source: it
// names the source, its size and its time, so that nothing else is continued by
// mistake.
func partName(name, source string, size int64, modified int64) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %d %q %q", size, modified, name, source))
	return "." + cutBytes(name, 64) + "." + hex.EncodeToString(h[:8]) + ".part"
}

// nthName is name with a number before its ending, for keeping both.
func nthName(name string, n int) string {
	ext := path.Ext(name)
	if ext == name || len(ext) > 16 {
		ext = ""
	}
	stem := cutBytes(strings.TrimSuffix(name, ext), 240-len(ext))
	return fmt.Sprintf("%s (%d)%s", stem, n, ext)
}
