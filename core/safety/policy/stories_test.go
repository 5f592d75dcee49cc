package policy

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// room is a data directory with a guard, a user and the agent's sessions: main; asks, which is main in the mode that
// asks; limited, which is that in the turn of a task that a run has written; and run, which may copy files and keeps
// its tools whatever it reads.
type room struct {
	*Guard
	t        *testing.T
	root     string
	sessions map[string]*Session
	calls    map[string]agent.ToolUse // the last one of each session
	planned  map[string]string        // texts that a session is about to write, by path
	answer   Verdict
	confined bool
	asked    []string
	ended    []string
	noticed  []string
	made     int
	log      strings.Builder
}

func newRoom(t *testing.T) *room {
	t.Helper()
	g, root := newGuard(t)
	r := &room{Guard: g, t: t, root: root, planned: map[string]string{}, answer: Deny}
	r.restart()
	return r
}

// restart leaves only what is on the disk.
func (r *room) restart() {
	r.Guard = New(Options{
		Dir: r.o.Dir, Zone: time.UTC, Log: slog.New(slog.NewTextHandler(&r.log, nil)), Confined: func() bool { return r.confined },
		Ended: func(rel string) { r.ended = append(r.ended, rel) },
		Waits: func(_ Writer, rel, _ string) { r.noticed = append(r.noticed, rel) },
	})
	_, err := r.provenance.Load()
	testkit.Must(r.t, err)
	r.sessions, r.calls = map[string]*Session{}, map[string]agent.ToolUse{}
	answering(r.t, r.Guard, func(a Approval) Verdict {
		r.asked = append(r.asked, a.Label)
		return r.answer
	})
}

func (r *room) session(name string) *Session {
	if s := r.sessions[name]; s != nil {
		return s
	}
	scope := Scope{Session: name, Rules: Rules{Allowed: MainTools()}}
	switch name {
	case "main":
	case "asks":
		scope.Mode = func() Mode { return Ask }
	case "limited":
		scope.Mode = func() Mode { return Ask }
		scope.Turn = func() Turn { return Turn{Attended: true, Limit: r.newLimit(Rules{Allowed: []string{"Write"}})} }
	case "run":
		scope.Kind, scope.Rules, scope.Taint = Background, Rules{Allowed: []string{"Read", "Write", "Bash(cp *)"}}, &Taint{Trusted: true}
	default:
		r.t.Fatalf("no session %q", name)
	}
	r.sessions[name] = r.Session(scope)
	return r.sessions[name]
}

// taskText is the text of a file. “key: value; key: value | body” is a task or a skill with what every one has.
func taskText(rel, spec string) string {
	head, body, ok := strings.Cut(" "+spec, " | ")
	if !ok {
		return spec + "\n"
	}
	common := []string{"id: aaaa0001", "cron: 0 9 * * *", "background: true"}
	switch name := filepath.Base(filepath.Dir(rel)); {
	case strings.HasPrefix(rel, "skills/"):
		common = []string{"name: " + name, "description: d"}
	case strings.HasPrefix(rel, "reminders/"):
		common = []string{"id: aaaa0001", "run-at: 2099-01-01T09:00:00Z", "background: true"}
	}
	text := "---\n"
	for _, line := range append(strings.Split(strings.TrimSpace(head), "; "), common...) {
		if key, _, _ := strings.Cut(line, ": "); !strings.Contains(text, "\n"+key+": ") && line != "" {
			text += line + "\n"
		}
	}
	return text + "---\n" + body + "\n"
}

// text is the text of a file, or the one that a session plans for it.
func (r *room) text(rel string) string {
	if text, ok := r.planned[rel]; ok {
		return text
	}
	data, err := os.ReadFile(filepath.Join(r.root, rel))
	testkit.Must(r.t, err)
	return string(data)
}

func (r *room) save(rel, text string) {
	delete(r.planned, rel)
	write(r.t, filepath.Join(r.root, rel), text)
}

// waits reports why a file waits for the user.
func (r *room) waits(rel string) string {
	data := []byte(r.text(rel))
	switch folder, _, _ := strings.Cut(rel, "/"); folder {
	case "skills":
		found, _ := skill.Read(r.o.Dir, filepath.Base(filepath.Dir(rel)))
		return r.SkillWaits(found)
	default:
		task := r.task(rel, data)
		return r.TaskWaits(&task)
	}
}

func (r *room) task(rel string, data []byte) (task routines.Task) {
	if strings.HasPrefix(rel, "reminders/") {
		found, _ := routines.ParseReminder(rel, data, time.UTC)
		task = found.Task
	} else {
		found, _ := routines.ParseRoutine(rel, data)
		task = found.Task
	}
	task.Digest = routines.Digest(data)
	return task
}

