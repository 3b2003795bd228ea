//go:build cgo

package rfb_test

const jpegLibrary = "libjpeg-turbo"
