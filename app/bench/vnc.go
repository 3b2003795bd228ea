// Package bench holds the benchmarks of the command line: what a person runs
// to see how fast this build is on this machine.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/rfb/rect"
)

// A VNCResult is what one connection measured.
type VNCResult struct {
	Encoding    string  `json:"encoding"`
	Updates     uint64  `json:"updates"`
	Rects       uint64  `json:"rects"`
	Pixels      uint64  `json:"pixels"`
	Bytes       uint64  `json:"bytes"`
	CPUSeconds  float64 `json:"cpu_s"`
	WallSeconds float64 `json:"wall_s"`
	Rate        float64 `json:"mpix_per_cpu_s"`
	PeakRSS     float64 `json:"peak_rss_mib"`
	FNV1a       string  `json:"fnv1a"`
}

// encodings are the names of --encoding.
var encodings = map[string]int32{"raw": rect.TypeRaw, "hextile": rect.TypeHextile, "zrle": rect.TypeZRLE, "tight": rect.TypeTight}

// VNC returns the command "vnc HOST:PORT": it decodes what a VNC server sends
// until the server closes, and tells what that took.
func VNC() *cobra.Command {
	var encoding string
	var asJSON bool
	names := make([]string, 0, len(encodings))
	for n := range encodings {
		names = append(names, n)
	}
	slices.Sort(names)
	cmd := &cobra.Command{
		Use:   "vnc HOST:PORT",
		Short: "Decode what a VNC server sends until it closes, and tell the cost",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, ok := encodings[encoding]
			if !ok {
				return fmt.Errorf("no encoding is called %q: use one of %s", encoding, strings.Join(names, ", "))
			}
			target, err := viewer.ParseTarget(args[0], viewer.VNC)
			if err != nil {
				return err
			}
			r, err := MeasureVNC(cmd.Context(), target, number)
			if err != nil {
				return err
			}
			r.Encoding = encoding
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(),
				"%s: %d updates, %d rectangles, %.1f Mpixel, %.1f MiB\n%.3f s of CPU, %.3f s of time, %.1f Mpixel per CPU second, peak memory %.1f MiB, picture %s\n",
				r.Encoding, r.Updates, r.Rects, float64(r.Pixels)/1e6, float64(r.Bytes)/(1<<20),
				r.CPUSeconds, r.WallSeconds, r.Rate, r.PeakRSS, r.FNV1a)
			return err
		},
	}
	cmd.Flags().StringVar(&encoding, "encoding", "zrle", "what to ask the server for: "+strings.Join(names, ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// noPassword refuses all questions.
var noPassword = viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
	return viewer.Answer{}, &viewer.Error{Op: "bench", Kind: viewer.Credentials, Err: fmt.Errorf("measure a server without a password")}
})

// MeasureVNC decodes what a server without a password sends, in the encoding
// of that number and CopyRect, until the server closes.
func MeasureVNC(ctx context.Context, target viewer.Target, encoding int32) (VNCResult, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	f := frame.New()
	start, before := time.Now(), cpuSeconds()
	s, err := rfb.New(rfb.Options{Encodings: []int32{encoding, rect.TypeCopyRect}}).Open(ctx, target, viewer.Env{
		Frame: f,
		Emit:  func(viewer.Event) {},
		Ask:   noPassword,
	})
	if err != nil {
		return VNCResult{}, err
	}
	session := s.(*rfb.Session)
	session.Demand(true)
	select {
	case <-session.Done():
	case <-ctx.Done():
		session.Close()
		return VNCResult{}, ctx.Err()
	}
	r := VNCResult{WallSeconds: time.Since(start).Seconds(), CPUSeconds: cpuSeconds() - before, PeakRSS: peakRSS()}
	// The end of the stream is the end of the measurement; another error means
	// that not all of it was decoded.
	if err := session.Err(); viewer.KindOf(err) != viewer.Closed {
		return VNCResult{}, err
	}
	stats := session.Stats()
	r.Updates, r.Rects, r.Pixels, r.Bytes = stats.Updates, stats.Rects, stats.Pixels, stats.Received
	if r.CPUSeconds > 0 {
		r.Rate = float64(r.Pixels) / 1e6 / r.CPUSeconds
	}
	r.FNV1a = fmt.Sprintf("%08x", f.Checksum())
	return r, nil
}
