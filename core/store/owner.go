package store

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign is the id of the user whose file it is, where that is somebody else.
func foreign(info fs.FileInfo) (uid int, ok bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), int(stat.Uid) != os.Geteuid()
}
