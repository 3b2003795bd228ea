// Package wheel is the steering wheel of one limb: who may send input to it,
// who waits, who was thrown off and by whom.
//
// A [Wheel] is a pure state machine. Time is passed in, nothing is sent and
// nothing waits; the owner of a wheel calls it under its own lock, sends the
// release that a change of driver owes the machine ([Wheel.Debt]) and says
// when that was written ([Wheel.Pay]).
package wheel
