package key

// extended are the XT set 1 scan codes of evdev key codes above the first 83,
// which equal them. Codes are those of the Linux input layer.
var extended = map[byte]uint16{
	85: 0x76, 86: 0x56, 87: 0x57, 88: 0x58, 89: 0x73, 90: 0x78, 91: 0x77, 92: 0x79, 93: 0x70, 94: 0x7b, 95: 0x5c,
	96: 0xe01c, 97: 0xe01d, 98: 0xe035, 99: 0x54, 100: 0xe038, 101: 0x5b, 102: 0xe047, 103: 0xe048, 104: 0xe049,
	105: 0xe04b, 106: 0xe04d, 107: 0xe04f, 108: 0xe050, 109: 0xe051, 110: 0xe052, 111: 0xe053, 113: 0xe020, 114: 0xe02e,
	115: 0xe030, 116: 0xe05e, 117: 0x59, 119: 0xe046, 121: 0x7e, 122: 0x72, 123: 0x71, 124: 0x7d, 125: 0xe05b,
	126: 0xe05c, 127: 0xe05d,
	183: 0x5d, 184: 0x5e, 185: 0x5f, 186: 0x55, 187: 0xe003, 188: 0xe077, 189: 0xe004, 190: 0x5a, 191: 0x74, 192: 0xe079,
	193: 0x6d, 194: 0x6f,
}

// ScanFromX11 is the XT set 1 scan code of an X11 key code on a server that
// numbers keys as evdev does, extended keys as 0xE0xx; 0 when there is none.
func ScanFromX11(keycode byte) uint16 {
	if keycode < 8 {
		return 0
	}
	code := keycode - 8
	if code <= 83 {
		return uint16(code)
	}
	return extended[code]
}
