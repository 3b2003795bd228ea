package prompt

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskvnc/viewer/sample/tree"
)

func runCd(c *call) int {
	to := tree.Home
	switch {
	case len(c.args) > 0 && c.args[0] == "--":
		c.args = c.args[1:]
	}
	switch {
	case len(c.args) > 1:
		return c.usage()
	case len(c.args) == 1 && c.args[0] == "-":
		if to = c.vars["OLDPWD"]; to == "" {
			return c.fail("there is no folder before")
		}
	case len(c.args) == 1:
		to = c.args[0]
	}
	p, err := c.tree.Real(c.abs(to))
	if err == nil {
		_, err = c.tree.Stat(under(p, ".")) // it is there, is a folder and can be entered
	}
	if err != nil {
		return c.fail("%s: %v", printable(to), err)
	}
	c.Setenv("OLDPWD", c.dir)
	c.dir = p
	return 0
}

// colour is how a name is shown at a terminal.
func colour(i tree.Info, broken bool) string {
	switch m := i.Mode(); {
	case broken:
		return "31;1"
	case m&fs.ModeSymlink != 0:
		return "36;1"
	case m.IsDir():
		return "34;1"
	case m&0o111 != 0:
		return "32;1"
	case strings.HasSuffix(i.Name(), ".png"):
		return "35;1"
	}
	return ""
}

// at reports whether the command prints to the terminal itself.
func (c *call) atTerminal() bool {
	_, ok := c.out.w.(screen)
	return ok && c.term != nil
}

func runLs(c *call) int {
	has, ok := c.options("laR1hdAtrSF")
	if !ok {
		return codeSyntax
	}
	paths := c.args
	if len(paths) == 0 {
		paths = []string{"."}
	}
	st := 0
	var files []tree.Info
	var folders []string
	for _, p := range paths {
		i, err := c.tree.Stat(c.abs(p))
		if err != nil || has['l'] {
			var lerr error
			if i, lerr = c.tree.Lstat(c.abs(p)); lerr == nil && err == nil && i.Target() != "" && strings.HasSuffix(p, "/") {
				i, lerr = c.tree.Stat(c.abs(p))
			}
			err = lerr
		}
		switch {
		case err != nil:
			c.errs.printf("ls: %s: %v\n", printable(p), err)
			st = 2
		case i.IsDir() && !has['d']:
			folders = append(folders, p)
		default:
			files = append(files, i.Named(p))
		}
	}
	c.list("", files, has)
	for n, p := range folders {
		if len(paths) > 1 || has['R'] {
			if n > 0 || len(files) > 0 {
				c.out.printf("\n")
			}
		}
		if c.listFolder(p, has, len(paths) > 1 || has['R']) != 0 {
			st = 2
		}
	}
	return st
}

func (c *call) listFolder(p string, has map[byte]bool, title bool) int {
	all, err := c.tree.List(c.abs(p))
	if err != nil {
		c.errs.printf("ls: %s: %v\n", printable(p), err)
		return 2
	}
	if title {
		c.out.printf("%s:\n", printable(p))
	}
	all = slices.DeleteFunc(all, func(i tree.Info) bool {
		return strings.HasPrefix(i.Name(), ".") && !has['a'] && !has['A']
	})
	slices.SortFunc(all, func(a, b tree.Info) int {
		by := strings.Compare(a.Name(), b.Name())
		switch {
		case has['t'] && !a.ModTime().Equal(b.ModTime()):
			by = b.ModTime().Compare(a.ModTime())
		case has['S'] && a.Size() != b.Size():
			by = 1
			if a.Size() > b.Size() {
				by = -1
			}
		}
		if has['r'] {
			return -by
		}
		return by
	})
	c.list(p, all, has)
	st := 0
	if has['R'] {
		for _, i := range all {
			if i.IsDir() && !c.stopped() {
				c.out.printf("\n")
				st |= c.listFolder(under(p, i.Name()), has, true)
			}
		}
	}
	return st
}

