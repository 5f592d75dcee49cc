// Package storetest gives tests a data directory of their own. It is imported by
// tests only, and knows nothing of what stands in the directory.
package storetest

import (
	"errors"
	"io/fs"
	"testing"

	"ollimbot/core/storage/store"
)

// tester is a test, or a check of rapid's.
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

// Dir returns an empty one, which goes with the test.
func Dir(t testing.TB) *store.Dir {
	t.Helper()
	return At(t, t.TempDir())
}

// Prepared is one as a bot's start leaves it.
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

// Text returns what a file holds, "" for one that is not there.
func Text(t tester, d *store.Dir, rel string) string {
	t.Helper()
	data, err := d.Read(rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}
