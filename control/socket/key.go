package socket

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// KeyVariable holds the key of a control socket, in place of the key file.
const KeyVariable = "DESKVNC_CONTROL_KEY"

// keyBytes is the length of a key before it is written in hex.
const keyBytes = 32

// configFolder is where the key files are.
func configFolder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for the control key: %w", err)
	}
	return filepath.Join(dir, "deskvnc"), nil
}

// keyFile is the key file of a port.
func keyFile(port int) (string, error) {
	dir, err := configFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "control-key."+strconv.Itoa(port)), nil
}

// newKey makes a key.
func newKey() (string, error) {
	b := make([]byte, keyBytes)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("no random numbers for the control key: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// writePrivate puts text into a file that only the user can read. What was
// there is replaced at once, never half.
func writePrivate(path, text string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// readPrivate reads a file that writePrivate wrote, unless others can read it.
func readPrivate(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || readable(info) {
		return "", fmt.Errorf("%s can be read by others; remove it and start DeskVNC again", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, 1024))
	return strings.TrimSpace(string(b)), err
}

// lookUpKey finds the key for a port: the variable's, else the key file's. No
// key is no error: the window will say so.
func lookUpKey(port int) (string, error) {
	key, from := os.Getenv(KeyVariable), KeyVariable
	if key == "" {
		path, err := keyFile(port)
		if err != nil {
			return "", err
		}
		if key, err = readPrivate(path); errors.Is(err, os.ErrNotExist) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		from = path
	}
	if b, err := hex.DecodeString(key); err != nil || len(b) != keyBytes {
		return "", fmt.Errorf("%s does not hold a control key of %d hex digits", from, 2*keyBytes)
	}
	return key, nil
}
