package e2e

import (
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer/sshdial/sshtest"
)

// A shell is the window with a terminal of a real sshd in it. What is typed
// there is seen by the files that it makes.
type shell struct {
	*window
	server *sshtest.Server
	dir    string
	cell   image.Point     // pixels of a cell
	origin image.Point     // of the first one
	marked image.Rectangle // see mark
}

func newShell(t *testing.T) *shell {
	t.Helper()
	need(t, "Xvfb", "openbox", "xdotool", "import", "xclip")
	s := &shell{server: sshtest.Start(t, sshtest.Options{}), dir: t.TempDir()}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{"known_hosts": s.server.KnownHosts(), "id_ed25519": s.server.KeyFile} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".ssh", to), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.window = newWindowIn(t, home, fmt.Sprintf("ssh://%s@%s:%d", s.server.User, s.server.Host, s.server.Port))
	s.ready(t)
	return s
}

// ready waits until the shell answers.
func (s *shell) ready(t *testing.T) {
	t.Helper()
	f := filepath.Join(s.dir, "ready")
	os.Remove(f)
	for end := time.Now().Add(patience); ; {
		s.line(t, " PS1='$ '; touch "+f) // what comes before the shell is lost
		for until := time.Now().Add(3 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(f); err == nil {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatal("no shell answers in the window")
		}
	}
}

// line types a line.
func (s *shell) line(t *testing.T, text string) {
	t.Helper()
	s.do(t, "type", "--delay", "8", text)
	s.do(t, "key", "Return")
}

// file waits until a file has what is wanted.
func (s *shell) file(t *testing.T, name, want string) {
	t.Helper()
	eventually(t, func() string {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil || string(b) != want {
			return fmt.Sprintf("%s: got %q (%v), want %q", name, b, err, want)
		}
		return ""
	})
}

// size is what the shell says the terminal's size is.
func (s *shell) size(t *testing.T) (rows, cols int) {
	t.Helper()
	name := filepath.Join(s.dir, "size")
	os.Remove(name)
	s.line(t, "stty size > "+name+".new; mv "+name+".new "+name)
	eventually(t, func() string {
		b, err := os.ReadFile(name)
		if err != nil {
			return err.Error()
		}
		if _, err := fmt.Sscan(string(b), &rows, &cols); err != nil {
			return fmt.Sprintf("stty said %q", b)
		}
		return ""
	})
	return rows, cols
}

// mark shows a text at the top of the terminal, two coloured cells before it,
// which say where the cells are.
func (s *shell) mark(t *testing.T, text string) {
	t.Helper()
	s.line(t, fmt.Sprintf(`clear; printf '\033[H\033[48;2;%d;%d;%dm  \033[0m%%s\n' '%s'`, remoteRed, remoteGreen, remoteBlue, text))
	var before image.Rectangle
	eventually(t, func() string {
		box := find(picture(t, s.display), remoteRed, remoteGreen, remoteBlue)
		stable := box == before && !box.Empty()
		before = box
		if !stable {
			return fmt.Sprintf("the text does not show: its mark covers %v", box)
		}
		return ""
	})
	s.marked, s.cell, s.origin = before, image.Pt(before.Dx()/2, before.Dy()), before.Min
}

// at is a point in the left half of a cell on the screen, as arguments of xdotool.
func (s *shell) at(col, row int) []string {
	return []string{"mousemove", fmt.Sprint(s.origin.X + col*s.cell.X + s.cell.X/4), fmt.Sprint(s.origin.Y + row*s.cell.Y + s.cell.Y/2)}
}

func (s *shell) clipboard(t *testing.T, want string) {
	t.Helper()
	eventually(t, func() string {
		cmd := exec.Command("xclip", "-o", "-selection", "clipboard")
		cmd.Env = s.env
		if out, err := cmd.Output(); err != nil || string(out) != want {
			return fmt.Sprintf("on the clipboard: %q (%v), want %q", out, err, want)
		}
		return ""
	})
}

// copy puts text on the clipboard.
func (s *shell) copy(t *testing.T, text string) {
	t.Helper()
	cmd := exec.Command("xclip", "-i", "-selection", "clipboard", "-quiet") // stays to give it
	cmd.Env = s.env
	cmd.Stdin = strings.NewReader(text)
	start(t, cmd)
	s.clipboard(t, text)
}

func TestTerminalTakesTheWindowsSize(t *testing.T) {
	s := newShell(t)
	rows, cols := s.size(t)
	s.mark(t, "here")
	win := strings.Fields(run(t, s.display, "xdotool", "search", "--onlyvisible", "--name", "DeskVNC"))[0]
	s.do(t, "windowsize", "--sync", win, "700", "500")
	var rows2, cols2 int
	eventually(t, func() string {
		if rows2, cols2 = s.size(t); rows2 >= rows || cols2 >= cols {
			return fmt.Sprintf("%dx%d cells in the smaller window, %dx%d before", cols2, rows2, cols, rows)
		}
		return ""
	})
	// What fits: the window without the room around the cells and the scroll bar.
	if want := (700 - 8 - 12) / s.cell.X; cols2 != want {
		t.Errorf("%d columns in 700 pixels, want %d", cols2, want)
	}
	s.server.KillConnections()
	s.ready(t)
	if r, c := s.size(t); r != rows2 || c != cols2 {
		t.Errorf("connected again: %dx%d cells, want %dx%d", c, r, cols2, rows2)
	}
	keep(t, s.display, "terminal-small.png")
}

func TestTerminalKeysAndMouse(t *testing.T) {
	need(t, "vim", "htop", "mc")
	s := newShell(t)
	s.line(t, "vim --clean "+s.dir+"/text")
	time.Sleep(time.Second) // vim asks the terminal things at its start
	s.do(t, "key", "i")
	s.line(t, "Hello_World-42 (a>b) & {x}~$#")
	s.do(t, "type", "--delay", "8", "second")
	keep(t, s.display, "terminal-vim.png")
	s.do(t, "key", "Escape", "0", "x", "Up", "End")
	s.line(t, "a!")
	s.do(t, "key", "Escape")
	s.line(t, ":wq")
	s.file(t, "text", "Hello_World-42 (a>b) & {x}~$#!\n\necond\n")

	s.line(t, "htop")
	time.Sleep(time.Second) // for the picture only
	keep(t, s.display, "terminal-htop.png")
	s.do(t, "key", "F10")
	s.line(t, "mc -b")
	time.Sleep(time.Second) // for the picture only
	keep(t, s.display, "terminal-mc.png")
	s.do(t, "key", "F10")
	s.line(t, "touch "+s.dir+"/after")
	s.file(t, "after", "")

	// A program that asked for the mouse is told which cell it is.
	s.mark(t, "mouse")
	want := "\x1b[<0;8;6M\x1b[<0;8;6m\x1b[<65;8;6M"
	s.line(t, fmt.Sprintf(`stty raw -echo; printf '\033[?1000h\033[?1006h\033[2J\033[48;2;%d;%d;%dm x'; head -c %d > %s/mouse; printf '\033[0m\033[?1000l'; stty sane`, remoteBlue, remoteRed, remoteGreen, len(want), s.dir))
	eventually(t, func() string {
		if find(picture(t, s.display), remoteBlue, remoteRed, remoteGreen).Empty() {
			return "the program that wants the mouse does not start"
		}
		return ""
	})
	s.do(t, append(s.at(7, 5), "click", "1", "click", "5")...)
	s.file(t, "mouse", want)

	// Ctrl+C ends a flood.
	s.line(t, "yes")
	time.Sleep(500 * time.Millisecond) // lets it flood
	s.do(t, "key", "ctrl+c")
	s.line(t, "touch "+s.dir+"/calm")
	s.file(t, "calm", "")
}

func TestTerminalSelectionClipboardAndSearch(t *testing.T) {
	s := newShell(t)
	s.mark(t, "some-word and more")
	s.do(t, append(s.at(4, 0), "click", "--repeat", "2", "--delay", "60", "1")...)
	s.do(t, "key", "ctrl+shift+c")
	s.clipboard(t, "some-word")
	time.Sleep(500 * time.Millisecond) // so that the next click is one of its own
	s.do(t, append(append(s.at(12, 0), "mousedown", "1"), append(s.at(20, 0), "mouseup", "1")...)...)
	s.do(t, "key", "ctrl+shift+c")
	s.clipboard(t, "and more")

	s.copy(t, "echo one > "+s.dir+"/one\necho two > "+s.dir+"/two\n")
	s.do(t, "key", "ctrl+shift+v")
	time.Sleep(500 * time.Millisecond) // time to do it wrongly
	keep(t, s.display, "terminal-paste.png")
	if _, err := os.Stat(s.dir + "/one"); err == nil {
		t.Fatal("two lines were pasted without a question")
	}
	s.do(t, "key", "Escape")
	s.line(t, "echo no > "+s.dir+"/no")
	s.file(t, "no", "no\n")
	if _, err := os.Stat(s.dir + "/one"); err == nil {
		t.Fatal("Escape pasted")
	}
	s.do(t, "key", "ctrl+shift+v")
	time.Sleep(300 * time.Millisecond) // the sheet is there
	s.do(t, "key", "Return")
	time.Sleep(300 * time.Millisecond)
	s.do(t, "key", "Return") // bash waits after a paste in brackets
	s.file(t, "one", "one\n")
	s.file(t, "two", "two\n")

	// A program's own copy is asked about.
	s.line(t, `printf '\033]52;c;aGVsbG8gdGhlcmU=\a'; touch `+s.dir+"/asked")
	s.file(t, "asked", "")
	s.clipboard(t, "echo one > "+s.dir+"/one\necho two > "+s.dir+"/two\n")

	keep(t, s.display, "terminal-asked.png")
	s.do(t, "key", "Escape") // no
	s.line(t, "clear; seq 1000 1400")
	found := func(want bool) {
		t.Helper()
		eventually(t, func() string {
			box := find(picture(t, s.display), 0xff, 0x8c, 0x42)
			if box.Empty() == want {
				return fmt.Sprintf("the match is shown: %v, want %v", !box.Empty(), want)
			}
			return ""
		})
	}
	s.do(t, "key", "ctrl+shift+f")
	s.do(t, "type", "--delay", "20", "1033")
	found(true)
	keep(t, s.display, "terminal-find.png")
	s.do(t, "key", "Escape")
	found(false)
	s.line(t, "touch "+s.dir+"/found")
	s.file(t, "found", "")
}
