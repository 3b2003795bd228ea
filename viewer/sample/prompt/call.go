package prompt

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"deskvnc/viewer/sample/tree"
)

// A call is one command at work.
type call struct {
	*Shell
	ctx  context.Context
	name string
	args []string
	streams
}

// A program is a command, with what help says of it.
type program struct {
	run  func(*call) int
	use  string
	what string
}

// programs are the commands by name; filled by init, since help lists them.
var programs map[string]program

func init() {
	programs = map[string]program{
		"[":         {runTest, "[ EXPRESSION ]", "compare"},
		"cat":       {runCat, "cat [FILE]...", "print files"},
		"cd":        {runCd, "cd [FOLDER]", "go to a folder"},
		"chart":     {runChart, "chart", "a test chart of colours and characters"},
		"chmod":     {runChmod, "chmod MODE FILE...", "change permissions, as in 644"},
		"clear":     {runClear, "clear", "clear the screen"},
		"cp":        {runCp, "cp [-r] FROM... TO", "copy"},
		"date":      {runDate, "date [+FORMAT]", "the time"},
		"df":        {runDf, "df", "how full the sample is"},
		"echo":      {runEcho, "echo [-n] [-e] TEXT...", "print words"},
		"env":       {runEnv, "env", "list the variables"},
		"exit":      {runExit, "exit [CODE]", "log out"},
		"export":    {runExport, "export NAME=VALUE...", "set variables"},
		"false":     {func(*call) int { return 1 }, "false", "fail"},
		"grep":      {runGrep, "grep [-i] [-v] [-n] [-c] [-r] PATTERN [FILE]...", "print lines that fit"},
		"head":      {runHead, "head [-n COUNT] [FILE]...", "print the first lines"},
		"help":      {runHelp, "help", "this list"},
		"history":   {runHistory, "history", "what was typed"},
		"hostname":  {func(c *call) int { c.out.printf("%s\n", hostName); return 0 }, "hostname", "the machine's name"},
		"id":        {func(c *call) int { c.out.printf("uid=1000(sample) gid=1000(sample)\n"); return 0 }, "id", "who you are, in numbers"},
		"kill-self": {runKill, "kill-self [SIGNAL]", "end this login by a signal"},
		"less":      {runLess, "less [FILE]", "read page by page"},
		"ln":        {runLn, "ln -s TARGET NAME", "make a link"},
		"logout":    {runExit, "logout", "log out"},
		"ls":        {runLs, "ls [-l] [-a] [-R] [-1] [PATH]...", "list files"},
		"mkdir":     {runMkdir, "mkdir [-p] FOLDER...", "make folders"},
		"mv":        {runMv, "mv FROM... TO", "move or rename"},
		"printf":    {runPrintf, "printf FORMAT [VALUE]...", "print by a format"},
		"pwd":       {func(c *call) int { c.out.printf("%s\n", c.dir); return 0 }, "pwd", "where you are"},
		"readlink":  {runReadlink, "readlink LINK", "where a link leads"},
		"rm":        {runRm, "rm [-r] [-f] FILE...", "remove"},
		"rmdir":     {runRmdir, "rmdir FOLDER...", "remove empty folders"},
		"seq":       {runSeq, "seq [FIRST [STEP]] LAST", "count"},
		"sh":        {runSh, "sh -c LINE", "run a line in a shell of its own"},
		"sleep":     {runSleep, "sleep SECONDS", "wait"},
		"sort":      {runSort, "sort [-r] [-n] [-u] [FILE]...", "put lines in order"},
		"stty":      {runStty, "stty size", "rows and columns of the terminal"},
		"tail":      {runTail, "tail [-n COUNT] [FILE]...", "print the last lines"},
		"tee":       {runTee, "tee [-a] FILE...", "print and write to files"},
		"test":      {runTest, "test EXPRESSION", "compare"},
		"top":       {runTop, "top", "a picture that moves; q ends it"},
		"touch":     {runTouch, "touch FILE...", "make files, or give them the time of now"},
		"true":      {func(*call) int { return 0 }, "true", "succeed"},
		"tty":       {runTty, "tty", "whether this is a terminal"},
		"uname":     {runUname, "uname [-a]", "the system's name"},
		"wc":        {runWc, "wc [-l] [-w] [-c] [FILE]...", "count lines, words and bytes"},
		"whoami":    {func(c *call) int { c.out.printf("%s\n", userName); return 0 }, "whoami", "who you are"},
		"yes":       {runYes, "yes [TEXT]", "print the same without end"},
	}
}

