package rfb

import (
	"io"

	vnc "github.com/mitchellh/go-vnc"
)

// The pseudo-encodings by their registered numbers (RFC 6143 7.8 and the
// community's document).
const (
	typeDesktopSize         = -223
	typeLastRect            = -224
	typePointerPosition     = -232
	typeCursor              = -239
	typeXCursor             = -240
	typeQEMUPointerMotion   = -257
	typeQEMUExtendedKey     = -258
	typeQEMULEDState        = -261
	typeDesktopName         = -307
	typeExtendedDesktopSize = -308
	typeFence               = -312
	typeContinuousUpdates   = -313
	typeCursorWithAlpha     = -314
	typeMoreButtons         = -316
	typeVMwareCursor        = 0x574d5664
	typeVMwarePosition      = 0x574d5666
	typeVMwareLEDState      = 0x574d5668
	typeExtendedClipboard   = -0x3f5e1a32 // 0xc0a1e5ce
)

// pseudoEncodings are told to every machine, the better forms of one thing
// first: machines take the first or the richest that they know.
var pseudoEncodings = []int32{
	typeCursorWithAlpha, typeVMwareCursor, typeCursor, typeXCursor, typePointerPosition, typeVMwarePosition,
	typeExtendedDesktopSize, typeDesktopSize, typeLastRect, typeDesktopName,
	typeQEMULEDState, typeVMwareLEDState, typeQEMUExtendedKey, typeQEMUPointerMotion,
	typeFence, typeContinuousUpdates, typeExtendedClipboard,
}

// A pseudo is a pseudo-encoding whose rectangles take one function to read.
type pseudo struct {
	number int32
	read   func(r *vnc.Rectangle) error
}

var _ vnc.Encoding = pseudo{}

// Type is the encoding's number.
func (p pseudo) Type() int32 { return p.number }

// Read reads what follows the rectangle's head.
func (p pseudo) Read(_ *vnc.ClientConn, r *vnc.Rectangle, _ io.Reader) (vnc.Encoding, error) {
	return p, p.read(r)
}

// pseudos are the pseudo-encodings that the session itself reads.
func (s *Session) pseudos() []vnc.Encoding {
	return []vnc.Encoding{
		pseudo{typePointerPosition, s.readPosition}, pseudo{typeVMwarePosition, s.readPosition},
		pseudo{typeXCursor, s.readXCursor}, pseudo{typeCursorWithAlpha, s.readAlphaCursor}, pseudo{typeVMwareCursor, s.readVMwareCursor},
		pseudo{typeQEMULEDState, s.readQEMULEDs}, pseudo{typeVMwareLEDState, s.readVMwareLEDs},
		pseudo{typeQEMUExtendedKey, s.extendedKeysOffered}, pseudo{typeQEMUPointerMotion, s.readPointerMotion},
		pseudo{typeMoreButtons, s.moreButtonsOffered},
	}
}
