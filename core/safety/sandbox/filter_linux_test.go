//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
)

// callsArg makes the test binary try the system calls that a sandbox closes, and some that it must
// not close.
const callsArg = "__calls"

func tryCalls([]string) int {
	for name, number := range map[string]uintptr{
		"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER, "bpf": unix.SYS_BPF, "keyctl": unix.SYS_KEYCTL,
		"add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY, "ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV,
		"process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "userfaultfd": unix.SYS_USERFAULTFD, "perf_event_open": unix.SYS_PERF_EVENT_OPEN,
		"init_module": unix.SYS_INIT_MODULE, "finit_module": unix.SYS_FINIT_MODULE, "kexec_load": unix.SYS_KEXEC_LOAD,
		"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
	} {
		// Arguments that every kernel refuses with another error, if they reach it.
		_, _, errno := unix.RawSyscall6(number, ^uintptr(0), ^uintptr(0), ^uintptr(0), ^uintptr(0), ^uintptr(0), ^uintptr(0))
		if errno != unix.EPERM {
			fmt.Println(name, errno)
		}
	}
	for family := range 50 {
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
			for protocol := range 20 {
				fd, err := unix.Socket(family, kind, protocol)
				if err == nil {
					fmt.Println("socket", family, kind, protocol)
					_ = unix.Close(fd)
				}
			}
		}
	}
	for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
		if pair, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0); err == nil {
			fmt.Println("socketpair", kind)
			_, _ = unix.Close(pair[0]), unix.Close(pair[1])
		}
	}
	return 0
}

// closed returns the layers of sandbox in which a command of a model may run.
func closed(t *testing.T) map[string]*ground {
	t.Helper()
	return map[string]*ground{"bubblewrap": layered(t, "bubblewrap", settled), "Landlock": layered(t, "landlock", settled)}
}

func TestCallsThatLeadPastFilesAreClosed(t *testing.T) {
	testkit.Alone(t)
	for layer, g := range closed(t) {
		g.settings.Visible = append(g.settings.Visible, sandbox.Visible{Path: filepath.Dir(binarytest.Path())})
		for way := range ways {
			out, err := g.run(t, way, binarytest.Path()+" "+callsArg)
			if err != nil {
				t.Fatalf("%s, %s: %v, %s", layer, way, err, out)
			}
			for line := range strings.Lines(out) {
				word := strings.Fields(line)
				network := word[0] == "socket" && (word[1] == "2" || word[1] == "10") && (layer == "bubblewrap" || way == "claude itself")
				route := strings.HasPrefix(line, "socket 16 ") && word[3] == "0"
				if !network && !route && line != "socketpair 1\n" && line != "socketpair 5\n" {
					t.Errorf("%s, %s: open: %s", layer, way, line)
				}
			}
			if !strings.Contains(out, "socketpair 1\n") {
				t.Errorf("%s, %s: pairs of sockets are closed: %s", layer, way, out)
			}
		}
	}
}

// A socket with a path leads to its listener, bypassing all file rules.
func TestAUnixSocketLeadsNowhere(t *testing.T) {
	testkit.Alone(t)
	for layer, g := range closed(t) {
		t.Chdir(g.data)
		l, err := net.Listen("unix", "notes/s")
		testkit.Must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		abstract, err := net.Listen("unix", "@"+g.root)
		testkit.Must(t, err)
		t.Cleanup(func() { _ = abstract.Close() })
		log, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: "notes/log", Net: "unixgram"})
		testkit.Must(t, err)
		t.Cleanup(func() { _ = log.Close() })
		for way := range ways {
			for _, script := range []string{
				`import socket; socket.socket(socket.AF_UNIX).connect("notes/s")`,
				`import socket; socket.socket(socket.AF_UNIX).connect("\0` + g.root + `")`,
				`import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", "notes/log")`,
				`import socket; s = socket.socketpair()[0]; s.connect("notes/s")`,
			} {
				if out, err := g.run(t, way, "test -S notes/s && python3 -c '"+script+"'"); err == nil || !strings.Contains(out, "Error") {
					t.Errorf("%s, %s: %s: %v, %s", layer, way, script, err, out)
				}
			}
		}
	}
}

// T2: a dashboard often runs in tmux, whose server runs commands outside of the sandbox.
func TestTmuxIsNoWayOut(t *testing.T) {
	testkit.Alone(t)
	testkit.Needs(t, "tmux")
	for layer, g := range closed(t) {
		socket := g.data + "/notes/tmux"
		tmux := func(args ...string) {
			if out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-S", socket}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("tmux %v: %v, %s", args, err, out)
			}
		}
		tmux("-f", "/dev/null", "new-session", "-d", "sleep 1000")
		t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() }) // ends the started server
		for way := range ways {
			out, err := g.run(t, way, "tmux -S notes/tmux run-shell 'cat .env ~/.ssh/id_ed25519 > "+g.data+"/notes/stolen'")
			if _, stolen := os.Stat(g.data + "/notes/stolen"); err == nil || stolen == nil {
				t.Errorf("%s, %s: %v, %s", layer, way, err, out)
			}
		}
	}
}
