package control

import (
	"encoding/json"
	"time"
)

// defaultOwn is what an own deadline is reckoned from when the caller names
// none: the longest time that a tool waits by itself.
const defaultOwn = 25 * time.Second

// Limit is how long the far side may take over a call of this tool with these
// arguments. It reports false when there is no limit.
func (r Row) Limit(arguments json.RawMessage) (limit time.Duration, ok bool) {
	switch r.Deadline {
	case Stream:
		return 0, false
	case Short:
		return ShortDeadline, true
	}
	args, refused := Check(r, arguments)
	if refused != nil || !args.Has("timeoutMs") {
		return defaultOwn + OwnSlack, true
	}
	return time.Duration(args.Int("timeoutMs"))*time.Millisecond + OwnSlack, true
}
