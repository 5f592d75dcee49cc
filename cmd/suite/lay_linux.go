package main

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// epoch is the modification time of folders; those of files are within some years after it.
var epoch = time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC)

// span keeps all times in the past, which Go's test cache requires.
const span = 20 * 365 * 24 * time.Hour

// lay sets the modification time of each file below a directory according to its contents and mode.
func lay(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		at := epoch
		if e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			at = at.Add(time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(span)))
		}
		return os.Chtimes(path, at, at)
	})
}
