package trust

import (
	"fmt"
	"strings"
	"time"

	"deskvnc/viewer"
)

// An ID says which machine a pin belongs to. The address is that of the
// machine itself, also when a tunnel leads to it; the host id keeps apart two
// machines that have the same address behind different tunnels. Behind a
// repeater the address is the repeater's, and Repeater tells its machines
// apart.
type ID struct {
	Protocol viewer.Protocol `json:"protocol"`
	Address  string          `json:"address"`
	Port     int             `json:"port"`
	HostID   string          `json:"host,omitempty"`
	Repeater string          `json:"repeater,omitempty"`
}

// IDOf is the ID of a target.
func IDOf(t viewer.Target) ID {
	return ID{
		Protocol: t.Protocol, Address: viewer.Normalize(t.Address), Port: t.Port, HostID: t.HostID,
		Repeater: viewer.Normalize(strings.TrimPrefix(strings.TrimSpace(t.RepeaterID), "ID:")),
	}
}

// String names the machine.
func (id ID) String() string {
	s := fmt.Sprintf("%s://%s", id.Protocol, viewer.Target{Address: id.Address, Port: id.Port}.HostPort())
	if id.Repeater != "" {
		s += " (" + id.Repeater + " behind it)"
	}
	return s
}

// typed is the ID of the same machine when its address was typed, not taken
// from the library.
func (id ID) typed() ID {
	id.HostID = ""
	return id
}

// A Pin is a key that was accepted for a machine.
type Pin struct {
	Kind        Kind      `json:"kind"`
	Fingerprint string    `json:"fingerprint"`
	What        string    `json:"what"`
	Subject     string    `json:"subject,omitempty"`
	Issuer      string    `json:"issuer,omitempty"`
	Since       time.Time `json:"since"`
}

// Pins is where pins are kept: one a machine. It is safe for concurrent use,
// also by several processes.
type Pins interface {
	// Pin returns the pin of a machine; nil when it has none.
	Pin(id ID) (*Pin, error)
	// SetPin stores p in place of what was there; nil removes it.
	SetPin(id ID, p *Pin) error
}

// pinOf is the pin for a key accepted at a time.
func pinOf(k Key, at time.Time) *Pin {
	p := &Pin{Kind: k.Kind, Fingerprint: k.Fingerprint(), What: k.what(), Since: at.UTC().Truncate(time.Second)}
	if len(k.Chain) > 0 {
		p.Subject, p.Issuer = name(k.Chain[0].Subject), name(k.Chain[0].Issuer)
	}
	return p
}

// fits reports whether the key is the pinned one.
func (p *Pin) fits(k Key) bool { return p.Kind == k.Kind && p.Fingerprint == k.Fingerprint() }
