package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

// unprivileged runs fn as a user to whom file modes apply, even if the test runs as root: its thread gives up the capabilities
// that override modes, and ends with it.
func unprivileged(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var own [2]unix.CapUserData
		err := unix.Capget(&header, &own[0])
		const modes = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER
		own[0].Effective &^= modes
		own[0].Permitted &^= modes // which access(2) uses for root
		if err := errors.Join(err, unix.Capset(&header, &own[0])); err != nil {
			t.Error(err)
			return
		}
		fn()
	}()
	<-done
}

// TestWhatModesForbidIsAnErrorWithACure plays its stories with steps of a user to whom file modes apply: those that begin with "less".
func TestWhatModesForbidIsAnErrorWithACure(t *testing.T) {
	stories(t, "modes", func(s *shelf, step string) (answer string) {
		step, less := strings.CutPrefix(step, "less ")
		if !less {
			return s.step(step)
		}
		unprivileged(s.t, func() { answer = s.step(step) })
		return answer
	})
}

func TestADirectoryOfAnotherUserIsNotTrusted(t *testing.T) {
	d := prepared(t)
	testkit.Must(t, os.Chmod(d.Root(), 0o777))
	if err := os.Chown(d.Root(), 4711, -1); err != nil {
		t.Log("only root can give a directory away; this is not tested here")
		return
	}
	foreign := fmt.Sprintf(msgForeign, d.Display(), 4711, d.Display())
	if err := d.Trusted(); err == nil || err.Error() != foreign {
		t.Error(err)
	}
	testkit.Must(t, d.Prepare()) // which closes it, as root may
	if diff := cmp.Diff([]string{foreign}, d.Concerns()); diff != "" {
		t.Error(diff)
	}
}

func TestStateThatCannotBeMadePrivateIsNotUsed(t *testing.T) {
	for _, rel := range []string{"state", "state/token.json"} {
		d := prepared(t)
		put(t, d, "state/token.json", "{}")
		testkit.Must(t, os.Chmod(d.Path("state"), 0o777))
		testkit.Must(t, os.Chmod(d.Path("state/token.json"), 0o644))
		if err := os.Chown(d.Path(rel), 4711, -1); err != nil {
			t.Log("only root can give a file away; this is not tested here")
			return
		}
		unprivileged(t, func() {
			if err := d.Prepare(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "--data-dir") {
				t.Errorf("%s belongs to another user: %v", rel, err)
			}
		})
	}
}

func TestAFileThatFailsWhileItIsReadIsNotEmpty(t *testing.T) {
	d := prepared(t)
	testkit.Must(t, os.Symlink("/proc/self/mem", d.Path("state/x.json"))) // its first byte cannot be read
	if data, err := d.Read("state/x.json"); err == nil {
		t.Errorf("it holds %d bytes", len(data))
	}
	// What is appended to this file is the name of the thread, and no disk has it.
	testkit.Must(t, os.Symlink("/proc/self/comm", d.Path("state/comm")))
	if err := d.Append("state/comm", []byte("store")); !errors.Is(err, unix.EINVAL) {
		t.Errorf("append what cannot be synced: %v", err)
	}
	// File systems that cannot sync folders do not concern the user.
	if err := SyncFolder("/proc"); err != nil {
		t.Error(err)
	}
	if err := SyncFolder(d.Path("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder was synced: %v", err)
	}
}
