package library

import (
	"path/filepath"

	"deskvnc/control/plane"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/trust"
)

// A Desk is the sessions of a program without a window: an engine and a plane
// over a library.
type Desk struct {
	Library *Library
	Engine  *engine.Engine
	Plane   *plane.Plane
	stop    func()
}

// NewDesk assembles a desk, which owns the library from then on. Nobody can be
// asked there; acceptNew trusts keys and certificates that were never seen
// before, and keeps them.
func NewDesk(l *Library, version string, acceptNew bool) *Desk {
	d := &Desk{Library: l}
	ask := l.Asker(nil)
	if acceptNew {
		stored := ask
		ask = func(s *engine.Session) viewer.Asker { return trust.AcceptNew(stored(s)) }
	}
	d.Engine = engine.New(engine.Config{Drivers: drivers.Judged(l.Judge()), Asker: ask})
	d.stop = l.Follow(d.Engine)
	d.Plane = plane.New(plane.Config{Engine: d.Engine, Hosts: l, Version: version})
	return d
}

// pinsFolder is where trusted keys and certificates are kept, beside the
// library.
const pinsFolder = "pins"

// Judge is what decides whether a machine's key or certificate is trusted. Its
// pins are kept beside the library, for every program that opens it.
func (l *Library) Judge() *trust.Judge {
	return &trust.Judge{Pins: trust.Folder(filepath.Join(filepath.Dir(l.store.Path()), pinsFolder))}
}

// Close ends every attachment and session, letting go of what is held, and
// closes the library.
func (d *Desk) Close() error {
	d.Plane.Close()
	d.Engine.Close()
	d.stop()
	return d.Library.Close()
}
