package engine

import (
	"maps"
	"sync"

	"deskvnc/viewer"
)

// answers remember, for the life of a session, what the machine accepted, so
// that a connection made anew asks nothing. What it refused is forgotten: the
// same secret is never tried twice.
type answers struct {
	mu      sync.Mutex
	trying  map[asked]viewer.Answer // given in this attempt
	good    map[asked]viewer.Answer // accepted before
	offered map[asked]bool          // a good one was used in this attempt
}

// asked says what a question is about. The machine is part of it: a session may
// lead over others, which are never told its secrets.
type asked struct {
	kind          viewer.QuestionKind
	machine, name string
}

func about(q viewer.Question) asked { return asked{q.Kind, q.Target.HostPort(), q.Name} }

// known returns an answer that worked before, at the first question of its
// kind in an attempt.
func (a *answers) known(q viewer.Question) (viewer.Answer, bool) {
	if !remembered(q.Kind) {
		return viewer.Answer{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	k := about(q)
	got, ok := a.good[k]
	if !ok || q.Attempt > 1 || a.offered[k] {
		return viewer.Answer{}, false
	}
	if a.offered == nil {
		a.offered = map[asked]bool{}
	}
	a.offered[k] = true
	return got, true
}

// remembered reports whether an answer holds for the next question of its kind
// too. What was said about one key says nothing about the next one, which may
// be another machine's, and what a machine asks in its own words may be a code
// that works once.
func remembered(k viewer.QuestionKind) bool {
	return k != viewer.AskCertificate && k != viewer.AskServerKey && k != viewer.AskPrompts
}

// given notes an answer that is being tried.
func (a *answers) given(q viewer.Question, ans viewer.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.trying == nil {
		a.trying = map[asked]viewer.Answer{}
	}
	a.trying[about(q)] = ans
}

// worked says that the machine let us in.
func (a *answers) worked() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k, ans := range a.trying {
		a.keep(k, ans)
	}
	a.trying, a.offered = nil, nil
}

// ended says that an attempt or connection ended, and how. reached says that
// the machine itself had spoken: then a proxy on the way to it had let us in,
// and what was refused is not what the proxy was told.
func (a *answers) ended(k viewer.Kind, reached bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	proxy := func(k asked) bool { return k.kind == viewer.AskProxyPassword }
	if k == viewer.Denied {
		proxied := false
		for k := range a.trying {
			proxied = proxied || proxy(k)
		}
		for k := range a.offered {
			proxied = proxied || proxy(k)
		}
		proxied = proxied && !reached
		maps.DeleteFunc(a.good, func(k asked, _ viewer.Answer) bool { return proxy(k) == proxied })
	}
	for k, ans := range a.trying {
		if proxy(k) && reached {
			a.keep(k, ans)
		}
	}
	a.trying, a.offered = nil, nil
}

// keep notes an answer that was accepted. The caller holds mu.
func (a *answers) keep(k asked, ans viewer.Answer) {
	if a.good == nil {
		a.good = map[asked]viewer.Answer{}
	}
	a.good[k] = ans
}
