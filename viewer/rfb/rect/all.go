package rect

import vnc "github.com/mitchellh/go-vnc"

// All returns a decoder for c of every encoding that this build has.
func All(c *Canvas) []vnc.Encoding {
	tight := NewTight(c)
	return []vnc.Encoding{
		NewRaw(c), NewCopyRect(c), NewHextile(c), NewZRLE(c),
		tight, NewTightPNG(tight),
	}
}
