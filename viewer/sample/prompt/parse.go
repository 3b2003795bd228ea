package prompt

import (
	"fmt"
	"strings"
)

// The bounds of a command line.
const (
	maxLine  = 64 << 10
	maxWords = 4096 // of the line, and of a command once its names are filled in
)

// A script is commands one after the other.
type script []step

// A step is a pipeline, and when it is run.
type step struct {
	when whenRun
	pipe []command
	not  bool // its outcome is turned round
}

type whenRun uint8

const (
	always whenRun = iota
	after          // after success: &&
	orElse         // after failure: ||
)

// A command is its words and where its streams lead.
type command struct {
	set   []assignment
	words []word
	to    []redirect
}

type assignment struct {
	name  string
	value word
}

// A redirect leads a stream to a file, or for a word of nil to the other
// output.
type redirect struct {
	fd   int
	mode redirectMode
	file word
}

type redirectMode uint8

const (
	fromFile redirectMode = iota
	toFile
	addToFile
	toOther
)

// A word is pieces that belong together.
type word []piece

// A piece of a word. A quoted one is taken as it is; a variable is filled in.
type piece struct {
	text     string
	quoted   bool
	variable bool
}

// A syntaxError says where a line cannot be understood.
type syntaxError string

func (e syntaxError) Error() string { return "syntax error: " + string(e) }

// token is a word, or an operator.
type token struct {
	op   string // empty for a word; "\n" ends a line
	word word
	fd   int // the number before a redirection, or -1
}

type lexer struct {
	s   string
	pos int
}

// parse reads a command line.
func parse(line string) (script, error) {
	if len(line) > maxLine {
		return nil, syntaxError("the line is longer than 64 KiB")
	}
	if strings.IndexByte(line, 0) >= 0 {
		return nil, syntaxError("the line holds a NUL character")
	}
	l := &lexer{s: line}
	var toks []token
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		if t.op == "end" {
			break
		}
		if toks = append(toks, t); len(toks) > maxWords {
			return nil, syntaxError("too many words")
		}
	}
	return build(toks)
}

const operators = "|&;<>()"

// next is the next token.
func (l *lexer) next() (token, error) {
	for l.pos < len(l.s) {
		switch c := l.s[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case c == '\\' && strings.HasPrefix(l.s[l.pos:], "\\\n"):
			l.pos += 2
		case c == '#':
			for l.pos < len(l.s) && l.s[l.pos] != '\n' {
				l.pos++
			}
		case c == '\n':
			l.pos++
			return token{op: "\n"}, nil
		case strings.IndexByte(operators, c) >= 0:
			return l.operator(-1)
		default:
			if c >= '0' && c <= '2' && l.pos+1 < len(l.s) && (l.s[l.pos+1] == '>' || l.s[l.pos+1] == '<') {
				l.pos++
				return l.operator(int(c - '0'))
			}
			return l.word()
		}
	}
	return token{op: "end"}, nil
}

func (l *lexer) operator(fd int) (token, error) {
	for _, op := range []string{"&&", "||", ">>", "2>&1", ">&", "&>", "|", ";", "<", ">", "&", "(", ")"} {
		if !strings.HasPrefix(l.s[l.pos:], op) {
			continue
		}
		l.pos += len(op)
		switch op {
		case "&":
			return token{}, syntaxError("commands cannot be put into the background here")
		case "(", ")":
			return token{}, syntaxError("brackets mean nothing here: quote them")
		case ">&":
			if l.pos < len(l.s) && (l.s[l.pos] == '1' || l.s[l.pos] == '2') {
				to := int(l.s[l.pos] - '0')
				l.pos++
				if fd < 0 {
					fd = 1
				}
				if fd == 0 {
					break
				}
				if fd == to {
					return l.next()
				}
				return token{op: ">&", fd: fd}, nil
			}
			return token{}, syntaxError("after >& comes 1 or 2")
		}
		return token{op: op, fd: fd}, nil
	}
	return token{}, syntaxError("unexpected " + l.s[l.pos:l.pos+1])
}

// word reads a word to its end.
func (l *lexer) word() (token, error) {
	var w word
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			w = append(w, piece{text: b.String()})
			b.Reset()
		}
	}
	for l.pos < len(l.s) {
		c := l.s[l.pos]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' || strings.IndexByte(operators, c) >= 0 {
			break
		}
		l.pos++
		switch c {
		case '\\':
			flush()
			if l.pos == len(l.s) {
				w = append(w, piece{text: "\\", quoted: true})
				break
			}
			n := runeLen(l.s[l.pos:])
			if l.s[l.pos] != '\n' {
				w = append(w, piece{text: l.s[l.pos : l.pos+n], quoted: true})
			}
			l.pos += n
		case '\'':
			flush()
			end := strings.IndexByte(l.s[l.pos:], '\'')
			if end < 0 {
				return token{}, syntaxError("a ' is not closed")
			}
			w = append(w, piece{text: l.s[l.pos : l.pos+end], quoted: true})
			l.pos += end + 1
		case '"':
			flush()
			in, err := l.double()
			if err != nil {
				return token{}, err
			}
			w = append(w, in...)
		case '`':
			return token{}, syntaxError("` means nothing here: quote it")
		case '$':
			p, err := l.variable(false)
			if err != nil {
				return token{}, err
			}
			if p.variable {
				flush()
				w = append(w, p)
			} else {
				b.WriteByte('$')
			}
		default:
			b.WriteByte(c)
		}
	}
	flush()
	return token{word: w, fd: -1}, nil
}

