package sample

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"image"
	"io"
)

// The client messages that this server reads (RFC 6143 7.5, and the
// community's rfbproto for SetDesktopSize).
const (
	msgSetPixelFormat  = 0
	msgSetEncodings    = 2
	msgUpdateRequest   = 3
	msgKeyEvent        = 4
	msgPointerEvent    = 5
	msgClientCutText   = 6
	msgSetDesktopSize  = 251
	maxCutText         = 16 << 20 // more is refused
	keepCutText        = 4096     // more is read and forgotten
	maxScreensInLayout = 16
)

// A message is one client message; kind says which fields mean something.
type message struct {
	kind        byte
	format      *pixelFormat
	encodings   encodings
	incremental bool
	rect        image.Rectangle // of an update request
	down        bool
	sym         uint32
	mask        uint8
	at          image.Point
	text        string
	w, h        int
	screens     int
}

// encodings is what a client's SetEncodings came to.
type encodings struct {
	pixels                                     int32 // the first that this server has
	copyRect, cursor, name, size, extendedSize bool
}

// readMessage reads the next client message. What it allocates is bounded by
// keepCutText, whatever the client claims.
func readMessage(r *bufio.Reader, m *message) error {
	kind, err := r.ReadByte()
	if err != nil {
		return err
	}
	*m = message{kind: kind}
	var b [19]byte
	read := func(n int) bool {
		_, err = io.ReadFull(r, b[:n])
		return err == nil
	}
	switch kind {
	case msgSetPixelFormat:
		if read(19) {
			m.format, err = parseFormat(b[3:19])
		}
	case msgSetEncodings:
		if read(3) {
			m.encodings, err = readEncodings(r, int(binary.BigEndian.Uint16(b[1:])))
		}
	case msgUpdateRequest:
		if read(9) {
			m.incremental = b[0] != 0
			x, y := int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
			m.rect = image.Rect(x, y, x+int(binary.BigEndian.Uint16(b[5:])), y+int(binary.BigEndian.Uint16(b[7:])))
		}
	case msgKeyEvent:
		if read(7) {
			m.down, m.sym = b[0] != 0, binary.BigEndian.Uint32(b[3:])
		}
	case msgPointerEvent:
		if read(5) {
			m.mask = b[0]
			m.at = image.Pt(int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:])))
		}
	case msgClientCutText:
		if read(7) {
			m.text, err = readCutText(r, binary.BigEndian.Uint32(b[3:]))
		}
	case msgSetDesktopSize:
		if read(7) {
			m.w, m.h, m.screens = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:])), int(b[5])
			if m.screens > maxScreensInLayout {
				return fmt.Errorf("a layout of %d screens", m.screens)
			}
			_, err = r.Discard(16 * m.screens)
		}
	default:
		return fmt.Errorf("client message of unknown type %d", kind)
	}
	return err
}

// readEncodings reads n encoding numbers.
func readEncodings(r *bufio.Reader, n int) (e encodings, err error) {
	e.pixels = encRaw
	chosen := false
	var b [4]byte
	for range n {
		if _, err = io.ReadFull(r, b[:]); err != nil {
			return e, err
		}
		switch v := int32(binary.BigEndian.Uint32(b[:])); v {
		case encRaw, encHextile, encZRLE:
			if !chosen {
				e.pixels, chosen = v, true
			}
		case encCopyRect:
			e.copyRect = true
		case encCursor:
			e.cursor = true
		case encDesktopName:
			e.name = true
		case encDesktopSize:
			e.size = true
		case encExtendedDesktopSize:
			e.extendedSize = true
		}
	}
	return e, nil
}

// readCutText reads a text of n bytes of Latin-1.
func readCutText(r *bufio.Reader, n uint32) (string, error) {
	if n > maxCutText {
		return "", fmt.Errorf("clipboard text of %d bytes, more than %d", n, maxCutText)
	}
	keep := make([]byte, min(n, keepCutText))
	if _, err := io.ReadFull(r, keep); err != nil {
		return "", err
	}
	if _, err := r.Discard(int(n) - len(keep)); err != nil {
		return "", err
	}
	text := make([]rune, len(keep))
	for i, c := range keep {
		text[i] = rune(c)
	}
	return string(text), nil
}

// latin1 is text as a ServerCutText carries it.
func latin1(text string) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return out
}
