package viewer

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a password, passphrase or key. It prints as [secret] in every
// format, also inside another value, and has no JSON or text form, so that it
// cannot reach a log, an error, a file or a result by accident. The zero Secret
// is empty.
type Secret struct {
	// A function, because fmt prints the content of anything else in some
	// verb, inside a value whose fields it may not call methods on.
	open func() []byte
}

// NewSecret wraps s. The slice is copied.
func NewSecret(s []byte) Secret {
	kept := append([]byte(nil), s...)
	return Secret{func() []byte { return kept }}
}

// SecretString wraps s.
func SecretString(s string) Secret { return NewSecret([]byte(s)) }

// Open returns the secret's bytes. Call it only where they are used, and do
// not keep or change them.
func (s Secret) Open() []byte {
	if s.open == nil {
		return nil
	}
	return s.open()
}

// Empty reports whether there is nothing in the secret.
func (s Secret) Empty() bool { return len(s.Open()) == 0 }

// Equal reports whether two secrets hold the same bytes.
func (s Secret) Equal(o Secret) bool { return string(s.Open()) == string(o.Open()) }

const hidden = "[secret]"

// Format hides the secret from every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, hidden) }

// String hides the secret.
func (s Secret) String() string { return hidden }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// errSecretForm is returned whenever a Secret is asked for a stored form.
var errSecretForm = errors.New("a secret has no text form")

// MarshalJSON always fails.
func (s Secret) MarshalJSON() ([]byte, error) { return nil, errSecretForm }

// MarshalText always fails.
func (s Secret) MarshalText() ([]byte, error) { return nil, errSecretForm }
