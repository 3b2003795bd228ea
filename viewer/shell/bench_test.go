//go:build unix

package shell

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/sshtest"
)

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// sshArgs are the arguments of OpenSSH's own client for a server of the lab.
func sshArgs(s *sshtest.Server, more ...string) []string {
	return append([]string{"-F", "none", "-i", s.KeyFile, "-o", "IdentitiesOnly=yes", "-o", "UserKnownHostsFile=" + s.KnownHosts(),
		"-o", "LogLevel=ERROR", "-p", strconv.Itoa(s.Port)}, more...)
}

// BenchmarkRunTrue is a command on a session that is open, in pairs with
// OpenSSH's client over a connection that is open.
func BenchmarkRunTrue(b *testing.B) {
	s := start(b)
	l := open(b, driver(s), target(s))
	control := b.TempDir() + "/c"
	args := sshArgs(s, "-S", control, s.User+"@"+s.Host)
	master := exec.Command("ssh", append([]string{"-M", "-N"}, args...)...)
	if err := master.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		exec.Command("ssh", append([]string{"-O", "exit"}, args...)...).Run()
		master.Wait()
	}()
	for exec.Command("ssh", append([]string{"-O", "check"}, args...)...).Run() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		began := time.Now()
		l.run("true")
		ours = append(ours, time.Since(began))
		began = time.Now()
		if err := exec.Command("ssh", append(args, "true")...).Run(); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(began))
	}
	b.ReportMetric(float64(median(ours).Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(median(theirs).Microseconds())/1000, "ms-ssh-median")
}

// BenchmarkConnect is from nothing to the prompt, in pairs with OpenSSH's
// client.
func BenchmarkConnect(b *testing.B) {
	sshtest.Need(b, "ssh", "script")
	s := start(b)
	d := driver(s)
	to := with(target(s), func(set *viewer.SSHSettings) { set.Command = "echo REA''DY; exec cat" })
	args := strings.Join(append([]string{"ssh", "-tt"}, sshArgs(s, s.User+"@"+s.Host, `"echo READY"`)...), " ")
	var ours, theirs []time.Duration
	for b.Loop() {
		began := time.Now()
		l := open(b, d, to)
		l.text("READY")
		ours = append(ours, time.Since(began))
		l.Close()
		began = time.Now()
		out, err := exec.Command("script", "-qec", args, "/dev/null").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "READY") {
			b.Fatalf("%v: %s", err, out)
		}
		theirs = append(theirs, time.Since(began))
	}
	b.ReportMetric(float64(median(ours).Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(median(theirs).Microseconds())/1000, "ms-ssh-median")
}

// BenchmarkOutput is 100 MB through a session into its grid.
func BenchmarkOutput(b *testing.B) {
	s := start(b)
	const total = 100 << 20
	d := driver(s)
	to := with(target(s), func(set *viewer.SSHSettings) {
		set.Command = "yes 'a line of a log that is as long as most of them are, with some words' | head -c " + strconv.Itoa(total) + "; echo; echo EN''D; cat"
	})
	b.SetBytes(total)
	for b.Loop() {
		l := open(b, d, to)
		l.text("END")
		l.Close()
	}
}
