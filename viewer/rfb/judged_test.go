package rfb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
	"deskvnc/viewer/rfb/rfbtest"
	"deskvnc/viewer/viewertest"
)

// The streams in testdata/judged end in the picture that libvncclient 0.9.14
// makes of them: wavelets that x11vnc sent at the qualities 5 and 1, TRLE in
// tiles of every type, and Tight with the gradient filter, for which no real
// machine could be found.
func TestJudgedStreams(t *testing.T) {
	index, err := os.ReadFile("testdata/judged/index.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(index)), "\n") {
		var name, want string
		var encoding int32
		var quality int
		if _, err := fmt.Sscan(line, &name, &encoding, &quality, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		t.Run(name, func(t *testing.T) {
			data, err := rfbtest.Load(filepath.Join("testdata/judged", name+".rfb.zst"))
			if err != nil {
				t.Fatal(err)
			}
			s := serve(t, rfbtest.Replay(data))
			d := rfb.New(rfb.Options{Encodings: []int32{encoding, rect.TypeCopyRect}, Quality: quality})
			l := viewertest.Open(t, d, s.Target(), nil)
			l.Session.(viewer.Desktop).Demand(true)
			l.Wait(t)
			if viewer.KindOf(l.Err()) != viewer.Closed {
				t.Errorf("got %v, want an orderly end", l.Err())
			}
			used(t, l, encoding)
			if got := fmt.Sprintf("%08x", l.Frame.Checksum()); got != want {
				t.Errorf("got the picture %s, want %s", got, want)
			}
		})
	}
}
