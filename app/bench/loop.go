package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // pictures of tools
	_ "image/png"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// A LoopResult is what the agent's loop took on the sample desktop.
type LoopResult struct {
	Width  int         `json:"width"`
	Height int         `json:"height"`
	Steps  []LoopTimes `json:"steps"`
}

// LoopTimes is one kind of step. A step is checked each time it is made; what
// the check takes is not counted.
type LoopTimes struct {
	Name   string  `json:"name"`
	What   string  `json:"what"`
	Count  int     `json:"count"`
	Median float64 `json:"median_ms"`
	P95    float64 `json:"p95_ms"`
	Max    float64 `json:"max_ms"`
	Bytes  int     `json:"result_bytes"` // of the last result
}

// Loop returns the command "loop": how long an agent's calls take on the
// sample desktop, over a real connection to it.
func Loop() *cobra.Command {
	var o LoopOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "loop",
		Short: "Time an agent's calls on the sample desktop: look, click, see the change",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := MeasureLoop(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			return r.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVarP(&o.Count, "count", "n", 200, "how often each call is made, 1 to 100000")
	cmd.Flags().IntVar(&o.Width, "width", sample.DefaultWidth, "of the sample desktop, in pixels")
	cmd.Flags().IntVar(&o.Height, "height", sample.DefaultHeight, "of the sample desktop, in pixels")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (r LoopResult) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "step\tcount\tmedian ms\t95%% ms\tmax ms\tbytes\t  what, on %d x %d\n", r.Width, r.Height)
	for _, s := range r.Steps {
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%d\t  %s\n", s.Name, s.Count, s.Median, s.P95, s.Max, s.Bytes, s.What)
	}
	return t.Flush()
}

// LoopOptions say what to measure on.
type LoopOptions struct {
	Count         int // of each step
	Width, Height int // of the desktop
}

// maxOpens bounds how often the desktop is opened anew.
const maxOpens = 50

// MeasureLoop times the calls of an agent, with engine and plane put together
// as `dvv mcp --sample` does.
func MeasureLoop(ctx context.Context, o LoopOptions) (LoopResult, error) {
	r := LoopResult{Width: o.Width, Height: o.Height}
	if o.Count < 1 || o.Count > 100_000 {
		return r, fmt.Errorf("a count of %d is not possible: use 1 to 100000", o.Count)
	}
	err := measureLoop(ctx, o, func(l *loop) error {
		err := l.run()
		r.Steps = l.steps
		return err
	})
	return r, err
}

// measureLoop runs f with an agent attached to a sample desktop.
func measureLoop(ctx context.Context, o LoopOptions, f func(l *loop) error) (err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	machines, err := sample.Start(sample.Options{Width: o.Width, Height: o.Height})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machines.Close()) }()
	e := engine.New(engine.Config{Drivers: drivers.Registry()})
	defer e.Close()
	p := plane.New(plane.Config{Engine: e, Hosts: sampleHosts{machines}, Version: "bench"})
	defer p.Close()
	g, err := grant.Operator(true, nil, false)
	if err != nil {
		return err
	}
	a, err := p.Attach("bench", g)
	if err != nil {
		return err
	}
	defer a.Close()
	return f(&loop{ctx: ctx, a: a, n: o.Count, w: o.Width, h: o.Height})
}

type sampleHosts struct{ m *sample.Machines }

// Hosts implements [plane.HostSource].
func (s sampleHosts) Hosts() []viewer.Target { return s.m.Targets() }

// A loop makes the calls and keeps the times. It belongs to one goroutine.
type loop struct {
	ctx    context.Context
	a      *plane.Attachment
	n      int
	w, h   int
	limb   string
	clicks int // on the pad so far
	steps  []LoopTimes
	// reading is the time since the step began that went into reading
	// results here, which is no part of what the calls took.
	reading time.Duration
}

