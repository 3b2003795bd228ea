package viewer

import (
	"errors"
	"log/slog"
)

// A Secret is a password, passphrase or key. It prints as [secret] in every
// format, and has no JSON or text form, so that it cannot reach a log, an
// error, a file or a result by accident. The zero Secret is empty.
type Secret struct{ open []byte }

// NewSecret wraps s. The slice is copied.
func NewSecret(s []byte) Secret { return Secret{open: append([]byte(nil), s...)} }

// SecretString wraps s.
func SecretString(s string) Secret { return Secret{open: []byte(s)} }

// Open returns the secret's bytes. Call it only where they are used, and do
// not keep or change them.
func (s Secret) Open() []byte { return s.open }

// Empty reports whether there is nothing in the secret.
func (s Secret) Empty() bool { return len(s.open) == 0 }

// Equal reports whether two secrets hold the same bytes.
func (s Secret) Equal(o Secret) bool { return string(s.open) == string(o.open) }

const hidden = "[secret]"

// String hides the secret.
func (s Secret) String() string { return hidden }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return hidden }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// errSecretForm is returned whenever a Secret is asked for a stored form.
var errSecretForm = errors.New("a secret has no text form")

// MarshalJSON always fails.
func (s Secret) MarshalJSON() ([]byte, error) { return nil, errSecretForm }

// MarshalText always fails.
func (s Secret) MarshalText() ([]byte, error) { return nil, errSecretForm }
