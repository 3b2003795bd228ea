package bench

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"deskvnc/viewer/rfb/rfbtest"
)

const testdata = "../../viewer/rfb/testdata/"

// The picture after a recorded stream is the one that its machine had.
func TestVNC(t *testing.T) {
	index, err := os.ReadFile(testdata + "index.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(index)), "\n") {
		encoding, sum, _ := strings.Cut(line, "\t")
		t.Run(encoding, func(t *testing.T) {
			stream, err := rfbtest.Load(testdata + encoding + ".rfb.zst")
			if err != nil {
				t.Fatal(err)
			}
			s, err := rfbtest.Serve(rfbtest.Replay(stream))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd := VNC()
			cmd.SetArgs([]string{s.Target().HostPort(), "--encoding", encoding, "--json"})
			cmd.SetOut(&out)
			if err := cmd.Execute(); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			var r VNCResult
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("%v in %s", err, out.Bytes())
			}
			if r.Encoding != encoding || r.FNV1a != sum || r.Bytes != uint64(len(stream)) || r.Updates == 0 || r.Rects < r.Updates || r.Pixels == 0 {
				t.Errorf("got %+v, want the picture %s of %d bytes", r, sum, len(stream))
			}
		})
	}
}

func TestVNCRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"an unknown encoding": {"127.0.0.1:1", "--encoding", "fax"},
		"no address":          {},
		"a bad address":       {"two words:1"},
	} {
		cmd := VNC()
		cmd.SetArgs(args)
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.Execute(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
