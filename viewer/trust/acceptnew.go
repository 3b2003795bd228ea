package trust

import (
	"context"
	"errors"

	"deskvnc/viewer"
)

// AcceptNew answers questions about unknown keys and certificates with yes,
// and keeps them. Changed ones are refused, whoever else could be asked. All
// other questions go on to next, which may be nil: then nobody can be asked.
func AcceptNew(next viewer.Asker) viewer.Asker {
	return viewer.AskFunc(func(ctx context.Context, q viewer.Question) (viewer.Answer, error) {
		if q.Kind == viewer.AskCertificate || q.Kind == viewer.AskServerKey {
			switch {
			case q.Key == nil:
			case q.Key.Pinned == nil && q.Key.Fingerprint != "":
				return viewer.Answer{Accept: true, Save: true}, nil
			default:
				return viewer.Answer{}, untrusted(errors.New(Describe(q.Target, q.Key) +
					"; only a person can replace it, new ones alone are accepted by themselves"))
			}
		}
		if next == nil {
			return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials,
				Err: errors.New("the machine asks for a " + string(q.Kind) + " and nobody is here to answer")}
		}
		return next.Ask(ctx, q)
	})
}
