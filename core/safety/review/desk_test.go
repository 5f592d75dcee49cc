package review

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
)

const (
	routineID, reminderID, hookID = "aaaaaaaa", "bbbbbbbb", "orders"

	routineFile  = "routines/water.md"
	reminderFile = "reminders/call.md"
	hookFile     = "webhooks/orders.md"
	skillFile    = "skills/cook/SKILL.md"
)

// files contains one file of each kind that can wait.
var files = map[string]string{
	routineFile:  "---\nid: \"" + routineID + "\"\ncron: \"0 9 * * *\"\n---\nWater the plants\n",
	reminderFile: "---\nid: \"" + reminderID + "\"\nrun-at: \"2099-01-01T00:00:00Z\"\n---\nCall Ada\n",
	hookFile:     "---\nid: \"" + hookID + "\"\nfields:\n  type: object\n  properties:\n    n: {type: integer}\n---\nOrder {n}\n",
	skillFile:    "---\nname: cook\ndescription: Cooks\n---\nCook\n",
}

// office is a Desk over a directory with all files. It is its own guard, which lets a file wait if
// it has a reason in whys and its version is not approved, and its own schedule.
type office struct {
	*Desk
	dir     *store.Dir
	files   *policy.Provenance
	whys    map[string]string // by file
	edits   map[string]string // by version
	notes   []string
	told    []string // the agent only
	sent    []post.Post
	retired []post.MessageID
	offline atomic.Bool // nothing can be sent
	judged  int
	changed int
	logged  strings.Builder
	tools   map[string]routines.Proposal // changes of MCP servers' tools, by server
	decided []string                     // about them
	ended   []string                     // approvals
}

func (o *office) why(file, digest string) string {
	if by, ok := o.files.Find(file, digest); ok && !by.Approved.IsZero() {
		return ""
	}
	return cmp.Or(o.edits[digest], o.whys[file])
}

func (o *office) TaskWaits(t *routines.Task) string { return o.why(t.Path, t.Digest) }
func (o *office) SkillWaits(s skill.Skill) string   { return o.why(s.Path, s.Digest) }

func (o *office) Judge() {
	o.judged++
	o.o.Index.Judge()
}

func (o *office) Refresh(names ...string) { o.o.Index.Refresh(names) }

func (o *office) Refuse(t routines.Task) ([]byte, error) {
	refused, err := routines.RefuseProposal(o.dir, time.Now(), t)
	o.Refresh(t.Path)
	return refused, err
}

func (o *office) post(_ context.Context, p post.Post) (post.MessageID, error) {
	if o.offline.Load() {
		return "", post.ErrNoChannel
	}
	o.sent = append(o.sent, p)
	return post.MessageID(fmt.Sprint(len(o.sent))), nil
}

func (o *office) retire(_ context.Context, m post.MessageID, _ string) error {
	if o.offline.Load() {
		return post.ErrNoChannel
	}
	o.retired = append(o.retired, m)
	return nil
}

// Offered, AllowTools and RefuseTools are those of MCP servers.
func (o *office) Offered() map[string]routines.Proposal { return maps.Clone(o.tools) }

func (o *office) AllowTools(server, version string) error {
	o.decided = append(o.decided, "allowed "+server+" "+version)
	delete(o.tools, server)
	return nil
}

func (o *office) RefuseTools(server, version string) error {
	o.decided = append(o.decided, "refused "+server+" "+version)
	delete(o.tools, server)
	return nil
}

// open returns an office in which those files wait.
func open(t *testing.T, waiting ...string) *office {
	o := &office{dir: storetest.Prepared(t), whys: map[string]string{}, edits: map[string]string{}, tools: map[string]routines.Proposal{}}
	for rel, text := range files {
		storetest.Put(t, o.dir, rel, text)
	}
	for _, rel := range waiting {
		o.whys[rel] = "it may write files"
	}
	o.files = policy.New(policy.Options{Dir: o.dir}).Provenance()
	index, hooks := routines.NewIndex(o.dir, time.UTC), webhook.NewIndex(o.dir)
	index.JudgeBy(o.TaskWaits)
	hooks.JudgeBy(o.TaskWaits)
	index.KeepBy(o.files.Before)
	hooks.KeepBy(o.files.Before)
	index.Scan()
	hooks.Scan()
	if len(index.Set().Tasks()) != 2 || len(hooks.Now().InForce) != 1 {
		t.Fatalf("invalid files: %v, %v", index.Set().Problems, hooks.Now().Problems)
	}
	o.reopen(index, hooks)
	return o
}