// list prints names, in columns at a terminal.
func (c *call) list(folder string, all []tree.Info, has map[byte]bool) {
	names := make([]string, len(all))
	widths := make([]int, len(all))
	widest := 1
	for n, i := range all {
		name := i.Name()
		if c.atTerminal() {
			name = printable(name)
		}
		widths[n] = textWidth(name)
		if has['F'] && i.IsDir() {
			name += "/"
			widths[n]++
		}
		widest = max(widest, widths[n])
		p := i.Name()
		if folder != "" {
			p = under(folder, p)
		}
		broken := false
		if i.Target() != "" {
			_, err := c.tree.Stat(c.abs(p))
			broken = err != nil && !errors.Is(err, fs.ErrPermission)
		}
		if col := colour(i, broken); col != "" && c.atTerminal() {
			name = "\x1b[" + col + "m" + name + "\x1b[m"
		}
		names[n] = name
	}
	switch {
	case has['l']:
		for n, i := range all {
			if c.stopped() {
				return
			}
			to := ""
			if i.Target() != "" {
				to = " -> " + printable(i.Target())
			}
			size := strconv.FormatInt(i.Size(), 10)
			if has['h'] {
				size = human(i.Size())
			}
			owner := tree.Owner(strconv.Itoa(int(i.Uid())))
			c.out.printf("%s %-6s %-6s %9s %s %s%s\n", letters(i.Mode()), owner, owner, size, when(i.ModTime()), names[n], to)
		}
	case !c.atTerminal() || has['1']:
		for _, n := range names {
			if c.stopped() {
				return
			}
			c.out.printf("%s\n", n)
		}
	default:
		cols, _ := c.term.Size()
		per := max(1, (cols+1)/(widest+2))
		rows := (len(names) + per - 1) / per
		for y := range rows {
			var b strings.Builder
			for x := 0; x < per && x*rows+y < len(names); x++ {
				n := x*rows + y
				b.WriteString(names[n])
				if n+rows < len(names) {
					b.WriteString(strings.Repeat(" ", widest+2-widths[n]))
				}
			}
			c.out.printf("%s\n", b.String())
			if c.stopped() {
				return
			}
		}
	}
}

// letters is a mode in ten letters.
func letters(m fs.FileMode) string {
	kind := "-"
	switch {
	case m.IsDir():
		kind = "d"
	case m&fs.ModeSymlink != 0:
		kind = "l"
	}
	return kind + m.Perm().String()[1:]
}

func when(t time.Time) string {
	if d := time.Since(t); d > 180*24*time.Hour || d < -time.Hour {
		return t.Format("Jan _2  2006")
	}
	return t.Format("Jan _2 15:04")
}

