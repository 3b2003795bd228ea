package rfb

import (
	"encoding/binary"
	"fmt"
	"io"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
)

// maxTitleBytes bounds a name that is reported: it becomes a title.
const maxTitleBytes = 128

// nameOf makes a title of a machine's name for itself.
func nameOf(b []byte) string { return cleanText(b, maxTitleBytes) }

// desktopName is the pseudo-encoding -307 of the community's document: another
// name.
type desktopName struct{ s *Session }

// Type returns -307.
func (*desktopName) Type() int32 { return typeDesktopName }

// Read reads a name and reports it.
func (d *desktopName) Read(*vnc.ClientConn, *vnc.Rectangle, io.Reader) (vnc.Encoding, error) {
	c := d.s.conn
	b, err := c.Peek(4)
	if err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(b)
	if n > maxNameClaim {
		return nil, &viewer.Error{Op: "rfb.DesktopName", Kind: viewer.Limit,
			Err: fmt.Errorf("a desktop name of %d bytes is more than the %d that are read", n, maxNameClaim)}
	}
	kept := int(min(n, keptBytes))
	if b, err = c.Peek(4 + kept); err != nil {
		return nil, err
	}
	name := nameOf(b[4:])
	if err := c.Discard(4 + int(n)); err != nil {
		return nil, err
	}
	d.s.emit(viewer.Named{Name: name})
	return d, nil
}
