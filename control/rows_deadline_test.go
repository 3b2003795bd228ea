package control

import (
	"encoding/json"
	"testing"
	"time"
)

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		want       time.Duration
	}{
		{"dvv_click", `{"action":"click"}`, 90 * time.Second},
		{"dvv_wait", `{"until":"idle","timeoutMs":5000}`, 35 * time.Second},
		{"dvv_wait", `{"until":"idle"}`, 55 * time.Second},
		{"dvv_wait", `{"until":"idle","timeoutMs":"5000"}`, 55 * time.Second},
		{"dvv_run", `{"command":"x","timeoutMs":600000}`, 630 * time.Second},
		{"dvv_type", `{"text":"x"}`, 0},
	} {
		row, _ := RowByName(c.tool)
		got, ok := row.Limit(json.RawMessage(c.args))
		if got != c.want || ok != (c.want > 0) {
			t.Errorf("%s %s: got %v %v, want %v", c.tool, c.args, got, ok, c.want)
		}
	}
}
