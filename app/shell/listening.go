package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"deskvnc/app/callers"
	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/engine"
)

// What is no tool: a holder waits for calls on behalf of the process that asks
// for it, for as long as that is connected, since sessions are the holder's and
// what a person says is the process's.
const (
	// listenTool has the holder wait for calls.
	listenTool = "dvv_hold_listen"
	// callsTool gives what has come since; it waits for the first.
	callsTool = "dvv_hold_calls"
	// answerTool says whether a caller may be let in.
	answerTool = "dvv_hold_answer"
)

const (
	// callsWait bounds one wait for calls, well within what a reply may take.
	callsWait = 10 * time.Second
	// maxNews bounds what a process that does not ask leaves behind.
	maxNews = 64
)

// listenArgs are the arguments of listenTool; listenAnswer is its result.
type listenArgs struct {
	Address string `json:"address"`
}

type listenAnswer struct {
	Address string `json:"address"`
}

// callNews is something about one call: a question, when Ask is set, or what
// became of it.
type callNews struct {
	Ask    int    `json:"ask,omitempty"`  // the number of the question
	Over   int    `json:"over,omitempty"` // the number of a question that needs no answer any more
	From   string `json:"from"`
	Name   string `json:"name,omitempty"` // of the saved machine that it is
	LimbID string `json:"limbId,omitempty"`
	Error  string `json:"error,omitempty"`
}

type callsAnswer struct {
	News []callNews `json:"news"`
}

type answerArgs struct {
	Ask int  `json:"ask"`
	Yes bool `json:"yes"`
}

// A listening is the waiting for calls on behalf of one process.
type listening struct {
	w *callers.Waiting

	mu    sync.Mutex
	next  int
	asked map[int]chan bool
	news  []callNews
	some  chan struct{} // one place: there is news
}

// listen starts to wait for calls. attach has what opens a session attached to
// it, and gives its limb's id.
func listen(address string, b *local, attach func(context.Context, *engine.Session) (string, error)) (*listening, error) {
	l := &listening{asked: map[int]chan bool{}, some: make(chan struct{}, 1)}
	var err error
	l.w, err = callers.Listen(address, callers.Config{
		Engine: b.desk.Engine,
		Known:  b.desk.Library.Known,
		Agree:  l.agree,
		Told: func(o callers.Outcome) {
			n := callNews{From: o.From.Address}
			err := o.Err
			if err == nil {
				if n.LimbID, err = attach(context.Background(), o.Session); err != nil {
					o.Session.Close()
				}
			}
			if err != nil {
				n.Error = viewer.Reason(err)
			}
			l.add(n)
		},
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// add notes news. Of too many, the oldest go.
func (l *listening) add(n callNews) {
	l.mu.Lock()
	l.news = append(l.news, n)
	if len(l.news) > maxNews {
		l.news = l.news[1:]
	}
	l.mu.Unlock()
	select {
	case l.some <- struct{}{}:
	default:
	}
}

// agree asks the process about a caller.
func (l *listening) agree(ctx context.Context, from viewer.Target) bool {
	answer := make(chan bool, 1)
	l.mu.Lock()
	l.next++
	ask := l.next
	l.asked[ask] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.asked, ask)
		l.mu.Unlock()
	}()
	l.add(callNews{Ask: ask, From: from.Address, Name: from.Name})
	select {
	case yes := <-answer:
		return yes
	case <-ctx.Done():
		l.add(callNews{Over: ask, From: from.Address})
		return false
	}
}

// answer passes on what a person said; false when the question is over.
func (l *listening) answer(a answerArgs) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ch := l.asked[a.Ask]
	delete(l.asked, a.Ask)
	if ch == nil {
		return false
	}
	ch <- a.Yes // it has a place
	return true
}

// take gives what is new, waiting for it for a while.
func (l *listening) take(ctx context.Context) []callNews {
	late := time.NewTimer(callsWait)
	defer late.Stop()
	for {
		l.mu.Lock()
		news := l.news
		l.news = nil
		l.mu.Unlock()
		if len(news) > 0 {
			return news
		}
		select {
		case <-l.some:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// serve carries out what a process that waits for calls asks for; ok is false
// for a tool that is none of its.
func (g *guest) listenCall(ctx context.Context, tool string, arguments json.RawMessage) (answer any, ok bool, err error) {
	switch tool {
	case listenTool, callsTool, answerTool:
	default:
		return nil, false, nil
	}
	b, own := g.h.back.(*local)
	if !own {
		return nil, true, fmt.Errorf("a window waits for calls by itself")
	}
	l := g.listens()
	switch {
	case tool == listenTool:
		var a listenArgs
		if err := json.Unmarshal(arguments, &a); err != nil {
			return nil, true, err
		}
		if l != nil {
			return nil, true, fmt.Errorf("calls are waited for already")
		}
		if l, err = listen(a.Address, b, g.h.attached); err != nil {
			return nil, true, err
		}
		if !g.keep(l) {
			_ = l.w.Close()
			return nil, true, fmt.Errorf("the caller has gone")
		}
		return listenAnswer{Address: l.w.Addr().String()}, true, nil
	case l == nil:
		return nil, true, fmt.Errorf("nobody waits for calls")
	case tool == answerTool:
		var a answerArgs
		if err := json.Unmarshal(arguments, &a); err != nil {
			return nil, true, err
		}
		return struct {
			Done bool `json:"done"`
		}{l.answer(a)}, true, nil
	}
	return callsAnswer{News: l.take(ctx)}, true, nil
}

// listens is the waiting of a process; nil without.
func (g *guest) listens() *listening {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	return g.listening
}

// keep notes the waiting of a process; false when that has gone.
func (g *guest) keep(l *listening) bool {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	if g.gone || g.listening != nil {
		return false
	}
	g.listening = l
	return true
}

// attached has the holder's attachment take a session that a call has opened,
// so that all verbs have it.
func (h *holder) attached(ctx context.Context, s *engine.Session) (string, error) {
	t := s.Target()
	args := map[string]any{"slot": s.Slot(), "perceive": true}
	if t.HostID != "" {
		args["hostId"] = t.HostID
	} else {
		args["address"], args["port"], args["protocol"] = t.Address, t.Port, string(t.Protocol)
	}
	var r struct {
		Limb control.Card `json:"limb"`
	}
	if err := ask(ctx, h.back, "dvv_open", args, &r); err != nil {
		delete(args, "perceive") // there may be no room for one more picture
		if err := ask(ctx, h.back, "dvv_open", args, &r); err != nil {
			return "", err
		}
	}
	h.mu.Lock()
	h.had, h.empty = true, false
	h.mu.Unlock()
	return r.Limb.LimbID, nil
}
