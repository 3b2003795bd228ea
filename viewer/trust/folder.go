package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Folder keeps pins as small files, one a machine, readable by their owner
// only. Each is replaced as a whole, so that several processes can share the
// folder without a lock and lose nothing of each other's. The folder is made
// with the first pin.
type Folder string

var _ Pins = Folder("")

// maxPinBytes bounds the file of one pin.
const maxPinBytes = 16 << 10

// stored is the content of a file.
type stored struct {
	ID  ID  `json:"machine"`
	Pin Pin `json:"pin"`
}

// file is where the pin of a machine is.
func (f Folder) file(id ID) string {
	b, err := json.Marshal(id)
	if err != nil { // strings and a number
		panic(err)
	}
	sum := sha256.Sum256(b)
	return filepath.Join(string(f), hex.EncodeToString(sum[:16])+".json")
}

// Pin reads the pin of a machine. A file that cannot be understood is an
// error, not a machine without a pin.
func (f Folder) Pin(id ID) (*Pin, error) {
	path := f.file(id)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxPinBytes+1))
	if err != nil {
		return nil, err
	}
	var s stored
	switch err := json.Unmarshal(b, &s); {
	case len(b) > maxPinBytes:
		return nil, fmt.Errorf("%s is larger than a pin: remove it to start anew", path)
	case err != nil:
		return nil, fmt.Errorf("%s is damaged (%w): remove it to start anew", path, err)
	case s.ID != id, s.Pin.Fingerprint == "":
		return nil, fmt.Errorf("%s is not the pin of %v: remove it to start anew", path, id)
	}
	return &s.Pin, nil
}

// SetPin writes the pin of a machine, or removes it.
func (f Folder) SetPin(id ID, p *Pin) error {
	path := f.file(id)
	if p == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.MarshalIndent(stored{id, *p}, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return replaceFile(path, append(b, '\n'))
}

// replaceFile writes a file, mode 0600, so that at any moment, and after a
// crash, either the old content or the new one is there.
func replaceFile(path string, b []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".pin-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(b)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
