// Package secret keeps passwords and passphrases in the keychain of the
// operating system: the Secret Service on Linux and the BSDs (GNOME Keyring,
// KWallet, KeePassXC), the Keychain on macOS, the Credential Manager on
// Windows. One item holds one secret, named by who owns it and its kind, never
// by a name or address that a person may change.
//
// Every call is bounded in time, also when the keychain hangs, and nothing
// asks a person unless [Options] allows it. The package writes no file: where
// there is no keychain it says so and how to get one.
package secret

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"deskvnc/viewer"
)

// The kinds of secret that are stored. Those of questions to a person have the
// value of their [viewer.QuestionKind]; any other word of the same form is
// accepted too.
const (
	VNCPassword   = string(viewer.AskVNCPassword)
	Password      = string(viewer.AskPassword)
	ProxyPassword = string(viewer.AskProxyPassword)
	KeyPassphrase = "key-passphrase"
)

// kindWords are the kinds as a person reads them in the keychain's own window.
var kindWords = map[string]string{
	VNCPassword:   "VNC password",
	Password:      "password",
	ProxyPassword: "password of the proxy",
	KeyPassphrase: "key passphrase",
}

const (
	maxOwnerBytes = 128
	maxKindBytes  = 64
	maxNameRunes  = 120 // of the name in a label
)

// A Key names one secret.
type Key struct {
	Owner string // the id of a host ("h_...") or of a shared login
	Kind  string // what it is: VNCPassword, Password, KeyPassphrase ...
}

// String gives owner and kind; neither is secret.
func (k Key) String() string { return k.Owner + "/" + k.Kind }

// check reports what is wrong with k.
func (k Key) check() error {
	if err := checkOwner(k.Owner); err != nil {
		return err
	}
	if k.Kind == "" || len(k.Kind) > maxKindBytes || strings.Trim(k.Kind, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("the kind of secret %.80q must be 1 to %d small letters, digits and hyphens", k.Kind, maxKindBytes)
	}
	return nil
}

// checkOwner refuses what is no id. An id goes into attributes, labels and the
// names of credentials, where separators would let one owner reach another's.
func checkOwner(owner string) error {
	if owner == "" {
		return errors.New("the owner of the secret is missing: save the host first")
	}
	const more = "_-."
	ok := len(owner) <= maxOwnerBytes && !strings.ContainsRune(more, rune(owner[0]))
	for _, r := range owner {
		ok = ok && (r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune(more, r))
	}
	if !ok {
		return fmt.Errorf("the owner of the secret %.160q must be an id of at most %d letters, digits, hyphens, dots and underscores", owner, maxOwnerBytes)
	}
	return nil
}

// label is the title of k's item. A name comes from the library and may hold
// anything, so control characters go and it is cut.
func (k Key) label(name string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(clean); len(runes) > maxNameRunes {
		clean = string(runes[:maxNameRunes-1]) + "…"
	}
	if clean == "" {
		clean = k.Owner
	}
	what := kindWords[k.Kind]
	if what == "" {
		what = k.Kind
	}
	return "DeskVNC: " + clean + " (" + what + ")"
}
