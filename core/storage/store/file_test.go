package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestWhatIsWrittenIsReadAndPrivate(t *testing.T) {
	d := newDir(t)
	testkit.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		if err := d.Write("state/a/b.json", data); err != nil {
			t.Fatal(err)
		}
		got, err := d.Read("state/a/b.json")
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("read %q, %v", got, err)
		}
	})
	for rel, want := range map[string]fs.FileMode{".": 0o700, "state": 0o700, "state/a": 0o700, "state/a/b.json": 0o600} {
		if got := mode(t, d.Path(rel)); got != want {
			t.Errorf("%s has mode %#o, want %#o", rel, got, want)
		}
	}
	if names, err := os.ReadDir(d.Path("state/a")); err != nil || len(names) != 1 {
		t.Errorf("something was left behind: %v, %v", names, err)
	}
}

func TestReadRefusesWhatWouldHangOrFlood(t *testing.T) {
	d := prepared(t)
	put(t, d, "big.md", strings.Repeat("x", MaxRead+1))
	put(t, d, "just.md", strings.Repeat("x", MaxRead))
	testkit.Must(t, syscall.Mkfifo(d.Path("pipe.md"), 0o600))
	testkit.Must(t, os.Mkdir(d.Path("folder.md"), 0o700))
	if _, err := d.Read("big.md"); !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "read big.md") ||
		!strings.Contains(err.Error(), "4 MiB") {
		t.Error(err)
	}
	if data, err := d.Read("just.md"); err != nil || len(data) != MaxRead {
		t.Error(len(data), err)
	}
	for _, rel := range []string{"pipe.md", "folder.md"} {
		if _, err := d.Read(rel); !errors.Is(err, errNotRegular) {
			t.Error(rel, err)
		}
	}
	if _, err := d.Read("none.md"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), d.Root()) {
		t.Error(err)
	}
}

func TestNamesThatLeadOutsideAreRefused(t *testing.T) {
	d := prepared(t)
	for _, rel := range []string{"../x", "/etc/passwd", "a/../../x", ""} {
		_, rerr := d.Read(rel)
		for _, err := range []error{
			rerr, d.Write(rel, nil), d.Append(rel, nil), d.Append(rel), d.Remove(rel), d.Create(rel, nil), d.MakeFolder(rel),
			second(d.Open(rel)), second(d.Entries(rel)),
		} {
			if !errors.Is(err, errOutside) {
				t.Errorf("%q: %v", rel, err)
			}
		}
	}
}

func TestAFailedWriteLeavesTheOldFileAndNoLeftovers(t *testing.T) {
	d := prepared(t)
	// A directory that is not empty cannot be replaced by a file.
	put(t, d, "state/x/inside", "kept")
	err := d.Write("state/x", []byte("new"))
	if err == nil || !strings.Contains(err.Error(), "write state/x") || strings.Contains(err.Error(), d.Root()) {
		t.Error(err)
	}
	names, rerr := os.ReadDir(d.Path("state"))
	if rerr != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, rerr)
	}
}

func TestASymbolicLinkIsWrittenThrough(t *testing.T) {
	d := prepared(t)
	target := filepath.Join(t.TempDir(), "real.md")
	testkit.Must(t, os.WriteFile(target, []byte("old"), 0o600))
	testkit.Must(t, os.Symlink(target, d.Path("USER.md")))
	testkit.Must(t, d.Write("USER.md", []byte("new")))
	got, err := os.ReadFile(target)
	info, lerr := os.Lstat(d.Path("USER.md"))
	if err != nil || lerr != nil || string(got) != "new" || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("target %q, %v, %v", got, err, lerr)
	}
}

