package frame

import (
	"reflect"
	"syscall"
)

// widePage is the size of a wide page: one fault in place of 512.
const widePage = 2 << 20

// newPixels returns n zero bytes. A picture of megabytes lies on wide pages
// where the system has them for who asks: to fault it in page by page takes
// longer than many a stream takes to draw.
func newPixels(n int) []byte {
	if n < widePage {
		return make([]byte, n)
	}
	b := make([]byte, n+2*widePage)
	at := -int(reflect.ValueOf(b).Pointer()) & (widePage - 1)
	// What is not touched of the room around takes no memory. Without wide pages
	// nothing is lost.
	_ = syscall.Madvise(b[at:at+(n+widePage-1)&^(widePage-1)], syscall.MADV_HUGEPAGE)
	return b[at : at+n : at+n]
}
