package prompt

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deskvnc/viewer/sample/tree"
)

func runCat(c *call) int {
	return c.each(func(_ string, r io.Reader) { io.Copy(onlyWriter{c.out}, r) })
}

// onlyWriter hides other abilities of a writer.
type onlyWriter struct{ io.Writer }

func runEcho(c *call) int {
	end, escapes := "\n", false
	for len(c.args) > 0 && (c.args[0] == "-n" || c.args[0] == "-e") {
		if c.args[0] == "-n" {
			end = ""
		} else {
			escapes = true
		}
		c.args = c.args[1:]
	}
	text := strings.Join(c.args, " ")
	if escapes {
		text = unescape(text)
	}
	io.WriteString(c.out, text+end)
	return 0
}

// unescape fills in \n, \t, \e, \033, \xHH and the like.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abefnrtv\`, s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\\"[at])
			continue
		}
		digits, base, most := s[i:], 8, 3
		if s[i] == 'x' {
			digits, base, most = s[i+1:], 16, 2
		} else if s[i] == '0' {
			most = 4
		}
		n := 0
		for n < min(most, len(digits)) {
			if _, err := strconv.ParseUint(digits[n:n+1], base, 8); err != nil {
				break
			}
			n++
		}
		v, err := strconv.ParseUint(digits[:n], base, 16)
		if err != nil {
			b.WriteByte('\\')
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte(byte(v))
		if base == 16 {
			i++
		}
		i += n - 1
	}
	return b.String()
}

// maxPrintWidth bounds the width of a field.
const maxPrintWidth = 4096

func runPrintf(c *call) int {
	if len(c.args) == 0 {
		return c.usage()
	}
	format, args := unescape(c.args[0]), c.args[1:]
	st := 0
	for {
		used := false
		take := func() string {
			if len(args) == 0 {
				return ""
			}
			used = true
			a := args[0]
			args = args[1:]
			return a
		}
		for i := 0; i < len(format); i++ {
			if format[i] != '%' {
				n := strings.IndexByte(format[i:], '%')
				if n < 0 {
					n = len(format) - i
				}
				io.WriteString(c.out, format[i:i+n])
				i += n - 1
				continue
			}
			from := i
			for i++; i < len(format) && strings.IndexByte("-+ 0#123456789.", format[i]) >= 0; i++ {
			}
			if i == len(format) {
				return c.fail("%s: a letter is missing", printable(format[from:]))
			}
			spec := format[from:i]
			for _, n := range strings.FieldsFunc(spec, func(r rune) bool { return r < '0' || r > '9' }) {
				if w, err := strconv.Atoi(n); err != nil || w > maxPrintWidth {
					return c.fail("%s: too wide", spec)
				}
			}
			switch v := format[i]; v {
			case '%':
				io.WriteString(c.out, "%")
			case 's':
				c.out.printf(spec+"s", take())
			case 'b':
				c.out.printf(spec+"s", unescape(take()))
			case 'c':
				a := take()
				c.out.printf(spec+"s", a[:min(1, len(a))])
			case 'd', 'i', 'x', 'X', 'o', 'u':
				a := take()
				n, err := strconv.ParseInt(a, 0, 64)
				if err != nil && a != "" {
					st = c.fail("%s: not a whole number", printable(a))
				}
				if v == 'i' || v == 'u' {
					v = 'd'
				}
				c.out.printf(spec+string(v), n)
			case 'f', 'e', 'g':
				a := take()
				n, err := strconv.ParseFloat(a, 64)
				if err != nil && a != "" {
					st = c.fail("%s: not a number", printable(a))
				}
				c.out.printf(spec+string(v), n)
			default:
				return c.fail("%%%s is not known here", printable(string(rune(v))))
			}
		}
		if len(args) == 0 || !used || c.stopped() {
			return st
		}
	}
}

func runHead(c *call) int {
	n, ok := c.count(10)
	if !ok {
		return c.usage()
	}
	return c.each(func(_ string, r io.Reader) {
		left := n
		if left == 0 {
			return
		}
		c.lines(r, func(line string, ended bool) bool {
			c.print(line, ended)
			left--
			return left > 0
		})
	})
}

// print prints a line, with its end when it has one.
func (c *call) print(line string, ended bool) {
	if ended {
		line += "\n"
	}
	io.WriteString(c.out, line)
}

// maxTail bounds the bytes that tail, sort and less keep of a text.
const maxTail = 8 << 20

