// Package rect decodes the rectangles of a framebuffer update into a frame,
// one file an encoding. Each is an Encoding of go-vnc.
//
// A decoder first has the bytes it needs in the connection's buffer, then
// locks the frame, draws, marks the damage and unlocks: it never waits for the
// network under the lock. All of them are owned by the goroutine that reads.
//
// Those that are [Queued] read and inflate there, and leave the drawing to a
// [Queue], which does it on a second goroutine.
package rect

import (
	"fmt"

	vnc "github.com/mitchellh/go-vnc"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/frame"
)

// The encodings by their registered numbers (RFC 6143 7.7).
const (
	TypeRaw      = 0
	TypeCopyRect = 1
	TypeHextile  = 5
	TypeZRLE     = 16
)

// bpp is the size of a pixel on the wire: the formats that need another are
// not used.
const bpp = frame.BytesPerPixel

// A Canvas is what rectangles are read from and drawn on. Width and Height are
// the frame's, kept by whoever resizes it.
type Canvas struct {
	Conn          *conn.Conn
	Frame         *frame.Frame
	Width, Height int
	Order         frame.Order // the frame's
	Quality       int         // that was asked for, 1 to 9; 0 for none
	// Queue draws for the encodings that are [Queued]. The others, and whatever
	// else touches the frame, call its Sync first. It is set once; nil draws at
	// once.
	Queue *Queue
}

// A Queued encoding leaves its drawing to the queue of its canvas.
type Queued interface {
	vnc.Encoding
	queued()
}

// put queues a job, or draws it when there is no queue.
func (c *Canvas) put(j *job, head, data []byte) error {
	if c.Queue == nil {
		c.Queue = NewQueue(c.Frame)
	}
	return c.Queue.put(j, head, data)
}

// check refuses a rectangle that reaches out of the picture.
func (c *Canvas) check(r *vnc.Rectangle) error {
	if int(r.X)+int(r.Width) > c.Width || int(r.Y)+int(r.Height) > c.Height {
		return malformed("rfb.Rectangle", "a rectangle of %d x %d at %d,%d reaches out of the screen of %d x %d",
			r.Width, r.Height, r.X, r.Y, c.Width, c.Height)
	}
	return nil
}

func malformed(op, format string, args ...any) error {
	return &viewer.Error{Op: op, Kind: viewer.Malformed, Err: fmt.Errorf(format, args...)}
}