// call lets a session make a call, which has to be allowed unless the user denies it.
func (r *room) call(name string, u agent.ToolUse) (allowed bool) {
	r.t.Helper()
	s, before := r.session(name), len(r.asked)
	r.made++
	u.ID = fmt.Sprint(r.made)
	r.calls[name] = u
	d := s.PreTool(r.t.Context(), u)
	if d.Allow {
		d = s.Permission(r.t.Context(), u)
	}
	if !d.Allow && (len(r.asked) == before || r.answer.Allows()) {
		r.t.Errorf("%s: %s %s: %s", name, u.Name, u.Input, d.Reason)
	}
	return d.Allow
}

// plays plays a story: in each line somebody does something to a file, which then is as after the arrow.
func (r *room) plays(story string) {
	r.t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(story), "\n") {
		step, outcome, _ := strings.Cut(line, " → ")
		if step == "" || strings.HasPrefix(step, "#") {
			continue
		}
		rel := step
		if who, what, ok := strings.Cut(step, ": "); ok {
			verb, rest, _ := strings.Cut(what, " ")
			var spec string
			rel, spec, _ = strings.Cut(rest, " ")
			switch who {
			case "disk":
				r.onDisk(verb, rel, spec)
			case "user":
				r.byUser(verb, rel, spec)
			default:
				r.byAgent(who, verb, rest)
			}
		}
		if outcome != "" {
			if got := r.outcome(rel, outcome); got != "" {
				r.t.Errorf("%s: %s", line, got)
			}
		}
	}
	if r.log.Len() > 0 {
		r.t.Errorf("the log says %s", r.log.String())
	}
	if r.sessionAllows("Write") || r.sessionAllows("Bash") {
		r.t.Error("an answer about a file has allowed a tool")
	}
}

func (r *room) onDisk(verb, rel, spec string) {
	path := filepath.Join(r.root, rel)
	switch verb {
	case "saves":
		r.save(rel, taskText(rel, spec))
	case "rm":
		testkit.Must(r.t, os.Remove(path))
	case "mv":
		testkit.Must(r.t, os.Rename(path, filepath.Join(r.root, spec)))
	case "ln":
		link(r.t, spec, path)
	case "mkdir":
		testkit.Must(r.t, os.MkdirAll(path, 0o700))
	default:
		r.t.Fatalf("no verb %q", verb)
	}
}

func (r *room) byUser(verb, rel, spec string) {
	p := r.provenance
	switch verb {
	case "answers":
		r.answer = map[string]Verdict{"yes": Allow, "always": Always, "no": Deny}[rel]
	case "allows":
		testkit.Must(r.t, p.Approve(routines.Digest([]byte(r.text(rel))), rel, time.Now().Add(-time.Hour)))
	case "waits": // until what is there is older than every command to come: the clock of the file system cannot be faked
		for since := time.Now(); time.Since(since) < 2*stampSlack; {
		}
	case "confines":
		r.confined = rel == "commands"
	case "rests":
		r.Rest()
	case "restarts":
		r.restart()
	case "sweeps": // approvals of what is gone
		_, _, err := p.EndApprovals(time.Now(), func(file, digest string) bool {
			data, _ := r.o.Dir.Read(file)
			return routines.Digest(data) == digest
		})
		testkit.Must(r.t, err)
	case "loses": // the record of writers, after a file was written
		past := time.Now().Add(-time.Hour)
		testkit.Must(r.t, os.Chtimes(filepath.Join(r.root, rel), past, past))
		testkit.Must(r.t, p.change(func(o *origins) { o.lost = time.Now() }))
	case "moves":
		if err := r.Inherit(routines.Digest([]byte(r.text(rel))), rel, []byte(taskText(rel, spec))); err == nil {
			r.save(rel, taskText(rel, spec))
		}
	default:
		r.t.Fatalf("no verb %q", verb)
	}
}

func (r *room) byAgent(name, verb, rest string) {
	r.t.Helper()
	rel, spec, _ := strings.Cut(rest, " ")
	switch verb {
	case "opens":
		r.session(name)
	case "reads":
		r.session(name).Reads(label.Label(rest))
	case "plans", "writes":
		allowed := r.call(name, writing(rel, taskText(rel, spec)))
		r.planned[rel] = taskText(rel, spec)
		if verb == "writes" && allowed {
			r.save(rel, taskText(rel, spec))
			r.session(name).Hooks(nil).PostTool(r.t.Context(), r.calls[name])
		}
	case "begins":
		r.call(name, bash(rest))
	case "ends":
		r.session(name).Hooks(nil).PostTool(r.t.Context(), r.calls[name])
	case "leaves":
		r.session(name).End()
	default:
		r.t.Fatalf("no verb %q", verb)
	}
}

