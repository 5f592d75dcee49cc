package tools

import "golang.org/x/sys/unix"

// walkFlags open a folder on the way to another one, for which no right to read it is
// needed.
const walkFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
