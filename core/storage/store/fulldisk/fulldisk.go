// Package fulldisk plays a full disk for tests: no file of the process can grow.
// It is imported by tests only.
package fulldisk

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// aloneVar marks the process that a test has been given for itself.
const aloneVar = "OLLIM_TEST_ALONE"

// Alone reports whether the test has a process of its own. Elsewhere it runs
// the test again in one, and takes over its outcome: a limit on the process
// would also hit what the testing package writes.
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

// During runs do while no file of this process can grow. The test must
// be Alone.
func During(t *testing.T, do func() error) error {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}()
	return do()
}
