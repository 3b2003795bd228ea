package auth

import (
	"encoding/hex"
	"testing"
)

// The answers were computed with openssl's DES-ECB over keys whose bits were
// reversed by hand.
func TestRespond(t *testing.T) {
	const want = "eae3a1cb74ca6daac183f66460190bb5"
	challenge := [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	short, err := respond([]byte("abcdefgh"), challenge)
	if err != nil {
		t.Fatal(err)
	}
	long, err := respond([]byte("abcdefghXYZ"), challenge)
	if err != nil {
		t.Fatal(err)
	}
	if short != long {
		t.Errorf("got different answers for a password and the same one with more than eight bytes")
	}
	if got := hex.EncodeToString(short[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Four letters of two bytes each in UTF-8 fill the eight bytes.
	umlauts, _ := respond([]byte("äöüßäöüß"), challenge)
	half, _ := respond([]byte("äöüß"), challenge)
	if umlauts != half {
		t.Errorf("letters of more than one byte: got an answer that depends on more than eight bytes")
	}
}

func TestNames(t *testing.T) {
	if got, want := Names([]uint8{30, 2, 99}), "Apple Remote Desktop, VNC password, type 99"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
