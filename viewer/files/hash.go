package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// Hash reads a file of the machine and gives its SHA-256 in hex. size bounds
// what is read; -1 reads to the end.
func (f *FS) Hash(ctx context.Context, path string, size int64) (string, error) {
	p, err := f.Path(ctx, path)
	if err != nil {
		return "", err
	}
	r, err := f.open(ctx, p, openRead)
	if err != nil {
		return "", failed("hash", p, err)
	}
	h := sha256.New()
	if size == 0 {
		size = -1 // it must be empty, which reading shows
	}
	_, err = r.receive(ctx, h, 0, size, newMeter(Options{}), &Result{})
	r.drop(nil)
	if err != nil {
		return "", failed("hash", p, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashReader gives the SHA-256 of r; size bounds what is read, -1 reads all.
func hashReader(ctx context.Context, r io.Reader, size int64) (string, error) {
	if size >= 0 {
		r = io.LimitReader(r, size)
	}
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := r.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}