// double reads what stands between double quotes.
func (l *lexer) double() (word, error) {
	w := word{{quoted: true}} // "" is a word
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			w = append(w, piece{text: b.String(), quoted: true})
			b.Reset()
		}
	}
	for l.pos < len(l.s) {
		c := l.s[l.pos]
		l.pos++
		switch c {
		case '"':
			flush()
			return w, nil
		case '\\':
			if l.pos < len(l.s) && strings.IndexByte("\"\\$`\n", l.s[l.pos]) >= 0 {
				if l.s[l.pos] != '\n' {
					b.WriteByte(l.s[l.pos])
				}
				l.pos++
			} else {
				b.WriteByte(c)
			}
		case '`':
			return nil, syntaxError("` means nothing here: quote it")
		case '$':
			p, err := l.variable(true)
			if err != nil {
				return nil, err
			}
			if p.variable {
				flush()
				w = append(w, p)
			} else {
				b.WriteByte('$')
			}
		default:
			b.WriteByte(c)
		}
	}
	return nil, syntaxError(`a " is not closed`)
}

// variable reads what stands after a $.
func (l *lexer) variable(quoted bool) (piece, error) {
	rest := l.s[l.pos:]
	switch {
	case rest == "":
		return piece{}, nil
	case rest[0] == '(':
		return piece{}, syntaxError("$( ) means nothing here")
	case rest[0] == '{':
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return piece{}, syntaxError("a ${ is not closed")
		}
		name := rest[1:end]
		if !isName(name) && !isSpecial(name) {
			return piece{}, syntaxError(fmt.Sprintf("${%s} is no name of a variable", name))
		}
		l.pos += end + 1
		return piece{text: name, quoted: quoted, variable: true}, nil
	case isSpecial(rest[:1]):
		l.pos++
		return piece{text: rest[:1], quoted: quoted, variable: true}, nil
	}
	n := 0
	for n < len(rest) && isName(rest[:n+1]) {
		n++
	}
	l.pos += n
	return piece{text: rest[:n], quoted: quoted, variable: n > 0}, nil
}

func isSpecial(s string) bool { return s == "?" || s == "$" || s == "#" }

// isName reports whether s can be the name of a variable.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// build makes commands of tokens.
func build(toks []token) (script, error) {
	var out script
	cur := step{}
	var cmd command
	begun := func() bool { return len(cmd.set)+len(cmd.words)+len(cmd.to) > 0 }
	next := always
	for i := 0; i < len(toks); i++ {
		switch t := toks[i]; t.op {
		case "":
			if len(cmd.words) == 0 {
				if len(t.word) == 1 && t.word[0].text == "!" && !t.word[0].quoted && !t.word[0].variable && !begun() && len(cur.pipe) == 0 {
					cur.not = !cur.not
					continue
				}
				if a, ok := assigns(t.word); ok {
					cmd.set = append(cmd.set, a)
					continue
				}
			}
			cmd.words = append(cmd.words, t.word)
		case "<", ">", ">>", "&>":
			if i+1 == len(toks) || toks[i+1].op != "" {
				return nil, syntaxError("a file name is missing after " + t.op)
			}
			i++
			r := redirect{fd: 1, mode: toFile, file: toks[i].word}
			switch t.op {
			case "<":
				r.fd, r.mode = 0, fromFile
			case ">>":
				r.mode = addToFile
			}
			if t.fd >= 0 {
				if (t.fd == 0) != (t.op == "<") {
					return nil, syntaxError(fmt.Sprintf("%d%s means nothing here", t.fd, t.op))
				}
				r.fd = t.fd
			}
			cmd.to = append(cmd.to, r)
			if t.op == "&>" {
				cmd.to = append(cmd.to, redirect{fd: 2, mode: toOther})
			}
		case ">&":
			cmd.to = append(cmd.to, redirect{fd: t.fd, mode: toOther})
		case "|":
			if !begun() {
				return nil, syntaxError("a command is missing before |")
			}
			cur.pipe = append(cur.pipe, cmd)
			cmd = command{}
			i = skipLines(toks, i)
			if i+1 == len(toks) {
				return nil, syntaxError("a command is missing after |")
			}
		case ";", "\n", "&&", "||":
			if !begun() {
				if t.op == "\n" && len(cur.pipe) == 0 && next == always && !cur.not {
					continue
				}
				return nil, syntaxError("a command is missing before " + shown(t.op))
			}
			cur.pipe, cur.when = append(cur.pipe, cmd), next
			out = append(out, cur)
			cur, cmd, next = step{}, command{}, always
			switch t.op {
			case "&&":
				next = after
			case "||":
				next = orElse
			}
			if next != always {
				i = skipLines(toks, i)
				if i+1 == len(toks) {
					return nil, syntaxError("a command is missing after " + t.op)
				}
			}
		default:
			return nil, syntaxError("unexpected " + t.op)
		}
	}
	switch {
	case begun():
		cur.pipe, cur.when = append(cur.pipe, cmd), next
		out = append(out, cur)
	case len(cur.pipe) > 0 || cur.not || next != always:
		return nil, syntaxError("a command is missing at the end")
	}
	return out, nil
}

func skipLines(toks []token, i int) int {
	for i+1 < len(toks) && toks[i+1].op == "\n" {
		i++
	}
	return i
}

func shown(op string) string {
	if op == "\n" {
		return "the end of the line"
	}
	return op
}

// assigns reads NAME=VALUE.
func assigns(w word) (assignment, bool) {
	if len(w) == 0 || w[0].quoted || w[0].variable {
		return assignment{}, false
	}
	name, rest, ok := strings.Cut(w[0].text, "=")
	if !ok || !isName(name) {
		return assignment{}, false
	}
	value := word{{text: rest, quoted: true}}
	return assignment{name, append(value, w[1:]...)}, true
}