// run measures all steps. Times of the first open count; those of a first
// call of each other kind do not, since it finds nothing in the caches.
func (l *loop) run() error {
	if err := l.opens(); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	pad := sample.PadRect(l.w, l.h)
	at := pad.Min.Add(pad.Max).Div(2)
	click := fmt.Sprintf(`{"action":"click","x":%d,"y":%d}`, at.X, at.Y)
	held := false
	for _, s := range []struct {
		name, what string
		do         func() (reply, error)
		check      func(reply) error
	}{
		{"acquire", "dvv_control acquire, or release every other time", func() (reply, error) {
			held = !held
			if held {
				return l.call("dvv_control", `{"action":"acquire"}`)
			}
			return l.call("dvv_control", `{"action":"release"}`)
		}, nil},
		{"status", "dvv_status", l.calls("dvv_status", `{}`), nil},
		{"screen", "dvv_screen, as it is by default", l.calls("dvv_screen", `{}`), l.whole},
		{"full", "dvv_screen at scale 1", l.calls("dvv_screen", `{"scale":1}`), l.whole},
		{"quarter", "dvv_screen at scale 0.25", l.calls("dvv_screen", `{"scale":0.25}`), l.whole},
		{"click", "dvv_click on the pad", func() (reply, error) {
			l.clicks++
			return l.call("dvv_click", click)
		}, nil},
		{"cycle", "dvv_click on the pad, then dvv_screen damage-crop, which shows its new colour", func() (reply, error) {
			l.clicks++
			if r, err := l.call("dvv_click", click); err != nil {
				return r, err
			}
			return l.call("dvv_screen", `{"form":"damage-crop"}`)
		}, l.shows},
		{"type", "dvv_type of 5 letters and 5 times Backspace", l.calls("dvv_type", `{"text":"hello\b\b\b\b\b"}`), nil},
	} {
		if err := l.before(s.name, &held); err != nil {
			return fmt.Errorf("before %s: %w", s.name, err)
		}
		if err := l.measure(s.name, s.what, l.n, s.do, s.check); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// before brings about what a step needs: the wheel, and a fresh look.
func (l *loop) before(step string, held *bool) error {
	switch step {
	case "click", "cycle", "type":
		if !*held {
			if _, err := l.call("dvv_control", `{"action":"acquire"}`); err != nil {
				return err
			}
			*held = true
		}
		// What the clicks before have left is looked at, to the last of it.
		if _, err := l.call("dvv_wait", `{"until":"screen-stable","quietMs":200}`); err != nil {
			return err
		}
		_, err := l.call("dvv_screen", `{}`)
		return err
	}
	return nil
}

// opens measures opening the desktop, from nothing to a whole picture of it.
func (l *loop) opens() error {
	n := min(l.n, maxOpens)
	var opened, seen []time.Duration
	for i := range n {
		if i > 0 {
			if _, err := l.call("dvv_close", fmt.Sprintf(`{"limbId":%q}`, l.limb)); err != nil {
				return err
			}
			l.limb = ""
		}
		l.reading = 0
		start := time.Now()
		r, err := l.call("dvv_open", `{"hostId":"sample","perceive":true}`)
		if err != nil {
			return err
		}
		if l.limb = r.Structured.Limb.ID; l.limb == "" {
			return errors.New("the result names no limb")
		}
		if _, err := l.call("dvv_wait", `{"until":"connected"}`); err != nil {
			return err
		}
		opened = append(opened, time.Since(start)-l.reading)
		r, err = l.call("dvv_screen", `{"scale":1}`)
		if err != nil {
			return err
		}
		seen = append(seen, time.Since(start)-l.reading)
		if err := l.whole(r); err != nil {
			return err
		}
	}
	l.keep("open", "dvv_open of the sample, until dvv_wait says it is connected", opened, 0)
	l.keep("first look", "the same, and dvv_screen at scale 1 of the whole picture", seen, 0)
	return nil
}

// calls is one call without anything else.
func (l *loop) calls(tool, arguments string) func() (reply, error) {
	return func() (reply, error) { return l.call(tool, arguments) }
}

// measure does a step n times, and once before.
func (l *loop) measure(name, what string, n int, do func() (reply, error), check func(reply) error) error {
	times := make([]time.Duration, 0, n)
	size := 0
	for i := range n + 1 {
		l.reading = 0
		start := time.Now()
		r, err := do()
		took := time.Since(start) - l.reading
		if err == nil && check != nil {
			err = check(r)
		}
		if err != nil {
			return err
		}
		if i > 0 {
			times = append(times, took)
		}
		size = r.size
	}
	l.keep(name, what, times, size)
	return nil
}

// keep notes the times of a step.
func (l *loop) keep(name, what string, times []time.Duration, size int) {
	slices.Sort(times)
	ms := func(i int) float64 { return float64(times[i].Nanoseconds()) / 1e6 }
	n := len(times)
	l.steps = append(l.steps, LoopTimes{Name: name, What: what, Count: n, Bytes: size,
		Median: ms(n / 2), P95: ms(min(n*95/100, n-1)), Max: ms(n - 1)})
}

// A reply is a tool's result, as far as it is looked at here.
type reply struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Data []byte `json:"data"` // base64 in the JSON
	} `json:"content"`
	Structured struct {
		Limb struct {
			ID string `json:"limb_id"`
		} `json:"limb"`
		Outcome string `json:"outcome"`
		Settled *bool  `json:"settled"`
		Screen  struct {
			Coverage string `json:"coverage"`
			Image    struct {
				Space struct {
					Region struct{ X, Y, Width, Height int } `json:"region"`
					Scale  float64                           `json:"scale"`
				} `json:"space"`
			} `json:"image"`
		} `json:"screen"`
	} `json:"structuredContent"`
	IsError bool `json:"isError"`

	size int
}

