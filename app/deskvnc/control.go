package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"deskvnc/control/door"
	"deskvnc/control/socket"
)

// checkAllowed reads the value of --allow.
func checkAllowed(text string) ([]string, error) {
	var out []string
	for c := range strings.SplitSeq(text, ",") {
		if c = strings.TrimSpace(c); c == "" {
			continue
		}
		if !slices.Contains(door.Ticked(), c) {
			sorted := door.Ticked()
			slices.Sort(sorted)
			return nil, fmt.Errorf("--allow %s: allow one or more of %s", c, strings.Join(sorted, ", "))
		}
		out = append(out, c)
	}
	return out, nil
}

// settings is where the door keeps what a person allows; nil without a library.
func (s *saved) settings() door.Settings {
	if s.library == nil {
		return nil
	}
	return s.library.Store()
}

// letAgentsIn opens the door where the options say, or where a person left it
// open. What goes wrong is shown in the window; it is an error only when the
// control socket is required.
func letAgentsIn(d *door.Door, o options, stderr io.Writer) error {
	var err error
	switch {
	case o.control != "":
		err = d.Open(o.control)
	case d.Remembered():
		err = d.Open(socket.Auto)
	default:
		return nil
	}
	switch {
	case err == nil:
		fmt.Fprintf(stderr, "deskvnc: agents connect to %s\n", d.State().Where)
	case o.controlRequired:
		return err
	default:
		fmt.Fprintf(stderr, "deskvnc: %v; running without\n", err)
	}
	return nil
}
