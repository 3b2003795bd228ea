package files

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkg/sftp"

	"deskvnc/viewer"
)

// Servers that replace in one step, that deny it, and that never heard of it:
// the same outcome, and never are both files lost.
func TestReplaceOnEveryServer(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"posix-rename", nil},
		{"denied", []string{"-P", "posix-rename"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := testContext(t)
			dir := t.TempDir()
			f := openSSH(t, c.args...)
			write(t, dir+"/a", []byte("a"), 0o644)
			write(t, dir+"/b", []byte("b"), 0o644)
			wantKind(t, f.Rename(ctx, dir+"/a", dir+"/b", false), viewer.Exists, "the name is taken")
			if string(read(t, dir+"/a"))+string(read(t, dir+"/b")) != "ab" {
				t.Error("a refused rename changed something")
			}
			must(t, f.Rename(ctx, dir+"/a", dir+"/b", true))
			if got := names(t, dir); len(got) != 1 || string(read(t, dir+"/b")) != "a" {
				t.Errorf("left %q", got)
			}
			if _, err := f.Store(ctx, strings.NewReader("c"), 1, dir+"/b", Options{Exists: Always(Replace)}); err != nil {
				t.Error(err)
			}
			if got := names(t, dir); len(got) != 1 || string(read(t, dir+"/b")) != "c" {
				t.Errorf("left %q", got)
			}
		})
	}
	t.Run("no rename at all", func(t *testing.T) {
		ctx := testContext(t)
		dir := t.TempDir()
		f := openSSH(t, "-P", "posix-rename,rename")
		write(t, dir+"/b", []byte("b"), 0o644)
		_, err := f.Store(ctx, strings.NewReader("c"), 1, dir+"/b", Options{Exists: Always(Replace)})
		wantKind(t, err, viewer.Forbidden, "permission denied")
		must(t, f.Close()) // after it has tidied up
		if got := names(t, dir); len(got) != 1 || string(read(t, dir+"/b")) != "b" {
			t.Errorf("left %q", got)
		}
	})
}

// Times and modes that cannot be set are worth a note, not a failure.
func TestSetstatDenied(t *testing.T) {
	ctx := testContext(t)
	here, there := t.TempDir(), t.TempDir()
	root := rootOf(t, here)
	f := openSSH(t, "-P", "setstat,fsetstat")
	for _, mode := range []os.FileMode{0o755, 0o600} {
		write(t, here+"/x", []byte("x"), mode)
		r, err := f.Put(ctx, root, "x", there+"/x", Options{Exists: Always(Replace)})
		if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "did not let its time and permissions be set: permission denied") {
			t.Errorf("%v: %+v, %v", mode, r, err)
		}
		if info, err := os.Stat(there + "/x"); err != nil || info.Mode()&0o600 != 0o600 || string(read(t, there+"/x")) != "x" {
			t.Errorf("%v: %v, %v", mode, info, err)
		}
	}
}

// A machine that lets nobody look, or make folders, still takes and gives files
// whose path is known.
func TestStatDenied(t *testing.T) {
	ctx := testContext(t)
	here, there := t.TempDir(), t.TempDir()
	root := rootOf(t, here)
	f := openSSH(t, "-P", "stat,lstat,fstat,mkdir")
	b := pattern(3 << 20)
	write(t, here+"/x", b, 0o644)
	r, err := f.Put(ctx, root, "x", there+"/x", Options{})
	if err != nil || !bytes.Equal(read(t, there+"/x"), b) {
		t.Fatalf("up: %+v, %v", r, err)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "does not tell the size") {
		t.Errorf("notes: %q", r.Notes)
	}
	if _, err := f.Put(ctx, root, "x", there+"/x", Options{}); viewer.KindOf(err) != viewer.Exists {
		t.Errorf("a file that is there was not seen: %v", err)
	}
	if r, err := f.Get(ctx, there+"/x", root, "y", Options{}); err != nil || !bytes.Equal(read(t, here+"/y"), b) || r.Size != int64(len(b)) {
		t.Fatalf("down: %+v, %v", r, err)
	}
	if all, _, err := f.All(ctx, there); err != nil || len(all) != 1 || all[0].Name != "x" {
		t.Errorf("listed %+v, %v", all, err)
	}
	wantKind(t, f.Mkdir(ctx, there+"/f"), viewer.Forbidden, "permission denied")
	must(t, f.Remove(ctx, there+"/x", false))
}

