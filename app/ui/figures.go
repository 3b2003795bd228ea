package ui

import (
	"fmt"
	"time"
)

// encodings are the names of the encodings of VNC by their registered numbers
// (RFC 6143 7.7 and the community's document).
var encodings = map[int32]string{
	0: "Raw", 1: "CopyRect", 2: "RRE", 4: "CoRRE", 5: "Hextile", 6: "Zlib", 7: "Tight", 8: "ZlibHex", 9: "Ultra", 10: "Ultra 2",
	15: "TRLE", 16: "ZRLE", 17: "ZYWRLE", 20: "H.264", 21: "JPEG", 22: "JRLE", 50: "H.264", -260: "Tight PNG",
}

// figures are what is measured of a session's picture.
func (t *tab) figures() (out []fact) {
	f, ok := t.session.Figures()
	if f.RoundTripKnown {
		out = append(out, fact{"roundTrip", "Round trip", milliseconds(f.RoundTrip)})
	}
	if !ok {
		return out
	}
	name := encodings[f.Encoding]
	if name == "" {
		name = fmt.Sprintf("number %d", f.Encoding)
	}
	if f.JPEGQuality > 0 {
		name += fmt.Sprintf(", JPEG quality %d of 9", f.JPEGQuality)
	}
	return append(out,
		fact{"encoding", "Last encoding", name},
		fact{"throughput", "Throughput", rate(f.Throughput) + " while it sends"},
		fact{"fps", "Updates", fmt.Sprintf("%.1f a second", f.FPS)},
		fact{"decode", "Drawing", milliseconds(f.Decode) + " for each update"},
	)
}

func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// rate is a number of bytes a second for a person.
func rate(bytes float64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB/s", bytes/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f MB/s", bytes/1e6)
	case bytes >= 1e3:
		return fmt.Sprintf("%.0f kB/s", bytes/1e3)
	}
	return fmt.Sprintf("%.0f B/s", bytes)
}
