// Command deskvnc is the window: sessions to machines over the network, shared
// by a person and the agents they let in.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"deskvnc/app/deskvnc/early"
)

// version is the program's version; the build may set it.
var version = "0.1.0"

func main() {
	early.End()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case err == flag.ErrHelp:
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "deskvnc: %v\nTry deskvnc --help.\n", err)
		return 2
	case o.version:
		fmt.Fprintln(stdout, "deskvnc", version)
		return 0
	}
	if err := checkDisplay(); err != nil {
		fmt.Fprintf(stderr, "deskvnc: %v\n", err)
		return 1
	}
	if err := show(o, stderr); err != nil {
		fmt.Fprintf(stderr, "deskvnc: %v\n", err)
		return 1
	}
	return 0
}