// call makes one call and refuses every result but a success.
func (l *loop) call(tool, arguments string) (reply, error) {
	if err := l.ctx.Err(); err != nil {
		return reply{}, err
	}
	b := l.a.Call(l.ctx, tool, json.RawMessage(arguments))
	defer func(start time.Time) { l.reading += time.Since(start) }(time.Now())
	var r reply
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s: the result is no JSON: %w", tool, err)
	}
	r.size = len(b)
	good := slices.Contains([]string{"", "delivered", "granted", "unheld"}, r.Structured.Outcome)
	if settled := r.Structured.Settled; r.IsError || !good || settled != nil && !*settled {
		text := r.Structured.Outcome
		if len(r.Content) > 0 {
			text, _, _ = strings.Cut(r.Content[0].Text, "\n")
		}
		return r, fmt.Errorf("%s %s: %s", tool, arguments, text)
	}
	return r, nil
}

// picture decodes the picture of a reply.
func (r reply) picture() (image.Image, error) {
	for _, c := range r.Content {
		if c.Type == "image" {
			m, _, err := image.Decode(bytes.NewReader(c.Data))
			return m, err
		}
	}
	return nil, errors.New("the result has no picture")
}

// whole checks that a picture of the whole desktop is complete and shows the
// pad as it is.
func (l *loop) whole(r reply) error {
	if c := r.Structured.Screen.Coverage; c != "complete" {
		return fmt.Errorf("the picture is %s, not complete", c)
	}
	return l.shows(r)
}

// near is how far a sample of a colour may be off: what JPEG does to it.
const near = 6

// shows checks that a picture shows the pad in the colour it has now.
func (l *loop) shows(r reply) error {
	m, err := r.picture()
	if err != nil {
		return err
	}
	s := r.Structured.Screen.Image.Space
	pad := sample.PadRect(l.w, l.h)
	at := pad.Min.Add(pad.Max).Div(2)
	x, y := int((float64(at.X-s.Region.X)+0.5)*s.Scale), int((float64(at.Y-s.Region.Y)+0.5)*s.Scale)
	if !image.Pt(x, y).Add(m.Bounds().Min).In(m.Bounds()) {
		return fmt.Errorf("the picture of %+v does not show the pad", s.Region)
	}
	got := color.RGBAModel.Convert(m.At(m.Bounds().Min.X+x, m.Bounds().Min.Y+y)).(color.RGBA)
	want := sample.PadColor(l.clicks)
	off := func(a, b uint8) bool { return max(a, b)-min(a, b) > near }
	if off(got.R, want.R) || off(got.G, want.G) || off(got.B, want.B) {
		return fmt.Errorf("after %d clicks the pad is %v on the picture, want %v", l.clicks, got, want)
	}
	return nil
}
