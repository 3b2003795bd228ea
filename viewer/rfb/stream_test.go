package rfb_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"image"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

var record = flag.Bool("record", false, "record the streams in testdata from Xtigervnc anew")

// recorder keeps what is read from a connection.
type recorder struct {
	net.Conn
	mu  sync.Mutex // guards below
	got bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.mu.Lock()
	r.got.Write(p[:n])
	r.mu.Unlock()
	return n, err
}

// sum is the FNV-1a sum of red, green and blue of every pixel.
func sum(img *image.RGBA) string {
	h := fnv.New32a()
	for i := 0; i < len(img.Pix); i += 4 {
		_, _ = h.Write(img.Pix[i : i+3]) // a hash takes everything
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// TestRecord writes testdata/*.rfb.zst and the sums of the pictures that the
// X server itself had at their ends.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("runs with -record")
	}
	s := startTiger(t, "-SecurityTypes", "None")
	index := ""
	for _, e := range pictureEncodings {
		var r *recorder
		d := rfb.New(rfb.Options{Encodings: []int32{e.number, rect.TypeCopyRect}})
		l, err := viewertest.TryOpen(t, d, s.target(), nil, func(ctx context.Context, network, address string) (net.Conn, error) {
			var nd net.Dialer
			c, err := nd.DialContext(ctx, network, address)
			r = &recorder{Conn: c}
			return r, err
		})
		if err != nil {
			t.Fatal(err)
		}
		l.Look(t)
		for seed := range uint64(3) {
			scribble(t, s, 100+seed)
			want := s.picture(t)
			l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
		}
		l.Close()
		index += e.name + "\t" + sum(s.picture(t)) + "\n"
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(r.got.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/"+e.name+".rfb.zst", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("testdata/index.tsv", []byte(index), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stream is a recorded stream and the sum of its last picture.
type stream struct {
	name, file, sum string
	encoding        int32
}

// streams are the recorded ones, and those of the folder DESKVNC_STREAMS.
func streams(t testing.TB) []stream {
	t.Helper()
	var list []stream
	add := func(index, pattern string, column int) {
		b, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(b), "\n") {
			for _, e := range pictureEncodings {
				if f := strings.Split(line, "\t"); f[0] == fmt.Sprintf(pattern, e.name) {
					name := strings.TrimSuffix(f[0], ".rfb.zst")
					list = append(list, stream{name, filepath.Join(filepath.Dir(index), name+".rfb.zst"), f[column], e.number})
				}
			}
		}
	}
	add("testdata/index.tsv", "%s", 1)
	if dir := os.Getenv("DESKVNC_STREAMS"); dir != "" {
		add(filepath.Join(dir, "index.tsv"), "office-%s.rfb.zst", 7)
	}
	if len(list) < len(pictureEncodings) {
		t.Fatalf("%d streams are recorded", len(list))
	}
	return list
}

// replay decodes a stream to its end.
func replay(t testing.TB, data []byte, encoding int32) *viewertest.Live {
	t.Helper()
	s := serve(t, rfbtest.Replay(data))
	l := viewertest.Open(t, rfb.New(rfb.Options{Encodings: []int32{encoding, rect.TypeCopyRect}}), s.Target(), nil)
	l.Session.(viewer.Desktop).Demand(true)
	l.Wait(t)
	return l
}

func TestStreams(t *testing.T) {
	for _, s := range streams(t) {
		t.Run(s.name, func(t *testing.T) {
			data, err := rfbtest.Load(s.file)
			if err != nil {
				t.Fatal(err)
			}
			l := replay(t, data, s.encoding)
			if viewer.KindOf(l.Err()) != viewer.Closed {
				t.Errorf("got %v, want an orderly end", l.Err())
			}
			if got := fmt.Sprintf("%08x", l.Frame.Checksum()); got != s.sum {
				t.Errorf("got the picture %s, want %s", got, s.sum)
			}
		})
	}
}

// A stream that is cut anywhere ends the session in an orderly way.
func TestStreamsCutAnywhere(t *testing.T) {
	for _, s := range streams(t)[:len(pictureEncodings)] {
		t.Run(s.name, func(t *testing.T) {
			data, err := rfbtest.Load(s.file)
			if err != nil {
				t.Fatal(err)
			}
			const hello = 12 + 2 + 4 + 24 + 16 // within the handshake the test server cannot cut
			var place atomic.Int64
			server := serve(t, func(c *rfbtest.Conn) error {
				at := int(place.Load())
				reset := at%2 == 1
				err := cut(c, data, at, reset)
				if reset {
					if t, ok := c.Conn.(*net.TCPConn); ok {
						_ = t.SetLinger(0)
					}
				}
				return err
			})
			d := rfb.New(rfb.Options{Encodings: []int32{s.encoding, rect.TypeCopyRect}})
			n := 200
			if testing.Short() {
				n = 50
			}
			for i := range n {
				// Close together at first, over the whole stream after that.
				at := hello + i
				if i > n/2 {
					at = hello + (len(data)-hello)/n*i + i%7
				}
				place.Store(int64(at))
				l, err := viewertest.TryOpen(t, d, server.Target(), nil, nil)
				if err != nil {
					if viewer.KindOf(err) != viewer.Closed {
						t.Fatalf("cut at %d: %v", at, err)
					}
					continue
				}
				l.Session.(viewer.Desktop).Demand(true)
				l.Wait(t)
				if viewer.KindOf(l.Err()) != viewer.Closed {
					t.Fatalf("cut at %d: got %v, want the kind %q", at, l.Err(), viewer.Closed)
				}
				l.Close()
			}
		})
	}
}

// cut replays a stream up to a byte.
func cut(c *rfbtest.Conn, data []byte, at int, reset bool) error {
	at = min(at, len(data))
	for _, step := range []struct{ from, to, read int }{{0, 12, 12}, {12, 14, 1}, {14, 18, 1}} {
		if err := c.Send(data[step.from:step.to]); err != nil {
			return err
		}
		if _, err := c.Expect(step.read); err != nil {
			return err
		}
	}
	_, _ = c.Write(data[18:at]) // a client may have gone
	if reset {
		return nil
	}
	if t, ok := c.Conn.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
	return c.Drain()
}
