package viewer

import (
	"context"
	"time"
)

// A Question is one that only a person, or what a person stored, can answer.
type Question struct {
	Kind    QuestionKind
	Target  Target
	Attempt int    // 1 for the first time in this session
	Text    string // what the far side said, if it said anything
	// Note is what our own side has to say: why a stored answer was not used.
	Note string
	// Name is the thing asked about: a user name already known, the
	// fingerprint of a key.
	Name string
	// Key is what the machine shows to prove who it is, for [AskCertificate]
	// and [AskServerKey]; nil for every other kind.
	Key *KeyInfo
	// Prompts are what the machine asks, for [AskPrompts].
	Prompts []Prompt
}

// A KeyInfo is a certificate or key of a machine, as it is shown to a person.
// Text in it comes from the machine and is cleaned.
type KeyInfo struct {
	What        string   // what it is: "certificate, RSA 2048 bits"; "nothing" for a machine that shows none
	Fingerprint string   // SHA-256, as XX:XX:... (of SSH keys as SHA256:...); empty when nothing is shown
	Art         string   // of SSH keys: the fingerprint as a drawing, lines of equal length
	AlsoShownAs string   // how the machine's own window may show it, or empty
	Subject     string   // of a certificate: whom it names
	Names       []string // of a certificate: the addresses it is for
	Issuer      string   // of a certificate
	NotBefore   time.Time
	NotAfter    time.Time
	Problems    []string // why it is not trusted by itself
	// Pinned is what this machine has shown before, when that was another key:
	// the machine has changed, or it is another one. Nil for an unknown one.
	Pinned *PinnedKey
}

// A PinnedKey is a key or certificate that was accepted before.
type PinnedKey struct {
	What        string
	Fingerprint string
	Subject     string
	Issuer      string
	Since       time.Time // when it was accepted
}

// A QuestionKind names what is asked. The values double as the kinds of
// stored secrets.
type QuestionKind string

// The kinds of question.
const (
	AskVNCPassword QuestionKind = "vnc-password" // a password, no user
	AskPassword    QuestionKind = "password"     // a user and a password
	// AskCertificate: is this certificate the machine's? Yes is Accept; for a
	// changed one only Replace is.
	AskCertificate QuestionKind = "certificate"
	// AskServerKey: the same for a key without a certificate.
	AskServerKey QuestionKind = "host-key"
	// AskUnencrypted: may what the Text names be sent unencrypted? Yes is
	// Accept.
	AskUnencrypted QuestionKind = "unencrypted"
	// AskPassphrase: what opens the private key file that Name names.
	AskPassphrase QuestionKind = "key-passphrase"
	// AskProxyPassword: the password of the user Name at the proxy that the
	// target is reached by.
	AskProxyPassword QuestionKind = "proxy-password"
	// AskPrompts: the machine's own questions, in Prompts.
	AskPrompts QuestionKind = "prompts"
)

// A Prompt is a question of the machine's own. Its text is cleaned.
type Prompt struct {
	Text string
	Echo bool // what is typed may be shown
}

// An Answer to a [Question].
type Answer struct {
	User   string
	Secret Secret
	// Secrets answer the Prompts, one each.
	Secrets []Secret
	Save    bool // the person asked to keep it
	Accept  bool // yes, to a question that is answered by yes or no
	// Replace, with Accept: the changed key may take the place of the pinned
	// one. The person has seen both fingerprints.
	Replace bool
}

// An Asker answers questions. An error of kind Cancelled means the person
// said no; of kind Credentials, that nobody can be asked.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// AskFunc makes an Asker of a function.
type AskFunc func(ctx context.Context, q Question) (Answer, error)

// Ask calls f.
func (f AskFunc) Ask(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }
