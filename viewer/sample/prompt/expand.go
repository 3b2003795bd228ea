package prompt

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deskvnc/viewer/sample/tree"
)

// maxFilled bounds the bytes of a command once its variables and names are
// filled in.
const maxFilled = 1 << 20

const errTooLong = syntaxError("the command is too long once its names are filled in")

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// value is what a variable holds.
func (s *Shell) value(name string) string {
	switch name {
	case "?":
		return strconv.Itoa(s.status)
	case "$":
		return strconv.Itoa(shellPID)
	case "#":
		return "0"
	case "PWD":
		return s.dir
	}
	return s.vars[name]
}

// one fills a word in as one text.
func (s *Shell) one(w word) string {
	var b strings.Builder
	for i, p := range w {
		switch {
		case p.variable:
			b.WriteString(s.value(p.text))
		case i == 0 && !p.quoted:
			b.WriteString(home(p.text, len(w) == 1))
		default:
			b.WriteString(p.text)
		}
		if b.Len() > maxFilled {
			break
		}
	}
	return b.String()
}

// home fills in a ~ at the start of a word.
func home(text string, whole bool) string {
	switch {
	case text == "~" && whole, strings.HasPrefix(text, "~/"):
		return tree.Home + text[1:]
	}
	return text
}

// fill fills in the words of a command: variables, ~ and patterns of names.
func (s *Shell) fill(words []word) ([]string, error) {
	var out []string
	size := 0
	add := func(texts ...string) error {
		for _, t := range texts {
			size += len(t) + 1
		}
		out = append(out, texts...)
		if size > maxFilled || len(out) > maxWords {
			return errTooLong
		}
		return nil
	}
	for _, w := range words {
		for _, f := range s.fields(w) {
			if size+len(f) > maxFilled {
				return nil, errTooLong
			}
			texts := []string{plain(f)}
			if isPattern(f) {
				if found := s.glob(f); len(found) > 0 {
					texts = found
				}
			}
			if err := add(texts...); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// quotedMark stands before a character that is quoted, in a field: no text of
// ours holds it, since lines with NUL are refused.
const quotedMark = 0

// fields splits a word where an unquoted variable holds blanks. Characters of
// patterns that are quoted carry a mark.
func (s *Shell) fields(w word) []string {
	var out []string
	var b strings.Builder
	any := false
	for i, p := range w {
		switch {
		case p.variable && !p.quoted:
			v := s.value(p.text)
			for j, f := range strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }) {
				if j > 0 || strings.HasPrefix(v, " ") && any {
					out = append(out, b.String())
					b.Reset()
				}
				b.WriteString(f)
				any = true
			}
		case p.variable:
			b.WriteString(mark(s.value(p.text)))
			any = true
		case p.quoted:
			b.WriteString(mark(p.text))
			any = true
		case i == 0:
			b.WriteString(home(p.text, len(w) == 1))
			any = true
		default:
			b.WriteString(p.text)
			any = true
		}
		if b.Len() > 2*maxFilled {
			break
		}
	}
	if any {
		out = append(out, b.String())
	}
	return out
}

func mark(s string) string {
	if !strings.ContainsAny(s, "*?[\\") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte("*?[\\", s[i]) >= 0 {
			b.WriteByte(quotedMark)
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func plain(f string) string { return strings.ReplaceAll(f, "\x00", "") }

// isPattern reports whether a field has a character of patterns that is not
// quoted.
func isPattern(f string) bool {
	for i := range len(f) {
		if strings.IndexByte("*?[", f[i]) >= 0 && (i == 0 || f[i-1] != quotedMark) {
			return true
		}
	}
	return false
}

// glob is the names that fit a pattern, in order.
func (s *Shell) glob(pattern string) []string {
	parts := strings.Split(strings.TrimLeft(pattern, "/"), "/")
	at := []string{""}
	if strings.HasPrefix(pattern, "/") {
		at = []string{"/"}
	}
	for i, part := range parts {
		var next []string
		for _, base := range at {
			if !isPattern(part) {
				p := base + plain(part)
				if _, err := s.tree.Lstat(s.abs(p)); part == "" || err == nil {
					next = append(next, p)
				}
				continue
			}
			kids, err := s.tree.List(s.abs(base))
			if err != nil {
				continue
			}
			hidden := strings.HasPrefix(part, ".")
			match := strings.ReplaceAll(part, "\x00", "\\")
			for _, k := range kids {
				if strings.HasPrefix(k.Name(), ".") && !hidden {
					continue
				}
				if ok, err := path.Match(match, k.Name()); ok && err == nil {
					next = append(next, base+k.Name())
				}
			}
		}
		if len(next) > maxWords {
			next = next[:maxWords]
		}
		if i < len(parts)-1 {
			for j := range next {
				next[j] += "/"
			}
		}
		at = next
	}
	slices.Sort(at)
	return at
}

// abs is the absolute path of a name as it is given.
func (s *Shell) abs(p string) string {
	if p == "" {
		return s.dir
	}
	if path.IsAbs(p) {
		return p
	}
	if s.dir == "/" {
		return "/" + p
	}
	return s.dir + "/" + p
}
