package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"deskvnc/viewer"
	"deskvnc/viewer/frame"
	"deskvnc/viewer/rfb"
)

// An IdleResult is what one session costs that somebody looks at while nothing
// happens.
type IdleResult struct {
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_s"`
	Share   float64 `json:"core_percent"`
	Updates uint64  `json:"updates"`
	Sent    uint64  `json:"sent_bytes"`
	Memory  float64 `json:"go_memory_mib"` // more than before the session
}

// VNCIdle returns the command "vnc-idle HOST:PORT": what a session costs that
// shows a screen on which nothing changes.
func VNCIdle() *cobra.Command {
	var length time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "vnc-idle HOST:PORT",
		Short: "Look at a VNC server for a while, and tell what that costs",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := viewer.ParseTarget(args[0], viewer.VNC)
			if err != nil {
				return err
			}
			if length <= 0 || length > time.Hour {
				return fmt.Errorf("%v is not a time to measure for: use up to 1h", length)
			}
			r, err := MeasureVNCIdle(cmd.Context(), target, length)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d x %d for %.0f s: %.3f s of CPU, %.3f %% of a core, %d updates, %d bytes sent, %.1f MiB of memory\n",
				r.Width, r.Height, r.Seconds, r.CPU, r.Share, r.Updates, r.Sent, r.Memory)
			return err
		},
	}
	cmd.Flags().DurationVar(&length, "for", time.Minute, "how long to look, up to 1h")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// MeasureVNCIdle looks at a server without a password for some time, from when
// its whole picture is there.
func MeasureVNCIdle(ctx context.Context, target viewer.Target, length time.Duration) (IdleResult, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	before := goMemory()
	f := frame.New()
	s, err := rfb.New(rfb.Options{}).Open(ctx, target, viewer.Env{Frame: f, Emit: func(viewer.Event) {}, Ask: noPassword})
	if err != nil {
		return IdleResult{}, err
	}
	defer s.Close()
	session := s.(*rfb.Session)
	seen := f.Reader()
	defer seen.Close()
	session.Demand(true)
	ended := func() error {
		if err := session.Err(); err != nil {
			return err
		}
		return errors.New("the session ended while it was measured")
	}
	for !f.Whole(image.Rectangle{}) {
		select {
		case <-seen.Wake():
		case <-session.Done():
			return IdleResult{}, ended()
		case <-ctx.Done():
			return IdleResult{}, ctx.Err()
		}
	}
	memory := goMemory() - before
	start, cpu, updates, sent := time.Now(), cpuSeconds(), f.Updates(), session.Stats().Sent
	end := time.NewTimer(length)
	defer end.Stop()
	select {
	case <-end.C:
	case <-session.Done():
		return IdleResult{}, ended()
	case <-ctx.Done():
		return IdleResult{}, ctx.Err()
	}
	r := IdleResult{Seconds: time.Since(start).Seconds(), CPU: cpuSeconds() - cpu, Memory: memory,
		Updates: f.Updates() - updates, Sent: session.Stats().Sent - sent}
	r.Width, r.Height = f.Size()
	r.Share = r.CPU / r.Seconds * 100
	return r, nil
}

// goMemory is what the runtime has from the system and uses, in MiB.
func goMemory() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
}
