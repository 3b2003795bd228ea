package rect

import (
	"math/bits"
	"runtime"
	"unsafe"
)

// paintSubrect fills rows of n bytes, 4 to 64, that are stride bytes apart,
// with a colour that stands twice in two. area begins with the first row and
// ends with the last one: that is the check for all stores, which overlap
// within a row and never reach out of it.
func paintSubrect(area []byte, stride, n int, two uint64) {
	left := len(area) - n // from the row at p to the last one
	if n < 4 || left < 0 || n > stride {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(area))
	if bigEndian {
		two = bits.ReverseBytes64(two)
	}
	switch {
	case n >= 32:
		for ; ; p, left = unsafe.Add(p, stride), left-stride {
			sixteen(p, two)
			sixteen(unsafe.Add(p, 16), two)
			sixteen(unsafe.Add(p, n-32), two)
			sixteen(unsafe.Add(p, n-16), two)
			if left < stride {
				return
			}
		}
	case n >= 16:
		for ; ; p, left = unsafe.Add(p, stride), left-stride {
			sixteen(p, two)
			sixteen(unsafe.Add(p, n-16), two)
			if left < stride {
				return
			}
		}
	case n >= 8:
		for ; ; p, left = unsafe.Add(p, stride), left-stride {
			*(*uint64)(p) = two
			*(*uint64)(unsafe.Add(p, n-8)) = two
			if left < stride {
				return
			}
		}
	}
	for ; ; p, left = unsafe.Add(p, stride), left-stride {
		*(*uint32)(p) = uint32(two)
		if left < stride {
			return
		}
	}
}

// sixteen stores a colour four times.
func sixteen(p unsafe.Pointer, two uint64) {
	*(*uint64)(p) = two
	*(*uint64)(unsafe.Add(p, 8)) = two
}

// bigEndian tells how this machine stores words. The other processors that Go
// knows are little-endian.
const bigEndian = runtime.GOARCH == "s390x" || runtime.GOARCH == "ppc64" || runtime.GOARCH == "mips" || runtime.GOARCH == "mips64"
