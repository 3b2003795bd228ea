package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deskvnc/viewer"
)

// liar is a server of the test's own that answers as told. answer gets the type
// and the body of a request behind the id, and gives the type and the body of
// the reply; type 0 is no reply.
func liar(t testing.TB, answer func(typ byte, body []byte) (byte, packet)) *FS {
	t.Helper()
	f, err := lie(t, packet(nil).uint32(5).add(typeVersion).uint32(3), answer)
	must(t, err)
	return f
}

func lie(t testing.TB, greeting []byte, answer func(typ byte, body []byte) (byte, packet)) (*FS, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	var server, senders sync.WaitGroup
	server.Go(func() {
		defer theirs.Close()
		init := make([]byte, 9)
		if _, err := io.ReadFull(theirs, init); err != nil {
			return
		}
		if _, err := theirs.Write(greeting); err != nil {
			return
		}
		var sending sync.Mutex
		for {
			var h [9]byte
			if _, err := io.ReadFull(theirs, h[:]); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint32(h[:])-5)
			if _, err := io.ReadFull(theirs, body); err != nil {
				return
			}
			typ, b := answer(h[4], body)
			if typ == 0 {
				continue
			}
			out := append(packet(nil).uint32(uint32(5+len(b))).add(typ), h[5:9]...)
			senders.Go(func() {
				sending.Lock()
				defer sending.Unlock()
				theirs.Write(append(out, b...))
			})
		}
	})
	t.Cleanup(func() {
		ours.Close()
		theirs.Close()
		server.Wait()
		senders.Wait()
	})
	f, err := OpenPipe(testContext(t), ours, ours, func() { ours.Close() })
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

func folderAttrs() packet { return packet(nil).uint32(attrMode).uint32(modeFolder | 0o755) }

func fileAttrs(size uint64) packet {
	return packet(nil).uint32(attrSize | attrMode).uint64(size).uint32(modeFile | 0o644)
}

func statusOf(code uint32) (byte, packet) {
	return typeStatus, packet(nil).uint32(code).text("").text("")
}

// Names that lead out of a folder never do: neither on this side nor into
// requests.
func TestHostileNames(t *testing.T) {
	evil := []string{"../../up", "/etc/evil", "..", ".", "", "a/b", "zero\x00byte", strings.Repeat("n", maxName+1), "good", "NUL", "back\\slash", "new\nline"}
	listed := false
	f := liar(t, func(typ byte, body []byte) (byte, packet) {
		switch typ {
		case typeRealpath:
			return typeName, packet(nil).uint32(1).text("/top").text("").uint32(0)
		case typeStat, typeLstat:
			in := parser{b: body}
			if p := string(in.bytes()); p == "/top" {
				return typeAttrs, folderAttrs()
			}
			return typeAttrs, fileAttrs(4)
		case typeOpendir, typeOpen:
			return typeHandle, packet(nil).text("h")
		case typeReaddir:
			if listed {
				return statusOf(statusEOF)
			}
			listed = true
			b := packet(nil).uint32(uint32(len(evil)))
			for _, n := range evil {
				b = append(b.text(n).text("-rw"), fileAttrs(4)...)
			}
			return typeName, b
		case typeRead:
			return typeData, packet(nil).text("evil")
		}
		return statusOf(statusOK)
	})
	base := t.TempDir()
	must(t, os.MkdirAll(base+"/a/b/dst", 0o755))
	r, err := f.Get(testContext(t), "/top", rootOf(t, base+"/a/b/dst"), "copy", Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantNotes(t, r.Notes, "6 entries have names that no folder can hold")
	var got []string
	must(t, filepath.WalkDir(base, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(base, p)
			got = append(got, rel)
		}
		return err
	}))
	for _, p := range got {
		if !strings.HasPrefix(p, filepath.Join("a", "b", "dst", "copy")) {
			t.Errorf("a file came to be at %s", p)
		}
	}
	if len(got) != 4 {
		t.Errorf("files: %q", got)
	}
}

