package rect

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"
)

// TypeCoRRE is the registered number of CoRRE.
const TypeCoRRE = 4

// CoRRE is encoding 4: RRE with numbers of one byte. The community's RFB
// document describes it.
type CoRRE struct{ rre }

// NewCoRRE returns the decoder for c.
func NewCoRRE(c *Canvas) *CoRRE { return &CoRRE{rre{c: c, op: "rfb.CoRRE", entry: correEntry}} }

// Type returns 4.
func (*CoRRE) Type() int32 { return TypeCoRRE }

// Read draws one rectangle.
func (d *CoRRE) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	if err := d.read(r); err != nil {
		return nil, err
	}
	return d, nil
}
