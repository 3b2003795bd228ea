//go:build unix

package browse

import (
	"context"

	"deskvnc/viewer"
)

// sshEnv answers nothing: nothing is to be asked.
func sshEnv() viewer.Env {
	return viewer.Env{Emit: func(viewer.Event) {}, Ask: viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
		return viewer.Answer{}, &viewer.Error{Op: "ask", Kind: viewer.Credentials}
	})}
}
