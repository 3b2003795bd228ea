package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deskvnc/viewer"
)

// A link that breaks in the middle leaves no cut file under the final name, and
// the transfer goes on where it was.
func TestLostLinkResumes(t *testing.T) {
	const n = 96 << 20
	for _, up := range []bool{false, true} {
		name := map[bool]string{false: "down", true: "up"}[up]
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			src, dst := t.TempDir(), t.TempDir()
			b := pattern(n)
			write(t, src+"/big", b, 0o644)
			f, tap := serveTapped(t, exec.Command(sftpServer(t)))
			tap.after(n/2, tap.kill)
			move := func(f *FS, o Options) (Result, error) {
				if up {
					return f.Put(ctx, rootOf(t, src), "big", dst+"/big", o)
				}
				return f.Get(ctx, src+"/big", rootOf(t, dst), "big", o)
			}
			_, err := move(f, Options{})
			wantKind(t, err, viewer.Closed, "the file connection ended")
			if _, err := os.Stat(dst + "/big"); err == nil {
				t.Fatal("a cut file has the final name")
			}
			parts := leftOvers(t, dst)
			if len(parts) != 1 || !strings.Contains(parts[0], ".big.") {
				t.Fatalf("parts: %q", parts)
			}
			r, err := move(openSSH(t), Options{Verify: true})
			if err != nil || r.Resumed < n/4 || r.Bytes+r.Resumed != n || r.Size != n {
				t.Errorf("%+v, %v", r, err)
			}
			if !bytes.Equal(read(t, dst+"/big"), b) || len(leftOvers(t, dst)) != 0 {
				t.Error("the copy differs, or a part is left")
			}
		})
	}
}

// A part is continued only when it is of the same version of the source and
// begins as it does.
func TestPartOfAnotherVersion(t *testing.T) {
	const n = 40 << 20
	ctx := testContext(t)
	src, dst := t.TempDir(), t.TempDir()
	b := pattern(n)
	cut := func() {
		t.Helper()
		f, tap := serveTapped(t, exec.Command(sftpServer(t)))
		tap.after(n/2, tap.kill)
		if _, err := f.Get(ctx, src+"/big", rootOf(t, dst), "big", Options{}); viewer.KindOf(err) != viewer.Closed {
			t.Fatal(err)
		}
	}
	old := time.Unix(1_000_000_000, 0)
	write(t, src+"/big", b, 0o644)
	must(t, os.Chtimes(src+"/big", old, old))
	cut()
	// Another content of the same size and time: its end gives it away.
	part := leftOvers(t, dst)[0]
	p := read(t, part)
	p[len(p)-1] ^= 1
	write(t, part, p, 0o600)
	r, err := openSSH(t).Get(ctx, src+"/big", rootOf(t, dst), "big", Options{})
	if err != nil || r.Resumed != 0 || !bytes.Equal(read(t, dst+"/big"), b) {
		t.Errorf("%+v, %v", r, err)
	}
	must(t, os.Remove(dst+"/big"))
	cut()
	// Another time: not even looked at.
	newer := pattern(n + 8)[8:]
	write(t, src+"/big", newer, 0o644)
	r, err = openSSH(t).Get(ctx, src+"/big", rootOf(t, dst), "big", Options{})
	if err != nil || r.Resumed != 0 || !bytes.Equal(read(t, dst+"/big"), newer) {
		t.Errorf("%+v, %v", r, err)
	}
}

