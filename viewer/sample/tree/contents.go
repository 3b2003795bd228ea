package tree

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"strings"
	"time"
)

// Home is the folder of who is logged in.
const Home = "/home/sample"

// ManyFiles is how many files the folder ~/many holds, and BigSize the size of
// ~/logs/big.log.
const (
	ManyFiles = 2000
	BigSize   = BigLines * bigLine
	BigLines  = 100_000
	bigLine   = 50
)

// Sample is the tree of a sample machine.
func Sample() *Tree {
	t := New()
	b := &builder{t: t, time: time.Now().Add(-48 * time.Hour).Truncate(time.Minute)}
	root := func(f func()) { b.owner = Root; f(); b.owner = User }
	root(func() {
		for _, d := range []string{"/bin", "/etc", "/home", "/root", "/tmp", "/usr", "/usr/share", "/var", "/var/log"} {
			b.folder(d, 0o755)
		}
		b.mode("/tmp", 0o777)
		b.mode("/root", 0o700)
		b.text("/etc/hostname", 0o644, "sample\n")
		b.text("/etc/motd", 0o644, motd)
		b.text("/etc/passwd", 0o644, "root:x:0:0:root:/root:/bin/sh\nsample:x:1000:1000:Sample:/home/sample:/bin/sh\n")
		b.text("/etc/shadow", 0o600, "root:*:20000::::::\n")
		b.text("/root/notes.txt", 0o600, "Only root can read this.\n")
		b.text("/var/log/boot.log", 0o644, bootLog())
	})
	b.folder(Home, 0o755)
	for _, d := range []string{"documents", "pictures", "logs", "many", "empty", "links", "locked", "odd names"} {
		b.folder(Home+"/"+d, 0o755)
	}
	b.text(Home+"/welcome.txt", 0o644, welcome)
	b.text(Home+"/.profile", 0o644, "# Read at login.\nPATH=/bin\n")
	b.text(Home+"/documents/poem.txt", 0o644, poem)
	b.text(Home+"/documents/fruit.csv", 0o644, "name,colour,count\napple,red,12\nbanana,yellow,7\ncherry,red,240\nlime,green,9\nplum,blue,31\n")
	b.text(Home+"/documents/languages.txt", 0o644, languages)
	b.text(Home+"/documents/read-only.txt", 0o444, "This file can be read and not be written to.\n")
	b.text(Home+"/documents/backup.sh", 0o755, "#!/bin/sh\ncp -r documents /tmp/backup && echo done\n")
	b.data(Home+"/pictures/rings.png", 0o644, picture())
	b.made(Home+"/logs/big.log", BigSize, big)
	b.text(Home+"/logs/boot.log", 0o644, bootLog())
	for i := range ManyFiles {
		name := fmt.Sprintf("entry-%04d.txt", i+1)
		line := "This is " + name + ".\n"
		b.made(Home+"/many/"+name, int64(len(line)), func(p []byte, off int64) { copy(p, line[off:]) })
	}
	b.link(Home+"/links/welcome", "../welcome.txt")
	b.link(Home+"/links/documents", "../documents")
	b.link(Home+"/links/dangling", "nowhere/at/all")
	b.link(Home+"/links/loop", "loop")
	b.link(Home+"/links/root", "/")
	b.text(Home+"/locked/secret.txt", 0o000, "Nobody reads this before it is given the permission.\n")
	b.mode(Home+"/locked", 0o500)
	for _, name := range []string{"with  two spaces.txt", "Grüße.txt", "日本語.txt", "quote's \"and\" $dollar.txt", "-dash.txt", "emoji 🐿.txt"} {
		b.text(Home+"/odd names/"+name, 0o644, "The name of this file is: "+name+"\n")
	}
	return t
}

// A builder fills a new tree, past its permissions and its count of bytes.
type builder struct {
	t     *Tree
	owner uint32
	time  time.Time
}

func (b *builder) put(p string, n *node) {
	cut := strings.LastIndexByte(p, '/')
	folder, _, _, err := b.t.find(p[:cut], true)
	if err != nil {
		panic("tree: the sample has no folder for " + p) // what is written above is wrong
	}
	n.name, n.up, n.owner, n.time = p[cut+1:], folder, b.owner, b.time
	folder.kids[n.name] = n
	b.t.nodes++
}

func (b *builder) folder(p string, perm fs.FileMode) {
	b.put(p, &node{mode: fs.ModeDir | perm, kids: map[string]*node{}})
}

func (b *builder) made(p string, size int64, m maker) {
	b.put(p, &node{mode: 0o644, size: size, made: m})
}

func (b *builder) data(p string, perm fs.FileMode, data []byte) {
	b.put(p, &node{mode: perm, size: int64(len(data)), made: func(to []byte, off int64) { copy(to, data[off:]) }})
}

func (b *builder) text(p string, perm fs.FileMode, text string) { b.data(p, perm, []byte(text)) }

func (b *builder) link(p, target string) {
	b.put(p, &node{mode: fs.ModeSymlink | 0o777, target: target})
}

func (b *builder) mode(p string, perm fs.FileMode) {
	n, _, _, err := b.t.find(p, true)
	if err != nil {
		panic("tree: the sample has no " + p) // what is written above is wrong
	}
	n.mode = n.mode.Type() | perm
}

// big is the content of the big file: numbered lines of the same length.
func big(p []byte, off int64) {
	for len(p) > 0 {
		i := off / bigLine
		line := fmt.Sprintf("%06d %s line of the big file, %-11s.\n", i+1, "INFO  a", levels[i%int64(len(levels))])
		n := copy(p, line[off%bigLine:])
		p, off = p[n:], off+int64(n)
	}
}

var levels = [...]string{"all well", "nothing", "as before", "quiet", "idle"}

func bootLog() string {
	var b strings.Builder
	for i, s := range []string{"kernel: sample machine, nothing of it is real", "memory: 64 MiB for files", "disk: in memory, gone with the program",
		"network: loopback only", "sshd: listening", "ready"} {
		fmt.Fprintf(&b, "[%9.6f] %s\n", float64(i)*0.037, s)
	}
	return b.String()
}

// picture is a small PNG.
func picture() []byte {
	const side = 160
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			dx, dy := x-side/2, y-side/2
			d := dx*dx + dy*dy
			m.Set(x, y, color.RGBA{uint8(d / 40), uint8(255 - d/60), uint8(x + y/2), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

const motd = `Welcome to the sample machine. It lives in this program, and all that is
changed here is gone when the program ends. Type help for what it can do.
`

const welcome = `This is a sample machine.

Its files are in memory: read them, change them, move them here and back.
There is room for 64 MiB; when it is full, you are told.

  documents   texts, one that cannot be written to
  pictures    a picture
  logs        a file of 5 MB
  many        a folder of 2000 files
  links       links, one of them to nothing, one to itself
  locked      a folder that cannot be changed
  odd names   names with spaces, quotes and other scripts
`

const poem = `A window on a far machine,
a line of text, a steady screen;
the keys go out, the words come back,
the night is long, the coffee black.

One hand lets go, another steers,
and neither of them interferes.
`

const languages = `English   Hello, world
Deutsch   Grüß Gott, schöne Welt
Français  Bonjour à tous, ça va ?
Ελληνικά  Γειά σου Κόσμε
Русский   Здравствуй, мир
日本語    こんにちは世界
한국어    안녕하세요 세계
עברית     שלום עולם
Emoji     🐿 🌍 👋
`
