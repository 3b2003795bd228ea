package library

import (
	"context"
	"errors"
	"slices"
	"strings"

	"deskvnc/keychain"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// memory is what is known of a session.
func (l *Library) memory(s *engine.Session) *memory {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.sessions[s]
	if m == nil {
		m = newMemory()
		l.sessions[s] = m
	}
	return m
}

// Follow learns from the sessions of an engine: what machines accept is kept
// if a person asked for that, and when one was last connected is noted. Call
// it before the first session is opened.
func (l *Library) Follow(e *engine.Engine) (stop func()) {
	return e.Subscribe(func(ch engine.Change) {
		if ch.Gone {
			l.mu.Lock()
			delete(l.sessions, ch.Session)
			l.mu.Unlock()
			return
		}
		m, t := l.memory(ch.Session), ch.Session.Target()
		ch.Session.Subscribe(func(ev viewer.Event) {
			st, ok := ev.(viewer.StateChanged)
			if !ok {
				return
			}
			if st.State.Kind == "" {
				m.stands(st.State.Phase)
			}
			switch {
			case st.State.Phase == viewer.Connected:
				keep, called := m.accepted(), ch.Session.Called()
				l.background(func(ctx context.Context) { l.connected(ctx, t, called, keep) })
			case st.State.Kind != "":
				m.ended(st.State.Kind)
			}
		})
	})
}

// background runs something that may take a while, until the library closes.
func (l *Library) background(fn func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.work.Go(func() { fn(l.ctx) })
	}
}

// connected keeps what is to be kept of a machine that let us in.
func (l *Library) connected(ctx context.Context, t viewer.Target, called bool, keep map[topic]kept) {
	for _, k := range keep {
		at, own := k.question.Target, engine.Same(k.question.Target, t)
		if own {
			at.HostID = t.HostID // it may have been saved a moment ago
		}
		host, err := l.save(ctx, at, k.question.Kind, k.answer)
		if err == nil {
			if at.HostID = host; own {
				t.HostID = host
			}
		}
		l.saved(at, err)
	}
	if e, ok := l.entry(t); ok {
		t = e.target // the saved one, also when its address was typed
	} else if called {
		return // it cannot be connected to
	}
	if slices.ContainsFunc(l.Samples(), func(o viewer.Target) bool { return engine.Same(o, t) }) {
		return // it is gone with the program
	}
	// That it was connected matters to nobody so much as to be told of a
	// library that is busy.
	_ = l.store.Connected(ctx, t)
}

// save keeps an answer. A machine that was not saved is saved now: the person
// asked to be remembered there.
func (l *Library) save(ctx context.Context, t viewer.Target, k viewer.QuestionKind, a viewer.Answer) (hostID string, err error) {
	e, ok := l.entry(t)
	user := a.User
	if k == viewer.AskProxyPassword || k == viewer.AskPassphrase {
		user = "" // the proxy's, whose address has it; a key has none
	}
	if !ok {
		if t.HostID != "" {
			return "", errors.New("the machine is not in the library any more: save it again, then its password")
		}
		h, err := l.store.Add(ctx, hostOf(t, user))
		if err != nil {
			return "", err
		}
		e = entry{target: h.Target(), owner: h.ID}
	} else if err := l.learnUser(ctx, e, user); err != nil {
		return "", err
	}
	return e.target.HostID, l.keep(ctx, e.key(k), a.Secret)
}

// hostOf is a machine that was typed, as it is saved.
func hostOf(t viewer.Target, user string) keychain.Host {
	h := keychain.Host{
		Name: t.Name, Protocol: t.Protocol, Address: t.Address, Port: t.Port, User: t.User, Exclusive: t.Exclusive,
		Proxy: t.Proxy, Repeater: t.RepeaterID, Quality: t.Picture.Quality, Colors: t.Picture.Colors,
	}
	if t.RequireEncryption {
		h.Encryption = keychain.EncryptionRequired
	}
	if t.Picture.Encodings != "" {
		h.Encodings = strings.Split(t.Picture.Encodings, ",")
	}
	switch t.Keys {
	case viewer.KeysBySymbol:
		h.Keyboard = keychain.KeyboardSymbols
	case viewer.KeysByPosition:
		h.Keyboard = keychain.KeyboardScancode
	}
	if user != "" {
		h.User = user
	}
	if h.Name == "" {
		if h.Name = t.Address; !t.Socket() && t.Port != t.Protocol.DefaultPort() {
			h.Name = t.HostPort()
		}
	}
	return h
}

// learnUser saves the user that a person gave with the password, where none
// was known.
func (l *Library) learnUser(ctx context.Context, e entry, user string) error {
	if user == "" || e.login || e.target.User != "" {
		return nil
	}
	h, err := l.store.Get(ctx, e.target.HostID)
	if err != nil {
		return err
	}
	h.User = user
	_, err = l.store.Update(ctx, h)
	return err
}
