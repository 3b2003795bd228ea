package viewer

// A Picture says how a machine is asked for its picture. The zero value is
// right for most: as good as the connection carries, in full colours.
type Picture struct {
	Quality Quality
	Colors  Colors
	// Encodings are the names of encodings in the order they are asked for, such
	// as "tight" or "zrle", separated by commas; empty for the driver's own
	// order.
	Encodings string
}

// EncodingNames are the encodings of VNC that can be asked for by name, those
// that are usually best first. Not every build knows all of them.
var EncodingNames = []string{
	"tight", "zrle", "trle", "hextile", "zlib", "tightpng", "zlibhex", "corre", "rre", "copyrect", "raw", "zywrle", "jpeg", "h264",
}

// Quality is the balance between a true picture and a quick one.
//
// Auto follows the speed of the connection, and our own time for decoding: JPEG
// quality, compression and colours come down at once and go up slowly, and a
// picture with losses that has stood still for a second is asked for once more
// without. The others stay as they are, and ask for nothing twice: who chose
// few bytes does not want all of them later. Machines may refresh by
// themselves.
type Quality string

// The qualities.
const (
	// QualityAuto follows the connection.
	QualityAuto Quality = ""
	// QualityLossless is every pixel as it is, however long that takes.
	QualityLossless Quality = "lossless"
	// QualityBest is high: JPEG at quality 9 and little compression, losses that
	// are hard to see.
	QualityBest Quality = "best"
	// QualityBalanced is medium: JPEG at quality 6.
	QualityBalanced Quality = "balanced"
	// QualityFast is low, for slow connections: JPEG at quality 2, much
	// compression; from machines without JPEG 16-bit colours.
	QualityFast Quality = "fast"
	// QualityGrey is JPEG in shades of grey. Machines that have JPEG and do not
	// know of grey send colours; those without JPEG send 8-bit colours.
	QualityGrey Quality = "grey"
)

// Qualities are all of them, in the order they are shown.
var Qualities = []Quality{QualityAuto, QualityLossless, QualityBest, QualityBalanced, QualityFast, QualityGrey}

// Colors is the pixel format that the machine is asked for.
type Colors string

// The colours.
const (
	ColorsFull   Colors = ""       // 24 bits
	ColorsHigh   Colors = "high"   // 16 bits
	ColorsLow    Colors = "low"    // 8 bits
	ColorsServer Colors = "server" // whatever the machine sends by itself, for those that know no other
)

// AllColors are all of them, in the order they are shown.
var AllColors = []Colors{ColorsFull, ColorsHigh, ColorsLow, ColorsServer}

// A Tuner is a Session whose picture can be asked for in another way while it
// lives.
type Tuner interface {
	// Tune changes how pixels are asked for from now on. An unknown word gives an
	// error of Kind Invalid that lists the known ones, and changes nothing.
	Tune(p Picture) error
	// Tuned is how they are asked for.
	Tuned() Picture
}
