//go:build cgo && openh264

package rect

/*
#cgo pkg-config: openh264
#include <string.h>
#include <wels/codec_api.h>

static ISVCDecoder *h264_new(void) {
	ISVCDecoder *d = NULL;
	SDecodingParam p;
	int quiet = WELS_LOG_QUIET;
	if (WelsCreateDecoder(&d) != 0 || d == NULL)
		return NULL;
	(*d)->SetOption(d, DECODER_OPTION_TRACE_LEVEL, &quiet);
	memset(&p, 0, sizeof p);
	p.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
	p.eEcActiveIdc = ERROR_CON_DISABLE;
	if ((*d)->Initialize(d, &p) != 0) {
		WelsDestroyDecoder(d);
		return NULL;
	}
	return d;
}

static void h264_free(ISVCDecoder *d) {
	(*d)->Uninitialize(d);
	WelsDestroyDecoder(d);
}

typedef struct {
	int ready, w, h, stride, half;
	unsigned char *plane[3];
} h264_picture;

static int h264_decode(ISVCDecoder *d, const unsigned char *src, int n, h264_picture *out) {
	SBufferInfo info;
	unsigned char *planes[3] = {NULL, NULL, NULL};
	int state;
	memset(&info, 0, sizeof info);
	memset(out, 0, sizeof *out);
	state = (*d)->DecodeFrameNoDelay(d, src, n, planes, &info);
	if (info.iBufferStatus == 1 && info.UsrData.sSystemBuffer.iFormat == videoFormatI420) {
		out->ready = 1;
		out->w = info.UsrData.sSystemBuffer.iWidth;
		out->h = info.UsrData.sSystemBuffer.iHeight;
		out->stride = info.UsrData.sSystemBuffer.iStride[0];
		out->half = info.UsrData.sSystemBuffer.iStride[1];
		memcpy(out->plane, planes, sizeof planes);
	}
	return state;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// An h264Decoder decodes one stream through libopenh264.
type h264Decoder struct {
	d       *C.ISVCDecoder
	cleanup runtime.Cleanup
}

func newH264Decoder() (*h264Decoder, error) {
	d := &h264Decoder{d: C.h264_new()}
	if d.d == nil {
		return nil, errors.New("libopenh264 makes no decoder")
	}
	d.cleanup = runtime.AddCleanup(d, func(p *C.ISVCDecoder) { C.h264_free(p) }, d.d)
	return d, nil
}

// close frees the decoder. What it has decoded is gone too.
func (d *h264Decoder) close() {
	d.cleanup.Stop()
	C.h264_free(d.d)
	d.d = nil
}

// An h264Picture is a decoded picture, valid until the next one; y is nil when
// there is none.
type h264Picture struct {
	w, h, stride, half int
	y, cb, cr          []byte
}

// decode takes the data of one or more pictures and returns the last one.
func (d *h264Decoder) decode(src []byte) (h264Picture, error) {
	var out C.h264_picture
	state := C.h264_decode(d.d, (*C.uchar)(unsafe.Pointer(&src[0])), C.int(len(src)), &out)
	runtime.KeepAlive(d)
	if state != 0 {
		return h264Picture{}, fmt.Errorf("libopenh264 refuses its data: state 0x%x", int(state))
	}
	p := h264Picture{w: int(out.w), h: int(out.h), stride: int(out.stride), half: int(out.half)}
	if out.ready == 0 {
		return h264Picture{}, nil
	}
	if p.w <= 0 || p.h <= 0 || p.stride < p.w || p.half < (p.w+1)/2 || out.plane[0] == nil || out.plane[1] == nil || out.plane[2] == nil {
		return h264Picture{}, errors.New("libopenh264 returns half a picture")
	}
	rows := (p.h + 1) / 2
	p.y = unsafe.Slice((*byte)(out.plane[0]), (p.h-1)*p.stride+p.w)
	p.cb = unsafe.Slice((*byte)(out.plane[1]), (rows-1)*p.half+(p.w+1)/2)
	p.cr = unsafe.Slice((*byte)(out.plane[2]), (rows-1)*p.half+(p.w+1)/2)
	return p, nil
}
