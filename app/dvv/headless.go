package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"deskvnc/app/library"
	"deskvnc/control/grant"
	"deskvnc/control/paths"
	"deskvnc/control/plane"
	"deskvnc/mcpbridge"
	"deskvnc/viewer"
)

// A headless says how to open sessions in this process.
type headless struct {
	grant         grant.Grant
	sample        bool
	width, height int // of the sample; 0 for the default
	acceptNew     bool
	folders       *paths.Roots // local ones that the agent may use
	warn          io.Writer
}

func (h *headless) about() string {
	if h.sample {
		return "headless: it opens its own sessions, without a window, and has a sample desktop (dvv_hosts) to try things on"
	}
	return "headless: it opens its own sessions, without a window"
}

// open assembles library, engine and plane. Nobody can be asked here: a
// machine whose password is not in the keychain is refused with
// CREDENTIALS_REQUIRED.
func (h *headless) open(client string) (mcpbridge.Backend, error) {
	l := &local{}
	options := library.Options{Sample: h.sample, SampleWidth: h.width, SampleHeight: h.height}
	saved, err := library.Open(options)
	if err != nil {
		// Machines can be opened by their address all the same.
		fmt.Fprintf(h.warn, "dvv: saved machines are not available: %s\n", viewer.Reason(err))
		if l.scratch, err = os.MkdirTemp("", "dvv-"); err != nil {
			return nil, fmt.Errorf("there is no place for temporary files: %w", err)
		}
		options.Path = filepath.Join(l.scratch, "library.db")
		if saved, err = library.Open(options); err != nil {
			return nil, errors.Join(err, os.RemoveAll(l.scratch))
		}
	}
	l.desk = library.NewDesk(saved, version, h.acceptNew)
	if client == "" {
		client = "agent"
	}
	if l.attachment, err = l.desk.Plane.Attach(client, h.grant); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.attachment.Confine(h.folders)
	return l, nil
}

// local is the backend of sessions in this process.
type local struct {
	desk       *library.Desk
	attachment *plane.Attachment
	scratch    string // folder of a library for this run only; empty without one
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
	err := l.desk.Close()
	if l.scratch != "" {
		err = errors.Join(err, os.RemoveAll(l.scratch))
	}
	return err
}
