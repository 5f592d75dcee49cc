package guide

import (
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

func TestAReadOnlyDirectoryGivesNotesAndNoHarm(t *testing.T) {
	d := prepared(t)
	install(t, d)
	testkit.Must(t, d.Remove("webhook-spec.md"))
	before := tree(t, d.Root())
	folders := []string{d.Root(), d.Path("state"), d.Path(".claude"), d.Path(".claude/agents")}
	for _, f := range folders {
		testkit.Must(t, os.Chmod(f, 0o500))
	}
	t.Cleanup(func() {
		for _, f := range folders {
			if err := os.Chmod(f, 0o700); err != nil {
				t.Error(err)
			}
		}
	})
	unprivileged(t, func() {
		if notes := install(t, d); !warned(notes) {
			t.Errorf("notes are %+v", notes)
		}
	})
	if diff := cmp.Diff(before, tree(t, d.Root())); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
}

// unprivileged runs fn as a user subject to file modes, even as root: the thread drops
// the capabilities that bypass them.
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
