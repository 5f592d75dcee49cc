package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ollimbot/core/storage/selfupdate"
)

// again makes the release of some platforms a second time, from a copy of the source
// in another directory and with a build cache that is empty, and compares: what was
// made first has to be there byte for byte.
func (o order) again(ctx context.Context, twice []platform) error {
	elsewhere, err := os.MkdirTemp("", "ollim-again-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(elsewhere) }() // temporary
	second := o
	second.root, second.out = filepath.Join(elsewhere, "src"), filepath.Join(elsewhere, "a different place")
	second.cache, second.platforms = filepath.Join(elsewhere, "cache"), twice
	if err := copySource(o.root, second.root); err != nil {
		return err
	}
	if err := os.Mkdir(second.out, 0o700); err != nil {
		return err
	}
	if err := second.make(ctx); err != nil {
		return err
	}
	return same(o.out, second.out)
}

// copySource copies the files of the source: not what git keeps, nor what was built.
func copySource(from, to string) error {
	entries, err := os.ReadDir(from)
	err = errors.Join(err, os.MkdirAll(to, 0o700))
	for _, e := range entries {
		here, there := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case err != nil:
			return err
		case e.Name() == ".git" || e.Name() == "dist":
		case e.IsDir():
			err = os.CopyFS(there, os.DirFS(here))
		case e.Type().IsRegular():
			var data []byte
			if data, err = os.ReadFile(here); err == nil {
				err = put(there, data)
			}
		}
	}
	return err
}

// same compares what a second build has made with the first; of the sums, which name
// all files of the first, there is only a part.
func same(first, second string) error {
	entries, err := os.ReadDir(second)
	if err != nil {
		return err
	}
	var wrong []error
	for _, e := range entries {
		if e.Name() == selfupdate.Sums {
			continue
		}
		a, err1 := os.ReadFile(filepath.Join(first, e.Name()))
		b, err2 := os.ReadFile(filepath.Join(second, e.Name()))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			wrong = append(wrong, fmt.Errorf("%s came out differently the second time", e.Name()))
		}
	}
	if len(entries) < 2 {
		return errors.New("the second build has made nothing to compare")
	}
	return errors.Join(wrong...)
}
