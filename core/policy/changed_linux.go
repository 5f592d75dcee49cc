package policy

import (
	"os"
	"syscall"
	"time"
)

// changedAt is when a file or its name was last changed: unlike the time of its
// last writing, nobody can set it.
func changedAt(info os.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
