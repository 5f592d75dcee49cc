package git

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestAFileWrittenAgainAfterItsRemovalSurvives(t *testing.T) {
	testkit.Alone(t)
	d, g, _ := gitRepo(t)
	put(t, d, "reminders/water.md", "first")
	g.Add("reminders/water.md", "add reminder aaaa0000")
	drain(t, g)
	testkit.Must(t, d.Remove("reminders/water.md"))
	g.Remove("reminders/water.md", "remove reminder aaaa0000")
	put(t, d, "reminders/water.md", "second")
	g.Add("reminders/water.md", "add reminder bbbb0000")
	drain(t, g)
	if got, err := d.Read("reminders/water.md"); err != nil || string(got) != "second" {
		t.Errorf("on disk: %q, %v", got, err)
	}
	if got := git(t, d, "show", "HEAD:reminders/water.md"); got != "second" {
		t.Errorf("in the last commit: %q", got)
	}
}

func TestAFolderSurvivesItsLastFile(t *testing.T) {
	testkit.Alone(t)
	d, g, _ := gitRepo(t)
	put(t, d, "reminders/water.md", "x")
	g.Add("reminders/water.md", "add reminder aaaa0000")
	drain(t, g)
	testkit.Must(t, d.Remove("reminders/water.md"))
	g.Remove("reminders/water.md", "remove reminder aaaa0000")
	drain(t, g)
	if info, err := os.Stat(d.Path("reminders")); err != nil || !info.IsDir() {
		t.Errorf("the folder: %v", err)
	}
	if got := git(t, d, "ls-files"); got != "" {
		t.Errorf("still tracked: %q", got)
	}
}

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

func TestABurstIsOneCommit(t *testing.T) {
	testkit.Alone(t)
	d, g, _ := gitRepo(t)
	for i := range 20 {
		rel := fmt.Sprintf("reminders/r%d.md", i)
		put(t, d, rel, "x")
		g.Add(rel, fmt.Sprintf("add reminder %d", i))
	}
	drain(t, g)
	got := git(t, d, "log", "--format=%B")
	if !strings.HasPrefix(got, "20 changes\n\nadd reminder 0\n") || !strings.HasSuffix(got, "\nadd reminder 19") {
		t.Errorf("the log is %q", got)
	}
	if got := git(t, d, "ls-files"); strings.Count(got, "\n") != 19 {
		t.Errorf("tracked: %q", got)
	}
}

func TestWhatTheUserIgnoresIsNotRecorded(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	put(t, d, ".gitignore", "private.md\n")
	put(t, d, "private.md", "x")
	put(t, d, "a.md", "x")
	g.Add("private.md", "add private")
	g.Add("a.md", "add a")
	drain(t, g)
	if got := git(t, d, "ls-files"); got != "a.md" || log.Len() > 0 {
		t.Errorf("tracked: %q, logged %s", got, log)
	}
}

func TestALinkedFolderIsRecordedWhereItLeads(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	outside := t.TempDir()
	put(t, d, "skills/mail/SKILL.md", "x")
	put(t, d, ".claude/keep.md", "x")
	for link, to := range map[string]string{".claude/skills": "../skills", "away": outside} {
		testkit.Must(t, os.Symlink(to, d.Path(link)))
	}
	put(t, d, "away/note.md", "x")
	for _, rel := range []string{".claude/skills/mail/SKILL.md", ".claude/skills", "away/note.md"} {
		if err := g.Commit(t.Context(), rel, "add "+rel); err != nil {
			t.Error(err)
		}
	}
	if got := git(t, d, "ls-files", "-s"); strings.Count(got, "\n") != 1 ||
		!strings.Contains(got, "skills/mail/SKILL.md") || !strings.Contains(got, "120000") || log.Len() > 0 {
		t.Errorf("tracked: %q, logged %s", got, log)
	}
}
