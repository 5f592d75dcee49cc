//go:build !linux

package policy

import (
	"os"
	"time"
)

// changedAt is when a file was last written, as far as this system tells.
func changedAt(info os.FileInfo) time.Time { return info.ModTime() }
