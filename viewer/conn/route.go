package conn

import (
	"context"

	"deskvnc/viewer"
)

// Route is the way to a target: what env dials with, or by the target's proxy.
// With a user in the proxy's address, its password is asked for; this may take
// as long as a person needs.
func Route(ctx context.Context, t viewer.Target, env viewer.Env) (DialFunc, error) {
	if t.Proxy == "" {
		return env.Dial, nil
	}
	p, err := ParseProxy(t.Proxy)
	if err != nil {
		return nil, err
	}
	if p.User != "" {
		a, err := env.Ask.Ask(ctx, viewer.Question{Kind: viewer.AskProxyPassword, Target: t, Attempt: 1, Name: p.User,
			Text: "the proxy " + p.Address + " lets in users with a password, which is sent to it unencrypted"})
		if err != nil {
			return nil, &viewer.Error{Op: "proxy", Kind: viewer.KindOf(err), Err: err}
		}
		p.Password = a.Secret
	}
	return p.Through(env.Dial), nil
}
