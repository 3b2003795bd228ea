package rfb

import (
	"fmt"
	"slices"
	"strings"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/rect"
)

// An encodingName is what a person calls an encoding.
type encodingName struct {
	name   string
	number int32
}

// encodingNames are the encodings that may be asked for by name, those that
// are usually best first.
var encodingNames = append([]encodingName{
	{"tight", rect.TypeTight}, {"zrle", rect.TypeZRLE}, {"trle", rect.TypeTRLE}, {"hextile", rect.TypeHextile},
	{"zlib", rect.TypeZlib}, {"tightpng", rect.TypeTightPNG}, {"zlibhex", rect.TypeZlibHex}, {"corre", rect.TypeCoRRE},
	{"rre", rect.TypeRRE}, {"copyrect", rect.TypeCopyRect}, {"raw", rect.TypeRaw}, {"zywrle", rect.TypeZYWRLE}, {"jpeg", rect.TypeJPEG},
}, videoNames()...)

func videoNames() (list []encodingName) {
	for _, n := range rect.Video {
		list = append(list, encodingName{"h264", n})
	}
	return list
}

// EncodingNames are the names of the encodings that [viewer.Picture] may have.
func EncodingNames() []string {
	list := make([]string, len(encodingNames))
	for i, e := range encodingNames {
		list[i] = e.name
	}
	return list
}

// EncodingName is what a person calls an encoding; its number when it has no
// name.
func EncodingName(number int32) string {
	for _, e := range encodingNames {
		if e.number == number {
			return e.name
		}
	}
	return fmt.Sprint(number)
}

// ParseEncodings reads names of encodings, separated by commas, in the order
// in which they are to be asked for. An empty list has none.
func ParseEncodings(text string) ([]int32, error) {
	var list []int32
	for name := range strings.SplitSeq(text, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		i := slices.IndexFunc(encodingNames, func(e encodingName) bool { return e.name == name })
		if i < 0 {
			return nil, &viewer.Error{Op: "rfb.Encodings", Kind: viewer.Invalid,
				Err: fmt.Errorf("%.40q is not the name of an encoding: use some of %s", name, strings.Join(EncodingNames(), ", "))}
		}
		if n := encodingNames[i].number; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, nil
}
