package rfb

import (
	"errors"

	"deskvnc/viewer"
)

const (
	// repeaterGreeting is what a repeater says in the place of a version.
	repeaterGreeting = "RFB 000.000\n"
	// repeaterName is the size of what a repeater is told.
	repeaterName = 250
)

// repeaterRequest is what a repeater is told: the number under which a machine
// waits at it, or the address of a machine that it is to call. The rest is
// zeros.
func repeaterRequest(id string) ([]byte, error) {
	name, err := viewer.ParseRepeater(id)
	if err != nil {
		return nil, err
	}
	b := make([]byte, repeaterName)
	copy(b, name)
	return b, nil
}

// passRepeater reads a repeater's greeting and names the machine. What comes
// next is the machine's own greeting, once the repeater has found it.
func (t *translator) passRepeater() error {
	request, err := repeaterRequest(t.repeater)
	if err != nil {
		return err
	}
	b, err := t.take(greetingBytes)
	if err != nil {
		return err
	}
	if string(b) != repeaterGreeting {
		return &viewer.Error{Op: "rfb.Repeater", Kind: viewer.Unsupported,
			Err: errors.New("this is no VNC repeater: take the number at a repeater out of the machine's settings")}
	}
	if _, err := t.Conn.Write(request); err != nil {
		return err
	}
	t.await("greeting through the repeater; it may know no machine of that name")
	return nil
}
