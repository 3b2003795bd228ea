package rfb

// The pseudo-encodings by their registered numbers (RFC 6143 7.8 and the
// community's document).
const (
	typeDesktopSize         = -223
	typeLastRect            = -224
	typeCursor              = -239
	typeDesktopName         = -307
	typeExtendedDesktopSize = -308
)

// pseudoEncodings are told to every machine.
var pseudoEncodings = []int32{typeCursor, typeExtendedDesktopSize, typeDesktopSize, typeLastRect, typeDesktopName}
