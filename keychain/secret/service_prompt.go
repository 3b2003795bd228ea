//go:build !windows && !darwin

package secret

import (
	"context"
	"time"

	"github.com/godbus/dbus/v5"
)

// open unlocks collections or items. A service may do so without a person (a
// keyring without a password); otherwise it hands out a prompt, which shows
// nothing before it is told to. asked says that a person just wants this, so
// that having declined before does not count.
func (b *backend) open(ctx context.Context, l *link, paths []dbus.ObjectPath, asked bool) error {
	if b.mayPrompt {
		// One question at a time: the calls that waited find it unlocked.
		if err := b.turn(ctx); err != nil {
			return err
		}
		defer b.endTurn()
		if !asked && b.declined.Load() {
			return errDismissed()
		}
	}
	var unlocked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	if err := l.call(ctx, secretsPath, ifService+".Unlock", []any{&unlocked, &prompt}, paths); err != nil {
		return err
	}
	if prompt != noObject {
		v, err := b.answer(ctx, l, prompt)
		if err != nil {
			return err
		}
		more, _ := v.Value().([]dbus.ObjectPath)
		unlocked = append(unlocked, more...)
	}
	if len(unlocked) == 0 {
		return errLocked()
	}
	return nil
}

// turn waits until no other call asks a person.
func (b *backend) turn(ctx context.Context) error {
	late := time.NewTimer(b.promptTimeout)
	defer late.Stop()
	select {
	case b.asking <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return errUnanswered(b.promptTimeout)
	}
}

func (b *backend) endTurn() { <-b.asking }

// answer shows a prompt and waits for the person, where one may be asked.
//
// A prompt is never dismissed, shown or not: gnome-keyring 42 crashes when told
// to while any is on the screen, and every keyring of the person would be
// locked with it. One that was not shown ends with the connection. One that was
// stays on the screen, and when it is answered later the next call finds the
// keyring unlocked.
func (b *backend) answer(ctx context.Context, l *link, prompt dbus.ObjectPath) (dbus.Variant, error) {
	if !b.mayPrompt {
		return dbus.Variant{}, errLocked()
	}
	waiting, cancel := context.WithTimeout(ctx, b.promptTimeout)
	defer cancel()
	v, err := l.show(waiting, prompt)
	if err != nil && waiting.Err() != nil {
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		err = errUnanswered(b.promptTimeout)
	}
	switch KindOf(err) {
	case Locked, Dismissed:
		b.declined.Store(true)
	case "":
		b.declined.Store(false)
	}
	return v, err
}

// show has the service show a prompt and waits for its signal Completed, for
// as long as ctx lasts and the service lives.
func (l *link) show(ctx context.Context, prompt dbus.ObjectPath) (dbus.Variant, error) {
	const completed, ownerChanged = "Completed", "NameOwnerChanged"
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchSender(l.peer), dbus.WithMatchObjectPath(prompt), dbus.WithMatchInterface(ifPrompt), dbus.WithMatchMember(completed)},
		{dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName), dbus.WithMatchMember(ownerChanged), dbus.WithMatchArg(0, l.peer)},
	} {
		bounded, cancel := context.WithTimeout(ctx, l.timeout)
		err := l.conn.AddMatchSignalContext(bounded, match...)
		cancel()
		switch {
		case err == nil:
		case ctx.Err() == nil && bounded.Err() == context.DeadlineExceeded:
			return dbus.Variant{}, errSilent(l.timeout)
		default:
			return dbus.Variant{}, errBus(err)
		}
	}
	signals := make(chan *dbus.Signal, 8)
	l.conn.Signal(signals)
	defer l.conn.RemoveSignal(signals)
	const noWindow = ""
	if err := l.call(ctx, prompt, ifPrompt+".Prompt", nil, noWindow); err != nil {
		return dbus.Variant{}, err
	}
	for {
		select {
		case <-ctx.Done():
			return dbus.Variant{}, ctx.Err()
		case s, ok := <-signals:
			if !ok {
				return dbus.Variant{}, errEnded()
			}
			switch {
			case s.Sender == busName && s.Name == busName+"."+ownerChanged && len(s.Body) == 3 && s.Body[0] == l.peer && s.Body[2] == "":
				return dbus.Variant{}, errEnded()
			case s.Sender == l.peer && s.Path == prompt && s.Name == ifPrompt+"."+completed:
				var dismissed bool
				var v dbus.Variant
				if dbus.Store(s.Body, &dismissed, &v) != nil {
					return dbus.Variant{}, &Error{Kind: Failed, Reason: "the keyring service ended its question in another form"}
				}
				if dismissed {
					return dbus.Variant{}, errDismissed()
				}
				return v, nil
			}
		}
	}
}

func errEnded() *Error {
	return &Error{Kind: Failed, Reason: "the keyring service ended while it asked", Advice: "try again"}
}
