package native

import "deskvnc/viewer/rfb/inflate"

// Streams are the zlib streams of a connection. They go on over changes of the
// pixel format, so the decoders of all formats share them.
type Streams struct {
	ZRLE, Zlib *inflate.Reader
	Tight      *[4]inflate.Reader
}

// NewStreams are those of a connection that has begun no stream yet.
func NewStreams() Streams {
	return Streams{ZRLE: &inflate.Reader{}, Zlib: &inflate.Reader{}, Tight: &[4]inflate.Reader{}}
}
