//go:build !cgo

package rect

// exactJPEG: another decoder may differ by a few levels.
const exactJPEG = false
