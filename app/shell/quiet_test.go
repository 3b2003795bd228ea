package shell

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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
	GiveBack()
	if after := resident(); after+size*9/10 > before {
		t.Errorf("got %d bytes resident of %d, want %d fewer", after, before, size)
	}
	runtime.KeepAlive(&pool)
}

// A holder gives memory back once, after the last call has ended and none has
// followed for a while.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		q := quiet{tell: func() { told.Add(1) }}
		q.begin()
		q.begin()
		q.end()
		time.Sleep(2 * quietAfter)
		synctest.Wait()
		if told.Load() != 0 {
			t.Error("told while a call runs")
		}
		q.end()
		time.Sleep(quietAfter / 2)
		q.begin() // one more
		q.end()
		time.Sleep(quietAfter * 3 / 4)
		synctest.Wait()
		if told.Load() != 0 {
			t.Error("told too early")
		}
		time.Sleep(10 * quietAfter)
		synctest.Wait()
		if told.Load() != 1 {
			t.Errorf("told %d times, want once", told.Load())
		}
		q.begin()
		q.end()
		q.stop()
		time.Sleep(2 * quietAfter)
		if told.Load() != 1 {
			t.Error("told after the end")
		}
	})
}
