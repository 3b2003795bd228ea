package bench

import (
	"bytes"
	"encoding/json"
	"image/color"
	"io"
	"strings"
	"testing"

	"deskvnc/viewer/rfb/rfbtest"
)

// still serves one picture and then nothing, until the client goes.
func still(c *rfbtest.Conn) error {
	if err := c.Hello(rfbtest.Init{Width: 40, Height: 30}); err != nil {
		return err
	}
	if _, err := c.Until(rfbtest.UpdateRequest); err != nil {
		return err
	}
	picture := rfbtest.Fill(40*30, color.RGBA{1, 2, 3, 0xff})
	if err := c.Send(rfbtest.Update(rfbtest.Rect(0, 0, 40, 30, 0, picture...))); err != nil {
		return err
	}
	return c.Drain()
}

func TestVNCIdle(t *testing.T) {
	s, err := rfbtest.Serve(still)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"--json=true", "--json=false"} {
		var out bytes.Buffer
		cmd := VNCIdle()
		cmd.SetArgs([]string{s.Target().HostPort(), "--for", "30ms", form})
		cmd.SetOut(&out)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		if form == "--json=false" {
			if !strings.Contains(out.String(), "40 x 30") {
				t.Errorf("got %q", out.String())
			}
			continue
		}
		var r IdleResult
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v in %s", err, out.Bytes())
		}
		if r.Width != 40 || r.Height != 30 || r.Seconds < 0.03 || r.Updates != 0 {
			t.Errorf("got %+v", r)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestVNCIdleRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"no time":         {"127.0.0.1:1", "--for", "0s"},
		"too long a time": {"127.0.0.1:1", "--for", "2h"},
		"no server":       {"127.0.0.1::1", "--for", "1s"},
		"no address":      {},
	} {
		cmd := VNCIdle()
		cmd.SetArgs(args)
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.Execute(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
