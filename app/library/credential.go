package library

import (
	"context"
	"encoding/json"
	"time"

	"deskvnc/keychain/secret"
	"deskvnc/viewer"
)

const (
	// lookAgain is how long what the keychain holds is taken as known: long
	// enough for one list of machines, short enough for a person.
	lookAgain = 2 * time.Second
	// leaveAlone is how long a keychain that does not answer is left alone.
	leaveAlone = 30 * time.Second
)

// loginKinds are the secrets that log in to a machine.
var loginKinds = []string{secret.VNCPassword, secret.Password, secret.KeyPassphrase}

// CredentialStored reports whether the keychain holds a password for a saved
// machine. It unlocks nothing and asks nobody; a keychain that does not answer
// holds none.
func (l *Library) CredentialStored(t viewer.Target) bool {
	e, ok := l.entry(t)
	if !ok {
		return false
	}
	now := time.Now()
	l.mu.Lock()
	if now.Before(l.dumb) {
		l.mu.Unlock()
		return false
	}
	if l.stored == nil || now.Sub(l.lookedAt) > lookAgain {
		l.stored, l.lookedAt = map[string]bool{}, now
	}
	has, known := l.stored[e.owner]
	l.mu.Unlock()
	if known {
		return has
	}
	for _, kind := range loginKinds {
		there, err := l.secrets.Has(l.ctx, secret.Key{Owner: e.owner, Kind: kind})
		switch secret.KindOf(err) {
		case "", secret.NotFound:
		case secret.Absent, secret.Failed:
			l.mu.Lock()
			l.dumb = now.Add(leaveAlone)
			l.mu.Unlock()
			return false
		}
		has = has || err == nil && there
	}
	l.mu.Lock()
	if l.stored != nil {
		l.stored[e.owner] = has
	}
	l.mu.Unlock()
	return has
}

// keychainSetting is changed with the keychain, so that other processes look
// again at once. It holds a time and nothing else.
const keychainSetting = "keychain.changed"

// looked forgets what was known of the keychain, here and in other processes:
// it has been written to.
func (l *Library) looked() {
	l.mu.Lock()
	l.stored, l.dumb = nil, time.Time{}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(l.ctx, storeTime)
	defer cancel()
	if v, err := json.Marshal(time.Now()); err == nil {
		// Without it the others look again a little later.
		_ = l.store.SetSetting(ctx, keychainSetting, v)
	}
}

// keep stores a secret.
func (l *Library) keep(ctx context.Context, k secret.Key, s viewer.Secret) error {
	defer l.looked()
	return l.secrets.Set(ctx, k, s)
}
