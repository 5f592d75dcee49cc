//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// filter is a seccomp filter: the system calls that a process may make. A view decides which files
// are visible; the filter closes the ways around files.
type filter struct {
	// command marks the processes that run a model's commands. The engine's process creates a
	// sandbox for them, which takes namespaces and mounts.
	command bool
	// noNet allows no network sockets at all, if no namespace isolates them.
	noNet bool
	// noMeta denies changes of modes, owners, times and attributes by path. It is for Landlock,
	// which has no such right. An open file can be changed, but hidden files cannot be opened.
	noMeta bool
}

// Calls that no process in a sandbox may make. Some reach other processes or secrets of the kernel;
// the others are a large part of the kernel's bugs and not needed here.
var forbidden = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // it would create sockets without passing the filter
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_SYSLOG,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
}

// Calls needed only to create a sandbox.
var forbiddenInCommands = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_TREE_ATTR,
}

// Calls that change a file's metadata by its path.
var metadata = []uint32{
	unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
}

// namespaces are the flags of clone that create one. clone3 passes its flags in memory, which no
// filter can read; programs that are told that it does not exist use clone.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Offsets in the data that the kernel gives a filter about a call (struct seccomp_data). Arguments
// have 64 bits, the lower half first; for arguments that are an int in the kernel only that half
// counts.
const (
	callNumber = 0
	callArch   = 4
	callArgs   = 16
)

func low(arg int) uint32  { return uint32(callArgs + 8*arg) }
func high(arg int) uint32 { return low(arg) + 4 }

// Results of a call.
const (
	allowed   = unix.SECCOMP_RET_ALLOW
	killed    = unix.SECCOMP_RET_KILL_PROCESS
	denied    = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	noFamily  = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
	noSuch    = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	socketTyp = 0xf // of a socket's type; the rest are flags
)

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func mask(k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: k}
}

func give(verdict uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
}

// when runs the next instructions only if the loaded word is k.
func when(k uint32, then ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: uint8(len(then))}}, then...)
}

// unless runs the next instructions only if the loaded word is not k.
func unless(k uint32, then ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: uint8(len(then))}}, then...)
}

// program returns the filter in the kernel's form.
func (f filter) program() []unix.SockFilter {
	p := slices.Concat(
		[]unix.SockFilter{load(callArch)}, unless(arch, give(killed)),
		[]unix.SockFilter{load(callNumber)}, foreign,
	)
	none := slices.Concat(forbidden, forbiddenHere)
	if f.command {
		none = slices.Concat(none, forbiddenInCommands)
		p = slices.Concat(p, when(unix.SYS_CLONE3, give(noSuch)), when(unix.SYS_CLONE, slices.Concat(
			[]unix.SockFilter{load(low(0)), mask(namespaces)}, unless(0, give(denied)), []unix.SockFilter{give(allowed)})...))
	}
	if f.noMeta {
		none = slices.Concat(none, metadata, metadataHere)
		// Without a path it applies to an open file.
		p = slices.Concat(p, when(unix.SYS_UTIMENSAT, slices.Concat(
			[]unix.SockFilter{load(low(1))}, unless(0, give(denied)), []unix.SockFilter{load(high(1))}, unless(0, give(denied)),
			[]unix.SockFilter{give(allowed)})...))
	}
	for _, call := range none {
		p = slices.Concat(p, when(call, give(denied)))
	}
	return slices.Concat(p, when(unix.SYS_SOCKET, f.socket()...), when(unix.SYS_SOCKETPAIR, socketpair()...), []unix.SockFilter{give(allowed)})
}

// socket allows the internet, and the part of netlink that reports interfaces. A Unix socket would
// reach every server of the user's that has a path.
func (f filter) socket() (p []unix.SockFilter) {
	p = append(p, load(low(0)))
	if !f.noNet {
		p = slices.Concat(p, when(unix.AF_INET, give(allowed)), when(unix.AF_INET6, give(allowed)))
	}
	return slices.Concat(p, unless(unix.AF_NETLINK, give(noFamily)), []unix.SockFilter{load(low(2))},
		when(unix.NETLINK_ROUTE, give(allowed)), []unix.SockFilter{give(noFamily)})
}

// socketpair allows pairs that stay connected to each other. One of a datagram pair could send to a
// path.
func socketpair() []unix.SockFilter {
	return slices.Concat([]unix.SockFilter{load(low(1)), mask(socketTyp)}, when(unix.SOCK_DGRAM, give(noFamily)), when(unix.SOCK_RAW, give(noFamily)),
		[]unix.SockFilter{load(low(0))}, unless(unix.AF_UNIX, give(noFamily)), []unix.SockFilter{give(allowed)})
}

// bytes returns the program in bubblewrap's form.
func (f filter) bytes() (b []byte) {
	for _, i := range f.program() {
		b = binary.NativeEndian.AppendUint16(b, i.Code)
		b = append(b, i.Jt, i.Jf)
		b = binary.NativeEndian.AppendUint32(b, i.K)
	}
	return b
}
