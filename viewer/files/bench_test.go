//go:build unix

package files

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// benchSize is 1 GiB, moved whole in every round.
const benchSize = 1 << 30

// BenchmarkTransfer moves 1 GiB over a real sshd on loopback, by us and by
// OpenSSH's sftp, with the same cipher, in memory where the system has /dev/shm.
// cpu-s is the processor time of the client alone: of this process, or of sftp
// and its ssh.
func BenchmarkTransfer(b *testing.B) {
	if _, err := exec.LookPath("sftp"); err != nil {
		needed(b, "sftp")
	}
	dir := b.TempDir()
	if d, err := os.MkdirTemp("/dev/shm", "files"); err == nil {
		dir = d
		b.Cleanup(func() { os.RemoveAll(d) })
	}
	write(b, dir+"/src", nil, 0o644)
	src, err := os.OpenFile(dir+"/src", os.O_WRONLY, 0)
	must(b, err)
	piece := pattern(1 << 20)
	for range benchSize >> 20 {
		_, err := src.Write(piece)
		must(b, err)
	}
	must(b, src.Close())
	l := startLab(b)
	root := rootOf(b, dir)
	for _, cipher := range []string{"aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com"} {
		b.Run(cipher+"/down/ours", func(b *testing.B) {
			f := l.open(b, cipher)
			measure(b, syscall.RUSAGE_SELF, dir+"/dst", func() error {
				_, err := f.Get(context.Background(), dir+"/src", root, "dst", Options{})
				return err
			})
		})
		b.Run(cipher+"/down/sftp", func(b *testing.B) {
			measure(b, syscall.RUSAGE_CHILDREN, dir+"/dst", func() error { return l.batch(cipher, "get "+dir+"/src "+dir+"/dst") })
		})
		b.Run(cipher+"/up/ours", func(b *testing.B) {
			f := l.open(b, cipher)
			measure(b, syscall.RUSAGE_SELF, dir+"/dst", func() error {
				_, err := f.Put(context.Background(), root, "src", dir+"/dst", Options{})
				return err
			})
		})
		b.Run(cipher+"/up/sftp", func(b *testing.B) {
			measure(b, syscall.RUSAGE_CHILDREN, dir+"/dst", func() error { return l.batch(cipher, "put "+dir+"/src "+dir+"/dst") })
		})
	}
}

// BenchmarkSmallFiles moves a folder of 2000 files of 1 KiB, by us and by
// OpenSSH's sftp -r.
func BenchmarkSmallFiles(b *testing.B) {
	if _, err := exec.LookPath("sftp"); err != nil {
		needed(b, "sftp")
	}
	dir := b.TempDir()
	for i := range 2000 {
		d := fmt.Sprintf("%s/src/%02d", dir, i/100)
		must(b, os.MkdirAll(d, 0o755))
		write(b, fmt.Sprintf("%s/%04d", d, i), pattern(1024), 0o644)
	}
	l := startLab(b)
	root := rootOf(b, dir)
	const cipher = "aes128-gcm@openssh.com"
	round := func(b *testing.B, who int, move func() error) {
		var cpu time.Duration
		for b.Loop() {
			must(b, os.RemoveAll(dir+"/dst"))
			before := usage(b, who)
			must(b, move())
			cpu += usage(b, who) - before
			if all := names(b, dir+"/dst"); len(all) != 20 {
				b.Fatalf("%d folders came", len(all))
			}
		}
		b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
	}
	b.Run("down/ours", func(b *testing.B) {
		f := l.open(b, cipher)
		round(b, syscall.RUSAGE_SELF, func() error {
			_, err := f.Get(context.Background(), dir+"/src", root, "dst", Options{})
			return err
		})
	})
	b.Run("down/sftp", func(b *testing.B) {
		round(b, syscall.RUSAGE_CHILDREN, func() error { return l.batch(cipher, "get -r "+dir+"/src "+dir+"/dst") })
	})
	b.Run("up/ours", func(b *testing.B) {
		f := l.open(b, cipher)
		round(b, syscall.RUSAGE_SELF, func() error {
			_, err := f.Put(context.Background(), root, "src", dir+"/dst", Options{})
			return err
		})
	})
	b.Run("up/sftp", func(b *testing.B) {
		round(b, syscall.RUSAGE_CHILDREN, func() error { return l.batch(cipher, "put -r "+dir+"/src "+dir+"/dst") })
	})
}

// measure runs one transfer a round and reports throughput and processor time.
func measure(b *testing.B, who int, dst string, move func() error) {
	b.SetBytes(benchSize)
	var cpu time.Duration
	for b.Loop() {
		os.Remove(dst)
		before := usage(b, who)
		must(b, move())
		cpu += usage(b, who) - before
		if info, err := os.Stat(dst); err != nil || info.Size() != benchSize {
			b.Fatalf("%v, %v", info, err)
		}
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
}

func usage(b *testing.B, who int) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(who, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// batch runs OpenSSH's sftp.
func (l *lab) batch(cipher, command string) error {
	cmd := exec.Command("sftp", "-q", "-b", "-", "-F", "none", "-P", l.port, "-i", l.key, "-o", "Ciphers="+cipher,
		"-o", "UserKnownHostsFile="+filepath.Join(l.dir, "known"), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", account()+"@127.0.0.1")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Fprintln(in, command)
	in.Close()
	return cmd.Wait()
}
