package bench

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// cpuSeconds is the user and kernel time that this process has used.
func cpuSeconds() float64 {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(t windows.Filetime) float64 {
		return float64(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) / 1e7
	}
	return ticks(kernel) + ticks(user)
}

// memoryCounters is PROCESS_MEMORY_COUNTERS of psapi.h.
type memoryCounters struct {
	size, pageFaults       uint32
	peakWorkingSet, others uintptr
	rest                   [6]uintptr
}

var getMemoryInfo = windows.NewLazySystemDLL("psapi.dll").NewProc("GetProcessMemoryInfo")

// peakRSS is the largest working set of this process so far, in MiB.
func peakRSS() float64 {
	m := memoryCounters{}
	m.size = uint32(unsafe.Sizeof(m))
	ok, _, _ := syscall.SyscallN(getMemoryInfo.Addr(), uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&m)), uintptr(m.size))
	if ok == 0 {
		return 0
	}
	return float64(m.peakWorkingSet) / (1 << 20)
}
