package sandbox

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_AARCH64

var foreign, forbiddenHere, metadataHere = []unix.SockFilter(nil), []uint32(nil), []uint32(nil)
