package library

import (
	"maps"
	"sync"

	"deskvnc/viewer"
)

// A topic is what a secret is about. A session may lead over other machines,
// and each has its own.
type topic struct {
	kind    viewer.QuestionKind
	machine string // that asks
	name    string // of a key file
}

func topicOf(q viewer.Question) topic {
	t := topic{kind: q.Kind, machine: string(q.Target.Protocol) + "://" + q.Target.HostPort()}
	if q.Kind == viewer.AskPassphrase {
		t.name = q.Name
	}
	return t
}

// A kept is an answer that a person asked to keep.
type kept struct {
	question viewer.Question
	answer   viewer.Answer
}

// A memory is what the library knows of the secrets of one session.
type memory struct {
	mu      sync.Mutex
	offered map[topic]viewer.Secret // stored ones, given in this attempt
	last    topic                   // of them, the one given last
	used    map[topic]viewer.Secret // stored ones that the machine accepted
	refused map[topic]viewer.Secret // stored ones that it did not
	later   map[topic]kept          // of the person, to be kept once accepted
	reached bool                    // the machine has spoken in this attempt
}

func newMemory() *memory {
	return &memory{
		offered: map[topic]viewer.Secret{}, used: map[topic]viewer.Secret{},
		refused: map[topic]viewer.Secret{}, later: map[topic]kept{},
	}
}

// offer notes that a stored secret is given. It reports false for one that
// the machine has refused, be it by asking again.
func (m *memory) offer(q viewer.Question, s viewer.Secret) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := topicOf(q)
	again := q.Target.Protocol != viewer.SSH || q.Attempt > 1 // SSH may ask anew beside a session
	if o, ok := m.offered[k]; ok && again && o.Equal(s) {
		m.refused[k] = s
	}
	if o, ok := m.refused[k]; ok && o.Equal(s) {
		return false
	}
	m.offered[k], m.last = s, k
	return true
}

// keepLater notes an answer that a person asked to keep.
func (m *memory) keepLater(q viewer.Question, a viewer.Answer) {
	m.mu.Lock()
	m.later[topicOf(q)] = kept{q, a}
	m.mu.Unlock()
}

// accepted says that the machine let us in. It returns what is to be kept.
func (m *memory) accepted() map[topic]kept {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(m.used, m.offered)
	keep := m.later
	clear(m.offered)
	m.later = map[topic]kept{}
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
// password or the machine's. Of machines that lead over one another it is what
// was given last. A passphrase goes to no machine, and none refuses it.
func (m *memory) ended(kind viewer.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kind == viewer.Denied {
		m.deny()
	}
	clear(m.offered)
	maps.DeleteFunc(m.later, func(k topic, _ kept) bool {
		return k.kind != viewer.AskProxyPassword || !m.reached
	})
}

func (m *memory) deny() {
	proxy := func(k topic) bool { return k.kind == viewer.AskProxyPassword }
	byProxy := false
	for _, given := range []map[topic]viewer.Secret{m.used, m.offered} {
		for k := range given {
			byProxy = byProxy || proxy(k) && !m.reached
		}
	}
	_, now := m.offered[m.last]
	for _, given := range []map[topic]viewer.Secret{m.used, m.offered} {
		for k, s := range given {
			if proxy(k) != byProxy || k.kind == viewer.AskPassphrase || now && !byProxy && k.machine != m.last.machine {
				continue
			}
			m.refused[k] = s
			delete(given, k)
		}
	}
}
