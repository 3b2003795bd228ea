package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"deskvnc/viewer"
)

const usage = `deskvnc shows machines reached over the network and lets agents work in the
same sessions.

Usage:
  deskvnc [flags] [ADDRESS]

ADDRESS is opened at once: host, host:1 (display 1), host::5901 (port),
[::1]:5901 or vnc://user@host:5901.

Flags:
  --sample               serve a sample desktop and open it
  --sample-size WxH      its size (default 1920x1080)
  --control PORT|auto    let agents connect: on 127.0.0.1:PORT (0 for any free
                         port), or with auto on a socket of this user only
  --control-required     end with an error when that is not possible
  --allow CAP[,CAP]      what agents may do besides: app, clipboard.read, exec,
                         files.write, peers, record, scancode
  --version              print the version and end
  --help                 print this and end

Environment:
  DESKVNC_LIBRARY        the file of the saved machines, in place of the usual one
  DESKVNC_CONTROL        stands for --control when that is not given
  FYNE_SCALE, FYNE_THEME size and look (dark or light) of the window
`

// options are the command line.
type options struct {
	sample          bool
	width, height   int // of the sample; 0 for the default
	control         string
	controlRequired bool
	allow           []string
	version         bool
	target          *viewer.Target
}

// parse reads the command line. The error flag.ErrHelp means that help is
// asked for.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var size, allow string
	f := flag.NewFlagSet("deskvnc", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.BoolVar(&o.sample, "sample", false, "")
	f.StringVar(&size, "sample-size", "", "")
	f.StringVar(&o.control, "control", "", "")
	f.BoolVar(&o.controlRequired, "control-required", false, "")
	f.StringVar(&allow, "allow", "", "")
	f.BoolVar(&o.version, "version", false, "")
	// Flags may follow the address.
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			return o, err
		}
		if args = f.Args(); len(args) == 0 {
			break
		}
		rest, args = append(rest, args[0]), args[1:]
	}
	if o.control == "" {
		o.control = os.Getenv("DESKVNC_CONTROL")
	}
	if size != "" {
		w, h, err := parseSize(size)
		if err != nil {
			return o, err
		}
		o.width, o.height, o.sample = w, h, true
	}
	var err error
	if o.allow, err = checkAllowed(allow); err != nil {
		return o, err
	}
	if o.controlRequired && o.control == "" {
		return o, errors.New("--control-required needs --control PORT or --control auto")
	}
	switch {
	case len(rest) > 1:
		return o, fmt.Errorf("one address can be opened from here, not %d", len(rest))
	case len(rest) == 1:
		t, err := viewer.ParseTarget(rest[0], viewer.VNC)
		if err != nil {
			return o, fmt.Errorf("%q: %s", rest[0], viewer.Reason(err))
		}
		o.target = &t
	}
	return o, nil
}

// parseSize reads 1920x1080.
func parseSize(s string) (w, h int, err error) {
	ws, hs, ok := strings.Cut(strings.ToLower(s), "x")
	if ok {
		w, err = strconv.Atoi(ws)
		if err == nil {
			h, err = strconv.Atoi(hs)
		}
	}
	if !ok || err != nil || w <= 0 || h <= 0 {
		return 0, 0, fmt.Errorf("--sample-size %q is not a size; write for example 1920x1080", s)
	}
	return w, h, nil
}
