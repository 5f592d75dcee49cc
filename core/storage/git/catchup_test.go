package git

import (
	"bytes"
	"os"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestWhatAKillKeptFromTheHistoryIsMadeUp(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	names := []string{"routines/same.md", "routines/gone.md", "routines/changed.md", "routines/edited.md"}
	for _, rel := range names {
		put(t, d, rel, "agent: one")
		g.Add(rel, "add "+rel)
	}
	drain(t, g)
	put(t, d, "routines/changed.md", "agent: two")
	put(t, d, "routines/new.md", "agent: new")
	put(t, d, "routines/edited.md", "by hand")
	put(t, d, "routines/hand.md", "by hand")
	put(t, d, "routines/notes.txt", "agent: no task")
	put(t, d, "routines/staged.md", "agent: killed before the commit, and then removed")
	git(t, d, "add", "routines/staged.md")
	for _, rel := range []string{"routines/gone.md", "routines/staged.md"} {
		testkit.Must(t, os.Remove(d.Path(rel)))
	}

	restarted := New(d, g.log)
	catchUp := func() {
		t.Helper()
		ours := func(data []byte) bool { return bytes.HasPrefix(data, []byte("agent")) }
		for _, folder := range []string{"routines", "skills"} {
			testkit.Must(t, restarted.CatchUp(t.Context(), folder, ours))
		}
		drain(t, restarted)
	}
	catchUp()
	want := "D\troutines/gone.md\nM\troutines/changed.md\nA\troutines/new.md"
	if got := git(t, d, "log", "-3", "--reverse", "--format=", "--name-status"); got != want {
		t.Errorf("made up:\n%s\nwant:\n%s", got, want)
	}
	if got := git(t, d, "status", "--porcelain"); got != "M routines/edited.md\n?? routines/hand.md\n?? routines/notes.txt" {
		t.Errorf("left to the user:\n%s", got)
	}
	before := git(t, d, "rev-parse", "HEAD")
	catchUp()
	if after := git(t, d, "rev-parse", "HEAD"); after != before || log.Len() > 0 {
		t.Errorf("once more: %s, then %s, logged %s", before, after, log)
	}
}

func TestNothingIsMadeUpWithoutARepository(t *testing.T) {
	d := storetest.Prepared(t)
	put(t, d, "routines/a.md", "agent")
	g := New(d, nil)
	if err := g.CatchUp(t.Context(), "routines", func([]byte) bool { return true }); err != nil || g.queue.len() != 0 {
		t.Errorf("%v, %d commits wait", err, g.queue.len())
	}
}
