package rfb

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb/rfbtest"
)

// BenchmarkStreams decodes the recorded streams from memory, and those of the
// folder DESKVNC_STREAMS: reading, inflating and drawing without a network.
func BenchmarkStreams(b *testing.B) { benchmarkStreams(b, true) }

// BenchmarkStreamsUndrawn reads and inflates the same and draws nothing of what
// goes through the queue: all but Raw, Hextile, RRE and their kin.
func BenchmarkStreamsUndrawn(b *testing.B) { benchmarkStreams(b, false) }

// BenchmarkCopy copies 8 MB, the pixels of 1920 x 1080, from one place to
// another: no picture can be drawn faster.
func BenchmarkCopy(b *testing.B) {
	from, to := make([]byte, 1920*1080*4), make([]byte, 1920*1080*4)
	b.SetBytes(int64(len(to)))
	for b.Loop() {
		copy(to, from)
	}
}

func benchmarkStreams(b *testing.B, draw bool) {
	var files []string
	for _, pattern := range []string{"testdata/*.rfb.zst", "testdata/kinds/*.rfb.zst", "testdata/judged/*.rfb.zst"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, list...)
	}
	if dir := os.Getenv("DESKVNC_STREAMS"); dir != "" {
		files = nil
		for _, e := range []string{"raw", "hextile", "zrle", "tight", "tightq8"} {
			files = append(files, filepath.Join(dir, "office-"+e+".rfb.zst"))
		}
	}
	for _, f := range files {
		b.Run(filepath.Base(f), func(b *testing.B) {
			data, err := rfbtest.Load(f)
			if err != nil {
				b.Fatal(err)
			}
			init := 12 + 1 + int(data[12]) + 4 // version, types, result; ServerInit follows
			w, h := int(binary.BigEndian.Uint16(data[init:])), int(binary.BigEndian.Uint16(data[init+2:]))
			data = data[init+24+int(binary.BigEndian.Uint32(data[init+20:])):]
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var pixels uint64
			for b.Loop() {
				s := newSession(conn.New(&memory{b: data}), viewer.Env{Frame: frame.New(), Emit: func(viewer.Event) {}})
				readers := [256]vnc.ServerMessage{}
				for _, m := range s.messages(func(err error) error { return err }) {
					readers[m.Type()] = m
				}
				if err := s.frame.Reset(w, h, frame.BGRX); err != nil {
					b.Fatal(err)
				}
				s.order, s.canvas.Order = frame.BGRX, frame.BGRX
				s.setSize(w, h)
				if !draw {
					s.queue.Start(func() {})
					s.queue.Stop()
				}
				for {
					head, err := s.conn.Peek(1)
					if err != nil {
						break
					}
					m := readers[head[0]]
					if m == nil {
						b.Skip("recorded with another way to log in")
					}
					_ = s.conn.Discard(1)
					if _, err := m.Read(nil, s.conn); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.queue.End(); err != nil {
					b.Fatal(err)
				}
				pixels += s.pixels.Load()
			}
			b.ReportMetric(float64(pixels)/1e6/b.Elapsed().Seconds(), "Mpixel/s")
		})
	}
}
