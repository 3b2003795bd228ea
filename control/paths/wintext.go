package paths

import (
	"strings"
	"unicode/utf8"
)

// The rules of Windows about the text of a path, as pure functions: they are
// tested on every system.

// badWindowsText tells why the text of a path is refused before anything is
// looked at, or is empty. It is looked at as given: making it absolute first
// would turn a device name into a device path.
func badWindowsText(p string) string {
	rest := p
	switch {
	case hasPrefixFold(p, `\\?\UNC\`):
		rest = p[len(`\\?\UNC\`):]
	case strings.HasPrefix(p, `\\?\`) && len(p) >= 6 && isLetter(p[4]) && p[5] == ':':
		rest = p[4:]
	case strings.HasPrefix(slashes(p), `\\?\`), strings.HasPrefix(slashes(p), `\\.\`), strings.HasPrefix(slashes(p), `\??\`):
		return "reserved device name"
	}
	if len(rest) >= 2 && isLetter(rest[0]) && rest[1] == ':' {
		rest = rest[2:]
	}
	for _, c := range strings.FieldsFunc(rest, func(r rune) bool { return r == '\\' || r == '/' }) {
		switch {
		case isDevice(c):
			return "reserved device name"
		case strings.Contains(c, ":"):
			return "a second stream of a file"
		case c == "." || c == "..":
		case strings.HasSuffix(c, ".") || strings.HasSuffix(c, " "):
			return "a name that ends in a dot or a space names another file"
		case strings.ContainsAny(c, "<>\"|?*") || strings.ContainsFunc(c, func(r rune) bool { return r < 0x20 }):
			return "a character that no name can have"
		}
	}
	return ""
}

func slashes(p string) string { return strings.ReplaceAll(p, "/", `\`) }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isDevice reports whether a component names a device, whatever its ending and
// the spaces before that.
func isDevice(component string) bool {
	stem, _, _ := strings.Cut(component, ".")
	stem, _, _ = strings.Cut(stem, ":")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(stem, port); ok {
			r, size := utf8.DecodeRuneInString(n)
			return size > 0 && size == len(n) && (r >= '1' && r <= '9' || r == '¹' || r == '²' || r == '³')
		}
	}
	return false
}

// plainWindowsPath takes the prefix off a final path, as people write it.
func plainWindowsPath(p string) string {
	switch {
	case hasPrefixFold(p, `\\?\UNC\`):
		return `\\` + p[len(`\\?\UNC\`):]
	case strings.HasPrefix(p, `\\?\`):
		return p[len(`\\?\`):]
	}
	return p
}
