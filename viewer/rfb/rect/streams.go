package rect

import "deskvnc/viewer/rfb/inflate"

// The zlib streams of a connection go on when the pixel format changes:
// decoders of other formats read on in those of the decoders here.

// Stream is the zlib stream of ZRLE and ZYWRLE.
func (d *ZRLE) Stream() *inflate.Reader { return &d.z }

// Stream is the zlib stream of Zlib.
func (d *Zlib) Stream() *inflate.Reader { return &d.z }

// Streams are the four zlib streams of Tight and TightPNG.
func (d *Tight) Streams() *[4]inflate.Reader { return &d.z }
