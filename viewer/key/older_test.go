package key

import "testing"

func TestRuneOfOlderKeysyms(t *testing.T) {
	for sym, want := range map[uint32]rune{
		0x01a1: 'Ą', 0x01ff: '˙', 0x06c1: 'а', 0x06e1: 'А', 0x07e1: 'α', 0x20ac: '€', 0x13bd: 'œ', 0x04b1: 'ア', 0x0ce0: 'א',
		0x01a4: 0, 0x0100: 0, 0xfe51: 0, 0xff0d: 0, 0xffe1: 0, 0x20ad: 0,
	} {
		if got := Rune(sym); got != want {
			t.Errorf("Rune(%#x) = %q, want %q", sym, got, want)
		}
	}
}
