package rfb

import "encoding/binary"

// The client messages by their numbers (RFC 6143 7.5; 251 is SetDesktopSize
// of the community's document).
const (
	msgSetEncodings   = 2
	msgUpdateRequest  = 3
	msgKeyEvent       = 4
	msgPointerEvent   = 5
	msgClientCutText  = 6
	msgSetDesktopSize = 251
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
