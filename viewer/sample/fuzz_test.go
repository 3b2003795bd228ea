package sample

import (
	"bufio"
	"bytes"
	"net"
	"testing"
	"time"
)

// FuzzMessages feeds a client's bytes to the reader and what it does with
// them, and has the answers encoded.
func FuzzMessages(f *testing.F) {
	f.Add([]byte{2, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 1, 64, 0, 200})
	f.Add([]byte{5, 1, 0, 160, 0, 100, 4, 1, 0, 0, 0, 0, 0, 'x', 6, 0, 0, 0, 0, 0, 0, 1, 'a'})
	f.Add(append([]byte{0, 0, 0, 0}, 16, 16, 1, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0, 0, 0, 0))
	f.Add([]byte{251, 0, 1, 64, 1, 64, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 64, 1, 64, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 9, 9, 9, 9})
	m := &Machines{done: make(chan struct{}), now: time.Unix(0, 0)}
	f.Fuzz(func(t *testing.T, b []byte) {
		base, pic := m.take(MinWidth, MinHeight)
		d := newDesktop(m, "sample", base, pic, m.now)
		defer func() {
			d.close()
			m.give(d.base)
		}()
		c := &client{d: d, conn: sink{}, wake: make(chan struct{}, 1), format: nativeFormat}
		if !d.attach(c, false) {
			t.Fatal("no room")
		}
		defer d.detach(c)
		r := bufio.NewReader(bytes.NewReader(b))
		var msg message
		var u update
		for readMessage(r, &msg) == nil {
			if msg.kind == msgSetDesktopSize && (msg.w > 512 || msg.h > 512) {
				continue // right, and slow
			}
			c.handle(&msg)
			d.mu.Lock()
			some := c.take(&u)
			d.mu.Unlock()
			if some {
				if err := c.send(&u); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A sink is a connection that takes everything.
type sink struct{ net.Conn }

func (sink) Write(b []byte) (int, error)      { return len(b), nil }
func (sink) SetWriteDeadline(time.Time) error { return nil }
func (sink) Close() error                     { return nil }
