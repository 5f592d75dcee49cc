//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// withoutArg makes the test binary report the sandbox on a machine whose kernel lacks something,
// and run a command in it.
const withoutArg = "__without"

// step returns an instruction of a filter that imitates such a kernel.
func step(code uint16, yes, no uint8, k uint32) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
}

const (
	loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	ifEqual  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifSet    = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	verdict  = unix.BPF_RET | unix.BPF_K
	refusal  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// lacking are the filters, by what the kernel lacks. Each begins with the call's number.
var lacking = map[string][]unix.SockFilter{
	"seccomp": {
		step(ifEqual, 0, 1, unix.SYS_SECCOMP), step(verdict, 0, 0, unknown),
		step(ifEqual, 0, 3, unix.SYS_PRCTL), step(loadWord, 0, 0, 16), step(ifEqual, 0, 1, unix.PR_SET_SECCOMP), step(verdict, 0, 0, refusal),
	},
	"namespaces": {
		step(ifEqual, 0, 1, unix.SYS_UNSHARE), step(verdict, 0, 0, refusal),
		step(ifEqual, 0, 3, unix.SYS_CLONE), step(loadWord, 0, 0, 16), step(ifSet, 0, 1, unix.CLONE_NEWUSER), step(verdict, 0, 0, refusal),
	},
	"landlock": {step(ifEqual, 0, 1, unix.SYS_LANDLOCK_CREATE_RULESET), step(verdict, 0, 0, unknown)},
}

func without(args []string) int {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	for _, name := range strings.Fields(args[0]) {
		if name == "seccomp" && len(strings.Fields(args[0])) > 1 && !strings.HasSuffix(args[0], name) {
			panic("seccomp has to be the last that goes")
		}
		p := append(append([]unix.SockFilter{step(loadWord, 0, 0, 0)}, lacking[name]...), step(verdict, 0, 0, unix.SECCOMP_RET_ALLOW))
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
			uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]})))
		if errno != 0 {
			panic(errno)
		}
	}
	box := sandbox.New(sandbox.Options{Dir: args[1], Home: args[1] + "/home", Executable: binarytest.Path(), Search: os.Getenv("PATH")})
	defer box.Close()
	fmt.Println(box.State(), box.State().Complete())
	cmd := exec.Command("/bin/sh", "-c", "echo it runs; cat .env")
	cmd.Dir = args[1]
	defer box.Command(cmd)()
	out, err := cmd.CombinedOutput()
	fmt.Println(string(out), err)
	return 0
}

func TestWhatAMachineCannotKeepIsNamed(t *testing.T) {
	testkit.Alone(t)
	sandboxtest.Box(t, sandbox.Options{Dir: t.TempDir()}) // this machine has all of it
	for lacks, says := range map[string][]string{
		"": {"sandbox: bubblewrap ", " true\n"}, "landlock": {"sandbox: bubblewrap ", " true\n"},
		"seccomp":                     {"sandbox: bubblewrap ", "no seccomp here", " false\n"},
		"namespaces":                  {"sandbox: landlock ", "files only: ", "no limit on processes", " false\n"},
		"namespaces seccomp":          {"sandbox: landlock ", "no seccomp here", " false\n"},
		"landlock namespaces":         {"no sandbox: ", " false\n", "x=heliotrope"},
		"landlock namespaces seccomp": {"no sandbox: ", " false\n", "x=heliotrope"},
	} {
		dir := t.TempDir()
		testkit.Must(t, os.WriteFile(dir+"/.env", []byte("x="+secret), 0o600))
		out, err := exec.CommandContext(t.Context(), binarytest.Path(), withoutArg, lacks, dir).CombinedOutput()
		text := string(out)
		for _, part := range append(says, "it runs\n") {
			if err != nil || !strings.Contains(text, part) {
				t.Errorf("without %q: no %q in %s, %v", lacks, part, text, err)
			}
		}
		if strings.Contains(text, secret) != strings.HasPrefix(text, "no sandbox") || strings.HasPrefix(text, "sandbox: bubblewrap") && strings.Contains(text, "one layer") {
			t.Errorf("without %q: %s", lacks, text)
		}
		if !strings.Contains(lacks, "seccomp") && strings.Contains(text, "no seccomp") {
			t.Errorf("without %q: %s", lacks, text)
		}
	}
}
