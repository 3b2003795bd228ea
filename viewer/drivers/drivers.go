// Package drivers builds the registry of the drivers of this build. Only it
// links them; the mains and tests import it.
package drivers

import (
	"deskvnc/viewer"
	"deskvnc/viewer/rfb"
)

// Registry returns the drivers of this build, by protocol.
func Registry() viewer.Registry {
	return viewer.Registry{
		viewer.VNC: rfb.New(rfb.Options{}),
	}
}
