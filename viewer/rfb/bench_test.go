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
func BenchmarkStreams(b *testing.B) {
	files, err := filepath.Glob("testdata/*.rfb.zst")
	if err != nil {
		b.Fatal(err)
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
			const init = 12 + 2 + 4 // ServerInit follows these
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
				for {
					head, err := s.conn.Peek(1)
					if err != nil {
						break
					}
					m := readers[head[0]]
					_ = s.conn.Discard(1)
					if _, err := m.Read(nil, s.conn); err != nil {
						b.Fatal(err)
					}
				}
				pixels += s.pixels.Load()
			}
			b.ReportMetric(float64(pixels)/1e6/b.Elapsed().Seconds(), "Mpixel/s")
		})
	}
}
