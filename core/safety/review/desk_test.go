package review

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
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
	whys    map[string]string            // by file
	edits   map[string]string            // by version
	seen    map[string]string            // versions that the user has seen, by file
	tools   map[string]routines.Proposal // changes of MCP servers' tools, by server
	undo    any
	sent    []post.Post
	offline atomic.Bool // nothing can be sent
	logged  strings.Builder
	stop    func()

	mu       sync.Mutex
	said     []string // since the last step
	answered []string // to who did it
}

func (o *office) say(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = append(o.said, hidden(format, args...))
}

// hidden is a text without digests.
func hidden(format string, args ...any) string {
	return strings.TrimRight(regexp.MustCompile(`\b[0-9a-f]{64}\b`).ReplaceAllString(fmt.Sprintf(format, args...), "VERSION"), "\n")
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
	o.say("the schedule is judged again")
	o.o.Index.Judge()
}

func (o *office) Refresh(names ...string) {
	o.o.Index.Refresh(names)
	o.o.Hooks.Scan()
}

func (o *office) Refuse(t routines.Task) ([]byte, error) {
	refused, err := routines.RefuseProposal(o.dir, time.Now(), t)
	o.Refresh(t.Path)
	return refused, err
}

func (o *office) post(_ context.Context, p post.Post) (post.MessageID, error) {
	if o.offline.Load() {
		o.say("a card cannot be sent")
		return "", post.ErrNoChannel
	}
	o.sent = append(o.sent, p)
	kind := map[post.Kind]string{post.KindNews: "news", post.KindAside: "an aside"}[p.Kind]
	var buttons []string
	for _, b := range p.Embed.Buttons {
		action, _, _ := strings.Cut(b.Action, ":")
		buttons = append(buttons, b.Label+" ("+action+", "+b.Style+")")
	}
	o.say("card %d, %s, %q from %q of %s, as %s, with %s: %s", len(o.sent), p.Embed.Color, p.Embed.Title, p.Source, p.Embed.Footer, kind,
		strings.Join(buttons, ", "), p.Text)
	if !strings.HasPrefix(p.Nonce, "edit") || len(p.Nonce) != len("edit")+20 {
		o.say("it could be sent twice: %q", p.Nonce)
	}
	return post.MessageID(fmt.Sprint(len(o.sent))), nil
}

func (o *office) retire(_ context.Context, m post.MessageID, why string) error {
	if o.offline.Load() {
		o.say("card %s cannot be reached", m)
		return post.ErrNoChannel
	}
	o.say("card %s loses its buttons: %s", m, why)
	return nil
}

// Offered, AllowTools and RefuseTools are those of MCP servers.
func (o *office) Offered() map[string]routines.Proposal { return maps.Clone(o.tools) }

func (o *office) AllowTools(server, version string) error {
	o.say("the tools of %s are allowed: %s", server, version)
	delete(o.tools, server)
	return nil
}

func (o *office) RefuseTools(server, version string) error {
	o.say("the tools of %s are refused: %s", server, version)
	delete(o.tools, server)
	return nil
}

// open returns an office in which those files wait.
func open(t *testing.T, waiting ...string) *office {
	o := &office{
		dir: storetest.Prepared(t), whys: map[string]string{}, edits: map[string]string{}, tools: map[string]routines.Proposal{},
		seen: map[string]string{"another": "another"}, stop: func() {},
	}
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
	says := func(what string) func(string) { return func(text string) { o.say("%s: %s", what, text) } }
	o.Desk = New(Options{
		Dir: o.dir, Log: slog.New(slog.NewTextHandler(&o.logged, nil)), Guard: o, Files: o.files, Index: index, Hooks: hooks, Schedule: o,
		Servers: mcp.NewEdits(o.dir, nil), Tools: o, Post: o.post, Retire: o.retire,
		Note: says("note"), Tell: says("the agent hears"), Ended: says("the approval has ended"), Changed: func() { o.say("the list has changed") },
	})
}

func (o *office) allow(t *testing.T, c command.AllowTask) (command.Outcome, error) {
	t.Helper()
	all := command.Handlers{}
	all.Add(o.Handlers()...)
	h, _ := all.Of(c)
	return h.Do(t.Context(), c)
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

// propose edits a file as the agent, and returns the version of the edit.
func (o *office) propose(t *testing.T, rel, more string) (version string) {
	t.Helper()
	old, now := storetest.Text(t, o.dir, rel), storetest.Text(t, o.dir, rel)+more
	testkit.Must(t, routines.KeepText(o.dir, []byte(old)))
	version = routines.Digest([]byte(now))
	entry := `{"written": {"` + version + `": {"path": "` + rel + `", "at": "2020-01-01T00:00:00Z", "before": "` + routines.Digest([]byte(old)) + `"}}}`
	storetest.Put(t, o.dir, "state/provenance.json", entry)
	o.edits[version] = "it may write files"
	storetest.Put(t, o.dir, rel, now)
	_, err := o.files.Load()
	testkit.Must(t, err)
	o.FileWaits(policy.Writer{}, rel, "it may write files.")
	return version
}

// change is the n-th change of a server's tools.
func change(n int) routines.Proposal {
	return routines.Proposal{
		Version: strings.Repeat(fmt.Sprintf("%02d", n), 32), Why: "1 tool new", Diff: fmt.Sprintf("new: mcp__weather__send\n+Sends %d.", n),
		What: "change of weather's tools", Text: "The MCP server weather has changed its tools: 1 tool new.",
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

func TestACardIsCutAndSaysWhereToSeeAll(t *testing.T) {
	edit := routines.Proposal{Version: strings.Repeat("a", 64), Why: "it may"}
	p := card(held{file: "routines/a.md", digest: edit.Version, task: routines.Task{Proposed: edit}}, "+```\n"+strings.Repeat("+line\n", 500)+"+the end")
	if !strings.HasSuffix(p.Text, "+the end\n```"+textCardCut) || strings.Count(p.Text, "```") != 2 || !strings.Contains(p.Text, " characters are not shown here⟧") {
		t.Errorf("the card is %q", p.Text)
	}
	if !strings.HasPrefix(p.Whole, "+```\n+line") || !strings.HasSuffix(p.Whole, "+line\n+the end") { // N2
		t.Errorf("attached is %q", p.Whole)
	}
	for _, b := range p.Embed.Buttons {
		if _, err := b.CustomID(nil); err != nil {
			t.Error(err)
		}
		if b.CheckAgent() == nil {
			t.Errorf("an agent may send the button %s", b.Action)
		}
	}
}

// A server may change its tools each second. The phone rings once an hour.
func TestAServerThatKeepsChangingItsToolsIsACardAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t)
		o.step(t, "runs")
		defer func() { o.stop() }()
		for i := range 130 {
			o.act(t, "tools", "weather", fmt.Sprint(i%100))
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		count := map[string]int{}
		for _, line := range o.heard() {
			word, _, _ := strings.Cut(line, ":")
			count[regexp.MustCompile(`^card \d+`).ReplaceAllString(word, "card")]++
		}
		if len(o.sent) != 3 || count["note"] != 1 || count["card loses its buttons"] != 3 {
			t.Errorf("%d cards, heard %v", len(o.sent), count)
		}
		if list := o.Beside(); len(list) != 1 || list[0].Version != change(29).Version {
			t.Errorf("waiting: %+v", list)
		}
	})
}
