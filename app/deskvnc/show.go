package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"

	"deskvnc/app/ui"
	"deskvnc/app/ui/fence"
	"deskvnc/app/ui/look"
	"deskvnc/control/plane"
	"deskvnc/viewer"
	"deskvnc/viewer/drivers"
	"deskvnc/viewer/engine"
	"deskvnc/viewer/sample"
)

// appID names the program to the desktop.
const appID = "io.github.deskvnc.DeskVNC"

// The window's size when it opens.
const (
	startWidth  = 1100
	startHeight = 740
)

// checkDisplay makes sure that there is something to show a window on: the
// toolkit would end with a panic.
func checkDisplay() error {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" {
		return errors.New("there is no display to open a window on: DISPLAY is not set. Without a desktop use dvv, the command line")
	}
	return nil
}

// machines are the machines that agents may open from here.
type machines []viewer.Target

// Hosts implements [plane.HostSource].
func (m machines) Hosts() []viewer.Target { return m }

// show opens the window and runs it to its end.
func show(o options, stderr io.Writer) (err error) {
	var samples machines
	if o.sample {
		m, err := sample.Start(sample.Options{Width: o.width, Height: o.height})
		if err != nil {
			return errors.New(viewer.Reason(err))
		}
		defer m.Close()
		samples = m.Targets()
	}

	a := app.NewWithID(appID)
	a.SetIcon(ui.Icon)
	a.Settings().SetTheme(look.Theme{})
	win := a.NewWindow("DeskVNC")
	win.SetMaster()
	win.Resize(fyne.NewSize(startWidth, startHeight))

	gate := fence.New()
	var window *ui.Window
	e := engine.New(engine.Config{
		Drivers: drivers.Registry(),
		Asker:   func(s *engine.Session) viewer.Asker { return window.Asker(s) },
	})
	defer e.Close()
	p := plane.New(plane.Config{Engine: e, Hosts: samples, Version: version})
	defer p.Close()

	var once sync.Once
	quit := func() {
		once.Do(func() {
			window.Close()
			a.Quit()
		})
	}
	window, err = ui.New(ui.Config{
		App: a, Window: win, Fence: gate, Engine: e, Plane: p, Samples: samples, Version: version,
		InputMethod: inputMethod(os.Getenv("XMODIFIERS")), Quit: quit,
	})
	if err != nil {
		return err
	}
	win.SetCloseIntercept(quit)

	if o.control != "" {
		g, err := keyGrant(o.allow)
		if err != nil {
			return err
		}
		where, end, err := serveControl(o.control, p, window.Commands(), g)
		switch {
		case err == nil:
			defer end()
			fmt.Fprintf(stderr, "deskvnc: agents connect to %s\n", where)
			window.SetControl("Agents: "+where, false)
		case o.controlRequired:
			return err
		default:
			fmt.Fprintf(stderr, "deskvnc: %v; running without\n", err)
			window.SetControl("No agents: "+err.Error(), true)
		}
	}

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		if _, ok := <-signals; ok {
			gate.Go(quit)
		}
	}()

	var trouble error
	var native func()
	a.Lifecycle().SetOnStarted(func() {
		if native, trouble = connectNative(win, window, gate, stderr); trouble != nil {
			quit()
			return
		}
		if o.target != nil {
			window.Open(*o.target)
		}
	})
	win.Show()
	a.Run()
	if native != nil {
		native()
	}
	return trouble
}

// inputMethod reports whether the X modifiers name an input method that
// composes text from keys.
func inputMethod(modifiers string) bool {
	_, name, ok := strings.Cut(modifiers, "@im=")
	name, _, _ = strings.Cut(name, "@")
	return ok && name != "" && name != "none" && name != "local"
}
