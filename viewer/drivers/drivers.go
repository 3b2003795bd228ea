// Package drivers builds the registry of the drivers of this build. Only it
// links them; the mains and tests import it.
package drivers

import (
	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
	"deskvnc/viewer/shell"
	"deskvnc/viewer/trust"
)

// Registry returns the drivers of this build, by protocol. What is trusted
// once is trusted until the program ends.
func Registry() viewer.Registry { return Judged(&trust.Judge{}) }

// Judged returns the drivers of this build with one judge of certificates and
// keys for all of them.
func Judged(j *trust.Judge) viewer.Registry {
	return viewer.Registry{
		viewer.VNC: rfb.New(rfb.Options{Judge: j}),
		viewer.SSH: shell.New(shell.Options{}),
	}
}
