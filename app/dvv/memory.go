package main

import (
	"runtime"
	"runtime/debug"
)

// giveBack returns the memory that calls have left behind to the system: a
// picture takes several times its own size while it is made. It takes two
// collections, since what lies in pools outlives the first.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
}
