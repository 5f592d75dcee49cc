package policy

import (
	"os"
	"testing"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

const (
	usersRoutine  = "---\nid: aaaa0001\ncron: \"0 9 * * *\"\nbackground: true\nallowed-tools: [\"Bash(rm *)\"]\n---\nTidy up.\n"
	agentsRoutine = "---\nid: aaaa0001\ncron: \"0 9 * * *\"\nbackground: true\nallowed-tools: [\"Bash(rm *)\"]\n---\nDelete it.\n"
)

// desk is a guard and a session of the agent that may run every command.
type desk struct {
	guard   *Guard
	session *Session
	dir     *store.Dir
}

func newDesk(t *testing.T) *desk {
	g, _ := newGuard(t)
	rules := Rules{Allowed: []string{"Read", "Write", "Bash(touch *)"}}
	return &desk{g, g.Session(Scope{Kind: Background, Session: "11112222", Rules: rules}), g.o.Dir}
}

// foresee calls the hook for a call that writes a file, without writing it.
func (d *desk) foresee(t *testing.T, rel, text string) {
	t.Helper()
	u := toolUse("Write", fields{"file_path": rel, "content": text})
	if x := d.session.PreTool(t.Context(), u); !x.Allow {
		t.Fatalf("%s is not written: %s", rel, x.Reason)
	}
	if x := d.session.Permission(t.Context(), u); !x.Allow {
		t.Fatalf("%s is not written: %s", rel, x.Reason)
	}
}

// command runs a command that writes a text, which it returns.
func (d *desk) command(t *testing.T, write func() string) (text string) {
	t.Helper()
	u := bash("touch x")
	if x := d.session.PreTool(t.Context(), u); !x.Allow {
		t.Fatal(x.Reason)
	}
	if x := d.session.Permission(t.Context(), u); !x.Allow {
		t.Fatal(x.Reason)
	}
	text = write()
	d.session.Hooks(nil).PostTool(t.Context(), u)
	return text
}

func (d *desk) before(text string) string {
	return d.guard.provenance.Before(routines.Digest([]byte(text)))
}

func (d *desk) kept(version string) bool {
	_, err := os.Stat(d.dir.Path("state/approved/" + version + ".md"))
	return err == nil
}

func TestTheTextInForceIsKeptBeforeAnAgentsEditIsWritten(t *testing.T) {
	d := newDesk(t)
	storetest.Put(t, d.dir, "routines/tidy.md", usersRoutine)
	version := routines.Digest([]byte(usersRoutine))
	d.foresee(t, "routines/tidy.md", agentsRoutine)
	if got := d.before(agentsRoutine); got != version || !d.kept(version) {
		t.Fatalf("before the edit was %q, kept %v", got, d.kept(version))
	}

	storetest.Put(t, d.dir, "routines/tidy.md", agentsRoutine)
	d.foresee(t, "routines/tidy.md", agentsRoutine+"And more.\n")
	if got := d.before(agentsRoutine + "And more.\n"); got != version {
		t.Errorf("an edit of an edit comes after %q", got)
	}

	mine := usersRoutine + "And the shelf.\n"
	storetest.Put(t, d.dir, "routines/tidy.md", mine)
	d.foresee(t, "routines/tidy.md", agentsRoutine)
	if got := d.before(agentsRoutine); got != routines.Digest([]byte(mine)) {
		t.Errorf("the same edit of a later text comes after %q", got)
	}

	d.foresee(t, "routines/new.md", agentsRoutine+"New.\n")
	if got := d.before(agentsRoutine + "New.\n"); got != "" {
		t.Errorf("a new file comes after %q", got)
	}
}

func TestAReminderThatComesBackIsNotKept(t *testing.T) {
	d := newDesk(t)
	file := func(extra, body string) string {
		return "---\nid: aaaa0002\nrun-at: \"2099-01-01T09:00:00Z\"\nbackground: true\nallowed-tools: [\"Bash(rm *)\"]\n" + extra + "---\n" + body + "\n"
	}
	for extra, kept := range map[string]bool{"": true, "until: done\n": false} {
		storetest.Put(t, d.dir, "reminders/call.md", file(extra, "Call Ada."))
		d.foresee(t, "reminders/call.md", file(extra, "Call Bob."))
		if got := d.before(file(extra, "Call Bob.")); (got != "") != kept {
			t.Errorf("%q: comes after %q", extra, got)
		}
	}
}

// A command may write a file that was not predicted: another text, one with an error, one under
// another name.
func TestWhatACommandHasReplacedIsKept(t *testing.T) {
	version := routines.Digest([]byte(usersRoutine))
	for name, write := range map[string]func(t *testing.T, d *desk) (text string){
		"an edit": func(t *testing.T, d *desk) string {
			storetest.Put(t, d.dir, "routines/tidy.md", agentsRoutine)
			return agentsRoutine
		},
		"an error": func(t *testing.T, d *desk) string {
			storetest.Put(t, d.dir, "routines/tidy.md", "---\ncron: no\n---\n")
			return "---\ncron: no\n---\n"
		},
		"another name": func(t *testing.T, d *desk) string {
			storetest.Put(t, d.dir, "routines/other.md", agentsRoutine)
			if err := os.Remove(d.dir.Path("routines/tidy.md")); err != nil {
				t.Fatal(err)
			}
			return agentsRoutine
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			storetest.Put(t, d.dir, "routines/tidy.md", usersRoutine)
			text := d.command(t, func() string { return write(t, d) })
			if got := d.before(text); got != version || !d.kept(version) {
				t.Errorf("before it was %q, kept %v", got, d.kept(version))
			}
		})
	}
}

func TestTextsThatNothingWaitsOverAreForgotten(t *testing.T) {
	d := newDesk(t)
	storetest.Put(t, d.dir, "routines/tidy.md", usersRoutine)
	d.foresee(t, "routines/tidy.md", agentsRoutine)
	version := routines.Digest([]byte(usersRoutine))
	now := d.guard.provenance.now.Load().by[routines.Digest([]byte(agentsRoutine))].At
	there := func(string) bool { return true }
	gone := func(string) bool { return false }
	for _, c := range []struct {
		later bool
		live  func(string) bool
		kept  bool
	}{{true, there, true}, {false, gone, true}, {true, gone, false}} {
		at := now
		if c.later {
			at = now.Add(keepOrigin + 1)
		}
		routines.PruneTexts(d.dir, d.guard.provenance.Replaced(at, c.live))
		if d.kept(version) != c.kept {
			t.Errorf("%+v: kept %v", c, d.kept(version))
		}
	}
}

// Another time would separate the edit from the text in force.
func TestAReminderIsNotMovedWhileItsEditWaits(t *testing.T) {
	d := newDesk(t)
	file := func(at, body string) string {
		return "---\nid: aaaa0002\nrun-at: \"2099-01-01T" + at + ":00Z\"\nbackground: true\nallowed-tools: [\"Bash(rm *)\"]\n---\n" + body + "\n"
	}
	storetest.Put(t, d.dir, "reminders/call.md", file("09:00", "Call Ada."))
	d.foresee(t, "reminders/call.md", file("09:00", "Call Bob."))
	version, moved := routines.Digest([]byte(file("09:00", "Call Bob."))), []byte(file("10:00", "Call Bob."))
	if err := d.guard.Inherit(version, "reminders/call.md", moved); err == nil {
		t.Error("it is moved")
	}
	if err := d.guard.provenance.Approve(version, "reminders/call.md", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := d.guard.Inherit(version, "reminders/call.md", moved); err != nil {
		t.Errorf("allowed, it is not moved: %v", err)
	}
}