// reopen is the next start of the program.
func (o *office) reopen(index *routines.Index, hooks *webhook.Index) {
	o.Desk = New(Options{
		Dir: o.dir, Log: slog.New(slog.NewTextHandler(&o.logged, nil)), Guard: o, Files: o.files, Index: index, Hooks: hooks, Schedule: o,
		Servers: mcp.NewEdits(o.dir, nil), Tools: o,
		Note: func(text string) { o.notes = append(o.notes, text) }, Tell: func(text string) { o.told = append(o.told, text) },
		Changed: func() { o.changed++ }, Post: o.post, Retire: o.retire, Ended: func(file string) { o.ended = append(o.ended, file) },
	})
}

func (o *office) allow(t *testing.T, c command.AllowTask) (command.Outcome, error) {
	t.Helper()
	all := command.Handlers{}
	all.Add(o.Handlers()...)
	h, _ := all.Of(c)
	return h.Do(t.Context(), c)
}

// waiting returns the files that wait, in list order.
func (o *office) waiting() []string { return filesOf(o.Waiting()) }

func filesOf(list []routines.Problem) (files []string) {
	for _, p := range list {
		files = append(files, p.File)
	}
	return files
}

// digest returns the version of a file that waits.
func (o *office) digest(t *testing.T, rel string) string {
	t.Helper()
	list := o.Waiting()
	i := slices.IndexFunc(list, func(p routines.Problem) bool { return p.File == rel })
	if i < 0 {
		t.Fatalf("%s does not wait", rel)
	}
	return list[i].Version
}

func TestEachFileThatWaitsIsListedWithItsReasonAndVersion(t *testing.T) {
	o := open(t)
	if list := o.Waiting(); len(list) != 0 || len(o.Beside()) != 0 {
		t.Errorf("nothing waits: %+v", list)
	}
	o = open(t, slices.Collect(maps.Keys(files))...)
	want := []string{routineFile, reminderFile, skillFile, hookFile}
	list := o.Waiting()
	if got := filesOf(list); !slices.Equal(got, want) {
		t.Errorf("waiting: %q, want %q", got, want)
	}
	for _, p := range list {
		message := fmt.Sprintf(textWaits, "it may write files")
		if p.File == skillFile {
			message = fmt.Sprintf(textSkillWaits, "it may write files")
		}
		if p.Message != message || !p.Waits || p.Severity != routines.Warning || p.Version == "" {
			t.Errorf("%+v", p)
		}
	}
	if got := filesOf(o.Beside()); !slices.Equal(got, []string{skillFile}) {
		t.Errorf("skills: %q", got)
	}
}

// Files that are not skills, and a missing skills folder, are skipped.
func TestWhatIsNoSkillDoesNotWait(t *testing.T) {
	o := open(t, skillFile)
	testkit.Must(t, os.MkdirAll(o.dir.Path("skills/a folder"), 0o700))
	storetest.Put(t, o.dir, "skills/notes.md", "text")
	if got := o.waiting(); !slices.Equal(got, []string{skillFile}) {
		t.Errorf("waiting: %q", got)
	}
	testkit.Must(t, os.RemoveAll(o.dir.Path("skills")))
	if got := o.waiting(); len(got) != 0 {
		t.Errorf("without the folder: %q", got)
	}
}

