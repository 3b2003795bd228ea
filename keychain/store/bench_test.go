package store

import (
	"slices"
	"testing"
	"time"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// many is the number of hosts that the measurements are made with.
const many = 10_000

// percentile reports the middle of what f takes, and what 95 in 100 stay
// under.
func percentile(b *testing.B, f func()) {
	var took []time.Duration
	for b.Loop() {
		t := time.Now()
		f()
		took = append(took, time.Since(t))
	}
	slices.Sort(took)
	ms := func(p int) float64 { return float64(took[len(took)*p/100].Microseconds()) / 1000 }
	b.ReportMetric(ms(50), "ms-p50")
	b.ReportMetric(ms(95), "ms-p95")
}

func BenchmarkAdd(b *testing.B) {
	s := newStore(b)
	fill(b, s, many)
	percentile(b, func() {
		if _, err := s.Add(b.Context(), lab("new")); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	s := newStore(b)
	fill(b, s, many)
	h, err := s.Get(b.Context(), "h_77")
	percentile(b, func() {
		if err != nil {
			b.Fatal(err)
		}
		h, err = s.Update(b.Context(), h)
	})
}

func BenchmarkSearch(b *testing.B) {
	s := newStore(b)
	fill(b, s, many)
	for name, text := range map[string]string{
		"one": "machine 07123", "some": "rack77", "none": "nothing of it", "most": "machine", "two": "site3 user7",
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			percentile(b, func() {
				hs, err := s.Search(b.Context(), text)
				if err != nil {
					b.Fatal(err)
				}
				n = len(hs)
			})
			b.ReportMetric(float64(n), "found")
		})
	}
}

func BenchmarkList(b *testing.B) {
	s := newStore(b)
	fill(b, s, many)
	percentile(b, func() {
		if hs, err := s.List(b.Context()); err != nil || len(hs) != many {
			b.Fatal(len(hs), err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	s := newStore(b)
	fill(b, s, many)
	percentile(b, func() {
		o, err := Open(s.path)
		if err != nil {
			b.Fatal(err)
		}
		o.Close()
	})
}

func BenchmarkBackup(b *testing.B) {
	s := newStore(b)
	fill(b, s, many)
	percentile(b, func() {
		if err := s.backup(b.Context(), s.db, backupPath(s.path)); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkConnected(b *testing.B) {
	s := newStore(b)
	fill(b, s, many)
	t := keychain.Host{ID: "h_5", Protocol: viewer.VNC, Address: "x", Port: 5900}.Target()
	percentile(b, func() {
		if err := s.Connected(b.Context(), t); err != nil {
			b.Fatal(err)
		}
	})
}
