package main

import (
	"runtime"
	"sync"
	"testing"
)

// Not even what lies in a pool stays resident.
func TestGiveBack(t *testing.T) {
	const size = 64 << 20
	resident := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapSys - m.HeapReleased
	}
	pool := sync.Pool{New: func() any { return new([size]byte) }}
	b := pool.Get().(*[size]byte)
	for i := 0; i < size; i += 4096 {
		b[i] = 1
	}
	before := resident()
	pool.Put(b)
	b = nil
	giveBack()
	if after := resident(); after+size*9/10 > before {
		t.Errorf("got %d bytes resident of %d, want %d fewer", after, before, size)
	}
	runtime.KeepAlive(&pool)
}
