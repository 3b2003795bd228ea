// Package early keeps what libraries log while the program is being
// initialised from being written: the window toolkit complains there about a
// locale of "C", which is nobody's fault. Packages are initialised in the
// order of their paths as far as their imports allow, so this one, which
// imports nothing of the toolkit, comes before it. Main ends it.
package early

import (
	"io"
	"log"
	"os"
)

func init() { log.SetOutput(io.Discard) }

// End has the log written again.
func End() { log.SetOutput(os.Stderr) }
