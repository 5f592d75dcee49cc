package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
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
	if len(lines) != 100 || len(seen) != 100 {
		t.Errorf("%d lines, %d different", len(lines), len(seen))
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

func BenchmarkWrite(b *testing.B) {
	d := prepared(b)
	data := make([]byte, 400)
	for b.Loop() {
		testkit.Must(b, d.Write("state/x.json", data))
	}
}
