//go:build !cgo || !openh264

package rect

import vnc "github.com/mitchellh/go-vnc"

// Video are the encodings of this build that are video: none. The build tag
// openh264 adds them.
var Video []int32

func video(*Canvas) []vnc.Encoding { return nil }
