package engine

import (
	"testing"

	"deskvnc/viewer"
)

// An answer goes back to the machine it was given for, and to no other one on
// the way; codes that work once are not kept.
func TestAnswersBelongToTheirMachine(t *testing.T) {
	ask := func(kind viewer.QuestionKind, address, name string) viewer.Question {
		return viewer.Question{Kind: kind, Target: viewer.Target{Address: address, Port: 22}, Attempt: 1, Name: name}
	}
	jump, target := ask(viewer.AskPassword, "jump", "alice"), ask(viewer.AskPassword, "target", "alice")
	key, code := ask(viewer.AskPassphrase, "target", "/key"), ask(viewer.AskPrompts, "target", "alice")
	var a answers
	for _, q := range []viewer.Question{jump, target, key, code} {
		if _, ok := a.known(q); ok {
			t.Errorf("%s of %s is known already", q.Kind, q.Target.Address)
		}
		a.given(q, viewer.Answer{Secret: viewer.SecretString(string(q.Kind) + q.Target.Address)})
	}
	a.worked()
	a.ended(viewer.Closed, true)
	for _, q := range []viewer.Question{jump, target, key} {
		if got, ok := a.known(q); !ok || string(got.Secret.Open()) != string(q.Kind)+q.Target.Address {
			t.Errorf("%s of %s: got %v, another one's or none", q.Kind, q.Target.Address, ok)
		}
	}
	for _, q := range []viewer.Question{code, ask(viewer.AskPassword, "target", "bob"), ask(viewer.AskPassword, "other", "alice"), ask(viewer.AskPassphrase, "target", "/other")} {
		if _, ok := a.known(q); ok {
			t.Errorf("%s of %s for %s: got an answer that was given to something else", q.Kind, q.Target.Address, q.Name)
		}
	}
	a.ended(viewer.Denied, true)
	if _, ok := a.known(jump); ok {
		t.Error("what was refused is given again")
	}
}