// Lies of a server end in an error, soon, and never in a panic or in memory
// without bound.
func TestLies(t *testing.T) {
	handle := func(typ byte, then func() (byte, packet)) func(byte, []byte) (byte, packet) {
		return func(got byte, _ []byte) (byte, packet) {
			switch got {
			case typ:
				return then()
			case typeOpendir, typeOpen:
				return typeHandle, packet(nil).text("h")
			case typeStat, typeLstat:
				return typeAttrs, fileAttrs(100)
			case typeFstat:
				return typeAttrs, fileAttrs(100)
			}
			return statusOf(statusOK)
		}
	}
	list := func(f *FS) error { _, _, err := f.All(testContext(t), "/x"); return err }
	fetch := func(f *FS) error {
		_, err := f.Fetch(testContext(t), "/x", &bytes.Buffer{}, Options{})
		return err
	}
	for _, c := range []struct {
		name   string
		answer func(byte, []byte) (byte, packet)
		do     func(*FS) error
		kind   viewer.Kind
		words  string
	}{
		{"nothing without end", handle(typeReaddir, func() (byte, packet) { return typeName, packet(nil).uint32(0) }), list, viewer.Malformed, "lists nothing without end"},
		{"a count without names", handle(typeReaddir, func() (byte, packet) { return typeName, packet(nil).uint32(1 << 31) }), list, viewer.Malformed, "cut short"},
		{"attributes without end", handle(typeReaddir, func() (byte, packet) {
			return typeName, packet(nil).uint32(1).text("a").text("a").uint32(attrExtended).uint32(1 << 31)
		}), list, viewer.Malformed, "cut short"},
		{"a handle too long", handle(typeOpendir, func() (byte, packet) { return typeHandle, packet(nil).text(strings.Repeat("h", 300)) }), list, viewer.Invalid, "handle that is too long"},
		{"a handle where a listing belongs", handle(typeReaddir, func() (byte, packet) { return typeHandle, packet(nil).text("h") }), list, viewer.Invalid, "where a status belongs"},
		{"more than asked", handle(typeRead, func() (byte, packet) { return typeData, packet(nil).text(strings.Repeat("x", 200)) }), fetch, viewer.Malformed, "a request for 100 bytes with 200"},
		{"no bytes and no end", handle(typeRead, func() (byte, packet) { return typeData, packet(nil).text("") }), fetch, viewer.Malformed, "with 0"},
		{"a count past the packet", handle(typeRead, func() (byte, packet) { return typeData, packet(nil).uint32(90) }), fetch, viewer.Malformed, "with 90"},
		{"data without a count", handle(typeRead, func() (byte, packet) { return typeData, packet(nil) }), fetch, viewer.Malformed, "cut short"},
		{"shorter than it said", handle(typeRead, func() (byte, packet) { return statusOf(statusEOF) }), fetch, viewer.Differs, "became shorter"},
		{"yes to a read", handle(typeRead, func() (byte, packet) { return statusOf(statusOK) }), fetch, viewer.Invalid, "said yes"},
		{"a status without a code", handle(typeOpen, func() (byte, packet) { return typeStatus, packet(nil) }), fetch, viewer.Malformed, "cut short"},
	} {
		t.Run(c.name, func(t *testing.T) { wantKind(t, c.do(liar(t, c.answer)), c.kind, c.words) })
	}
}

// A folder without end is cut at a bound, and told.
func TestEndlessFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million entries")
	}
	names := packet(nil).uint32(1000)
	for range 1000 {
		names = append(names.text("n").text(""), fileAttrs(1)...)
	}
	f := liar(t, func(typ byte, _ []byte) (byte, packet) {
		switch typ {
		case typeOpendir:
			return typeHandle, packet(nil).text("h")
		case typeReaddir:
			return typeName, names
		}
		return statusOf(statusOK)
	})
	n := 0
	l, err := f.List(testContext(t), "/x", func(some []viewer.FileEntry) error { n += len(some); return nil })
	if err != nil || !l.More || n != maxListed || l.Count != maxListed {
		t.Errorf("%+v, %v, %d entries", l, err, n)
	}
}

func TestBadBeginnings(t *testing.T) {
	for _, c := range []struct {
		name     string
		greeting []byte
		kind     viewer.Kind
		words    string
	}{
		{"a shell that prints", []byte("Welcome to \x1b[1mhost\r\n and much more"), viewer.Unsupported, "the machine printed \"Welcome to"},
		{"nothing", nil, viewer.Unsupported, "ended file transfer before it began"},
		{"an old version", packet(nil).uint32(5).add(typeVersion).uint32(2), viewer.Unsupported, "speaks version 2"},
		{"no version", packet(nil).uint32(5).add(typeStatus).uint32(3), viewer.Unsupported, "only version 3"},
		{"too short", packet(nil).uint32(1).add(typeVersion), viewer.Malformed, "a packet of 1 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := func(byte, []byte) (byte, packet) { return statusOf(statusOK) }
			if c.greeting == nil {
				ours, theirs := net.Pipe()
				go func() {
					io.ReadFull(theirs, make([]byte, 9))
					theirs.Close()
				}()
				_, err := OpenPipe(testContext(t), ours, ours, func() { ours.Close() })
				wantKind(t, err, c.kind, c.words)
				return
			}
			_, err := lie(t, c.greeting, answer)
			wantKind(t, err, c.kind, c.words)
		})
	}
}

