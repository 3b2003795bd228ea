//go:build cgo

package rect

// exactJPEG: libjpeg-turbo makes of a JPEG what its own tools make of it.
const exactJPEG = true
