package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deskvnc/control/grant"
)

// guarded are the window's commands behind the grant of the moment.
type guarded struct{ d *Door }

// errNoApp is what an agent is told that may not use the window's commands.
var errNoApp = errors.New("PolicyDenied: the window's commands are not allowed to agents; a person can allow them in the agents panel of the window")

// List lists the commands.
func (g guarded) List(ctx context.Context, filter string) (any, error) {
	if !g.d.Grant().Has(grant.App) {
		return nil, errNoApp
	}
	return g.d.config.Commands.List(ctx, filter)
}

// Execute runs a command.
func (g guarded) Execute(ctx context.Context, id string, params json.RawMessage) (any, error) {
	held := g.d.Grant()
	if !held.Has(grant.App) {
		return nil, errNoApp
	}
	if c, ok := g.d.config.Commands.Command(id); ok && !c.Person && !held.Has(c.Capability) {
		return nil, fmt.Errorf("PolicyDenied: %s needs the capability %s, which agents do not have here", id, c.Capability)
	}
	return g.d.config.Commands.Execute(ctx, id, params)
}