// outcome compares what has become of a file, and returns what differs.
func (r *room) outcome(rel, want string) string {
	verb, rest, _ := strings.Cut(want, " ")
	got, differs := "", false
	switch verb {
	case "fires":
		got = r.waits(rel)
		differs = got != ""
	case "waits":
		got = r.waits(rel)
		differs = got == "" || !strings.Contains(got, strings.TrimPrefix(rest, "for "))
	case "says": // whose words it has: what a session reads with the file, and what it begins with as a task
		data := []byte(r.text(rel))
		all := []label.Label{r.reach.fileLabel(rel), r.FileLabel(rel), r.TaskLabel(r.task(rel, data))}
		got = strings.Trim(strings.Join([]string{string(all[0]), string(all[1]), string(all[2])}, ", "), ", ")
		mine := label.Label(rest)
		if rest == "the user's" {
			mine = ""
		}
		differs = slices.ContainsFunc(all, func(l label.Label) bool { return l != mine })
	case "follows": // the version that stays in force
		got = r.provenance.Before(routines.Digest([]byte(r.text(rel))))
		version := ""
		if rest != "nothing" {
			version = routines.Digest([]byte(taskText(rel, rest)))
		}
		_, err := os.Stat(r.o.Dir.Path("state/approved/" + version + ".md"))
		differs = got != version || version != "" && err != nil
	case "asks":
		got = strings.Join(r.asked, ", ")
		differs = (len(r.asked) != 1 || !strings.Contains(got, rest)) && (rest != "nobody" || got != "")
		r.asked = nil
	case "ends": // its approval
		got = strings.Join(r.ended, ", ")
		differs, r.ended = got != rel, nil
	case "noticed":
		got = strings.Join(r.noticed, ", ")
		differs, r.noticed = got != rel, nil
	default:
		r.t.Fatalf("no outcome %q", want)
	}
	if differs {
		return "it is " + got
	}
	return ""
}

// Each story of testdata/stories.txt is a room of its own.
func TestFilesOfTheAgentAndOfTheUserDoWhatTheirStoriesSay(t *testing.T) {
	data, err := os.ReadFile("testdata/stories.txt")
	testkit.Must(t, err)
	for _, part := range strings.Split(string(data), "\n== ")[1:] {
		name, story, _ := strings.Cut(part, "\n")
		t.Run(name, func(t *testing.T) { newRoom(t).plays(story) })
	}
}

