package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/control/socket"
)

// connectVariable stands for --connect.
const connectVariable = "DVV_CONNECT"

// flags are what every verb takes.
type flags struct {
	connect    string
	sample     bool
	sampleSize string
	json       bool
}

func (f *flags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.connect, "connect", "", "drive the running window at `PORT`, HOST:PORT, the path of its socket, or auto (or $"+connectVariable+")")
	fs.BoolVar(&f.sample, "sample", false, "use the sample desktop, to try everything out")
	fs.StringVar(&f.sampleSize, "sample-size", "", "the size of the sample desktop as `WxH` (default 1920x1080)")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
}

// A where says whose sessions a verb is about.
type where struct {
	window        *socket.Address // nil: dvv's own
	from          string          // the flag or variable that named the window
	sample        bool
	width, height int // of the sample; 0 for the usual one
}

// where checks the flags.
func (f *flags) where(cmd *cobra.Command) (where, error) {
	w := where{sample: f.sample}
	if cmd.Flags().Changed("sample-size") {
		var err error
		if w.width, w.height, err = parseSize(f.sampleSize); err != nil {
			return w, badUsage(cmd, "--sample-size: %w", err)
		}
		w.sample = true
	}
	text := f.connect
	switch {
	case cmd.Flags().Changed("connect"):
		w.from = "--connect"
	case os.Getenv(connectVariable) != "":
		if w.sample { // said now, so it wins
			return w, nil
		}
		text, w.from = os.Getenv(connectVariable), connectVariable
	default:
		return w, nil
	}
	if w.sample {
		return w, badUsage(cmd, "--sample is for sessions of dvv's own and cannot go with --connect: the window has its own sample desktop")
	}
	a, err := socket.Parse(text, false)
	if err != nil {
		return w, badUsage(cmd, "%s: %w", w.from, err)
	}
	w.window = &a
	return w, nil
}

// parseSize reads 1920x1080.
func parseSize(s string) (w, h int, err error) {
	ws, hs, ok := strings.Cut(strings.ToLower(s), "x")
	w, werr := strconv.Atoi(ws)
	h, herr := strconv.Atoi(hs)
	if !ok || errors.Join(werr, herr) != nil || w <= 0 || h <= 0 {
		return 0, 0, fmt.Errorf("%q is not a size; write for example 1920x1080", s)
	}
	return w, h, nil
}

// holder is the name of the socket of the holder of these sessions: each sort
// has its own, so that sample desktops, saved machines and windows are never
// taken for one another.
func (w where) holder() string {
	switch {
	case w.window != nil:
		sum := sha256.Sum256([]byte(w.window.String()))
		return "holder-window-" + hex.EncodeToString(sum[:6])
	case w.sample:
		return "holder-sample"
	}
	return "holder"
}

// arguments start the holder of these sessions.
func (w where) arguments() []string {
	switch {
	case w.window != nil:
		return []string{"hold", "--connect", w.window.String()}
	case w.sample && w.width > 0:
		return []string{"hold", "--sample-size", fmt.Sprintf("%dx%d", w.width, w.height)}
	case w.sample:
		return []string{"hold", "--sample"}
	}
	return []string{"hold"}
}

func (w where) String() string {
	switch {
	case w.window != nil:
		return "the holder of the window at " + w.window.String()
	case w.sample:
		return "the holder of the sample desktop"
	}
	return "the holder"
}
