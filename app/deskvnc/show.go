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
	"deskvnc/app/ui/x11"
	"deskvnc/control/door"
	"deskvnc/control/plane"
)

// appID names the program to the desktop.
const appID = "io.github.deskvnc.DeskVNC"

// The window's size when it opens.
const (
	startWidth  = 1100
	startHeight = 740
)

// checkDisplay makes sure that there is something to show a window on: the
// toolkit would end with a panic, or go on without a window.
func checkDisplay() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	display := os.Getenv("DISPLAY")
	if display == "" {
		return errors.New("there is no display to open a window on: DISPLAY is not set. Without a desktop use dvv, the command line")
	}
	if err := x11.Check(display); err != nil {
		return fmt.Errorf("no window can be opened on %s: %w. Without a desktop use dvv, the command line", display, err)
	}
	return nil
}

// show opens the window and runs it to its end.
func show(o options, stderr io.Writer) (err error) {
	// The library is opened beside the window: a new one is written to disk
	// meanwhile.
	type opened struct {
		hosts *saved
		err   error
	}
	ready := make(chan opened, 1)
	go func() {
		h, err := openSaved(o)
		ready <- opened{h, err}
	}()

	a := app.NewWithID(appID)
	calm(a)
	a.SetIcon(ui.Icon)
	a.Settings().SetTheme(look.Theme{})
	win := a.NewWindow("DeskVNC")
	win.SetMaster()
	win.Resize(fyne.NewSize(startWidth, startHeight))

	lib := <-ready
	if lib.err != nil {
		return lib.err
	}
	hosts := lib.hosts
	defer func() { err = errors.Join(err, hosts.end()) }()

	gate := fence.New()
	var window *ui.Window
	e, unfollow := hosts.engine()
	defer unfollow()
	defer e.Close()
	p := plane.New(plane.Config{Engine: e, Hosts: hosts, Version: version})
	defer p.Close()

	var once sync.Once
	quit := func() {
		once.Do(func() {
			window.Close()
			a.Quit()
		})
	}
	agents, err := door.New(door.Config{Plane: p, Settings: hosts.settings(), Version: version, Allow: o.allow})
	if err != nil {
		return err
	}
	defer agents.Close()
	config := ui.Config{
		App: a, Window: win, Fence: gate, Engine: e, Plane: p, Door: agents, Version: version,
		InputMethod: inputMethod(os.Getenv("XMODIFIERS")), Quit: quit,
	}
	hosts.configure(&config)
	window, err = ui.New(config)
	if err != nil {
		return err
	}
	hosts.window = window
	win.SetCloseIntercept(quit)

	agents.Serve(window.Commands())
	if err := letAgentsIn(agents, o, stderr); err != nil {
		return err
	}

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		// The toolkit ends its loop by itself; from then on nothing may get to
		// the widgets, since it would run wherever it came from.
		if _, ok := <-signals; ok {
			gate.Close()
		}
	}()

	var trouble error
	var native func()
	a.Lifecycle().SetOnStarted(func() {
		if native, trouble = connectNative(win, window, gate, stderr); trouble != nil {
			quit()
			return
		}
		window.Resume()
		if o.target != nil {
			window.Open(*o.target)
		} else if o.sample {
			window.Open(hosts.samples[0])
		}
	})
	win.Show()
	a.Run()
	gate.Close()
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
