package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deskvnc/control/grant"
	"deskvnc/control/plane"
	"deskvnc/mcpbridge"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// A headless says how to open sessions in this process.
type headless struct {
	grant         grant.Grant
	sample        bool
	width, height int // of the sample; 0 for the default
}

func (h *headless) about() string {
	if h.sample {
		return "headless: it opens its own sessions, without a window, and has a sample desktop (dvv_hosts) to try things on"
	}
	return "headless: it opens its own sessions, without a window"
}

// open assembles engine and plane. Nobody can be asked here: a machine that
// wants a password is refused with CREDENTIALS_REQUIRED.
func (h *headless) open(client string) (mcpbridge.Backend, error) {
	l := &local{}
	if h.sample {
		m, err := sample.Start(sample.Options{Width: h.width, Height: h.height})
		if err != nil {
			return nil, fmt.Errorf("the sample desktop cannot be served: %s", viewer.Reason(err))
		}
		l.samples = m
	}
	l.engine = engine.New(engine.Config{Drivers: drivers.Registry()})
	l.plane = plane.New(plane.Config{Engine: l.engine, Hosts: l, Version: version})
	if client == "" {
		client = "agent"
	}
	a, err := l.plane.Attach(client, h.grant)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.attachment = a
	return l, nil
}

// local is the backend of sessions in this process.
type local struct {
	samples    *sample.Machines // nil without --sample
	engine     *engine.Engine
	plane      *plane.Plane
	attachment *plane.Attachment
}

// Hosts implements [plane.HostSource].
func (l *local) Hosts() []viewer.Target {
	if l.samples == nil {
		return nil
	}
	return l.samples.Targets()
}

// Call implements [mcpbridge.Backend].
func (l *local) Call(ctx context.Context, tool string, arguments json.RawMessage) ([]byte, error) {
	return l.attachment.Call(ctx, tool, arguments), nil
}

// Close implements [mcpbridge.Backend]: what is held is released, then the
// sessions end.
func (l *local) Close() error {
	if l.attachment != nil {
		l.attachment.Close()
	}
	l.plane.Close()
	l.engine.Close()
	if l.samples != nil {
		return l.samples.Close()
	}
	return nil
}
