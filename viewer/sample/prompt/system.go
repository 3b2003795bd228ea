package prompt

import (
	"slices"
	"strconv"
	"strings"
)

func runEnv(c *call) int {
	names := make([]string, 0, len(c.vars))
	for n := range c.vars {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		c.out.printf("%s=%s\n", n, c.vars[n])
	}
	c.out.printf("PWD=%s\n", c.dir)
	return 0
}

func runExport(c *call) int {
	if len(c.args) == 0 {
		return runEnv(c)
	}
	st := 0
	for _, a := range c.args {
		name, value, ok := strings.Cut(a, "=")
		switch {
		case !ok && isName(name):
		case !c.Setenv(name, value):
			st = c.fail("%s: no name of a variable, too many, or too long", printable(name))
		}
	}
	return st
}

func runExit(c *call) int {
	c.over = true
	if len(c.args) == 0 {
		return c.status
	}
	n, err := strconv.Atoi(c.args[0])
	if err != nil {
		c.fail("%s: not a number", printable(c.args[0]))
		return codeSyntax
	}
	return n & 0xff
}

func runKill(c *call) int {
	name := "KILL"
	if len(c.args) > 0 {
		name = strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(c.args[0]), "-"), "SIG")
	}
	n, ok := signals[name]
	if !ok {
		return c.fail("%s: no signal", printable(name))
	}
	c.over, c.signal = true, name
	return 128 + n
}

func runSh(c *call) int {
	if len(c.args) < 2 || c.args[0] != "-c" {
		return c.usage()
	}
	return c.inner(c.ctx, c.args[1], c.streams)
}

func runStty(c *call) int {
	if len(c.args) != 1 || c.args[0] != "size" {
		return c.usage()
	}
	if c.term == nil {
		return c.fail("this is not a terminal")
	}
	cols, rows := c.term.Size()
	c.out.printf("%d %d\n", rows, cols)
	return 0
}

func runTty(c *call) int {
	if c.term == nil {
		c.out.printf("not a tty\n")
		return 1
	}
	c.out.printf("/dev/pts/0\n")
	return 0
}

func runUname(c *call) int {
	has, ok := c.options("asnrvmo")
	if !ok {
		return codeSyntax
	}
	all := [...]struct {
		letter byte
		text   string
	}{{'s', "Sample"}, {'n', hostName}, {'r', "1.0"}, {'v', "in-memory"}, {'m', "go"}, {'o', "DeskVNC"}}
	var out []string
	for _, f := range all {
		if has['a'] || has[f.letter] || len(has) == 0 && f.letter == 's' {
			out = append(out, f.text)
		}
	}
	c.out.printf("%s\n", strings.Join(out, " "))
	return 0
}

func runHistory(c *call) int {
	if len(c.args) == 1 && c.args[0] == "-c" {
		c.history = nil
		return 0
	}
	for i, line := range c.history {
		c.out.printf("%5d  %s\n", i+1, printable(line))
	}
	return 0
}

func runClear(c *call) int {
	c.out.printf("\x1b[H\x1b[2J\x1b[3J")
	return 0
}

// runTest compares: -e -f -d -L -r -z -n, = != -eq -ne -lt -le -gt -ge.
func runTest(c *call) int {
	args := c.args
	if c.name == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			c.fail("the ] is missing")
			return codeSyntax
		}
		args = args[:len(args)-1]
	}
	turn := 0
	for len(args) > 1 && args[0] == "!" {
		turn ^= 1
		args = args[1:]
	}
	st := c.compare(args)
	if st > 1 {
		return st
	}
	return st ^ turn
}

func (c *call) compare(a []string) int {
	switch len(a) {
	case 0:
		return 1
	case 1:
		return btoi(a[0] == "")
	case 2:
		i, err := c.tree.Stat(c.abs(a[1]))
		switch a[0] {
		case "-z":
			return btoi(a[1] != "")
		case "-n":
			return btoi(a[1] == "")
		case "-e":
			return btoi(err != nil)
		case "-f":
			return btoi(err != nil || !i.Mode().IsRegular())
		case "-d":
			return btoi(err != nil || !i.IsDir())
		case "-s":
			return btoi(err != nil || i.Size() == 0)
		case "-L":
			i, err = c.tree.Lstat(c.abs(a[1]))
			return btoi(err != nil || i.Target() == "")
		}
	case 3:
		switch a[1] {
		case "=", "==":
			return btoi(a[0] != a[2])
		case "!=":
			return btoi(a[0] == a[2])
		}
		x, errx := strconv.Atoi(a[0])
		y, erry := strconv.Atoi(a[2])
		if errx == nil && erry == nil {
			switch a[1] {
			case "-eq":
				return btoi(x != y)
			case "-ne":
				return btoi(x == y)
			case "-lt":
				return btoi(x >= y)
			case "-le":
				return btoi(x > y)
			case "-gt":
				return btoi(x <= y)
			case "-ge":
				return btoi(x < y)
			}
		}
	}
	c.fail("the comparison is not known here")
	return codeSyntax
}
