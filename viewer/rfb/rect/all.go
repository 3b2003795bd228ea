package rect

import vnc "github.com/mitchellh/go-vnc"

// All returns a decoder for c of every encoding that this build has.
func All(c *Canvas) []vnc.Encoding {
	zrle, tight := NewZRLE(c), NewTight(c)
	return append([]vnc.Encoding{
		NewRaw(c), NewCopyRect(c), NewHextile(c), zrle, tight,
		NewRRE(c), NewCoRRE(c), NewZlib(c), NewZlibHex(c), NewTRLE(c),
		NewZYWRLE(zrle), NewJPEG(c), NewTightPNG(tight),
	}, video(c)...)
}
