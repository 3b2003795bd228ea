package auth

import "deskvnc/viewer/conn"

// None is security type 1: no login, nothing encrypted (RFC 6143 7.2.1).
type None struct{}

// Type returns 1.
func (None) Type() uint8 { return TypeNone }

// Login has nothing to say.
func (None) Login(*conn.Conn) error { return nil }
