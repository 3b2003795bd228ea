//go:build !linux

package frame

// newPixels returns n zero bytes.
func newPixels(n int) []byte { return make([]byte, n) }
