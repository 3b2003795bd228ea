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
type Quality string

// The qualities.
const (
	QualityAuto     Quality = ""         // follows the connection
	QualityLossless Quality = "lossless" // every pixel as it is
	QualityBest     Quality = "best"     // high: losses that are hard to see
	QualityBalanced Quality = "balanced" // medium
	QualityFast     Quality = "fast"     // low: for slow connections
	QualityGrey     Quality = "grey"     // without colours, where the machine can
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
