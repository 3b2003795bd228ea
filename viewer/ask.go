package viewer

import "context"

// A Question is one that only a person, or what a person stored, can answer.
type Question struct {
	Kind    QuestionKind
	Target  Target
	Attempt int    // 1 for the first time in this session
	Text    string // what the far side said, if it said anything
	// Name is the thing asked about: a user name already known, the
	// fingerprint of a key.
	Name string
}

// A QuestionKind names what is asked. The values double as the kinds of
// stored secrets.
type QuestionKind string

// The kinds of question.
const (
	AskVNCPassword QuestionKind = "vnc-password" // a password, no user
	AskPassword    QuestionKind = "password"     // a user and a password
)

// An Answer to a [Question].
type Answer struct {
	User   string
	Secret Secret
	Save   bool // the person asked to keep it
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
