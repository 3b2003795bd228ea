package rfb

import (
	"context"
	"fmt"

	"deskvnc/viewer"
)

// SetClipboard puts text on the machine's clipboard. The protocol's own
// message carries Latin-1; what is outside of it becomes a question mark.
func (s *Session) SetClipboard(ctx context.Context, text string) (lost int, err error) {
	latin1, lost := toLatin1(text)
	if len(latin1) > maxTextBytes {
		return 0, &viewer.Error{Op: "rfb.SetClipboard", Kind: viewer.Limit,
			Err: fmt.Errorf("a clipboard text of %d characters is more than the %d that are sent", len(latin1), maxTextBytes)}
	}
	s.out.mu.Lock()
	if s.out.sealed || s.out.end != nil {
		s.out.mu.Unlock()
		return 0, errClosed
	}
	n := s.out.setText(appendCutText(nil, latin1))
	s.out.mu.Unlock()
	return lost, s.out.wait(ctx, n)
}