func human(n int64) string {
	f := float64(n)
	for _, u := range []string{"", "K", "M"} {
		if f < 1024 {
			return strconv.FormatFloat(f, 'f', btoi(u != ""), 64) + u
		}
		f /= 1024
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + "G"
}

// walk goes through a folder and all below it, folders before what they hold.
func (c *call) walk(p string, do func(string, tree.Info)) {
	i, err := c.tree.Lstat(c.abs(p))
	if err != nil {
		c.fail("%s: %v", printable(p), err)
		return
	}
	do(p, i)
	if !i.IsDir() || c.stopped() {
		return
	}
	kids, err := c.tree.List(c.abs(p))
	if err != nil {
		c.fail("%s: %v", printable(p), err)
		return
	}
	slices.SortFunc(kids, func(a, b tree.Info) int { return strings.Compare(a.Name(), b.Name()) })
	for _, k := range kids {
		c.walk(under(p, k.Name()), do)
	}
}

func runMkdir(c *call) int {
	has, ok := c.options("p")
	if !ok {
		return codeSyntax
	}
	if len(c.args) == 0 {
		return c.usage()
	}
	st := 0
	for _, a := range c.args {
		all := []string{c.abs(a)}
		if has['p'] {
			for p := path.Dir(strings.TrimRight(all[0], "/")); len(p) > 1 && len(all) < maxWords; p = path.Dir(p) {
				all = append(all, p)
			}
			slices.Reverse(all)
		}
		for n, p := range all {
			err := c.tree.Mkdir(p, 0o755)
			if err == tree.Exists && has['p'] {
				if i, e := c.tree.Stat(p); e == nil && i.IsDir() {
					err = nil
				}
			}
			if err != nil && (n == len(all)-1 || err != tree.Forbidden) {
				st = c.fail("%s: %v", printable(a), err)
				break
			}
		}
	}
	return st
}

func runRmdir(c *call) int {
	st := 0
	for _, a := range c.args {
		i, err := c.tree.Lstat(c.abs(a))
		if err == nil && !i.IsDir() {
			err = tree.NotFolder
		}
		if err == nil {
			err = c.tree.Remove(c.abs(a))
		}
		if err != nil {
			st = c.fail("%s: %v", printable(a), err)
		}
	}
	return st
}

func runRm(c *call) int {
	has, ok := c.options("rRf")
	if !ok {
		return codeSyntax
	}
	if len(c.args) == 0 && !has['f'] {
		return c.usage()
	}
	st := 0
	for _, a := range c.args {
		i, err := c.tree.Lstat(c.abs(a))
		switch {
		case err != nil && has['f'] && errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && i.IsDir() && !has['r'] && !has['R']:
			err = tree.IsFolder
		case err == nil && i.IsDir():
			var all []string
			c.walk(a, func(p string, _ tree.Info) { all = append(all, p) })
			for _, p := range slices.Backward(all) {
				if c.stopped() {
					return 1
				}
				if e := c.tree.Remove(c.abs(p)); e != nil {
					st = c.fail("%s: %v", printable(p), e)
				}
			}
			continue
		case err == nil:
			err = c.tree.Remove(c.abs(a))
		}
		if err != nil {
			st = c.fail("%s: %v", printable(a), err)
		}
	}
	return st
}

// into is where a thing named from goes: into a folder, or to the name itself.
func (c *call) into(from, to string) string {
	if i, err := c.tree.Stat(c.abs(to)); err == nil && i.IsDir() {
		return under(to, path.Base(path.Clean(c.abs(from))))
	}
	return to
}

// several checks FROM... TO.
func (c *call) several() (from []string, to string, ok bool) {
	if len(c.args) < 2 {
		c.usage()
		return nil, "", false
	}
	from, to = c.args[:len(c.args)-1], c.args[len(c.args)-1]
	if len(from) > 1 {
		if i, err := c.tree.Stat(c.abs(to)); err != nil || !i.IsDir() {
			c.fail("%s: to move several, the last is a folder", printable(to))
			return nil, "", false
		}
	}
	return from, to, true
}

func runMv(c *call) int {
	if _, ok := c.options("f"); !ok {
		return codeSyntax
	}
	from, to, ok := c.several()
	if !ok {
		return codeSyntax
	}
	st := 0
	for _, f := range from {
		if err := c.tree.Rename(c.abs(f), c.abs(c.into(f, to)), true); err != nil {
			st = c.fail("%s: %v", printable(f), err)
		}
	}
	return st
}

func runCp(c *call) int {
	has, ok := c.options("rRap")
	if !ok {
		return codeSyntax
	}
	from, to, ok := c.several()
	if !ok {
		return codeSyntax
	}
	deep := has['r'] || has['R'] || has['a']
	st := 0
	for _, f := range from {
		i, err := c.tree.Stat(c.abs(f))
		switch {
		case err != nil:
			st = c.fail("%s: %v", printable(f), err)
			continue
		case i.IsDir() && !deep:
			st = c.fail("%s: a folder is copied with -r", printable(f))
			continue
		}
		dest := c.into(f, to)
		if i.IsDir() {
			src, _ := c.tree.Real(c.abs(f))
			dst, _ := c.tree.Real(c.abs(dest))
			if dst == src || strings.HasPrefix(dst, under(src, "")) {
				st = c.fail("%s: a folder cannot be copied into itself", printable(f))
				continue
			}
		}
		c.walk(f, func(p string, i tree.Info) {
			if c.stopped() {
				return
			}
			if err := c.copy(p, dest+strings.TrimPrefix(p, f), i, p != f); err != nil {
				st = c.fail("%s: %v", printable(p), err)
			}
		})
	}
	return st
}

// copy copies one thing. A link inside of what is copied stays a link.
func (c *call) copy(from, to string, i tree.Info, inside bool) error {
	switch {
	case i.IsDir():
		err := c.tree.Mkdir(c.abs(to), i.Mode().Perm()|0o700)
		if err == tree.Exists {
			return nil
		}
		return err
	case i.Target() != "" && inside:
		return c.tree.Symlink(i.Target(), c.abs(to))
	}
	a, _ := c.tree.Real(c.abs(from))
	if b, _ := c.tree.Real(c.abs(to)); a == b {
		return errors.New("it is the same file")
	}
	src, err := c.tree.Open(c.abs(from), tree.Read, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	perm := i.Mode().Perm()
	if i.Target() != "" {
		perm = 0o644
	}
	dst, err := c.tree.Open(c.abs(to), tree.Write|tree.Create|tree.Truncate, perm)
	if err != nil {
		return err
	}
	defer dst.Close()
	_, err = io.Copy(dst, src)
	return err
}

func runLn(c *call) int {
	has, ok := c.options("sf")
	if !ok || !has['s'] || len(c.args) != 2 {
		return c.usage()
	}
	to := c.into(c.args[0], c.args[1])
	if has['f'] {
		if i, err := c.tree.Lstat(c.abs(to)); err == nil && !i.IsDir() {
			c.tree.Remove(c.abs(to)) // what goes wrong is told below
		}
	}
	if err := c.tree.Symlink(c.args[0], c.abs(to)); err != nil {
		return c.fail("%s: %v", printable(to), err)
	}
	return 0
}

func runReadlink(c *call) int {
	if len(c.args) != 1 {
		return c.usage()
	}
	i, err := c.tree.Lstat(c.abs(c.args[0]))
	if err != nil || i.Target() == "" {
		return 1
	}
	c.out.printf("%s\n", i.Target())
	return 0
}

func runTouch(c *call) int {
	st := 0
	for _, a := range c.args {
		f, err := c.tree.Open(c.abs(a), tree.Write|tree.Create, 0o644)
		if err == nil {
			f.Close()
		}
		if err == nil || err == tree.IsFolder {
			err = c.tree.Chtime(c.abs(a), time.Now())
		}
		if err != nil {
			st = c.fail("%s: %v", printable(a), err)
		}
	}
	return st
}

func runChmod(c *call) int {
	if len(c.args) < 2 {
		return c.usage()
	}
	m, err := strconv.ParseUint(c.args[0], 8, 16)
	if err != nil || m > 0o777 {
		return c.fail("%s: give the permissions as a number, as in 644", printable(c.args[0]))
	}
	st := 0
	for _, a := range c.args[1:] {
		if err := c.tree.Chmod(c.abs(a), fs.FileMode(m)); err != nil {
			st = c.fail("%s: %v", printable(a), err)
		}
	}
	return st
}

func runDf(c *call) int {
	used, nodes := c.tree.Used()
	c.out.printf("Filesystem     Size     Used    Avail  Use%%  Mounted on\n")
	c.out.printf("memory     %8s %8s %8s %4d%%  /\n", human(tree.MaxBytes), human(used), human(tree.MaxBytes-used), used*100/tree.MaxBytes)
	c.out.printf("%d of %d files and folders\n", nodes, tree.MaxNodes)
	return 0
}