func TestApprovingAFileIsUndoneByWithdrawing(t *testing.T) {
	for _, c := range []struct{ id, file, title string }{
		{routineID, routineFile, "Water the plants"},
		{routineFile, routineFile, "Water the plants"},
		{reminderID, reminderFile, "Call Ada"},
		{hookID, hookFile, ""},
		{hookFile, hookFile, ""},
		{"cook", skillFile, "skill cook"},
		{skillFile, skillFile, "skill cook"},
	} {
		t.Run(c.id, func(t *testing.T) {
			o := open(t, routineFile, reminderFile, hookFile, skillFile)
			version := o.digest(t, c.file)
			out, err := o.allow(t, command.AllowTask{ID: c.id, Version: version})
			testkit.Must(t, err)
			if got := o.waiting(); len(got) != 3 || slices.Contains(got, c.file) {
				t.Errorf("approved, there wait %q", got)
			}
			if c.title != "" && out.Message != fmt.Sprintf(textAllowed, c.title) {
				t.Errorf("message %q", out.Message)
			}
			if d := out.Decision; d.Action != audit.TaskReleased || d.Subject != c.id {
				t.Errorf("decision %+v", d)
			}
			if by, ok := o.files.Find(c.file, version); !ok || by.Path != c.file {
				t.Errorf("recorded: %+v", by)
			}
			undo, ok := out.Undo.(command.AllowTask)
			if !ok || undo != (command.AllowTask{ID: c.id, Version: version, Withdraw: true}) {
				t.Fatalf("undone by %+v", out.Undo)
			}
			if o.judged != 1 || o.changed != 1 || slices.Contains(filesOf(o.Beside()), c.file) {
				t.Errorf("judged %d times, changed %d times, skills %v", o.judged, o.changed, o.Beside())
			}
			out, err = o.allow(t, undo)
			testkit.Must(t, err)
			if len(o.waiting()) != 4 || len(o.Beside()) != 1 || o.judged != 2 {
				t.Errorf("withdrawn, there wait %q; judged %d times", o.waiting(), o.judged)
			}
			if d := out.Decision; d.Action != audit.TaskHeld || d.Subject != c.id || c.title != "" && out.Message != fmt.Sprintf(textWaitsAgain, c.title) {
				t.Errorf("withdrawn: %+v", out)
			}
		})
	}
}

func TestOnlyTheVersionThatWasSeenIsApproved(t *testing.T) {
	o := open(t, routineFile)
	seen := o.digest(t, routineFile)
	storetest.Put(t, o.dir, routineFile, files[routineFile]+"and the garden\n")
	o.o.Index.Scan()
	if _, err := o.allow(t, command.AllowTask{ID: routineID, Version: seen}); err == nil || len(o.waiting()) != 1 || o.judged != 0 {
		t.Errorf("approved what was not seen: %v", err)
	}
	_, err := o.allow(t, command.AllowTask{ID: routineID}) // in any state
	if testkit.Must(t, err); len(o.waiting()) != 0 {
		t.Errorf("waiting: %q", o.waiting())
	}
}

func TestApprovingAFileThatDoesNotWaitChangesNothing(t *testing.T) {
	o := open(t)
	out, err := o.allow(t, command.AllowTask{ID: routineID})
	if err != nil || out.Message != fmt.Sprintf(textNotWaiting, "Water the plants") || out.Undo != nil || o.judged != 0 {
		t.Errorf("%+v, %v, judged %d times", out, err, o.judged)
	}
	for _, id := range []string{"nothing", "skills/nothing/SKILL.md", "routines/nothing.md", ""} {
		if _, err := o.allow(t, command.AllowTask{ID: id}); err == nil {
			t.Errorf("%q is found", id)
		}
	}
}

// breakRecord makes the record of writers unwritable, even for root.
func (o *office) breakRecord(t *testing.T) {
	t.Helper()
	path := o.dir.Path(store.StateDir)
	testkit.Must(t, os.RemoveAll(path))
	testkit.Must(t, os.WriteFile(path, nil, 0o600))
}

func TestAnApprovalThatCannotBeSavedIsAnErrorAndHasNoEffect(t *testing.T) {
	o := open(t, routineFile)
	o.breakRecord(t)
	for _, withdraw := range []bool{false, true} {
		if out, err := o.allow(t, command.AllowTask{ID: routineID, Withdraw: withdraw}); err == nil || out.Message != "" || o.judged != 0 {
			t.Errorf("withdraw %v: %+v, %v", withdraw, out, err)
		}
	}
	if len(o.waiting()) != 1 {
		t.Errorf("waiting: %q", o.waiting())
	}
}

