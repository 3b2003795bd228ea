package server

import (
	"strings"
	"testing"
)

// A person sends one agent away: what it does stops, its connections end, its
// attachment cannot be joined again, and the others go on.
func TestEnd(t *testing.T) {
	d := newDesk()
	address, s := serve(t, d.config(), nil)
	one, second, other := dial(t, address), dial(t, address), dial(t, address)
	w := one.hello(`{"client":"one"}`)
	second.hello(joining(w))
	other.hello(`{"client":"other"}`)
	one.send(`{"id":2,"method":"tool.call","params":{"tool":"wait","arguments":{"n":1}}}` + "\n")
	<-d.started
	if s.End("att_nobody") {
		t.Error("an attachment that does not exist was ended")
	}
	if !s.End(w.Attachment) {
		t.Error("the attachment was not ended")
	}
	if got := <-d.stopped; got != `{"n":1}` {
		t.Errorf("stopped %s", got)
	}
	if got := <-d.ended; got != w.Attachment {
		t.Errorf("ended %s", got)
	}
	for one.line() != "" {
	}
	if got := second.line(); got != "" {
		t.Errorf("the second connection says %s", got)
	}
	if got := dial(t, address).ask(`{"id":1,"method":"hello","params":` + joining(w) + `}`); !strings.Contains(got, `"ok":false`) {
		t.Errorf("joining an ended attachment: %s", got)
	}
	if got := other.ask(`{"id":3,"method":"tool.call","params":{"tool":"x"}}`); !strings.Contains(got, `"ok":true`) {
		t.Errorf("the other agent: %s", got)
	}
}
