package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deskvnc/control/command"
	"deskvnc/control/grant"
)

// guarded are the window's commands behind the grant of the moment.
type guarded struct{ d *Door }

// Errors that an agent is told.
var (
	errNoApp      = errors.New("PolicyDenied: the window's commands are not allowed to agents; a person can allow them in the agents panel of the window")
	errNoCommands = errors.New("this window serves no commands here")
)

// held are the commands, and the grant of the moment that lets an agent to
// them.
func (g guarded) held() (*command.Registry, grant.Grant, error) {
	g.d.mu.Lock()
	defer g.d.mu.Unlock()
	switch {
	case !g.d.grant.Has(grant.App):
		return nil, grant.Grant{}, errNoApp
	case g.d.serves == nil:
		return nil, grant.Grant{}, errNoCommands
	}
	return g.d.serves, g.d.grant, nil
}

// List lists the commands.
func (g guarded) List(ctx context.Context, filter string) (any, error) {
	commands, _, err := g.held()
	if err != nil {
		return nil, err
	}
	return commands.List(ctx, filter)
}

// Execute runs a command.
func (g guarded) Execute(ctx context.Context, id string, params json.RawMessage) (any, error) {
	commands, held, err := g.held()
	if err != nil {
		return nil, err
	}
	if c, ok := commands.Command(id); ok && !c.Person && !held.Has(c.Capability) {
		return nil, fmt.Errorf("PolicyDenied: %s needs the capability %s, which agents do not have here", id, c.Capability)
	}
	return commands.Execute(ctx, id, params)
}
