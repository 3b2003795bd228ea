package rfb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"deskvnc/viewer"
)

// The flags of a fence (community document, ClientFence and ServerFence).
const (
	fenceBlockBefore = 1 << 0
	fenceBlockAfter  = 1 << 1
	fenceSyncNext    = 1 << 2
	fenceRequest     = 1 << 31
)

const (
	// maxFenceBytes bounds what a fence carries, by the document.
	maxFenceBytes = 64
	// maxFenceQueue bounds the answers that wait to be written: a machine that
	// asks but does not read would fill the memory.
	maxFenceQueue = 64 << 10
)

// readFence reads a ServerFence and answers it once all that came before is
// drawn, so that both kinds of blocking are kept by the order of things; other
// flags are not promised. The answers set the pace of a machine that sends
// continuous updates: it is no faster than the drawing.
func (s *Session) readFence() error {
	const fixed = 8 // padding, flags, length
	b, err := s.conn.Peek(fixed)
	if err != nil {
		return err
	}
	flags, n := binary.BigEndian.Uint32(b[3:]), int(b[7])
	if n > maxFenceBytes {
		return &viewer.Error{Op: "rfb.Fence", Kind: viewer.Malformed,
			Err: fmt.Errorf("a fence of %d bytes; at most %d are allowed", n, maxFenceBytes)}
	}
	if b, err = s.conn.Peek(fixed + n); err != nil {
		return err
	}
	s.signals.fence.Store(true)
	full := false
	s.out.update(func() {
		s.out.requests.fence = true
		if flags&fenceRequest == 0 {
			s.out.returned(b[fixed:], flags, time.Now())
		}
		full = len(s.out.fences) > maxFenceQueue
	})
	if flags&fenceRequest != 0 {
		answer := appendFence(nil, flags&(fenceBlockBefore|fenceBlockAfter), b[fixed:])
		s.queue.Do(func() {
			s.out.update(func() { s.out.fences = append(s.out.fences, answer...) })
		})
	}
	if full {
		return &viewer.Error{Op: "rfb.Fence", Kind: viewer.Limit,
			Err: errors.New("the machine sends fences and does not take the answers")}
	}
	return s.conn.Discard(fixed + n)
}

// The first byte of what our own fences carry; a number follows.
const (
	fenceBefore = 'b' // the change is done with this fence, if the machine knows how
	fenceBehind = 'a' // the change is done before this fence
	fencePing   = 'p' // tells the time that a fence takes
)

const fencePayloadBytes = 9

func fencePayload(kind byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, number)
}

// returned takes one of our own fences that came back. The caller holds the
// lock.
func (o *outbox) returned(payload []byte, flags uint32, now time.Time) {
	if len(payload) != fencePayloadBytes {
		return
	}
	switch kind, number := payload[0], binary.BigEndian.Uint64(payload[1:]); {
	case kind == fencePing:
		o.ping.returned(number, now)
	case kind == fenceBehind, kind == fenceBefore && flags&fenceSyncNext != 0:
		o.wires.returned(number)
	}
}

// appendFence is a ClientFence.
func appendFence(b []byte, flags uint32, payload []byte) []byte {
	b = append(b, msgFence, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, flags)
	b = append(b, byte(len(payload)))
	return append(b, payload...)
}

// continuousOffered takes EndOfContinuousUpdates: a machine that knows
// continuous updates says it with this message at first, and later whenever
// it has ended them.
func (s *Session) continuousOffered() error {
	s.out.update(s.out.requests.endOfContinuous)
	return nil
}

// appendContinuous enables or disables continuous updates of a screen
// (community document, EnableContinuousUpdates).
func appendContinuous(b []byte, on bool, w, h int) []byte {
	b = append(b, msgContinuousUpdates, flag(on), 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(w))
	return binary.BigEndian.AppendUint16(b, uint16(h))
}