func runTail(c *call) int {
	n, ok := c.count(10)
	if !ok {
		return c.usage()
	}
	return c.each(func(_ string, r io.Reader) {
		var kept []string
		size, end := 0, true
		c.lines(r, func(line string, ended bool) bool {
			kept = append(kept, line)
			size, end = size+len(line), ended
			for len(kept) > n || size > maxTail && len(kept) > 1 {
				size -= len(kept[0])
				kept[0] = ""
				kept = kept[1:]
			}
			return true
		})
		for i, line := range kept {
			c.print(line, end || i < len(kept)-1)
		}
	})
}

func runGrep(c *call) int {
	has, ok := c.options("ivncrEFql")
	if !ok {
		return codeSyntax
	}
	if len(c.args) == 0 {
		return c.usage()
	}
	pattern := c.args[0]
	c.args = c.args[1:]
	if has['F'] {
		pattern = regexp.QuoteMeta(pattern)
	}
	if has['i'] {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		c.fail("the pattern cannot be read: %s", printable(err.Error()))
		return codeSyntax
	}
	if has['r'] {
		roots := c.args
		if len(roots) == 0 {
			roots = []string{"."}
		}
		c.args = nil
		for _, root := range roots {
			c.walk(root, func(p string, i tree.Info) {
				if i.Mode().IsRegular() && i.Mode()&0o444 != 0 {
					c.args = append(c.args, p)
				}
			})
		}
		if len(c.args) == 0 {
			return 1
		}
	}
	many := len(c.args) > 1 || has['r']
	any := false
	st := c.each(func(name string, r io.Reader) {
		before := ""
		if many {
			before = printable(name) + ":"
		}
		n, found := 0, 0
		c.lines(r, func(line string, _ bool) bool {
			n++
			if re.MatchString(line) == has['v'] {
				return true
			}
			any = true
			found++
			switch {
			case has['q'] || has['l']:
				return false
			case has['c']:
			case has['n']:
				c.out.printf("%s%d:%s\n", before, n, line)
			default:
				c.out.printf("%s%s\n", before, line)
			}
			return true
		})
		switch {
		case has['l'] && found > 0:
			c.out.printf("%s\n", printable(name))
		case has['c']:
			c.out.printf("%s%d\n", before, found)
		}
	})
	switch {
	case st != 0:
		return codeSyntax
	case any:
		return 0
	}
	return 1
}

func runWc(c *call) int {
	has, ok := c.options("lwc")
	if !ok {
		return codeSyntax
	}
	all := len(has) == 0
	var total [3]int
	show := func(n [3]int, name string) {
		var f []string
		for i, letter := range []byte("lwc") {
			if all || has[letter] {
				f = append(f, fmt.Sprintf("%7d", n[i]))
			}
		}
		if len(f) == 1 && name == "" {
			f[0] = strings.TrimSpace(f[0])
		}
		c.out.printf("%s\n", strings.TrimRight(strings.Join(f, " ")+" "+printable(name), " "))
	}
	files := len(c.args)
	st := c.each(func(name string, r io.Reader) {
		var n [3]int
		inWord := false
		b := make([]byte, 32<<10)
		for !c.stopped() {
			k, err := r.Read(b)
			n[0] += bytes.Count(b[:k], []byte{'\n'})
			n[2] += k
			for _, ch := range b[:k] {
				blank := ch == ' ' || ch >= '\t' && ch <= '\r'
				if inWord && blank || !inWord && !blank {
					inWord = !inWord
					if inWord {
						n[1]++
					}
				}
			}
			if err != nil {
				break
			}
		}
		for i := range total {
			total[i] += n[i]
		}
		show(n, name)
	})
	if files > 1 {
		show(total, "total")
	}
	return st
}

func runSort(c *call) int {
	has, ok := c.options("rnu")
	if !ok {
		return codeSyntax
	}
	var all []string
	size := 0
	st := c.each(func(_ string, r io.Reader) {
		c.lines(r, func(line string, _ bool) bool {
			size += len(line) + 16
			all = append(all, line)
			return size <= maxTail
		})
	})
	if size > maxTail {
		return c.fail("the text is larger than 8 MiB")
	}
	number := func(s string) float64 {
		s = strings.TrimSpace(s)
		n := 0
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.' || s[n] == '-' && n == 0) {
			n++
		}
		v, err := strconv.ParseFloat(s[:n], 64)
		if err != nil {
			return 0
		}
		return v
	}
	slices.SortStableFunc(all, func(a, b string) int {
		if has['r'] {
			a, b = b, a
		}
		if has['n'] {
			if x, y := number(a), number(b); x < y {
				return -1
			} else if x > y {
				return 1
			}
		}
		return strings.Compare(a, b)
	})
	if has['u'] {
		all = slices.Compact(all)
	}
	for _, line := range all {
		if c.stopped() {
			break
		}
		c.out.printf("%s\n", line)
	}
	return st
}

