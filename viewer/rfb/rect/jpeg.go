package rect

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errPictureSize = fmt.Errorf("it has more than the %d Mpixel that one compressed picture may have", maxPicturePixels>>20)

// The markers of a JPEG (ITU T.81 table B.1).
const (
	jpegSOI  = 0xd8
	jpegEOI  = 0xd9
	jpegSOS  = 0xda
	jpegDQT  = 0xdb
	jpegDHT  = 0xc4
	jpegJPG  = 0xc8
	jpegDAC  = 0xcc
	jpegTEM  = 0x01
	jpegRST0 = 0xd0
)

var errJPEGHeader = errors.New("the JPEG has no frame header")

// checkJPEG refuses a JPEG that is not of w times h pixels, or not in grey or
// three colours, before a decoder allocates what its header says.
func checkJPEG(src []byte, w, h int) error {
	if len(src) < 4 || src[0] != 0xff || src[1] != jpegSOI {
		return errors.New("it is no JPEG")
	}
	for at := 2; at+4 <= len(src); {
		if src[at] != 0xff {
			return errJPEGHeader
		}
		marker := src[at+1]
		if marker == 0xff { // padding
			at++
			continue
		}
		n := int(binary.BigEndian.Uint16(src[at+2:]))
		body := src[at+4:]
		switch {
		case marker == jpegTEM || marker&^7 == jpegRST0:
			at += 2
			continue
		case marker == jpegSOS || marker == jpegEOI || n < 2:
			return errJPEGHeader
		case marker&0xf0 == 0xc0 && marker != jpegDHT && marker != jpegJPG && marker != jpegDAC:
			if len(body) < 6 || n < 8 {
				return errJPEGHeader
			}
			fh, fw := int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
			if fw != w || fh != h {
				return fmt.Errorf("the JPEG is of %d x %d", fw, fh)
			}
			if body[5] != 1 && body[5] != 3 {
				return fmt.Errorf("the JPEG has %d colour components, not 1 or 3", body[5])
			}
			return nil
		}
		at += 2 + n
	}
	return errJPEGHeader
}
