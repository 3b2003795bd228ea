package prompt

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxShown bounds the names that Tab lists.
const maxShown = 100

// complete fills in the name before the caret. A second Tab lists what it may
// be.
func (e *editor) complete(again bool) {
	before := string(e.text[:e.at])
	start, typed, first := lastWord(before)
	found := e.s.names(typed, first)
	if len(found) == 0 {
		io.WriteString(e.out, "\a")
		return
	}
	common := found[0].whole
	for _, f := range found[1:] {
		for !strings.HasPrefix(f.whole, common) {
			common = common[:len(common)-1]
		}
	}
	common = strings.ToValidUTF8(common, "")
	if len(found) == 1 || len(common) > len(typed) {
		text := escape(common)
		if len(found) == 1 {
			text += found[0].after
		}
		e.text = slices.Concat([]rune(before[:start]+text), e.text[e.at:])
		e.at = len([]rune(before[:start] + text))
		e.draw()
		return
	}
	if !again {
		e.tabbed = true
		io.WriteString(e.out, "\a")
		return
	}
	var b strings.Builder
	cols, _ := e.t.Size()
	wide := 1
	for _, f := range found[:min(len(found), maxShown)] {
		wide = max(wide, textWidth(printable(f.show))+2)
	}
	per := max(1, cols/wide)
	for i, f := range found[:min(len(found), maxShown)] {
		if i%per == 0 {
			b.WriteString("\r\n")
		}
		show := printable(f.show)
		b.WriteString(show + strings.Repeat(" ", max(0, wide-textWidth(show))))
	}
	if len(found) > maxShown {
		fmt.Fprintf(&b, "\r\n... and %d more", len(found)-maxShown)
	}
	at := e.at
	e.at = len(e.text)
	e.draw()
	io.WriteString(e.out, b.String()+"\r\n")
	e.at, e.row = at, 0
	e.draw()
}

// lastWord is the word that ends a text: where it begins, what it stands for,
// and whether it is the name of a command.
func lastWord(s string) (start int, word string, first bool) {
	first = true
	var b strings.Builder
	var quote byte
	reset := func(i int) {
		start = i
		b.Reset()
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == '\'' || quote == '"':
			if c == quote {
				quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t' || c == '>' || c == '<':
			if b.Len() > 0 || c == '>' || c == '<' {
				first = false
			}
			reset(i + 1)
		case c == '|' || c == ';' || c == '&' || c == '\n':
			first = true
			reset(i + 1)
		default:
			b.WriteByte(c)
		}
	}
	return start, b.String(), first
}

// escape puts a \ before what would mean something.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		if strings.ContainsRune(" \t'\"\\$`&|;<>()*?[#!", r) || r == '~' && i > 0 {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A choice is a name that Tab may fill in.
type choice struct{ whole, show, after string }

// names are what a beginning may become.
func (s *Shell) names(typed string, first bool) []choice {
	var out []choice
	if first && !strings.Contains(typed, "/") {
		for n := range programs {
			if strings.HasPrefix(n, typed) {
				out = append(out, choice{n, n, " "})
			}
		}
	} else {
		cut := strings.LastIndexByte(typed, '/') + 1
		folder, begin := typed[:cut], typed[cut:]
		all, err := s.tree.List(s.abs(home(folder, true)))
		if err != nil {
			return nil
		}
		for _, i := range all {
			n := i.Name()
			if !strings.HasPrefix(n, begin) || strings.HasPrefix(n, ".") && !strings.HasPrefix(begin, ".") {
				continue
			}
			c := choice{folder + n, n, " "}
			if t, err := s.tree.Stat(s.abs(home(folder, true) + n)); err == nil && t.IsDir() {
				c.show, c.after = n+"/", "/"
			}
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b choice) int { return strings.Compare(a.whole, b.whole) })
	return out
}
