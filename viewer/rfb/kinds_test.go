package rfb_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// kinds are the encodings that not all machines have, each recorded from one
// that has it. Those of testdata/judged are recorded elsewhere.
var kinds = []struct {
	name     string
	encoding int32
	quality  int
	start    func(testing.TB) *xServer
}{
	{"rre", rect.TypeRRE, 0, func(t testing.TB) *xServer { return startTiger(t, "-SecurityTypes", "None") }},
	{"corre", rect.TypeCoRRE, 0, startTight},
	{"zlib", rect.TypeZlib, 0, startX11VNC},
	{"zlib-tightvnc", rect.TypeZlib, 0, startTight},
	{"tight-jpeg", rect.TypeTight, 8, func(t testing.TB) *xServer { return startTiger(t, "-SecurityTypes", "None") }},
	{"tight-jpeg-x11vnc", rect.TypeTight, 3, startX11VNC}, // it takes every second colour sample only
}

// TestRecordKinds writes testdata/kinds. What is written has to be looked at:
// for the encodings without losses it is the machine's own picture at the end.
func TestRecordKinds(t *testing.T) {
	if !*record {
		t.Skip("runs with -record")
	}
	for _, k := range kinds {
		s := k.start(t)
		var r *recorder
		d := rfb.New(rfb.Options{Encodings: []int32{k.encoding, rect.TypeCopyRect}, Quality: k.quality})
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
		for seed := range uint64(4) {
			scribble(t, s, 200+seed)
			if k.quality > 0 {
				n := l.Frame.Updates()
				l.Until(t, "an update", func() bool { return l.Frame.Updates() > n })
				continue
			}
			want := s.picture(t)
			l.Until(t, "the machine's own picture", func() bool { return same(l, want) })
		}
		used(t, l, k.encoding)
		l.Close()
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
		if err := os.WriteFile(filepath.Join("testdata/kinds", k.name+".rfb.zst"), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The recorded streams end in the pictures that are noted in the index. Those
// without losses are the machines' own: two machines that showed the same agree
// on RRE and Zlib, and libvncclient on what TightVNC sent. With JPEG in it,
// there is one picture of libjpeg-turbo and one of Go's own decoder.
func TestKinds(t *testing.T) {
	index, err := os.ReadFile("testdata/kinds/index.tsv")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(index)), "\n") {
		name, sum, _ := strings.Cut(line, "\t")
		sums[name] = sum
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			data, err := rfbtest.Load(filepath.Join("testdata/kinds", k.name+".rfb.zst"))
			if err != nil {
				t.Fatal(err)
			}
			s := serve(t, rfbtest.Replay(data))
			d := rfb.New(rfb.Options{Encodings: []int32{k.encoding, rect.TypeCopyRect}, Quality: k.quality})
			l := viewertest.Open(t, d, s.Target(), nil)
			l.Session.(viewer.Desktop).Demand(true)
			l.Wait(t)
			if viewer.KindOf(l.Err()) != viewer.Closed {
				t.Errorf("got %v, want an orderly end", l.Err())
			}
			used(t, l, k.encoding)
			want := sums[k.name]
			if k.quality > 0 {
				want = sums[k.name+" "+jpegLibrary]
			}
			if got := fmt.Sprintf("%08x", l.Frame.Checksum()); got != want {
				t.Errorf("got the picture %s, want %s", got, want)
			}
		})
	}
}