func runHelp(c *call) int {
	names := make([]string, 0, len(programs))
	for n := range programs {
		names = append(names, n)
	}
	slices.Sort(names)
	c.out.printf("Commands of the sample machine:\n\n")
	for _, n := range names {
		p := programs[n]
		c.out.printf("  %-50s %s\n", p.use, p.what)
	}
	c.out.printf("\nA | B, A ; B, A && B, A || B, > FILE, >> FILE, < FILE, 2> FILE, 2>&1, 'quotes', \"quotes\", $NAME, $?, * and ?.\n" +
		"Arrows and Ctrl+A E U K W L edit and remember lines, Tab completes names, Ctrl+C ends a command, Ctrl+D logs out.\n")
	return 0
}

// fail says what went wrong.
func (c *call) fail(format string, args ...any) int {
	c.errs.printf(c.name+": "+format+"\n", args...)
	return 1
}

// usage says how the command is used.
func (c *call) usage() int {
	c.errs.printf("usage: %s\n", programs[c.name].use)
	return codeSyntax
}

// stopped reports whether the command is to end: it was ended, or nobody reads
// what it prints.
func (c *call) stopped() bool { return c.ctx.Err() != nil || c.out.broken() != nil }

// options takes the letters of the options off the arguments. A letter that is
// not among known is false, after a message.
func (c *call) options(known string) (map[byte]bool, bool) {
	has := map[byte]bool{}
	for len(c.args) > 0 {
		a := c.args[0]
		if len(a) < 2 || a[0] != '-' {
			break
		}
		c.args = c.args[1:]
		if a == "--" {
			break
		}
		for i := 1; i < len(a); i++ {
			if strings.IndexByte(known, a[i]) < 0 {
				c.errs.printf("%s: the option -%s is not known here\n", c.name, printable(a[i:i+1]))
				c.usage()
				return nil, false
			}
			has[a[i]] = true
		}
	}
	return has, true
}

// count takes -n COUNT, -nCOUNT or -COUNT off the arguments.
func (c *call) count(usual int) (int, bool) {
	if len(c.args) == 0 || len(c.args[0]) < 2 || c.args[0][0] != '-' {
		return usual, true
	}
	text := strings.TrimPrefix(c.args[0][1:], "n")
	c.args = c.args[1:]
	if text == "" {
		if len(c.args) == 0 {
			return 0, false
		}
		text, c.args = c.args[0], c.args[1:]
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

// each opens the files of the arguments one after the other, or takes what
// comes in. It gives the exit code.
func (c *call) each(do func(name string, r io.Reader)) int {
	if len(c.args) == 0 {
		do("", c.in)
		return 0
	}
	st := 0
	for _, name := range c.args {
		if c.stopped() {
			break
		}
		if name == "-" {
			do("", c.in)
			continue
		}
		f, err := c.tree.Open(c.abs(name), tree.Read, 0)
		if err != nil {
			st = c.fail("%s: %v", printable(name), err)
			continue
		}
		do(name, f)
		f.Close()
	}
	return st
}

// maxTextLine bounds the memory of one line of a text; a longer one is cut.
const maxTextLine = 1 << 20

// lines gives the lines of a text without their ends, until one is false.
func (c *call) lines(r io.Reader, do func(line string, ended bool) bool) {
	b := bufio.NewReaderSize(r, 32<<10)
	var line []byte
	for !c.stopped() {
		part, err := b.ReadSlice('\n')
		if room := maxTextLine - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		ended := err == nil
		if ended || len(line) > 0 {
			text := strings.TrimSuffix(string(line), "\n")
			line = line[:0]
			if !do(text, ended) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// under is a folder and a name in it as one path.
func under(folder, name string) string {
	if strings.HasSuffix(folder, "/") {
		return folder + name
	}
	return folder + "/" + name
}
