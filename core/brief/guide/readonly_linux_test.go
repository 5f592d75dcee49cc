package guide

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

func TestAReadOnlyDirectoryGivesNotesAndNoHarm(t *testing.T) {
	h := newHome(t)
	h.play("start, remove webhook-spec.md")
	folders := []string{h.d.Root(), h.at("state"), h.at(".claude"), h.at(".claude/agents")}
	mode := func(m os.FileMode) {
		for _, f := range folders {
			testkit.Must(t, os.Chmod(f, m))
		}
	}
	mode(0o500)
	t.Cleanup(func() { mode(0o700) })
	unprivileged(t, func() { h.play("start") })
	if got := h.state(); got != "warned of webhook-spec.md, webhook-spec.md is gone" {
		t.Error(got)
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
	defer func() { testkit.Must(t, unix.Capset(&header, &old[0])) }()
	fn()
}