// More than 4 GiB: totals, continuing and content are right. The files are
// sparse.
func TestFiveGiB(t *testing.T) {
	if testing.Short() {
		t.Skip("5 GiB are moved")
	}
	const size, part = int64(5) << 30, int64(9) << 29
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	defer cancel()
	src, dst := t.TempDir(), t.TempDir()
	file, err := os.Create(src + "/sparse")
	must(t, err)
	must(t, file.Truncate(size))
	end := pattern(1 << 20)
	_, err = file.WriteAt(end, size-int64(len(end)))
	must(t, err)
	_, err = file.WriteAt(end, part-100) // across 4.5 GiB
	must(t, err)
	must(t, file.Close())
	f := openSSH(t)
	e, err := f.Stat(ctx, src+"/sparse")
	if err != nil || e.Size != size {
		t.Fatalf("%+v, %v", e, err)
	}
	// What an earlier attempt left: 4.5 GiB.
	p := filepath.Join(dst, partName("sparse", src+"/sparse", size, e.Modified.Unix()))
	file, err = os.Create(p)
	must(t, err)
	must(t, file.Truncate(part))
	_, err = file.WriteAt(end[:100], part-100)
	must(t, err)
	must(t, file.Close())
	var highest, total int64
	r, err := f.Get(ctx, src+"/sparse", rootOf(t, dst), "sparse", Options{Progress: func(p Progress) {
		if p.Done < highest {
			t.Errorf("progress falls from %d to %d", highest, p.Done)
		}
		highest, total = p.Done, p.Total
	}})
	if err != nil || r.Resumed != part || r.Bytes != size-part || r.Size != size || highest != size || total != size {
		t.Errorf("%+v, %v; progress %d of %d", r, err, highest, total)
	}
	here, err := os.Open(dst + "/sparse")
	must(t, err)
	defer here.Close()
	for _, off := range []int64{part - 100, size - int64(len(end))} {
		got := make([]byte, len(end))
		if _, err := here.ReadAt(got, off); err != nil || !bytes.Equal(got, end) {
			t.Errorf("at %d: differs, %v", off, err)
		}
	}
	if info, _ := here.Stat(); info.Size() != size {
		t.Errorf("size %d", info.Size())
	}
	// The other way, the same: what is sent behind 4 GiB lands there.
	up := filepath.Join(dst, "up")
	must(t, os.Mkdir(up, 0o755))
	info, err := os.Stat(src + "/sparse")
	must(t, err)
	p = filepath.Join(up, partName("sparse", src+"/sparse", size, info.ModTime().UnixNano()))
	must(t, os.Rename(dst+"/sparse", p))
	must(t, os.Truncate(p, part))
	r, err = f.Put(ctx, rootOf(t, src), "sparse", up+"/sparse", Options{})
	if err != nil || r.Resumed != part-window || r.Size != size {
		t.Errorf("up: %+v, %v", r, err)
	}
	there, err := os.Open(up + "/sparse")
	must(t, err)
	defer there.Close()
	for _, off := range []int64{part - 100, size - int64(len(end))} {
		got := make([]byte, len(end))
		if _, err := there.ReadAt(got, off); err != nil || !bytes.Equal(got, end) {
			t.Errorf("up, at %d: differs, %v", off, err)
		}
	}
}

// frozen is a server that stops answering when told to: its bytes go nowhere.
func frozen(t *testing.T) (f *FS, p *tap, freeze func()) {
	t.Helper()
	f, p = serveTapped(t, exec.Command(sftpServer(t)))
	real, stop := p.r, make(chan struct{})
	_, err := f.Home(testContext(t))
	must(t, err)
	// From here on each read waits for the freeze to be known first.
	hold := &freezer{r: real, stop: stop, gone: f.Done()}
	p.swap(hold)
	var once sync.Once
	return f, p, func() { once.Do(func() { close(stop) }) }
}

// A freezer gives nothing more once it has been stopped.
type freezer struct {
	r          io.Reader
	stop, gone <-chan struct{}
}

func (f *freezer) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	select {
	case <-f.stop:
		<-f.gone
		return 0, io.EOF
	default:
		return n, err
	}
}

