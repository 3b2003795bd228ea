package shell

import (
	"bytes"
	"unicode/utf8"

	"deskvnc/viewer"
)

// A keeper keeps the beginning and the end of a stream of any length.
type keeper struct {
	first   int // the most of the head
	limit   int // and of the tail
	head    []byte
	ring    []byte // the last bytes after the head; grows to limit, then turns
	at      int    // where the oldest byte of a full ring is
	total   int64
	dropped int64
	lines   int64
}

func newKeeper(keep int) *keeper {
	if keep <= 0 || keep > viewer.RunKeep {
		keep = viewer.RunKeep
	}
	return &keeper{first: keep - keep/2, limit: keep / 2}
}

// Write keeps what is to be kept of p.
func (k *keeper) Write(p []byte) (int, error) {
	n := len(p)
	k.total += int64(n)
	if room := k.first - len(k.head); room > 0 {
		m := min(room, len(p))
		k.head = append(k.head, p[:m]...)
		p = p[m:]
	}
	if room := k.limit - len(k.ring); room > 0 {
		m := min(room, len(p))
		k.ring = append(k.ring, p[:m]...)
		p = p[m:]
	}
	if over := len(p) - k.limit; over > 0 { // more than the whole ring
		k.drop(k.ring[k.at:])
		k.drop(k.ring[:k.at])
		k.drop(p[:over])
		k.at = 0
		copy(k.ring, p[over:])
		return n, nil
	}
	for len(p) > 0 {
		m := min(len(p), k.limit-k.at)
		k.drop(k.ring[k.at : k.at+m])
		copy(k.ring[k.at:], p[:m])
		p = p[m:]
		k.at = (k.at + m) % k.limit
	}
	return n, nil
}

func (k *keeper) drop(b []byte) {
	k.dropped += int64(len(b))
	k.lines += int64(bytes.Count(b, []byte{'\n'}))
}

// output is what was kept, cut between characters.
func (k *keeper) output() viewer.Output {
	tail := append(append(make([]byte, 0, len(k.ring)), k.ring[k.at:]...), k.ring[:k.at]...)
	head := k.head
	if k.dropped > 0 {
		n := len(head) - cutEnd(head)
		k.drop(head[n:])
		head = head[:n]
		n = cutStart(tail)
		k.drop(tail[:n])
		tail = tail[n:]
	}
	return viewer.Output{Head: head, Tail: tail, Bytes: k.total, Dropped: k.dropped, Lines: k.lines}
}

// cutEnd is the number of bytes at the end of b that begin a character and do
// not end it.
func cutEnd(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// cutStart is the number of bytes at the start of b that end a character begun
// before.
func cutStart(b []byte) int {
	for n := 0; n < utf8.UTFMax && n < len(b); n++ {
		if utf8.RuneStart(b[n]) {
			return n
		}
	}
	if len(b) < utf8.UTFMax {
		return len(b)
	}
	return 0 // no text
}
