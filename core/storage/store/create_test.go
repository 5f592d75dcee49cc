package store

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestCreateWritesOnlyWhatIsNotThereYet(t *testing.T) {
	d, err := At(t.TempDir())
	must(t, err)
	must(t, d.Create("a/b.txt", []byte("one")))
	if err := d.Create("a/b.txt", []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	must(t, os.Symlink("nowhere", d.Path("a/link")))
	if err := d.Create("a/link", nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link: %v", err)
	}
	if err := d.Create("../out", nil); err == nil {
		t.Error("a name has led out of the directory")
	}
	data, err := d.Read("a/b.txt")
	if err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(d.Path("a/b.txt")); err != nil || info.Mode().Perm() != fileMode {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