func TestTextsThatNothingWaitsOverAreForgotten(t *testing.T) {
	r := newRoom(t)
	const mine, agents = "allowed-tools: [Bash(rm *)] | Tidy up.", "allowed-tools: [Bash(rm *)] | Delete it."
	r.plays("disk: saves routines/tidy.md " + mine + "\nrun: plans routines/tidy.md " + agents)
	written := r.provenance.now.Load().by[routines.Digest([]byte(r.text("routines/tidy.md")))].At
	for _, c := range []struct {
		later bool
		live  bool
		kept  bool
	}{{true, true, true}, {false, false, true}, {true, false, false}} {
		at := written
		if c.later {
			at = at.Add(keepOrigin + 1)
		}
		routines.PruneTexts(r.o.Dir, r.provenance.Replaced(at, func(string) bool { return c.live }))
		_, err := os.Stat(r.o.Dir.Path("state/approved/" + routines.Digest([]byte(taskText("routines/tidy.md", mine))) + ".md"))
		if (err == nil) != c.kept {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A1: what the program does with a file keeps its approval; the approval of what went ends.
func TestApprovalsOfWhatIsGoneEnd(t *testing.T) {
	g, _ := newGuard(t)
	p, now := g.provenance, time.Now()
	const rel = "reminders/r.md"
	next := []byte(taskText(rel, "allowed-tools: [Bash(touch *)] | x"))
	digest := routines.Digest(next)
	gone := func(string, string) bool { return false }
	record := func() {
		_, err := p.record("old", Origin{Path: rel, At: now, Excess: []string{"use Bash"}})
		testkit.Must(t, err)
	}
	record()
	testkit.Must(t, p.Approve("old", rel, now.Add(-time.Hour)))
	testkit.Must(t, g.Inherit("old", rel, next))
	if o, _ := p.Find(rel, digest); !o.approvedIn(rel) || o.Before != "" {
		t.Errorf("a moved reminder has lost its approval, or replaces another: %+v", o)
	}
	ended, again, err := p.EndApprovals(time.Now(), gone)
	if err != nil || !slices.Equal(ended, []Ended{{rel, "old"}}) || again.IsZero() {
		t.Errorf("ended %v, %v, %v; the new file may not be there yet", ended, again, err)
	}
	if ended, _, _ = p.EndApprovals(again, gone); !slices.Equal(ended, []Ended{{rel, digest}}) {
		t.Errorf("ended %v", ended)
	}
	if o, _ := p.Find(rel, digest); o.approvedIn(rel) || len(o.Excess) == 0 {
		t.Errorf("%+v", o)
	}
	record()
	if o, _ := p.Find(rel, "old"); !o.Approved.IsZero() {
		t.Error("written again, it is approved")
	}
}

// Approvals of the previous version name no file: they stay where those bytes are, and end for all others.
func TestApprovalsOfThePreviousVersionStayWithTheirBytes(t *testing.T) {
	g, _ := newGuard(t)
	const rest = `", "at": "2026-01-01T00:00:00Z", "excess": ["use Bash"], "approved": "2026-01-02T00:00:00Z"}`
	storetest.Put(t, g.o.Dir, ProvenanceFile, `{"written": {"here": {"path": "routines/a.md`+rest+`,
		"moved": {"path": "routines/b.md`+rest+`, "gone": {"path": "routines/d.md`+rest+`}}`)
	p := g.provenance
	_, err := p.Load()
	testkit.Must(t, err)
	files := map[string]string{"here": "routines/a.md", "moved": "routines/c.md"}
	end := cannotRecord(t, g)
	if p.Adopt(files) == nil {
		t.Error("what is not stored is adopted")
	}
	end()
	testkit.Must(t, p.Adopt(files))
	ended, _, err := p.EndApprovals(time.Now(), func(file, digest string) bool { return files[digest] == file })
	if err != nil || len(ended) != 1 || ended[0].Digest != "gone" {
		t.Errorf("ended %v, %v", ended, err)
	}
	for digest, rel := range map[string]string{"here": "routines/a.md", "moved": "routines/c.md", "gone": ""} {
		if o, _ := p.Find("reminders/r.md", digest); o.approvedIn(rel) != (rel != "") || o.approvedIn("routines/other.md") {
			t.Errorf("%s: %+v", digest, o)
		}
	}
}

func TestOldVersionsAreForgottenOnceThereAreMany(t *testing.T) {
	g, _ := newGuard(t)
	p, now := g.provenance, time.Now()
	known := func() map[string]Origin { return p.now.Load().by }
	prune := func() { testkit.Must(t, p.Prune(now, func(digest string) bool { return digest == "live" })) }
	old := Origin{Path: "routines/a.md", At: now.Add(-keepOrigin - time.Second)}
	_, err := p.record("old", old)
	testkit.Must(t, err)
	if prune(); len(known()) != 1 {
		t.Error("one is forgotten")
	}
	testkit.Must(t, p.change(func(o *origins) {
		o.by["live"], o.by["young"] = old, Origin{Path: old.Path, At: now.Add(-keepOrigin)}
		for i := range manyOrigins - 3 {
			o.by[fmt.Sprint(i)] = old
		}
	}))
	if prune(); len(known()) != 2 || known()["live"].At.IsZero() || known()["young"].At.IsZero() {
		t.Errorf("%d are left", len(known()))
	}
}

// The command line approves tasks in a separate process.
func TestAnApprovalByAnotherProcessIsNoticed(t *testing.T) {
	g, _ := newGuard(t)
	mine, other := g.provenance, newProvenance(g.o.Dir)
	_, err := mine.record("abc", Origin{Path: "routines/a.md", At: time.Unix(1, 0), Excess: []string{"use Bash"}})
	testkit.Must(t, err)
	load := func(what string, want bool) {
		t.Helper()
		changed, err := mine.Load()
		if o, _ := mine.Find("routines/a.md", "abc"); err != nil || changed != want || o.Approved.IsZero() == (what == "approved") {
			t.Errorf("%s: changed %v, %+v, %v", what, changed, o, err)
		}
	}
	load("recorded", false)
	testkit.Must(t, other.Approve("abc", "routines/a.md", time.Unix(2, 0)))
	load("approved", true)
	load("approved", false)
	testkit.Must(t, other.Withdraw("abc"))
	load("withdrawn", true)
}
