//go:build !linux

package git

import "time"

// ownerGone cannot be certain without /proc: a warning asks the user to look.
func ownerGone(string, time.Time) bool { return false }