func runTee(c *call) int {
	has, ok := c.options("a")
	if !ok {
		return codeSyntax
	}
	flag, st := tree.Write|tree.Create|tree.Truncate, 0
	if has['a'] {
		flag = tree.Write | tree.Create | tree.Append
	}
	to := []io.Writer{c.out}
	for _, name := range c.args {
		f, err := c.tree.Open(c.abs(name), flag, 0o644)
		if err != nil {
			st = c.fail("%s: %v", printable(name), err)
			continue
		}
		defer f.Close()
		to = append(to, f)
	}
	if _, err := io.Copy(io.MultiWriter(to...), c.in); err != nil && c.out.broken() == nil {
		st = c.fail("%v", err)
	}
	return st
}

func runYes(c *call) int {
	text := "y"
	if len(c.args) > 0 {
		text = strings.Join(c.args, " ")
	}
	piece := []byte(strings.Repeat(text+"\n", max(1, 4096/(len(text)+1))))
	for !c.stopped() {
		c.out.Write(piece)
	}
	return 0
}

func runSeq(c *call) int {
	first, step, last := 1, 1, 0
	var n [3]int
	if len(c.args) < 1 || len(c.args) > 3 {
		return c.usage()
	}
	for i, a := range c.args {
		v, err := strconv.ParseInt(a, 10, 32)
		if err != nil {
			return c.fail("%s: not a whole number", printable(a))
		}
		n[i] = int(v)
	}
	switch len(c.args) {
	case 1:
		last = n[0]
	case 2:
		first, last = n[0], n[1]
	case 3:
		first, step, last = n[0], n[1], n[2]
	}
	if step == 0 {
		return c.fail("the step is 0")
	}
	var b []byte
	for v := first; step > 0 && v <= last || step < 0 && v >= last; v += step {
		b = append(strconv.AppendInt(b, int64(v), 10), '\n')
		if len(b) > 4096 {
			if c.stopped() {
				return 0
			}
			c.out.Write(b)
			b = b[:0]
		}
	}
	c.out.Write(b)
	return 0
}

// strftime are the letters of date's formats, as layouts of the library.
var strftime = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'F': "2006-01-02", 'T': "15:04:05", 'a': "Mon", 'b': "Jan",
	'A': "Monday", 'B': "January", 'Z': "MST", 'z': "-0700", 'j': "002", 'y': "06", 'R': "15:04",
}

func runDate(c *call) int {
	now := time.Now()
	if len(c.args) == 0 {
		c.out.printf("%s\n", now.Format("Mon Jan _2 15:04:05 MST 2006"))
		return 0
	}
	f, ok := strings.CutPrefix(c.args[0], "+")
	if !ok {
		return c.usage()
	}
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		if f[i] != '%' || i+1 == len(f) {
			b.WriteByte(f[i])
			continue
		}
		i++
		switch layout, known := strftime[f[i]]; {
		case known:
			b.WriteString(now.Format(layout))
		case f[i] == 's':
			b.WriteString(strconv.FormatInt(now.Unix(), 10))
		case f[i] == 'N':
			fmt.Fprintf(&b, "%09d", now.Nanosecond())
		case f[i] == '%':
			b.WriteByte('%')
		default:
			b.WriteByte('%')
			b.WriteByte(f[i])
		}
	}
	c.out.printf("%s\n", b.String())
	return 0
}

func runSleep(c *call) int {
	if len(c.args) != 1 {
		return c.usage()
	}
	d, err := time.ParseDuration(c.args[0])
	if err != nil {
		var sec float64
		sec, err = strconv.ParseFloat(c.args[0], 64)
		d = time.Duration(min(sec, 1e9) * float64(time.Second))
	}
	if err != nil || d < 0 {
		return c.fail("%s: no time to wait", printable(c.args[0]))
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.ctx.Done():
	}
	return 0
}

// cut is the first n columns of a text, with control characters made visible
// and tabs filled in.
func cut(s string, n int) string {
	var b strings.Builder
	col := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		if r == '\t' {
			for stop := col + 8 - col%8; col < min(stop, n); col++ {
				b.WriteByte(' ')
			}
			continue
		}
		v := visible(r)
		if w := runeWidth(r); col+w > n {
			break
		} else {
			col += w
		}
		b.WriteString(v)
	}
	return b.String()
}
