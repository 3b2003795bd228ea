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
	trying  map[viewer.QuestionKind]viewer.Answer // given in this attempt
	good    map[viewer.QuestionKind]viewer.Answer // accepted before
	offered map[viewer.QuestionKind]bool          // a good one was used in this attempt
}

// known returns an answer that worked before, at the first question of its
// kind in an attempt.
func (a *answers) known(q viewer.Question) (viewer.Answer, bool) {
	if !remembered(q.Kind) {
		return viewer.Answer{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	got, ok := a.good[q.Kind]
	if !ok || q.Attempt > 1 || a.offered[q.Kind] {
		return viewer.Answer{}, false
	}
	if a.offered == nil {
		a.offered = map[viewer.QuestionKind]bool{}
	}
	a.offered[q.Kind] = true
	return got, true
}

// remembered reports whether an answer holds for the next question of its kind
// too. What was said about one key says nothing about the next one, which may
// be another machine's.
func remembered(k viewer.QuestionKind) bool {
	return k != viewer.AskCertificate && k != viewer.AskServerKey
}

// given notes an answer that is being tried.
func (a *answers) given(k viewer.QuestionKind, ans viewer.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.trying == nil {
		a.trying = map[viewer.QuestionKind]viewer.Answer{}
	}
	a.trying[k] = ans
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
	if k == viewer.Denied {
		_, proxied := a.trying[viewer.AskProxyPassword]
		proxied = (proxied || a.offered[viewer.AskProxyPassword]) && !reached
		maps.DeleteFunc(a.good, func(q viewer.QuestionKind, _ viewer.Answer) bool {
			return (q == viewer.AskProxyPassword) == proxied
		})
	}
	if ans, ok := a.trying[viewer.AskProxyPassword]; ok && reached {
		a.keep(viewer.AskProxyPassword, ans)
	}
	a.trying, a.offered = nil, nil
}

// keep notes an answer that was accepted. The caller holds mu.
func (a *answers) keep(k viewer.QuestionKind, ans viewer.Answer) {
	if a.good == nil {
		a.good = map[viewer.QuestionKind]viewer.Answer{}
	}
	a.good[k] = ans
}
