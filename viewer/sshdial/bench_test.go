//go:build unix

package sshdial_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"testing"

	"deskvnc/viewer/sshdial"
	"deskvnc/viewer/sshdial/sshtest"
)

// BenchmarkConnect compares a whole login and one command with those of ssh:
// the same server, key and host key.
func BenchmarkConnect(b *testing.B) {
	s := sshtest.Start(b, sshtest.Options{HostKeys: []string{"ed25519"}})
	c := config(s)
	env := (&person{}).env()
	b.Run("viewer", func(b *testing.B) {
		for b.Loop() {
			client, err := sshdial.Dial(context.Background(), c, env)
			if err != nil {
				b.Fatal(err)
			}
			session, err := client.OpenSession(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			if err := session.Run("true"); err != nil {
				b.Fatal(err)
			}
			client.Close()
		}
	})
	b.Run("login", func(b *testing.B) {
		for b.Loop() {
			client, err := sshdial.Dial(context.Background(), c, env)
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			client.Close()
			b.StartTimer()
		}
	})
	b.Run("ssh", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("ssh", "-F", "none", "-o", "UserKnownHostsFile="+c.KnownHostsFiles[0], "-o", "GlobalKnownHostsFile=none", "-o", "StrictHostKeyChecking=yes",
				"-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes", "-i", s.KeyFile, "-p", fmt.Sprint(s.Port), s.User+"@"+s.Host, "true")
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
	})
}

// BenchmarkTunnel moves bytes from the machine: through a tunnel with
// deadlines, and through the library's own channel.
func BenchmarkTunnel(b *testing.B) {
	s := sshtest.Start(b, sshtest.Options{HostKeys: []string{"ed25519"}})
	client, err := sshdial.Dial(context.Background(), config(s), (&person{}).env())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		zeros := make([]byte, 1<<20)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for err := error(nil); err == nil; {
					_, err = c.Write(zeros)
				}
			}()
		}
	}()
	const piece = 4 << 20
	run := func(name string, dial func() (net.Conn, error)) {
		b.Run(name, func(b *testing.B) {
			c, err := dial()
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			b.SetBytes(piece)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := io.CopyN(io.Discard, c, piece); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("with deadlines", func() (net.Conn, error) {
		return client.DialThrough(context.Background(), "tcp", l.Addr().String())
	})
	run("library", func() (net.Conn, error) { return client.SSH().Dial("tcp", l.Addr().String()) })
}
