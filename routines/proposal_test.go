package routines

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// edited is a directory with an index in which agent-written texts, those containing
// "agent", need approval. The previous text of each is known.
type edited struct {
	*Index
	dir    *store.Dir
	before map[string]string
	stops  bool // the previous text needs approval too
}

const (
	approvedText = "---\nid: a\ncron: \"0 9 * * *\"\n---\nWater the plants.\n"
	agentsText   = "---\nid: a\ncron: \"0 5 * * *\"\n---\nThe agent's text.\n"
	brokenText   = "---\nid: a\ncron: never\n---\nThe agent's error.\n"
)

func newEdited(t *testing.T) *edited {
	return again(storetest.Prepared(t), map[string]string{
		Digest([]byte(agentsText)): Digest([]byte(approvedText)), Digest([]byte(brokenText)): Digest([]byte(approvedText)),
	})
}

// again returns the index after a restart.
func again(d *store.Dir, before map[string]string) *edited {
	e := &edited{Index: NewIndex(d, time.UTC), dir: d, before: before}
	e.JudgeBy(func(t *Task) string {
		if strings.Contains(t.Body, "agent") || e.stops {
			return "it may do more"
		}
		return ""
	})
	e.KeepBy(func(version string) string { return e.before[version] })
	return e
}

func (e *edited) put(t *testing.T, text string) {
	t.Helper()
	storetest.Put(t, e.dir, "routines/a.md", text)
	e.Refresh([]string{"routines/a.md"})
}

func (e *edited) now(t *testing.T) Routine {
	t.Helper()
	r, ok := e.Set().RoutineByID("a")
	if !ok {
		t.Fatalf("the routine is gone: %+v", e.Set().Problems)
	}
	return *r
}

func TestWhileAnEditWaitsTheTextBeforeItIsInForce(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		e := newEdited(t)
		testkit.Must(t, KeepText(e.dir, []byte(approvedText)))
		e.put(t, approvedText)
		if r := e.now(t); r.Proposed != (Proposal{}) {
			t.Fatalf("something is proposed: %+v", r.Proposed)
		}
		e.put(t, agentsText)
		if restarted {
			e = again(e.dir, e.before)
			e.Scan()
		}
		r := e.now(t)
		want := Proposal{Version: Digest([]byte(agentsText)), Why: "it may do more", Diff: "@@ -1,5 +1,5 @@\n ---\n id: a\n-cron: \"0 9 * * *\"\n" +
			"+cron: \"0 5 * * *\"\n ---\n-Water the plants.\n+The agent's text."}
		if r.Proposed != want || r.Waits != "" || r.Cron != "0 9 * * *" || r.Digest != Digest([]byte(approvedText)) {
			t.Fatalf("in force is %+v", r)
		}
		if data, err := ReadText(e.dir, r.Task); err != nil || string(data) != approvedText {
			t.Errorf("its text is %q, %v", data, err)
		}
		if c := e.Judge(); !c.Empty() {
			t.Errorf("nothing has changed, but %+v", c)
		}
		versions := strings.Join(e.Set().Versions, " ")
		if !strings.Contains(versions, want.Version) || !strings.Contains(versions, r.Digest) {
			t.Errorf("versions %q", versions)
		}

		e.stops = true
		if c := e.Judge(); c.Empty() || e.now(t).Waits == "" || e.now(t).Digest != want.Version {
			t.Errorf("both wait, and in force is %+v", e.now(t))
		}
		e.stops = false
		e.Judge()
		delete(e.before, want.Version)
		if e.Judge(); e.now(t).Waits == "" {
			t.Error("the text before is not known, and the edit does not hold the routine")
		}
	}
}

func TestATextInForceThatWasChangedOnTheDiskIsNotUsed(t *testing.T) {
	e := newEdited(t)
	testkit.Must(t, KeepText(e.dir, []byte(approvedText)))
	storetest.Put(t, e.dir, keptFile(Digest([]byte(approvedText))), strings.ReplaceAll(approvedText, "plants", "lawn"))
	e.put(t, agentsText)
	if e.now(t).Waits == "" {
		t.Errorf("in force is %+v", e.now(t))
	}
	testkit.Must(t, KeepText(e.dir, []byte(approvedText))) // repaired
	if e.Judge(); e.now(t).Waits != "" {
		t.Error("it is not used again")
	}
}

