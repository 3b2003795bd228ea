package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deskvnc/viewer"
)

// opener is what logs in over SSH for sessions of other protocols.
func (s *Session) opener() (viewer.LoginOpener, error) {
	if o, ok := s.engine.config.Drivers[viewer.SSH].(viewer.LoginOpener); ok {
		return o, nil
	}
	return nil, &viewer.Error{Op: "ssh", Kind: viewer.Unsupported, Err: errors.New("this build has no SSH")}
}

// way makes the way to a target that is reached over other machines: the login
// to the last of them, over those before. t is the target as it is to be opened
// then. A driver that goes over them by itself gets no way.
func (s *Session) way(ctx context.Context, t viewer.Target) (viewer.Target, viewer.Login, error) {
	hops := t.Through()
	if _, own := s.driver.(viewer.LoginOpener); own || len(hops) == 0 || s.Called() {
		return t, nil, nil
	}
	o, err := s.opener()
	if err != nil {
		return t, nil, err
	}
	last := lastHop(t)
	login, err := o.Login(ctx, last, viewer.Env{Ask: viewer.AskFunc(s.ask), Emit: s.emit})
	if err != nil {
		return t, nil, &viewer.Error{Op: "jump", Kind: viewer.KindOf(err), Err: fmt.Errorf("the way over %s: %s", last.Label(), viewer.Reason(err))}
	}
	t.Proxy = "" // it led to the first of them
	return t, login, nil
}

// lastHop is the last machine on the way to a target, as one that is reached
// over those before it.
func lastHop(t viewer.Target) viewer.Target {
	hops := t.Through()
	last := hops[len(hops)-1]
	set := last.Settings()
	set.Via = slices.Clone(hops[:len(hops)-1])
	set.Unattended = set.Unattended || t.Settings().Unattended
	last.SSH = &set
	if first := hops[0]; first.Proxy == "" {
		last.Proxy = t.Proxy
	} else {
		last.Proxy = first.Proxy
	}
	return last
}

// lostOnTheWay is why the way of a session has ended, when it has by itself.
func lostOnTheWay(way viewer.Login) error {
	if way == nil {
		return nil
	}
	select {
	case <-way.Done():
		if err := way.Err(); err != nil {
			return &viewer.Error{Op: "jump", Kind: viewer.KindOf(err), Err: fmt.Errorf("the way to the machine broke: %s", viewer.Reason(err))}
		}
	default:
	}
	return nil
}
