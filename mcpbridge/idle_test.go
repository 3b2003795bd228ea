package mcpbridge

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/control"
)

// A slow is a backend whose calls take as long as their argument says.
type slow struct{}

func (slow) Call(ctx context.Context, _ string, arguments json.RawMessage) ([]byte, error) {
	var a struct{ TimeoutMs int }
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, err
	}
	select {
	case <-time.After(time.Duration(a.TimeoutMs) * time.Millisecond):
	case <-ctx.Done():
	}
	return []byte(`{}`), nil
}

func (slow) Close() error { return nil }

func TestIdleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		s, err := New(Config{Rows: control.Rows(), Open: func(string) (Backend, error) { return slow{}, nil }, Idle: func() { told.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		// after lets time pass and checks how often it was told by then.
		after := func(d time.Duration, want int32) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := told.Load(); got != want {
				t.Errorf("told %d times, want %d", got, want)
			}
		}
		call := func(took string) {
			s.call(t.Context(), "dvv_wait", json.RawMessage(`{"until":"connected","timeoutMs":`+took+`}`))
		}
		after(time.Hour, 0) // nothing has run yet
		call("0")
		after(idleAfter-time.Millisecond, 0)
		call("0") // begins anew
		after(idleAfter-time.Millisecond, 0)
		after(time.Millisecond, 1)
		after(time.Hour, 1) // once each time

		// A long call is not idleness, also beside a short one.
		go call("20000")
		synctest.Wait()
		call("0")
		after(19*time.Second, 1)
		after(time.Second+idleAfter, 2)

		s.call(t.Context(), "dvv_nothing", nil) // runs nothing
		after(time.Hour, 2)

		call("0")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		after(time.Hour, 2) // not after the end
	})
}
