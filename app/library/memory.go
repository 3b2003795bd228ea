package library

import (
	"maps"
	"sync"

	"deskvnc/viewer"
)

// A memory is what the library knows of the passwords of one session.
type memory struct {
	mu      sync.Mutex
	offered map[viewer.QuestionKind]viewer.Secret // stored ones, given in this attempt
	used    map[viewer.QuestionKind]viewer.Secret // stored ones that the machine accepted
	refused map[viewer.QuestionKind]viewer.Secret // stored ones that it did not
	later   map[viewer.QuestionKind]viewer.Answer // of the person, to be kept once accepted
	reached bool                                  // the machine has spoken in this attempt
}

func newMemory() *memory {
	return &memory{
		offered: map[viewer.QuestionKind]viewer.Secret{}, used: map[viewer.QuestionKind]viewer.Secret{},
		refused: map[viewer.QuestionKind]viewer.Secret{}, later: map[viewer.QuestionKind]viewer.Answer{},
	}
}

// offer notes that a stored secret is given. It reports false for one that
// the machine has refused, be it by asking again.
func (m *memory) offer(k viewer.QuestionKind, s viewer.Secret) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.offered[k]; ok && o.Equal(s) {
		m.refused[k] = s
	}
	if o, ok := m.refused[k]; ok && o.Equal(s) {
		return false
	}
	m.offered[k] = s
	return true
}

// keepLater notes an answer that a person asked to keep.
func (m *memory) keepLater(k viewer.QuestionKind, a viewer.Answer) {
	m.mu.Lock()
	m.later[k] = a
	m.mu.Unlock()
}

// accepted says that the machine let us in. It returns what is to be kept.
func (m *memory) accepted() map[viewer.QuestionKind]viewer.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, s := range m.offered {
		m.used[k] = s
	}
	keep := m.later
	clear(m.offered)
	m.later = map[viewer.QuestionKind]viewer.Answer{}
	return keep
}

// stands notes how far an attempt has come: whether the machine itself has
// spoken. A proxy on the way to it has let us in then.
func (m *memory) stands(p viewer.Phase) {
	m.mu.Lock()
	m.reached = p == viewer.Authenticating || p == viewer.Negotiating || p == viewer.Connected
	m.mu.Unlock()
}

// ended says that an attempt or connection ended, and how. What was refused
// may have been given now, or be what was accepted before; it is the proxy's
// password or the machine's.
func (m *memory) ended(kind viewer.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kind == viewer.Denied {
		byProxy := !m.reached && (!m.offered[viewer.AskProxyPassword].Empty() || !m.used[viewer.AskProxyPassword].Empty())
		for _, given := range []map[viewer.QuestionKind]viewer.Secret{m.used, m.offered} {
			for k, s := range given {
				if (k == viewer.AskProxyPassword) == byProxy {
					m.refused[k] = s
					delete(given, k)
				}
			}
		}
	}
	clear(m.offered)
	maps.DeleteFunc(m.later, func(k viewer.QuestionKind, _ viewer.Answer) bool {
		return k != viewer.AskProxyPassword || !m.reached
	})
}