func TestAFileWithAnErrorOfTheAgentsLeavesTheTextBeforeInForceAfterAStart(t *testing.T) {
	e := newEdited(t)
	testkit.Must(t, KeepText(e.dir, []byte(approvedText)))
	e.put(t, brokenText)
	if r := e.now(t); r.Body != "Water the plants." || r.Waits != "" {
		t.Errorf("in force is %+v", r)
	}
	if p := e.Set().Problems; len(p) != 1 || p[0].Severity != Error || !strings.Contains(p[0].Message, "previous version stays active") {
		t.Errorf("problems: %+v", p)
	}
	testkit.Must(t, os.Remove(e.dir.Path("routines/a.md")))
	if e.Scan(); len(e.Set().Routines) != 0 {
		t.Error("its file is gone, and the routine is there")
	}
}

func TestARefusedEditMakesRoomForTheTextInForce(t *testing.T) {
	e := newEdited(t)
	testkit.Must(t, KeepText(e.dir, []byte(approvedText)))
	e.put(t, agentsText)
	task := e.now(t).Task
	storetest.Put(t, e.dir, "routines/a.md", "another")
	if _, err := RefuseProposal(e.dir, time.Now(), task); !errors.Is(err, ErrOther) || storetest.Text(t, e.dir, "routines/a.md") != "another" {
		t.Errorf("what was not seen is refused: %v", err)
	}
	e.put(t, agentsText)
	refused, err := RefuseProposal(e.dir, time.Now(), task)
	if err != nil || string(refused) != agentsText || storetest.Text(t, e.dir, "routines/a.md") != approvedText {
		t.Errorf("%q, %v", refused, err)
	}
	entries, _ := e.dir.Entries("state/trash")
	if len(entries) != 1 || storetest.Text(t, e.dir, "state/trash/"+entries[0].Name()) != agentsText {
		t.Errorf("the trash has %v", entries)
	}
	e.put(t, agentsText)
	testkit.Must(t, os.RemoveAll(e.dir.Path(keptFolder)))
	if _, err := RefuseProposal(e.dir, time.Now(), task); err == nil || !strings.HasPrefix(err.Error(), "restore routines/a.md: ") || storetest.Text(t, e.dir, "routines/a.md") != agentsText {
		t.Errorf("without the text in force: %v", err)
	}
}

// A task is cancelled by its id in force, which an edit may have changed. The text in
// force can be restored.
func TestATaskIsCancelledByItsIDInForce(t *testing.T) {
	renamed := strings.ReplaceAll(agentsText, "id: a", "id: other")
	for name, edit := range map[string]string{"another id": renamed, "the same id": agentsText} {
		t.Run(name, func(t *testing.T) {
			e := newEdited(t)
			e.before[Digest([]byte(edit))] = Digest([]byte(approvedText))
			testkit.Must(t, KeepText(e.dir, []byte(approvedText)))
			e.put(t, edit)
			if rel, found, err := RemoveTask(e.dir, KindRoutine, "a", e.now(t).Task); rel != "routines/a.md" || !found || err != nil {
				t.Fatalf("removed %q, %v, %v", rel, found, err)
			}
			task, err := RestoreTask(e.dir, time.Now(), "a")
			if err != nil || storetest.Text(t, e.dir, task.Path) != approvedText {
				t.Errorf("restored %+v, %v", task, err)
			}
			entries, _ := e.dir.Entries("state/trash")
			if len(entries) != 1 || storetest.Text(t, e.dir, "state/trash/"+entries[0].Name()) != edit {
				t.Errorf("the trash has %v", entries)
			}
		})
	}
}

// If the text in force is lost, only the edit can be restored.
func TestATaskIsCancelledThoughItsKeptTextIsGone(t *testing.T) {
	e := newEdited(t)
	testkit.Must(t, KeepText(e.dir, []byte(approvedText)))
	e.put(t, agentsText)
	task := e.now(t).Task
	testkit.Must(t, os.RemoveAll(e.dir.Path(keptFolder)))
	if _, found, err := RemoveTask(e.dir, KindRoutine, "a", task); !found || err != nil {
		t.Fatalf("removed: %v, %v", found, err)
	}
	if _, err := RestoreTask(e.dir, time.Now(), "a"); err != nil || storetest.Text(t, e.dir, "routines/a.md") != agentsText {
		t.Errorf("restored: %v", err)
	}
}

func TestALongDiffIsCutAndSaysSo(t *testing.T) {
	diff := Diff([]byte("a\n"), []byte(strings.Repeat("line\n", mostDiff)))
	if !strings.HasSuffix(diff, "+line\n+line") || !strings.Contains(diff, " characters are not shown here⟧") || len(diff) > mostDiff+8 {
		t.Errorf("%d characters end with %q", len(diff), diff[len(diff)-100:])
	}
	if got := Diff([]byte("a\x1b[31m\r\n"), []byte("b\x1b[31m\r\n")); strings.ContainsAny(got, "\x1b\r") {
		t.Errorf("it is not cleaned: %q", got)
	}
}
