package ui

import "sync/atomic"

// An atomicState is a state that goes forward once from each place.
type atomicState struct{ v atomic.Int32 }

// to moves from one state to another and reports whether it did.
func (s *atomicState) to(from, to int32) bool { return s.v.CompareAndSwap(from, to) }
