package rfb

import (
	"encoding/binary"
	"image"
)

// The client messages by their numbers (RFC 6143 7.5, and the community's
// document from 150 on).
const (
	msgSetPixelFormat    = 0
	msgSetEncodings      = 2
	msgUpdateRequest     = 3
	msgKeyEvent          = 4
	msgPointerEvent      = 5
	msgClientCutText     = 6
	msgContinuousUpdates = 150 // from a machine: EndOfContinuousUpdates
	msgFence             = 248
	msgSetDesktopSize    = 251
	msgQEMU              = 255
)

// appendSetEncodings lists the encodings in order of preference (7.5.2).
func appendSetEncodings(b []byte, encodings []int32) []byte {
	b = append(b, msgSetEncodings, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(len(encodings)))
	for _, e := range encodings {
		b = binary.BigEndian.AppendUint32(b, uint32(e))
	}
	return b
}

// appendUpdateRequest asks for the whole screen, or for its changes (7.5.3).
func appendUpdateRequest(b []byte, incremental bool, w, h int) []byte {
	b = append(b, msgUpdateRequest, flag(incremental), 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(w))
	return binary.BigEndian.AppendUint16(b, uint16(h))
}

// appendAreaRequest asks for all of an area (7.5.3).
func appendAreaRequest(b []byte, r image.Rectangle) []byte {
	b = append(b, msgUpdateRequest, 0)
	for _, v := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

// appendKey presses or releases a key by its keysym (7.5.4).
func appendKey(b []byte, down bool, sym uint32) []byte {
	b = append(b, msgKeyEvent, flag(down), 0, 0)
	return binary.BigEndian.AppendUint32(b, sym)
}

// appendPointer moves the pointer with the given buttons held (7.5.5).
func appendPointer(b []byte, mask uint8, x, y uint16) []byte {
	b = append(b, msgPointerEvent, mask)
	b = binary.BigEndian.AppendUint16(b, x)
	return binary.BigEndian.AppendUint16(b, y)
}

// appendMoreButtons is a PointerEvent with buttons 8 and up in a byte of
// their own; bit 7 of the mask says that it is there (community document,
// ExtendedMouseButtons).
func appendMoreButtons(b []byte, mask, x, y uint16) []byte {
	b = appendPointer(b, uint8(mask&0x7f|0x80), x, y)
	return append(b, uint8(mask>>7))
}

// appendExtendedKey presses or releases a key by its scan code, with the
// keysym beside it (community document, QEMU Extended Key Event). A code that
// begins with E0 is its second byte with the top bit set.
func appendExtendedKey(b []byte, down bool, sym uint32, scan uint16) []byte {
	code := uint32(scan)
	if scan>>8 == 0xe0 {
		code = uint32(scan&0x7f | 0x80)
	}
	b = append(b, msgQEMU, 0, 0, flag(down)) // 0: the extended key event
	b = binary.BigEndian.AppendUint32(b, sym)
	return binary.BigEndian.AppendUint32(b, code)
}

// appendCutText puts Latin-1 text on the machine's clipboard (7.5.6).
func appendCutText(b []byte, latin1 []byte) []byte {
	b = append(b, msgClientCutText, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(latin1)))
	return append(b, latin1...)
}

// appendSetDesktopSize asks for a screen of one monitor (community document,
// SetDesktopSize). The monitor's id and flags are the machine's own.
func appendSetDesktopSize(b []byte, w, h int, id, flags uint32) []byte {
	b = append(b, msgSetDesktopSize, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(w))
	b = binary.BigEndian.AppendUint16(b, uint16(h))
	b = append(b, 1, 0) // number of screens, padding
	b = binary.BigEndian.AppendUint32(b, id)
	b = append(b, 0, 0, 0, 0) // x, y
	b = binary.BigEndian.AppendUint16(b, uint16(w))
	b = binary.BigEndian.AppendUint16(b, uint16(h))
	return binary.BigEndian.AppendUint32(b, flags)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
