package store

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

// unprivileged runs fn as a user to whom file modes apply, even if the test runs as root: the
// thread drops the capabilities that override modes.
func unprivileged(t *testing.T, fn func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var old [2]unix.CapUserData
	testkit.Must(t, unix.Capget(&header, &old[0]))
	less := old
	less[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER
	testkit.Must(t, unix.Capset(&header, &less[0]))
	defer func() {
		testkit.Must(t, unix.Capset(&header, &old[0]))
	}()
	fn()
}

func TestAReadOnlyDirectoryIsAnErrorWithACure(t *testing.T) {
	d := prepared(t)
	put(t, d, "state/x.json", "old")
	for _, folder := range []string{d.Path("state"), d.Root()} {
		testkit.Must(t, os.Chmod(folder, 0o500))
	}
	t.Cleanup(func() {
		for _, folder := range []string{d.Root(), d.Path("state")} {
			if err := os.Chmod(folder, 0o700); err != nil {
				t.Error(err)
			}
		}
	})
	unprivileged(t, func() {
		_, lockErr := d.Lock()
		for name, err := range map[string]error{
			"prepare": d.Prepare(), "write": d.Write("state/x.json", []byte("new")), "append": d.Append("state/h", nil),
			"remove": d.Remove("state/x.json"), "lock": lockErr,
			"turn": d.WithLock("x", func() error { return nil }),
		} {
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "--data-dir") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, err := d.Read("state/x.json"); err != nil || string(got) != "old" {
			t.Errorf("it holds %q, %v", got, err)
		}
		testkit.Must(t, os.Chmod(d.Root(), 0o700))
		if err := d.Prepare(); err == nil || !strings.HasPrefix(err.Error(), "write in "+d.Display()+": ") {
			t.Errorf("with a read-only state: %v", err)
		}
	})
}

func TestADirectoryThatCannotBeMadeIsAnErrorWithACure(t *testing.T) {
	d := newDir(t)
	testkit.Must(t, os.Mkdir(d.Root(), 0o500))
	below, err := At(d.Path("below"))
	testkit.Must(t, err)
	unprivileged(t, func() {
		if err := below.Prepare(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "--data-dir") {
			t.Error(err)
		}
	})
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
}

// A folder that can be written to but not opened cannot be synced.
func TestWhatACrashCouldUndoIsAnError(t *testing.T) {
	d := prepared(t)
	for _, rel := range []string{"a", "b", "c"} {
		put(t, d, "sealed/"+rel, "x")
	}
	testkit.Must(t, os.Mkdir(d.Path("open"), 0o700))
	testkit.Must(t, os.Mkdir(d.Path(validFolder), 0o700))
	for _, rel := range []string{"sealed", validFolder} {
		testkit.Must(t, os.Chmod(d.Path(rel), 0o300))
		t.Cleanup(func() { _ = os.Chmod(d.Path(rel), 0o700) }) // TempDir reports it
	}
	unprivileged(t, func() {
		for name, err := range map[string]error{
			"write": d.Write("sealed/a", nil), "append": d.Append("sealed/new", []byte("x")), "remove": d.Remove("sealed/a"),
			"create": d.Create("sealed/created", nil), "move out": d.Rename("sealed/b", "open/b"), "move in": d.Rename("open/b", "sealed/b"),
		} {
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := d.Append("sealed/c", []byte("x")); err != nil { // its name is already durable
			t.Error(err)
		}
		if err := d.KeepValid("a.md", []byte("x")); err != nil { // it is kept again at the next start
			t.Error(err)
		}
	})
	// What is appended to this file is the name of the thread, and no disk has it.
	testkit.Must(t, os.Symlink("/proc/self/comm", d.Path("open/comm")))
	if err := d.Append("open/comm", []byte("store")); !errors.Is(err, unix.EINVAL) {
		t.Errorf("append what cannot be synced: %v", err)
	}
	// File systems that cannot sync folders do not concern the user.
	if err := SyncFolder("/proc"); err != nil {
		t.Error(err)
	}
}