// Cancelling works at once, also while the machine says nothing, and leaves
// nothing under the final name.
func TestCancelAtOnce(t *testing.T) {
	src, dst := t.TempDir(), t.TempDir()
	write(t, src+"/big", pattern(64<<20), 0o644)
	for _, up := range []bool{false, true} {
		for _, dead := range []bool{false, true} {
			f, tap, freeze := frozen(t)
			ctx, cancel := context.WithCancel(testContext(t))
			tap.after(20<<20, func() {
				if dead {
					freeze()
				}
				cancel()
			})
			o := Options{}
			var err error
			if up {
				_, err = f.Put(ctx, rootOf(t, src), "big", dst+"/big", o)
			} else {
				_, err = f.Get(ctx, src+"/big", rootOf(t, dst), "big", o)
			}
			wantKind(t, err, viewer.Cancelled, "context canceled")
			must(t, f.Close())
			if _, err := os.Stat(dst + "/big"); err == nil {
				t.Error("a cut file has the final name")
			}
			if left := leftOvers(t, dst); len(left) != 0 && !(up && dead) {
				t.Errorf("up %v, dead %v: left %q", up, dead, left)
			}
			for _, p := range leftOvers(t, dst) {
				must(t, os.Remove(p))
			}
		}
	}
	// Every other call too.
	f, _, freeze := frozen(t)
	freeze()
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	_, err := f.Stat(ctx, src)
	wantKind(t, err, viewer.Cancelled, "context canceled")
	_, _, err = f.All(ctx, src)
	wantKind(t, err, viewer.Cancelled, "context canceled")
	wantKind(t, f.Mkdir(ctx, src+"/x"), viewer.Cancelled, "context canceled")
}

// A shut gate holds a transfer, and opening it lets it go on.
func TestPause(t *testing.T) {
	ctx := testContext(t)
	src, dst := t.TempDir(), t.TempDir()
	b := pattern(64 << 20)
	write(t, src+"/big", b, 0o644)
	f, tap := serveTapped(t, exec.Command(sftpServer(t)))
	gate := &Gate{}
	paused := make(chan Progress, 1)
	tap.after(20<<20, gate.Pause)
	o := Options{Gate: gate, Progress: func(p Progress) {
		if p.Paused {
			paused <- p
		}
	}}
	done := make(chan error, 1)
	go func() {
		_, err := f.Get(ctx, src+"/big", rootOf(t, dst), "big", o)
		done <- err
	}()
	p := <-paused
	if p.Rate != 0 || p.Done == 0 || p.Done >= p.Total {
		t.Errorf("%+v", p)
	}
	size := func() int64 {
		info, err := os.Stat(leftOvers(t, dst)[0])
		must(t, err)
		return info.Size()
	}
	if size() != p.Done {
		t.Errorf("%d bytes are there and %d are told", size(), p.Done)
	}
	gate.Resume()
	must(t, <-done)
	if !bytes.Equal(read(t, dst+"/big"), b) {
		t.Error("the copy differs")
	}
}

// Jobs go on by themselves when the link comes back, ask nothing twice, and
// what is done is not done again.
func TestQueueSurvivesLostLinks(t *testing.T) {
	ctx := testContext(t)
	src, dst := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(src+"/tree/sub", 0o755))
	b := pattern(64 << 20)
	write(t, src+"/big", b, 0o644)
	for _, n := range []string{"a", "b", "sub/c"} {
		write(t, src+"/tree/"+n, b[:24<<20], 0o644)
	}
	must(t, os.Mkdir(dst+"/tree", 0o755))
	write(t, dst+"/tree/a", []byte("old"), 0o644)
	var mu sync.Mutex
	// Each session but the last breaks after so many bytes.
	breaks := []int64{20 << 20, 30 << 20, 56 << 20}
	dials, refused := 0, false
	connect := func(ctx context.Context) (*FS, error) {
		mu.Lock()
		defer mu.Unlock()
		if dials == 1 && !refused { // the machine is not there at first
			refused = true
			return nil, &viewer.Error{Op: "dial", Kind: viewer.Unreachable, Err: errors.New("not there yet")}
		}
		dials++
		f, tap := serveTapped(t, exec.Command(sftpServer(t)))
		if dials <= len(breaks) {
			tap.after(breaks[dials-1], tap.kill)
		}
		return f, nil
	}
	q := NewQueue(connect, QueueOptions{Parallel: 1, Wait: func(int) time.Duration { return time.Millisecond }})
	defer q.Close()
	asked := 0
	var last float64
	tree, err := q.Add(Job{Direction: Download, Remote: src + "/tree", Local: dst + "/tree", Options: Options{
		Exists: func(context.Context, Conflict) (Choice, error) {
			asked++
			return Choice{Do: Replace}, nil
		},
	}})
	must(t, err)
	up, err := q.Add(Job{Direction: Upload, Remote: dst + "/big", Local: src + "/big", Options: Options{Verify: true}})
	must(t, err)
	s, err := q.Wait(ctx, tree)
	if err != nil || s.State != Done || s.Attempt < 3 || asked != 1 || s.Result.Files != 3 {
		t.Errorf("%+v, %v, asked %d", s, err, asked)
	}
	if last = s.Progress.Percent(); last != 100 {
		t.Errorf("ends at %v %%", last)
	}
	s, err = q.Wait(ctx, up)
	if err != nil || s.State != Done || s.Result.Resumed == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, n := range []string{"a", "b", "sub/c"} {
		if !bytes.Equal(read(t, dst+"/tree/"+n), b[:24<<20]) {
			t.Errorf("%s differs", n)
		}
	}
	if !bytes.Equal(read(t, dst+"/big"), b) {
		t.Error("big differs")
	}
	if left := append(leftOvers(t, dst), leftOvers(t, dst+"/tree")...); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

