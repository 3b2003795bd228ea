//go:build cgo

package rect

/*
#cgo pkg-config: libturbojpeg
#cgo noescape tjDecompress2
#cgo nocallback tjDecompress2
#include <turbojpeg.h>
*/
import "C"

import (
	"errors"
	"runtime"
	"unsafe"

	"deskvnc/viewer/frame"
)

// A jpegDecoder draws JPEGs through libjpeg-turbo. The zero value is ready for
// use.
type jpegDecoder struct {
	handle *turbo // kept from the first JPEG on
}

// turbo owns a handle of the library.
type turbo struct{ handle C.tjhandle }

func newTurbo() (*turbo, error) {
	t := &turbo{C.tjInitDecompress()}
	if t.handle == nil {
		return nil, errors.New("libjpeg-turbo has no memory")
	}
	runtime.AddCleanup(t, func(h C.tjhandle) { C.tjDestroy(h) }, t.handle)
	return t, nil
}

// prepare checks the head of a JPEG; the library decodes straight into the
// frame.
func (d *jpegDecoder) prepare(src []byte, w, h int) error {
	err := checkJPEG(src, w, h)
	if err == nil && d.handle == nil {
		d.handle, err = newTurbo()
	}
	return err
}

// draw draws one JPEG. A JPEG with faults that can be drawn over is drawn.
func (d *jpegDecoder) draw(dst []byte, stride, w, h int, o frame.Order, src []byte) error {
	format := C.int(C.TJPF_BGRX)
	if o.R == 0 && o.B == 2 {
		format = C.TJPF_RGBX
	}
	dst = dst[:(h-1)*stride+w*bpp] // all that is written
	r := C.tjDecompress2(d.handle.handle, (*C.uchar)(unsafe.Pointer(&src[0])), C.ulong(len(src)),
		(*C.uchar)(unsafe.Pointer(&dst[0])), C.int(w), C.int(stride), C.int(h), format, C.TJFLAG_LIMITSCANS)
	if r != 0 && C.tjGetErrorCode(d.handle.handle) != C.TJERR_WARNING {
		err := errors.New(C.GoString(C.tjGetErrorStr2(d.handle.handle)))
		runtime.KeepAlive(d.handle)
		return err
	}
	runtime.KeepAlive(d.handle)
	if format == C.TJPF_BGRX && o != frame.BGRX {
		reorder(dst, stride, w, h, o)
	}
	return nil
}

// reorder turns pixels from [frame.BGRX] into another order.
func reorder(dst []byte, stride, w, h int, o frame.Order) {
	for y := range h {
		row := dst[y*stride:][:w*bpp]
		for i := 0; i < len(row); i += bpp {
			p := row[i : i+bpp : i+bpp]
			b, g, r := p[0], p[1], p[2]
			p[o.R&3], p[o.G&3], p[o.B&3] = r, g, b
		}
	}
}
