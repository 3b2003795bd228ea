package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// fileName is the library's file in its folder.
const fileName = "library.db"

// DefaultPath is where the library of this user is kept.
func DefaultPath() (string, error) {
	return defaultPath(runtime.GOOS, os.Getenv, os.UserHomeDir)
}

func defaultPath(system string, env func(string) string, home func() (string, error)) (string, error) {
	base := ""
	below := func(parts ...string) error {
		h, err := home()
		if err == nil && !filepath.IsAbs(h) {
			err = errors.New("the home folder is not known: set HOME")
		}
		base = filepath.Join(append([]string{h}, parts...)...)
		return err
	}
	var err error
	folder := "deskvnc"
	switch system {
	case "windows":
		folder = "DeskVNC"
		// Not the roaming folder: a database must not be copied while in use.
		if base = env("LOCALAPPDATA"); base == "" {
			err = below("AppData", "Local")
		}
	case "darwin", "ios":
		folder = "DeskVNC"
		err = below("Library", "Application Support")
	default:
		// A relative XDG_DATA_HOME is to be ignored, by its specification.
		if base = env("XDG_DATA_HOME"); !filepath.IsAbs(base) {
			err = below(".local", "share")
		}
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(base, folder, fileName), nil
}

// backupPath is the last good copy of a library.
func backupPath(path string) string { return path + ".backup" }

// oldPath is the copy made before a library was brought from a version to a
// newer one.
func oldPath(path string, version int) string { return path + ".v" + itoa(version) + ".backup" }
