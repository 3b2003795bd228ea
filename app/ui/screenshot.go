package ui

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"

	"deskvnc/control/command"
	"deskvnc/viewer/frame"
)

// needPicture says why there is no picture to save.
func (w *Window) needPicture(command.Params) error {
	switch t := w.selected; {
	case t == nil:
		return errors.New("no session is shown")
	case t.pane.Place().Remote.X == 0:
		return errors.New("the machine has sent no picture yet")
	}
	return nil
}

// A saved picture is what the command tells.
type savedPicture struct {
	Path   string `json:"path"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// runScreenshot saves the picture of the shown session, where the caller or a
// person says.
func (w *Window) runScreenshot(_ context.Context, p command.Params) (any, error) {
	t := w.selected
	if !p.Has("path") {
		w.askWhere(t)
		return nil, nil
	}
	path, err := filepath.Abs(p.Text("path"))
	if err != nil || strings.TrimSpace(p.Text("path")) == "" {
		return nil, errors.New("the path is none of a file")
	}
	type outcome struct {
		saved savedPicture
		err   error
	}
	done := make(chan outcome, 1)
	f := t.session.Frame()
	w.background.Go(func() {
		of, err := savePicture(f, path, p.Bool("overwrite", false))
		done <- outcome{savedPicture{path, of.X, of.Y}, err}
		w.fence.Go(func() {
			if err != nil {
				w.status.say("The picture was not saved: "+sentence(err.Error()), true)
				return
			}
			w.status.say("Saved "+path+" ("+dimensions(of)+").", false)
		})
	})
	return command.Later(func(ctx context.Context) (any, error) {
		select {
		case o := <-done:
			return o.saved, o.err
		case <-ctx.Done():
			return nil, errors.New("the picture is still being saved")
		}
	}), nil
}

// savePicture writes a frame to a file. A file that is there is replaced whole
// or not at all, and only when that is wanted.
func savePicture(f *frame.Frame, path string, overwrite bool) (size image.Point, err error) {
	v, ok := f.Snapshot(image.Rectangle{}, nil)
	if !ok || v.Image == nil || v.Image.Rect.Empty() {
		return size, errors.New("the machine has sent no picture yet")
	}
	data, err := frame.PNG(v.Image)
	if err != nil {
		return size, err
	}
	name := path
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if overwrite {
		name = filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	}
	out, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return size, plainFault(err)
	}
	_, err = out.Write(data)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil && overwrite {
		err = os.Rename(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
		return size, plainFault(err)
	}
	return v.Image.Rect.Size(), nil
}

// plainFault is a fault of the file system for a person.
func plainFault(err error) error {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		return errors.New("there is a file of that name; choose another one")
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such folder")
	case errors.As(err, &p):
		return p.Err
	}
	return err
}

// askWhere lets a person choose the file.
func (w *Window) askWhere(t *tab) {
	w.LetGo()
	d := dialog.NewFileSave(func(out fyne.URIWriteCloser, err error) {
		switch {
		case err != nil:
			w.status.say("The picture was not saved: "+sentence(err.Error()), true)
		case out != nil: // the dialog has made the file, or a person agreed to replace it
			path := out.URI().Path()
			_ = out.Close()
			w.invoke("session.screenshot", command.Params{"path": path, "overwrite": true})
		}
	}, w.win)
	d.SetTitleText("Save the picture")
	d.SetFileName(pictureName(t.title(), time.Now()))
	d.SetFilter(storage.NewExtensionFileFilter([]string{".png"}))
	d.SetOnClosed(w.FocusPane)
	size := w.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(size.Width-40, 760), min(size.Height-40, 520)))
	d.Show()
}

// maxPictureName bounds the machine's part of a file name, in characters.
const maxPictureName = 60

// pictureName is a file name from a machine's and a time: what could mean
// something to a file system is left out.
func pictureName(machine string, at time.Time) string {
	var b strings.Builder
	n := 0
	for _, r := range machine {
		switch {
		case n == maxPictureName:
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_', r == '.' && b.Len() > 0, r == ' ' && b.Len() > 0:
			b.WriteRune(r)
			n++
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
			n++
		}
	}
	name := strings.Trim(b.String(), " .-")
	if name == "" {
		name = "DeskVNC"
	}
	return name + " " + at.Format("2006-01-02 15.04.05") + ".png"
}

func dimensions(p image.Point) string { return size(p.X, p.Y) }
