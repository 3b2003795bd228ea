package mcpbridge

import (
	"encoding/json"
	"strconv"
	"time"

	"deskvnc/control"
)

// progressEvery is how often a client that asked is told that a call still
// runs. Clients give a call up after 60 s of silence.
const progressEvery = 5 * time.Second

// progress tells the client that a long call goes on, when it asked to be
// told. The returned function stops it; nothing is said after it returned.
func (d *desk) progress(c *call) (stop func()) {
	row, ok := d.s.rows[c.tool.name]
	if !ok || c.tool.progress == nil || row.Deadline == control.Short {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		start := time.Now()
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				d.tell(c, time.Since(start))
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// tell sends one notifications/progress, unless the call is over.
func (d *desk) tell(c *call, elapsed time.Duration) {
	text, _ := json.Marshal(c.tool.name + " is still running")
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), c.tool.progress...)
	b = strconv.AppendInt(append(b, `,"progress":`...), elapsed.Milliseconds(), 10)
	b = append(append(append(b, `,"message":`...), text...), `}}`...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		d.out.offer(b)
	}
}
