package guide

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

func TestAReadOnlyDirectoryOrAHiddenFileGivesNotesAndNoHarm(t *testing.T) {
	h := newHome(t)
	mode := func(m os.FileMode) {
		for _, f := range []string{".", "state", ".claude", ".claude/agents"} {
			testkit.Must(t, os.Chmod(h.at(f), m))
		}
	}
	t.Cleanup(func() { mode(0o700) })
	for _, c := range []struct{ steps, start, want string }{
		{"start, remove webhook-spec.md", "start without Google", "warned of .claude/agents/gmail-reader.md, warned of webhook-spec.md, webhook-spec.md is gone"},
		{"remove state/installed.json", "start", "warned of state/installed.json, warned of webhook-spec.md, webhook-spec.md is gone"},
		{"start, hide skill-spec.md", "start", "warned of skill-spec.md"},
	} {
		h.play(c.steps)
		mode(0o500)
		unprivileged(t, func() { h.play(c.start) })
		mode(0o700)
		testkit.Must(t, os.Chmod(h.at("skill-spec.md"), 0o600))
		if got := h.state(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s, %s: %s, want %s", c.steps, c.start, got, c.want)
		}
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
