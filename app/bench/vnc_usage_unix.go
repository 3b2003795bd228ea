//go:build unix

package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// cpuSeconds is the user and system time that this process has used.
func cpuSeconds() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(int64(u.Utime.Sec)+int64(u.Stime.Sec)) + float64(int64(u.Utime.Usec)+int64(u.Stime.Usec))/1e6
}

// peakRSS is the largest resident memory of this process so far, in MiB.
func peakRSS() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	unit := 1024.0 // KiB
	if runtime.GOOS == "darwin" {
		unit = 1 // bytes
	}
	return float64(u.Maxrss) * unit / (1 << 20)
}
