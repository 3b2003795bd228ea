package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/viewer"
)

// What a person says about one key is never the answer to the next one.
func TestAnswersAboutKeysAreNotRepeated(t *testing.T) {
	for _, kind := range []viewer.QuestionKind{viewer.AskCertificate, viewer.AskServerKey} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			d := &script{open: func(ctx context.Context, tg viewer.Target, env viewer.Env) error {
				_, err := env.Ask.Ask(ctx, viewer.Question{Kind: kind, Target: tg, Attempt: 1})
				return err
			}}
			e := New(Config{Drivers: viewer.Registry{viewer.VNC: d}, Asker: func(*Session) viewer.Asker {
				return viewer.AskFunc(func(context.Context, viewer.Question) (viewer.Answer, error) {
					asked++
					return viewer.Answer{Accept: true, Replace: true}, nil
				})
			}})
			defer e.Close()
			s, err := e.Open(lab)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			time.Sleep(time.Minute)
			d.session(0).fail(gone)
			time.Sleep(time.Second)
			synctest.Wait()
			if st := s.State(); st.Phase != viewer.Connected || asked != 2 {
				t.Errorf("%s: asked %d times, state %+v; want a question for each connection", kind, asked, st)
			}
		})
	}
}
