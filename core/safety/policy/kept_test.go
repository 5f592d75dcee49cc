package policy

import (
	"os"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// checked returns a routine with a check and more lines.
func checked(check, more, body string) string {
	return "---\nid: aaaa0001\ncron: \"0 9 * * *\"\nbackground: true\ncheck: " + check + "\n" + more + "---\n" + body + "\n"
}

// waits reports whether a version would wait for the user.
func (d *desk) waits(rel, text string) bool {
	task, _ := routines.ParseRoutine(rel, []byte(text))
	task.Digest = routines.Digest([]byte(text))
	return d.guard.TaskWaits(&task.Task) != ""
}

// An agent's edit of a routine with the user's check waited for approval although the check was the
// same.
func TestAnEditThatLeavesTheUsersCheckWaitsForNothing(t *testing.T) {
	const rel = "routines/look.md"
	users := checked("./new.sh", "", "Look.")
	for name, c := range map[string]struct {
		rel, text string
		waits     bool
	}{
		"another prompt":      {rel, checked("./new.sh", "", "Look twice."), false},
		"another time":        {rel, checked("./new.sh", "jitter: 5m\n", "Look."), false},
		"another check":       {rel, checked("./new.sh -a", "", "Look."), true},
		"a tool's call":       {rel, checked("mcp__mail__unread", "", "Look."), true},
		"more rights":         {rel, checked("./new.sh", "allowed-tools: [\"Bash(rm *)\"]\n", "Look."), true},
		"it trusts its input": {rel, checked("./new.sh", "trust-input: true\n", "Look."), true},
		"another file":        {"routines/b.md", checked("./new.sh", "", "Look elsewhere."), true},
	} {
		d := newDesk(t)
		storetest.Put(t, d.dir, rel, users)
		d.foresee(t, c.rel, c.text)
		if got := d.waits(c.rel, c.text); got != c.waits {
			t.Errorf("%s: it waits: %v", name, got)
		}
	}
}

func TestACheckIsKeptOverSeveralEditsOnlyWhileItIsTheUsers(t *testing.T) {
	const rel = "routines/look.md"
	edit := func(t *testing.T, d *desk, text string) bool {
		t.Helper()
		d.foresee(t, rel, text)
		storetest.Put(t, d.dir, rel, text)
		return d.waits(rel, text)
	}
	first, second := checked("./new.sh", "", "Look twice."), checked("./new.sh", "", "Look again.")
	d := newDesk(t)
	storetest.Put(t, d.dir, rel, checked("./new.sh", "", "Look."))
	if edit(t, d, first) || edit(t, d, second) {
		t.Error("an edit waits")
	}
	if !edit(t, d, checked("./mine.sh", "", "Look.")) || !edit(t, d, checked("./mine.sh", "", "Look at it.")) {
		t.Error("the agent's own check becomes the user's by an edit")
	}
	if edit(t, d, checked("./new.sh", "", "And back.")) {
		t.Error("the user's check waits")
	}

	// The user has removed the check: an old version of the agent's must not restore it.
	storetest.Put(t, d.dir, rel, "---\nid: aaaa0001\ncron: \"0 9 * * *\"\nbackground: true\n---\nNo check.\n")
	if !edit(t, d, first) {
		t.Error("an old version brings back what the user took away")
	}

	// In a file with an unknown writer, nothing is the user's.
	d = newDesk(t)
	storetest.Put(t, d.dir, rel, checked("./new.sh", "", "Look."))
	past := time.Now().Add(-time.Hour)
	testkit.Must(t, os.Chtimes(d.dir.Path(rel), past, past))
	testkit.Must(t, d.guard.provenance.change(func(o *origins) { o.lost = time.Now() }))
	if !edit(t, d, first) {
		t.Error("a check of an unknown writer is kept")
	}
}
