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

// rebuild builds the release of some platforms again, from a copy of the source in
// another directory and with an empty build cache. It is an error if a file differs.
func (o order) rebuild(ctx context.Context, twice []platform) error {
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
	return compare(o.out, second.out)
}

// copySource copies the source without .git and dist.
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

// compare checks that the files of the second build are the same in the first. It skips
// the checksums: the second build may have fewer platforms.
func compare(first, second string) error {
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
			wrong = append(wrong, fmt.Errorf("%s differs between the two builds", e.Name()))
		}
	}
	if len(entries) < 2 {
		return errors.New("the second build is empty: there is nothing to compare")
	}
	return errors.Join(wrong...)
}
