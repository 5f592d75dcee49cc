package archive

import (
	"archive/tar"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	cleaned "ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

// entry is the item as an archive has it; made is the time of folders.
func (it *item) entry(name string, made time.Time) entry {
	h := &tar.Header{Name: name, Mode: int64(it.mode()), Typeflag: tar.TypeReg, Size: it.size, ModTime: made, Format: tar.FormatPAX}
	if it.folder {
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	} else {
		h.ModTime = it.info.ModTime()
	}
	return entry{Header: h, name: name, folder: it.folder}
}

// clean is a name from outside as it can be shown.
func clean(name string) string { return cleaned.Cut(cleaned.Line(name), 200) }

// room refuses what does not fit on the disk.
func room(folder string, needs int64) error {
	for ; !exists(folder) && folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		continue // it is made later
	}
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return nil //nolint:nilerr // then the disk says it
	}
	if free := s.Bavail * uint64(s.Bsize); free < uint64(needs+needs/8) {
		return fmt.Errorf(textNoRoom, words.Bytes(needs), folder, words.Bytes(int64(min(free, math.MaxInt64))))
	}
	return nil
}