func TestAnApprovalByAnotherCommandTakesEffectOnce(t *testing.T) {
	o := open(t, routineFile, skillFile)
	theirs := policy.New(policy.Options{Dir: o.dir}).Provenance()
	testkit.Must(t, theirs.Approve(o.digest(t, skillFile), skillFile, time.Now()))
	if len(o.waiting()) != 2 {
		t.Fatal("it took effect before it was read")
	}
	for range 2 {
		o.Reload()
	}
	if o.judged != 1 || o.changed != 1 || len(o.waiting()) != 1 || len(o.Beside()) != 0 {
		t.Errorf("judged %d times, waiting %q, skills %v", o.judged, o.waiting(), o.Beside())
	}
	storetest.Put(t, o.dir, policy.ProvenanceFile, "{")
	if o.Reload(); o.judged != 1 || len(o.waiting()) != 1 || !strings.Contains(o.logged.String(), "level=ERROR") {
		t.Errorf("an unreadable record: judged %d times, waiting %q, logged %s", o.judged, o.waiting(), &o.logged)
	}
}

func TestAFileThatBeginsToWaitIsReported(t *testing.T) {
	o := open(t)
	for rel, judged := range map[string]int{routineFile: 0, hookFile: 0, skillFile: 1} {
		o.notes, o.judged = nil, 0
		o.FileWaits(policy.Writer{}, rel, "it may write files.")
		if want := fmt.Sprintf(textFileWaits, rel, "it may write files."); !slices.Equal(o.notes, []string{want}) || o.judged != judged {
			t.Errorf("%s: %q, judged %d times", rel, o.notes, o.judged)
		}
	}
}

func TestAStartWithALostRecordSetsItAsideAndJudgesAgain(t *testing.T) {
	o := open(t, skillFile)
	o.whys[routineFile] = "it may write files"
	storetest.Put(t, o.dir, policy.ProvenanceFile, "{")
	o.Recover()
	if o.files.Lost().IsZero() || o.judged != 1 || o.changed != 1 || strings.Count(o.logged.String(), "level=ERROR") != 1 {
		t.Errorf("lost at %v, judged %d times, logged %s", o.files.Lost(), o.judged, &o.logged)
	}
	o = open(t)
	o.Recover()
	if o.judged != 1 || o.logged.Len() != 0 {
		t.Errorf("with nothing lost: judged %d times, logged %s", o.judged, &o.logged)
	}
}

func TestAStartReadsWhatWasApprovedBefore(t *testing.T) {
	o := open(t, reminderFile)
	testkit.Must(t, policy.New(policy.Options{Dir: o.dir}).Provenance().Approve(o.digest(t, reminderFile), reminderFile, time.Now()))
	if o.Recover(); len(o.waiting()) != 0 {
		t.Errorf("waiting: %q", o.waiting())
	}
}

// Versions of existing files are never forgotten.
func TestAStartForgetsOldVersionsOnlyOfFilesThatAreGone(t *testing.T) {
	o := open(t, routineFile, reminderFile, hookFile, skillFile)
	kept := map[string]string{}
	for _, p := range o.Waiting() {
		kept[p.Version] = p.File
	}
	// A note is not a task, but a stranger's text may have been written into it. It has been moved
	// since.
	const note = "What the stranger said\n"
	storetest.Put(t, o.dir, "notes/moved/stranger.md", note)
	kept[routines.Digest([]byte(note))] = "notes/moved/stranger.md"
	var written []string
	for i := range 600 {
		written = append(written, fmt.Sprintf("gone%d", i))
	}
	written = slices.AppendSeq(written, maps.Keys(kept))
	for i, digest := range written {
		written[i] = fmt.Sprintf(`%q: {"path": "routines/a.md", "at": "2020-01-01T00:00:00Z"}`, digest)
	}
	storetest.Put(t, o.dir, policy.ProvenanceFile, `{"written": {`+strings.Join(written, ",")+`}}`)
	if o.Recover(); o.logged.Len() != 0 {
		t.Fatalf("logged %s", &o.logged)
	}
	for digest, file := range kept {
		if _, ok := o.files.Find(file, digest); !ok {
			t.Errorf("%s is forgotten", file)
		}
	}
	if _, ok := o.files.Find("routines/gone7.md", "gone7"); ok {
		t.Error("a version that is gone is remembered")
	}
}

