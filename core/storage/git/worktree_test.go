package git

import (
	"os/exec"
	"testing"

	"ollimbot/core/base/testkit"
)

// TestAFileThatAppearsDuringItsRemovalSurvives writes the file again at each moment of the commit
// that records its removal: before each git command.
func TestAFileThatAppearsDuringItsRemovalSurvives(t *testing.T) {
	testkit.Alone(t)
	for moment := 1; ; moment++ {
		d, g, log := gitRepo(t)
		put(t, d, "reminders/water.md", "first")
		g.Add("reminders/water.md", "add reminder aaaa0000")
		drain(t, g)
		testkit.Must(t, d.Remove("reminders/water.md"))
		g.Remove("reminders/water.md", "remove reminder aaaa0000")
		commands := 0
		g.Sandbox = func(*exec.Cmd) (done func()) {
			if commands++; commands == moment {
				put(t, d, "reminders/water.md", "second")
				g.Add("reminders/water.md", "add reminder bbbb0000")
			}
			return func() {}
		}
		drain(t, g)
		if commands < moment {
			if moment < 5 {
				t.Errorf("the commit took only %d commands", commands)
			}
			return
		}
		drain(t, g)
		if got, err := d.Read("reminders/water.md"); err != nil || string(got) != "second" {
			t.Fatalf("moment %d: on disk: %q, %v", moment, got, err)
		}
		if got := git(t, d, "show", "HEAD:reminders/water.md"); got != "second" || log.Len() > 0 {
			t.Fatalf("moment %d: in the last commit: %q, logged %s", moment, got, log)
		}
		if got := git(t, d, "status", "--porcelain"); got != "" {
			t.Fatalf("moment %d: the status is %q", moment, got)
		}
	}
}
