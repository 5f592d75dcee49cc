package storetest

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// aloneVar marks the process of a single test.
const aloneVar = "OLLIM_TEST_ALONE"

// Alone reports whether the test has its own process. If not, it runs the test again in one and
// adopts the result, because a limit on the process would also affect what the testing package
// writes.
func Alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(aloneVar) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), aloneVar+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// FullDisk runs do while no file of this process can grow, as on a full disk. The test
// must be Alone.
func FullDisk(t *testing.T, do func() error) error {
	t.Helper()
	return RoomFor(t, 0, do)
}

// RoomFor is like FullDisk, but for a disk that fills up when a file reaches a size, in bytes.
func RoomFor(t *testing.T, size uint64, do func() error) error {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}()
	return do()
}