// Any bytes of a listing give entries that can be shown and used, or an error.
func FuzzParseNames(f *testing.F) {
	good := append(packet(nil).uint32(1).text("name").text("-rw-r--r--    1 user     group           5 Jan  1 00:00 name"), fileAttrs(5)...)
	f.Add([]byte(good))
	f.Add([]byte(append(packet(nil).uint32(1).text("../x").text(""), folderAttrs()...)))
	f.Add([]byte(packet(nil).uint32(1 << 30)))
	f.Add([]byte(packet(nil).uint32(1).text("a").text("l").uint32(attrExtended | attrSize | attrIDs | attrMode | attrTimes)))
	f.Fuzz(func(t *testing.T, b []byte) {
		some, odd, err := parseNames(b, "/dir")
		if len(some)+odd > len(b) {
			t.Errorf("%d entries of %d bytes", len(some)+odd, len(b))
		}
		for _, e := range some {
			if !goodName(e.Name) || e.Path != "/dir/"+e.Name || filepath.Dir(filepath.Join("/dir", LocalName(e.Name))) != "/dir" {
				t.Errorf("entry %q at %q", e.Name, e.Path)
			}
			if e.Size < -1 {
				t.Errorf("size %d", e.Size)
			}
		}
		if err != nil && !errors.Is(err, errCut) {
			t.Errorf("got %v", err)
		}
	})
}

// Whatever a machine calls a file, it is one component on this side, and one
// visible line on the screen.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"", ".", "..", "/", "a/b", "\x00", "NUL", "com1.txt", "x.", "é", "\xff", "\u202e", strings.Repeat("é", 200), "a:b", "con .x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, system := range []string{"linux", "darwin", "windows"} {
			n := localName(s, system)
			if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "/\x00") || len(n) > 255 {
				t.Errorf("%s %q: %q", system, s, n)
			}
			if system == "windows" && (strings.ContainsAny(n, `\:*?"<>|`) || DeviceName(n) || strings.HasSuffix(n, ".") || strings.HasSuffix(n, " ")) {
				t.Errorf("windows %q: %q", s, n)
			}
			if goodName(s) && system == "linux" && len(s) <= 255 && n != s {
				t.Errorf("%q became %q", s, n)
			}
		}
		if shown := Shown(s); strings.ContainsAny(shown, "\n\r\t\x1b\x00\u202e\u2028") || len(shown) > 16*maxShown {
			t.Errorf("%q is shown as %q", s, shown)
		}
		if p := partName(s, s, 1, 2); len(p) > 100 {
			t.Errorf("%q: part name %q", s, p)
		}
		if n := nthName(s, 7); len(n) > 255 {
			t.Errorf("%q: other name %q", s, n)
		}
	})
}

// Any answers of a server end every call, without a panic.
func FuzzSession(f *testing.F) {
	f.Add([]byte{typeHandle, 0, 0, 0, 1, 'h'}, []byte{typeStatus, 0, 0, 0, 1})
	f.Add([]byte{typeAttrs, 0, 0, 0, 0}, []byte{typeName, 0, 0, 0, 1})
	f.Add([]byte{typeData, 0, 0, 0, 9}, []byte{typeData})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		n := 0
		fs := liar(t, func(byte, []byte) (byte, packet) {
			n++
			x := a
			if n%2 == 0 {
				x = b
			}
			if len(x) == 0 || n > 500 {
				return statusOf(statusFailure)
			}
			if x[0] == 0 {
				return statusOf(statusEOF)
			}
			return x[0], packet(x[1:])
		})
		ctx := testContext(t)
		fs.Stat(ctx, "/x")
		fs.All(ctx, "/x")
		fs.Fetch(ctx, "/x", io.Discard, Options{})
		fs.Store(ctx, strings.NewReader("abc"), 3, "/x", Options{Exists: Always(Replace)})
		fs.Remove(ctx, "/x", false)
		fs.Rename(ctx, "/x", "/y", true)
	})
}
