//go:build !linux

package git

import "time"

// ownerGone cannot be certain without /proc, so a warning asks the user to check.
func ownerGone(string, time.Time) bool { return false }
