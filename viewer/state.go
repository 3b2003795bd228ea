package viewer

import "time"

// A State is where a session stands.
type State struct {
	Phase  Phase
	Method string // login method, while authenticating
	// Asking is what a person is being asked right now; empty for nothing.
	Asking QuestionKind
	// Attempt and NextRetry are set while reconnecting.
	Attempt   int
	NextRetry time.Time
	// Reason and Kind say why a session is disconnected or reconnecting.
	Reason   string
	Kind     Kind
	CanRetry bool // disconnected, but trying again may help
}

// StateChanged is emitted by the engine whenever the state of a session has
// changed.
type StateChanged struct{ State State }

func (StateChanged) event() {}
