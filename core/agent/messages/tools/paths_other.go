//go:build !linux

package tools

import "golang.org/x/sys/unix"

// walkFlags open a folder on the way to another one.
const walkFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
