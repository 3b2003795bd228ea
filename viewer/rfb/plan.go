package rfb

import (
	"fmt"
	"slices"
	"strings"

	"deskvnc/viewer"
	"deskvnc/viewer/rfb/rect"
)

// The pseudo-encodings of the levels 0, from which they count upwards.
const (
	qualityLevel0     = -32
	compressionLevel0 = -256
	// fineQuality0 is TurboVNC's quality of JPEG from 0 to 100, and
	// subsamplingGrey its pictures without colours (community document, JPEG
	// Fine-Grained Quality Level and JPEG Subsampling Level).
	fineQuality0    = -512
	subsamplingGrey = -765
)

// preference is the order in which encodings are asked for: Tight costs the
// least for a pixel, and alone has JPEG everywhere.
var preference = []int32{
	rect.TypeTight, rect.TypeZRLE, rect.TypeTRLE, rect.TypeHextile, rect.TypeZlib, rect.TypeTightPNG,
	rect.TypeZlibHex, rect.TypeCoRRE, rect.TypeRRE, rect.TypeCopyRect, rect.TypeRaw,
}

// lossy are the encodings that always lose something. They are asked for, after
// all others, with a quality only.
var lossy = []int32{rect.TypeZYWRLE, rect.TypeJPEG}

// losing are all encodings that lose something whatever the quality.
var losing = slices.Concat(lossy, rect.Video)

// A levels is how much a picture may lose, and how hard it is compressed.
type levels struct {
	quality     int // of JPEG, 1 to 9; 0 for a picture without losses
	compression int // 1 to 9; 0 leaves it to the machine
	grey        bool
	colours     viewer.Colors // full, high or low
}

// numbers are the pseudo-encodings that say so. Compression level 0, which some
// machines take for no compression at all, is never asked for.
func (l levels) numbers() []int32 {
	var list []int32
	if l.quality > 0 {
		list = append(list, qualityLevel0+int32(min(l.quality, 9)))
	}
	if l.grey {
		list = append(list, fineQuality0+greyQuality, subsamplingGrey)
	}
	if l.compression > 0 {
		list = append(list, compressionLevel0+int32(min(l.compression, 9)))
	}
	return list
}

// greyQuality is the fine-grained quality of pictures in shades of grey.
const greyQuality = 60

// presets are the levels of the qualities that do not follow the connection.
var presets = map[viewer.Quality]levels{
	viewer.QualityLossless: {},
	viewer.QualityBest:     {quality: 9, compression: 1},
	viewer.QualityBalanced: {quality: 6, compression: 2},
	viewer.QualityFast:     {quality: 2, compression: 6},
	viewer.QualityGrey:     {quality: 5, compression: 6, grey: true},
}

// withoutJPEG are the colours that a quality comes down to on machines that
// have no JPEG.
var withoutJPEG = map[viewer.Quality]viewer.Colors{
	viewer.QualityFast: viewer.ColorsHigh,
	viewer.QualityGrey: viewer.ColorsLow,
}

// A wish is how the picture is to be asked for, as a person or the options of
// the driver say.
type wish struct {
	picture   viewer.Picture
	encodings []int32 // of the picture, best first
	auto      bool    // the levels follow the connection
	levels    levels  // otherwise
}

// wishOf reads what a person wants.
func wishOf(p viewer.Picture) (wish, error) {
	w := wish{picture: p, auto: p.Quality == viewer.QualityAuto}
	if !slices.Contains(viewer.Qualities, p.Quality) {
		return w, unknownWord("quality", string(p.Quality), viewer.Qualities)
	}
	if !slices.Contains(viewer.AllColors, p.Colors) {
		return w, unknownWord("colours", string(p.Colors), viewer.AllColors)
	}
	w.levels = presets[p.Quality]
	named, err := ParseEncodings(p.Encodings)
	if err != nil {
		return w, err
	}
	switch lossless := p.Quality == viewer.QualityLossless; {
	case len(named) == 0 && (lossless || w.auto):
		w.encodings = preference
	case len(named) == 0:
		w.encodings = slices.Concat(preference, losing)
	case lossless:
		w.encodings = slices.DeleteFunc(named, func(n int32) bool { return slices.Contains(losing, n) })
		if len(w.encodings) == 0 {
			return w, &viewer.Error{Op: "rfb.Encodings", Kind: viewer.Invalid,
				Err: fmt.Errorf("%s always loses something: for a lossless picture name others too, or none", p.Encodings)}
		}
	default:
		w.encodings = named
	}
	return w, nil
}

// unknownWord is the error of a word that is none of those known.
func unknownWord[W ~string](what, word string, known []W) error {
	list := make([]string, len(known))
	for i, k := range known {
		if list[i] = string(k); k == "" {
			list[i] = `"" (the default)`
		}
	}
	return &viewer.Error{Op: "rfb.Picture", Kind: viewer.Invalid, Err: fmt.Errorf("%.40q is no %s: use %s", word, what, strings.Join(list, ", "))}
}

// fewer is the one of two that has fewer colours.
func fewer(a, b viewer.Colors) viewer.Colors {
	order := []viewer.Colors{viewer.ColorsFull, viewer.ColorsHigh, viewer.ColorsLow}
	return order[max(slices.Index(order, a), slices.Index(order, b), 0)]
}