func TestQueue(t *testing.T) {
	ctx := testContext(t)
	src, dst := t.TempDir(), t.TempDir()
	b := pattern(32 << 20)
	var changes atomic.Int64
	q := NewQueue(func(ctx context.Context) (*FS, error) { return openSSH(t), nil },
		QueueOptions{Parallel: 3, Changed: func() { changes.Add(1) }})
	var ids []int
	for i := range 8 {
		n := string(rune('a' + i))
		write(t, src+"/"+n, b, 0o644)
		id, err := q.Add(Job{Direction: Download, Remote: src + "/" + n, Local: dst + "/" + n})
		must(t, err)
		ids = append(ids, id)
	}
	q.Pause()
	for _, j := range q.Jobs() {
		if j.State != Paused && j.State != Done {
			t.Errorf("job %d is %s", j.ID, j.State)
		}
	}
	q.Cancel(ids[7])
	q.Resume()
	for _, id := range ids[:7] {
		s, err := q.Wait(ctx, id)
		if err != nil || s.State != Done {
			t.Errorf("job %d: %s, %v", id, s.State, err)
		}
	}
	s, err := q.Wait(ctx, ids[7])
	if s.State != Cancelled {
		if s.State != Done { // it may have been over before it was cancelled
			t.Errorf("%+v, %v", s, err)
		}
	} else {
		q.Retry(ids[7])
		if s, err = q.Wait(ctx, ids[7]); err != nil || s.State != Done {
			t.Errorf("again: %+v, %v", s, err)
		}
	}
	if p := q.Totals(); p.Percent() != 100 || p.Files != 8 || p.Total != 8*int64(len(b)) {
		t.Errorf("totals %+v", p)
	}
	bad, err := q.Add(Job{Direction: Download, Remote: src + "/none", Local: dst + "/none"})
	must(t, err)
	s, err = q.Wait(ctx, bad)
	wantKind(t, err, viewer.Missing, "no such file or folder")
	if s.State != Failed || s.Attempt != 1 {
		t.Errorf("%+v", s)
	}
	for _, j := range []Job{{Direction: Download, Remote: "x", Local: "relative"}, {Direction: "sideways", Remote: "x", Local: "/x"}, {Direction: Upload, Local: "/x"}} {
		if _, err := q.Add(j); viewer.KindOf(err) != viewer.Invalid {
			t.Errorf("%+v: %v", j, err)
		}
	}
	q.Clear()
	if n := len(q.Jobs()); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	if changes.Load() == 0 {
		t.Error("nothing was told")
	}
	must(t, q.Close())
	if _, err := q.Add(Job{Direction: Download, Remote: "x", Local: "/x"}); viewer.KindOf(err) != viewer.Closed {
		t.Errorf("added to a closed queue: %v", err)
	}
}
