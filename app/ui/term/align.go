package term

import "encoding/binary"

// maxAligned bounds a font file that is read whole.
const maxAligned = 48 << 20

// aligned is the first font of a file, with its tables where they have to
// begin. Some fonts, also common ones, do not keep to that, and the reader of
// fonts refuses them. nil stands for what is no font.
func aligned(b []byte) []byte {
	at := 0
	if len(b) >= 16 && string(b[:4]) == "ttcf" {
		at = int(binary.BigEndian.Uint32(b[12:]))
	}
	if at < 0 || at > len(b)-12 {
		return nil
	}
	n := int(binary.BigEndian.Uint16(b[at+4:]))
	if n == 0 || n > 256 || at+12+16*n > len(b) {
		return nil
	}
	head := b[at : at+12+16*n]
	out := append(make([]byte, 0, len(b)+4*n), head...)
	for i := range n {
		entry := 12 + 16*i
		from, size := uint64(binary.BigEndian.Uint32(head[entry+8:])), uint64(binary.BigEndian.Uint32(head[entry+12:]))
		if from+size > uint64(len(b)) || uint64(len(out))+size > uint64(len(b))*2 {
			return nil
		}
		binary.BigEndian.PutUint32(out[entry+8:], uint32(len(out)))
		out = append(out, b[from:from+size]...)
		for len(out)%4 != 0 {
			out = append(out, 0)
		}
	}
	return out
}
