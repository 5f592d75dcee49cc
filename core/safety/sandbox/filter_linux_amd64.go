package sandbox

import "golang.org/x/sys/unix"

const (
	arch = unix.AUDIT_ARCH_X86_64
	// x32Bit marks the calls of x32, which have separate numbers.
	x32Bit = 0x40000000
)

// foreign kills programs of x32. A call without a number is none.
var foreign = append(when(^uint32(0), give(noSuch)),
	unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32Bit, Jf: 1}, give(killed))

var (
	forbiddenHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT}
	metadataHere  = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
)