func TestAppendWritesWholeLines(t *testing.T) {
	d := newDir(t)
	var g errgroup.Group
	for n := range 4 {
		g.Go(func() error {
			for i := range 25 {
				if err := d.Append("state/h.jsonl", fmt.Appendf(nil, "%d %d", n, i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	testkit.Must(t, g.Wait())
	data, err := d.Read("state/h.jsonl")
	testkit.Must(t, err)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l] = true
	}
	if len(lines) != 100 || len(seen) != 100 || mode(t, d.Path("state/h.jsonl")) != 0o600 {
		t.Errorf("%d lines, %d different", len(lines), len(seen))
	}
	for _, two := range []string{"a\nb", "\nb", "a\n"} {
		if err := d.Append("state/h.jsonl", []byte(two)); err == nil {
			t.Errorf("%q is taken for one line", two)
		}
	}
}

func TestAppendClosesATornLineFirst(t *testing.T) {
	d := newDir(t)
	put(t, d, "h.jsonl", "{\"a\":1}\n{\"b\":")
	for range 2 {
		testkit.Must(t, d.Append("h.jsonl", []byte("{}")))
	}
	got, err := d.Read("h.jsonl")
	if err != nil || string(got) != "{\"a\":1}\n{\"b\":\n{}\n{}\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRemovingTwiceIsFine(t *testing.T) {
	d := prepared(t)
	put(t, d, "state/x", "x")
	for range 2 {
		testkit.Must(t, d.Remove("state/x"))
	}
	if _, err := d.Read("state/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestAMovedFileReplacesWhatIsThere(t *testing.T) {
	d := prepared(t)
	put(t, d, "state/a", "new")
	put(t, d, "state/b", "old")
	testkit.Must(t, d.Rename("state/a", "state/b"))
	testkit.Must(t, d.Rename("state/b", "trash/2026/c"))
	if got, err := d.Read("trash/2026/c"); err != nil || string(got) != "new" {
		t.Errorf("it holds %q, %v", got, err)
	}
	for _, rel := range []string{"state/a", "state/b"} {
		if err := d.Rename(rel, "state/d"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", rel, err)
		}
	}
	for _, names := range [][2]string{{"trash/2026/c", "../out"}, {"../out", "state/d"}} {
		if err := d.Rename(names[0], names[1]); !errors.Is(err, errOutside) {
			t.Errorf("%q: %v", names, err)
		}
	}
	put(t, d, "folder/x", "x")
	if err := d.Rename("trash/2026/c", "folder"); err == nil {
		t.Error("a file has replaced a folder")
	}
	if err := d.Rename("trash/2026/c", "folder/x/y"); err == nil {
		t.Error("a file became a folder")
	}
	if err := SyncFolder(d.Path("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder was synced: %v", err)
	}
}

func TestErrorsOfTheSystemComeWithACure(t *testing.T) {
	for _, tt := range []struct {
		err  error
		says string
	}{
		{syscall.ENOSPC, cureFull},
		{syscall.EDQUOT, cureFull},
		{syscall.EFBIG, cureFull},
		{syscall.EROFS, cureReadOnly},
		{syscall.EACCES, cureReadOnly},
		{syscall.ENOTDIR, cureNotDirectory},
		{syscall.EISDIR, cureIsDirectory},
		{syscall.ENAMETOOLONG, cureLongName},
		{syscall.ELOOP, cureLoop},
		{syscall.ENXIO, cureNotFile},
		{syscall.EMFILE, cureHandles},
		{syscall.ENFILE, cureHandles},
		{syscall.EIO, "write x: " + syscall.EIO.Error()},
	} {
		for _, wrapped := range []error{
			&fs.PathError{Op: "open", Path: "/secret/place", Err: tt.err},
			&os.LinkError{Op: "rename", Old: "/secret/place", New: "/secret/place", Err: tt.err},
		} {
			err := Advise("write x", wrapped)
			if !errors.Is(err, tt.err) || !strings.HasSuffix(err.Error(), tt.says) || strings.Contains(err.Error(), "/secret") {
				t.Errorf("%v says %q", tt.err, err)
			}
			if Full(err) != (tt.says == cureFull) {
				t.Errorf("%v means a full disk: %v", tt.err, Full(err))
			}
		}
	}
}

func TestCreateWritesOnlyWhatIsNotThereYet(t *testing.T) {
	d, err := At(t.TempDir())
	testkit.Must(t, err)
	testkit.Must(t, d.Create("a/b.txt", []byte("one")))
	if err := d.Create("a/b.txt", []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	testkit.Must(t, os.Symlink("nowhere", d.Path("a/link")))
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
