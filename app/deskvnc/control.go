package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deskvnc/control/command"
	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/control/server"
	"deskvnc/control/socket"
)

// ticked are the capabilities that agents get only when a person says so.
var ticked = []string{grant.App, grant.ClipboardRead, grant.Exec, grant.FilesWrite, grant.Peers, grant.Record, grant.Scancode}

// keyGrant is the grant of whoever presents the key file, with what the person
// allows besides.
func keyGrant(allow []string) (grant.Grant, error) {
	g := grant.Default()
	if len(allow) == 0 {
		return g, nil
	}
	return grant.Issue(grant.Spec{ID: g.ID(), Label: g.Label(), KnownHosts: true, Capabilities: append(g.Capabilities(), allow...)})
}

// checkAllowed reads the value of --allow.
func checkAllowed(text string) ([]string, error) {
	var out []string
	for c := range strings.SplitSeq(text, ",") {
		if c = strings.TrimSpace(c); c == "" {
			continue
		}
		if !slices.Contains(ticked, c) {
			return nil, fmt.Errorf("--allow %s: allow one or more of %s", c, strings.Join(ticked, ", "))
		}
		out = append(out, c)
	}
	return out, nil
}

// serveControl lets agents connect. The text says where.
func serveControl(where string, p *plane.Plane, commands *command.Registry, g grant.Grant) (text string, end func(), err error) {
	l, err := socket.Listen(where)
	if err != nil {
		return "", nil, err
	}
	s := server.New(server.Config{
		Attach:   func(label string) (server.Attachment, error) { return p.Attach(label, g) },
		Commands: guarded{commands, g}, Version: version, Key: l.Key(),
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l)
	}()
	return l.Address().String(), func() {
		s.Close()
		l.Close()
		<-done
	}, nil
}

// guarded are the window's commands behind a grant.
type guarded struct {
	commands *command.Registry
	grant    grant.Grant
}

// errNoApp is what an agent is told that may not use the window's commands.
var errNoApp = fmt.Errorf("PolicyDenied: the window's commands are not allowed to agents; a person has to start the window with --allow %s", grant.App)

// List lists the commands.
func (g guarded) List(ctx context.Context, filter string) (any, error) {
	if !g.grant.Has(grant.App) {
		return nil, errNoApp
	}
	return g.commands.List(ctx, filter)
}

// Execute runs a command.
func (g guarded) Execute(ctx context.Context, id string, params json.RawMessage) (any, error) {
	if !g.grant.Has(grant.App) {
		return nil, errNoApp
	}
	if c, ok := g.commands.Command(id); ok && !c.Person && !g.grant.Has(c.Capability) {
		return nil, fmt.Errorf("PolicyDenied: %s needs the capability %s, which agents do not have here", id, c.Capability)
	}
	return g.commands.Execute(ctx, id, params)
}