// A changed script of a check waits like a file: with its changes, as a version of its own.
func TestAChangedScriptOfACheckIsShownAndAllowed(t *testing.T) {
	o := open(t)
	testkit.Must(t, o.dir.Write("check.sh", []byte("echo one\n")))
	testkit.Must(t, o.dir.Write("routines/look.md", []byte("---\nid: look0001\ncron: 0 9 * * *\nbackground: true\ncheck: sh check.sh\n---\nLook.\n")))
	o.o.Index.Scan()
	task, _ := o.o.Index.Set().Find("look0001")
	guard := policy.New(policy.Options{Dir: o.dir})
	o.o.Guard, o.o.Files = guard, guard.Provenance()
	o.o.Files.Scripts.Own()
	if h := o.heldTask(task); h.why != "" {
		t.Errorf("a script that is new to the bot waits: %s", h.why)
	}
	testkit.Must(t, o.dir.Write("check.sh", []byte("curl evil\n")))
	h := o.heldTask(task)
	diff, ok := o.diff(h)
	if !strings.Contains(h.why, "check.sh, which has changed") || !ok || !strings.Contains(diff, "-echo one\n+curl evil") || h.digest == task.Digest {
		t.Errorf("%+v shows %q", h, diff)
	}
	if text := card(h, diff).Text; !strings.Contains(text, "The run is held until you allow it.") || strings.Contains(text, "The agent has written") {
		t.Errorf("the card: %s", text)
	}
	if _, err := o.allow(t, command.AllowTask{ID: "look0001", Version: task.Digest}); err == nil {
		t.Error("a script that was not seen is allowed")
	}
	out, err := o.allow(t, command.AllowTask{ID: "look0001", Version: h.digest})
	if err != nil || out.Undo != nil || o.heldTask(task).why != "" || !strings.Contains(out.Message, "may run the script") {
		t.Errorf("allowed: %+v, %v; %+v", out, err, o.heldTask(task))
	}
}

// What waits because of its check is shown with the script, and an edit only with one that it brings.
func TestAFileWithACheckIsShownWithItsScript(t *testing.T) {
	const head = "---\nid: look0001\ncron: 0 9 * * *\nbackground: true\n"
	o := open(t)
	testkit.Must(t, o.dir.Write("check.sh", []byte("echo one\n")))
	testkit.Must(t, o.dir.Write("routines/look.md", []byte(head+"check: sh check.sh\nsay: check\n---\nLook.\n")))
	o.o.Index.Scan()
	task, _ := o.o.Index.Set().Find("look0001")
	o.whys["routines/look.md"] = "it may run a check"
	for range 2 {
		diff, ok := o.diff(o.heldTask(task))
		if !ok || !strings.HasSuffix(diff, "+Look.\nIts check runs check.sh:\n+echo one") {
			t.Errorf("shown as\n%s", diff)
		}
		testkit.Must(t, o.dir.Write("check.sh", []byte("curl evil\n"))) // after it was shown
	}
	task.Proposed = routines.Proposal{Version: "1", Diff: "+description: x"}
	if diff, _ := o.diff(o.heldTask(task)); diff != "+description: x" {
		t.Errorf("an edit beside the check is shown as\n%s", diff)
	}
	task.Check, task.Says = "", false
	if diff, _ := o.diff(o.heldTask(task)); !strings.Contains(diff, "+description: x\nIts check runs check.sh:\n+echo one") {
		t.Errorf("an edit of the check is shown as\n%s", diff)
	}
}

// A1: the approval of a file ends while the bot runs, once the file is gone, and at a start.
func TestAnApprovalEndsWithItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t, routineFile)
		testkit.Must(t, o.files.Approve(o.digest(t, routineFile), routineFile, time.Now()))
		testkit.Must(t, o.files.Approve("older", skillFile, time.Now().Add(-time.Hour)))
		o.Recover()
		if !slices.Equal(o.ended, []string{skillFile}) {
			t.Errorf("at the start, ended %q", o.ended)
		}
		runs(t, func(t *testing.T) {
			time.Sleep(2 * time.Minute)
			testkit.Must(t, os.Remove(o.dir.Path(routineFile)))
			o.Refresh(routineFile)
			o.Settle()
			synctest.Wait()
			if !slices.Equal(o.ended, []string{skillFile, routineFile}) || o.logged.Len() > 0 {
				t.Errorf("ended %q, logged %s", o.ended, &o.logged)
			}
		})(o)
	})
}
