// Package storetest gives tests their own data directory. Only tests import it, and it does not
// know the contents of the directory.
package storetest

import (
	"errors"
	"io/fs"
	"testing"

	"ollimbot/core/storage/store"
)

// tester is a test, or a rapid check.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// At returns the data directory at a path, which need not exist.
func At(t tester, root string) *store.Dir {
	t.Helper()
	d, err := store.At(root)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Dir returns an empty one, which is removed with the test.
func Dir(t testing.TB) *store.Dir {
	t.Helper()
	return At(t, t.TempDir())
}

// Prepared returns one as it is after a bot's start.
func Prepared(t testing.TB) *store.Dir {
	t.Helper()
	d := Dir(t)
	if err := d.Prepare(); err != nil {
		t.Fatal(err)
	}
	return d
}

// Put writes a file.
func Put(t tester, d *store.Dir, rel, text string) {
	t.Helper()
	if err := d.Write(rel, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// Text returns a file's content, or "" if it is missing.
func Text(t tester, d *store.Dir, rel string) string {
	t.Helper()
	data, err := d.Read(rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}