func TestFullDisk(t *testing.T) {
	ctx := testContext(t)
	here, disk := t.TempDir(), t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", disk).Run(); err != nil {
		t.Skipf("no small disk without the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", disk).Run(); err != nil {
			t.Errorf("umount: %v", err)
		}
	})
	root := rootOf(t, here)
	write(t, here+"/big", pattern(12<<20), 0o644)
	f := openSSH(t)
	r, err := f.Put(ctx, root, "big", disk+"/big", Options{})
	wantKind(t, err, viewer.Full, "the disk of the machine is full")
	if r.Files != 0 {
		t.Errorf("counted as stored: %+v", r)
	}
	// The other way: this side's disk.
	f2 := openSSH(t)
	_, err = f2.Get(ctx, here+"/big", rootOf(t, disk), "big", Options{})
	wantKind(t, err, viewer.Full, "no space left")
	f.Close()
	f2.Close()
	if left := names(t, disk); len(left) != 0 {
		t.Errorf("left on the full disk: %q", left)
	}
}

// A quota shows as a refusal without a reason.
func TestQuota(t *testing.T) {
	ctx := testContext(t)
	here, there := t.TempDir(), t.TempDir()
	write(t, here+"/big", pattern(3<<20), 0o644)
	// The signal that comes with the limit would end the server.
	f := serve(t, exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 2048; exec "$0"`, sftpServer(t)))
	_, err := f.Put(ctx, rootOf(t, here), "big", there+"/big", Options{})
	wantKind(t, err, viewer.Full, "room this account may use")
	f.Close()
	if left := names(t, there); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// What an account may not do is said as it is.
func TestNoPermission(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("another account is needed: not root")
	}
	ctx := testContext(t)
	dir := t.TempDir()
	for d := dir; d != "/tmp" && d != "/"; d = filepath.Dir(d) {
		must(t, os.Chmod(d, 0o755))
	}
	f := serve(t, asNobody(t, exec.Command(sftpServer(t))))
	write(t, dir+"/x", []byte("x"), 0o644)
	write(t, dir+"/secret", []byte("x"), 0o600)
	must(t, os.Mkdir(dir+"/closed", 0o700))
	must(t, os.Mkdir(dir+"/noenter", 0o744))
	write(t, dir+"/noenter/inside", nil, 0o644)
	wantKind(t, f.Remove(ctx, dir+"/x", false), viewer.Forbidden, "/x: permission denied")
	wantKind(t, f.Mkdir(ctx, dir+"/new"), viewer.Forbidden, "permission denied")
	wantKind(t, f.Chmod(ctx, dir+"/x", 0o777), viewer.Forbidden, "permission denied")
	wantKind(t, f.Rename(ctx, dir+"/x", dir+"/y", false), viewer.Forbidden, "permission denied")
	_, _, err := f.All(ctx, dir+"/closed")
	wantKind(t, err, viewer.Forbidden, "permission denied")
	_, err = f.Fetch(ctx, dir+"/secret", &bytes.Buffer{}, Options{})
	wantKind(t, err, viewer.Forbidden, "secret: permission denied")
	_, err = f.Store(ctx, strings.NewReader("y"), 1, dir+"/new", Options{})
	wantKind(t, err, viewer.Forbidden, "takes no new files")
	_, err = f.Store(ctx, strings.NewReader("y"), 1, dir+"/no/such", Options{})
	wantKind(t, err, viewer.Missing, "there is no folder")
	// A folder that cannot be entered is listed without a failure.
	if _, _, err := f.All(ctx, dir+"/noenter"); err != nil {
		t.Error(err)
	}
	// A whole folder: what cannot be read is told, the rest is copied.
	here := t.TempDir()
	r, err := f.Get(ctx, dir, rootOf(t, here), "copy", Options{})
	wantKind(t, err, viewer.Forbidden, "could not be copied")
	if r.Files != 1 || r.FailedCount != 2 || string(read(t, here+"/copy/x")) != "x" {
		t.Errorf("%+v", r)
	}
}

// pkg/sftp's own server in both its forms gives whole files.
func TestServersOfPkgSFTP(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		roundTrip(t, inProcess(t, func(c conn) error {
			s, err := sftp.NewServer(c)
			if err != nil {
				return err
			}
			return s.Serve()
		}), t.TempDir())
	})
	t.Run("handlers", func(t *testing.T) {
		roundTrip(t, inProcess(t, func(c conn) error {
			return sftp.NewRequestServer(c, sftp.InMemHandler()).Serve()
		}), "/")
	})
}

// asyncSSH starts a server in Python; script may change the class Server.
func asyncSSH(t *testing.T, script string) *FS {
	t.Helper()
	python := ""
	for _, p := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(p, "-c", "import asyncssh").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		needed(t, "python3-asyncssh")
	}
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		needed(t, "ssh-keygen ("+string(out)+")")
	}
	prog := `
import asyncio, asyncssh, sys
from asyncssh import SFTPError, FX_OP_UNSUPPORTED, FX_PERMISSION_DENIED, FX_FAILURE
class Server(asyncssh.SFTPServer):
    pass
` + script + `
class Login(asyncssh.SSHServer):
    def begin_auth(self, username): return False
async def main():
    s = await asyncssh.listen('127.0.0.1', 0, server_factory=Login, server_host_keys=[sys.argv[1]], sftp_factory=Server)
    print(s.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
asyncio.run(main())
`
	cmd := exec.Command(python, "-c", prog, key)
	port := startPort(t, cmd)
	f, err := Open(testContext(t), dialAnyone(t, "127.0.0.1:"+port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A server that gives less than it is asked for, and states no limits, gives
// whole files all the same.
func TestCappedReads(t *testing.T) {
	for _, most := range []string{"32768", "10000", "1"} {
		t.Run(most, func(t *testing.T) {
			f := asyncSSH(t, `
_read = asyncssh.SFTPServer.read
def read(self, f, offset, size): return _read(self, f, offset, min(size, `+most+`))
Server.read = read
`)
			ctx := testContext(t)
			dir, here := t.TempDir(), t.TempDir()
			n := 5 << 20
			if most == "1" {
				n = 700
			}
			b := pattern(n)
			write(t, dir+"/x", b, 0o644)
			r, err := f.Get(ctx, dir+"/x", rootOf(t, here), "x", Options{Verify: true})
			if err != nil || !bytes.Equal(read(t, here+"/x"), b) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestAsyncSSH(t *testing.T) {
	t.Run("as it is", func(t *testing.T) { roundTrip(t, asyncSSH(t, ""), t.TempDir()) })
	t.Run("no stat, no mkdir", func(t *testing.T) {
		f := asyncSSH(t, `
def no(self, *a): raise SFTPError(FX_OP_UNSUPPORTED, 'not here')
Server.stat = Server.lstat = Server.mkdir = no
`)
		ctx := testContext(t)
		dir := t.TempDir()
		b := pattern(100_000)
		if _, err := f.Store(ctx, bytes.NewReader(b), int64(len(b)), dir+"/x", Options{}); err != nil || !bytes.Equal(read(t, dir+"/x"), b) {
			t.Error(err)
		}
		var buf bytes.Buffer
		if _, err := f.Fetch(ctx, dir+"/x", &buf, Options{}); err != nil || !bytes.Equal(buf.Bytes(), b) {
			t.Error(err)
		}
		wantKind(t, f.Mkdir(ctx, dir+"/f"), viewer.Unsupported, "cannot do this")
		must(t, f.Remove(ctx, dir+"/x", false))
	})
	t.Run("its own words", func(t *testing.T) {
		f := asyncSSH(t, `
def no(self, *a): raise SFTPError(FX_FAILURE, 'the tape \x1b[31m is not mounted')
Server.mkdir = Server.write = no
`)
		ctx := testContext(t)
		dir := t.TempDir()
		wantKind(t, f.Mkdir(ctx, dir+"/f"), viewer.Invalid, `the machine refused: the tape \x1b[31m is not mounted`)
		_, err := f.Store(ctx, strings.NewReader("x"), 1, dir+"/x", Options{})
		wantKind(t, err, viewer.Invalid, `the machine refused: the tape \x1b[31m is not mounted`)
	})
}

// A byte that changes on its way to the machine's disk is noticed when asked
// for, in both directions.
func TestVerifyCatchesOneByte(t *testing.T) {
	f := asyncSSH(t, `
_write = asyncssh.SFTPServer.write
def write(self, f, offset, data):
    if offset <= 50000 < offset + len(data):
        data = bytearray(data); data[50000 - offset] ^= 1; data = bytes(data)
    return _write(self, f, offset, data)
Server.write = write
_read = asyncssh.SFTPServer.read
seen = []
def read(self, f, offset, size):
    data = _read(self, f, offset, size)
    if offset == 0 and f.name.endswith(b'flips'):
        seen.append(1)
        if len(seen) % 2: data = b'!' + data[1:]
    return data
Server.read = read
`)
	ctx := testContext(t)
	here, there := t.TempDir(), t.TempDir()
	root := rootOf(t, here)
	b := pattern(100_000)
	write(t, here+"/x", b, 0o644)
	if _, err := f.Put(ctx, root, "x", there+"/plain", Options{}); err != nil {
		t.Errorf("not asked for, not looked at: %v", err)
	}
	_, err := f.Put(ctx, root, "x", there+"/x", Options{Verify: true})
	wantKind(t, err, viewer.Differs, "SHA-256 differ")
	if _, err := os.Stat(there + "/x"); err == nil {
		t.Error("a wrong copy got the name")
	}
	write(t, there+"/flips", b, 0o644)
	_, err = f.Fetch(ctx, there+"/flips", &bytes.Buffer{}, Options{Verify: true})
	wantKind(t, err, viewer.Differs, "not the same")
}

// roundTrip does a little of everything in an empty folder of any server.
func roundTrip(t *testing.T, f *FS, dir string) {
	t.Helper()
	ctx := testContext(t)
	here := t.TempDir()
	root := rootOf(t, here)
	at := func(n string) string { return Join(dir, n) }
	must(t, f.Mkdir(ctx, at("folder")))
	must(t, os.MkdirAll(here+"/src/sub", 0o755))
	b := pattern(5<<20 + 13)
	write(t, here+"/src/big", b, 0o644)
	write(t, here+"/src/sub/small", []byte("small"), 0o755)
	if r, err := f.Put(ctx, root, "src", at("folder/copy"), Options{Verify: true}); err != nil || r.Files != 2 || r.Size != int64(len(b)+5) {
		t.Fatalf("up: %+v, %v", r, err)
	}
	if r, err := f.Put(ctx, root, "src", at("folder/copy"), Options{Exists: Always(Replace)}); err != nil || r.Files != 2 {
		t.Errorf("up again: %+v, %v", r, err)
	}
	if r, err := f.Get(ctx, at("folder/copy"), root, "back", Options{}); err != nil || r.Files != 2 || r.Size != int64(len(b)+5) {
		t.Fatalf("down: %+v, %v", r, err)
	}
	if !bytes.Equal(read(t, here+"/back/big"), b) || string(read(t, here+"/back/sub/small")) != "small" {
		t.Error("what came back differs")
	}
	all, _, err := f.All(ctx, at("folder/copy"))
	if err != nil || len(all) != 2 {
		t.Errorf("listed %+v, %v", all, err)
	}
	must(t, f.Rename(ctx, at("folder/copy/big"), at("folder/big"), false))
	wantKind(t, f.Remove(ctx, at("folder"), false), viewer.NotEmpty, "not empty")
	must(t, f.Remove(ctx, at("folder"), true))
	if _, err := f.Stat(ctx, at("folder")); viewer.KindOf(err) != viewer.Missing {
		t.Errorf("still there: %v", err)
	}
}
