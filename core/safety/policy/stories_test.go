package policy

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// room is a data directory at BASE/data with a guard, a user and the agent's sessions: main; asks, which is main in the mode that
// asks; limited, which is that in the turn of a task that a run has written; and run, which may copy files and keeps its tools
// whatever it reads. The sessions of cast make one call each.
type room struct {
	*Guard
	t          *testing.T
	base, root string
	sessions   map[string]*Session
	calls      map[string]agent.ToolUse // the last one of each session
	planned    map[string]string        // texts that a session is about to write, by path
	scripts    map[string]string        // the version of the script that the user has seen, by task
	answer     Verdict
	has        []string // what the machine and the user have
	always     []string // what the user has allowed
	asked      []string
	ended      []string
	noticed    []string
	servers    string // their file that waits
	committed  string // the message of a commit
	made       int
	log        strings.Builder
	cast
}

func newRoom(t *testing.T) *room {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	t.Setenv("HOME", filepath.Join(base, "home"))
	r := &room{t: t, base: base, planned: map[string]string{}, scripts: map[string]string{}, answer: Deny}
	r.Guard, r.root = guardAt(t, filepath.Join(base, "data"))
	r.restart()
	return r
}

// restart leaves only what is on the disk.
func (r *room) restart() {
	has := func(what string) func() bool { return func() bool { return slices.Contains(r.has, what) } }
	r.Guard = New(Options{
		Dir: r.o.Dir, Zone: time.UTC, Log: slog.New(slog.NewTextHandler(&r.log, nil)), Reading: r.o.Reading,
		Confined: has("confined commands"), Google: has("google"), Network: has("network"),
		Trusted: func(server string) bool { return has("trust in " + server)() },
		Ended:   func(rel string) { r.ended = append(r.ended, rel) },
		Waits:   func(_ Writer, rel, _ string) { r.noticed = append(r.noticed, rel) },
		Propose: func(_ Writer, text []byte) string { r.servers = string(text); return "kept" },
	})
	_, err := r.provenance.Load()
	testkit.Must(r.t, err)
	r.sessions, r.calls = map[string]*Session{}, map[string]agent.ToolUse{}
	answering(r.t, r.Guard, func(a Approval) Verdict {
		r.asked = append(r.asked, a.Label+a.Scope())
		return r.answer
	})
}

// stories plays a file of testdata/stories: in each line somebody does something to a file, which then is as after the arrow; or the
// sessions of the last "as" make a call, with what comes of it.
func stories(t *testing.T, file string) {
	t.Helper()
	goldentest.Stories(t, filepath.Join("stories", file+".txt"), func(t *testing.T, story string) string {
		return newRoom(t).plays(story)
	})
}

func (r *room) plays(story string) (got string) {
	r.t.Helper()
	var lines []string
	for line := range strings.SplitSeq(story, "\n") {
		lines = append(lines, r.step(line))
	}
	if r.log.Len() > 0 {
		r.t.Errorf("the log says %s", r.log.String())
	}
	if r.sessionAllows("Write") {
		r.t.Error("an answer about a file has allowed a tool")
	}
	return strings.Join(lines, "\n")
}

var (
	actor  = regexp.MustCompile(`(?s)^(\w+): (\w+) ?(\S*) ?(.*)`)
	escape = regexp.MustCompile(`\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})`)
)

// read replaces names of folders, and the escapes of Go; any other backslash is itself.
func (r *room) read(text string) string {
	text = strings.NewReplacer("$BASE", r.base, "$DATA", r.root, "$LONG", strings.Repeat("x", 300)).Replace(text)
	return escape.ReplaceAllStringFunc(text, func(one string) string {
		text, _ := strconv.Unquote(`"` + one + `"`)
		return text
	})
}

// step plays a line, and returns it with what came of it.
func (r *room) step(line string) string {
	step, want, compared := strings.Cut(line, " → ")
	if does := actor.FindStringSubmatch(r.read(step)); does != nil {
		switch who, verb, rel, spec := does[1], does[2], does[3], does[4]; who {
		case "disk":
			r.onDisk(verb, rel, spec)
		case "user":
			r.byUser(verb, rel, spec)
		default:
			r.byAgent(who, verb, rel, spec)
		}
		if compared {
			return step + " → " + r.outcome(does[3], want)
		}
		return line
	}
	switch {
	case step == "" || strings.HasPrefix(step, "#"):
		return line
	case !compared:
		r.casts(r.read(step))
		return line
	case strings.HasPrefix(step, "mcp__") || step[0] >= 'A' && step[0] <= 'Z':
		return r.comes(step, want)
	}
	return step + " → " + r.outcome(step, want)
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
	case "hardlinks":
		testkit.Must(r.t, os.Link(filepath.Join(r.root, spec), path))
	case "mkdir":
		testkit.Must(r.t, os.MkdirAll(path, 0o700))
	case "chmod":
		mode, err := strconv.ParseUint(spec, 8, 32)
		testkit.Must(r.t, err)
		testkit.Must(r.t, os.Chmod(path, os.FileMode(mode)))
	default:
		r.t.Fatalf("no verb %q", verb)
	}
}

func (r *room) byUser(verb, rel, spec string) {
	p, rest := r.provenance, strings.TrimSpace(rel+" "+spec)
	switch verb {
	case "answers":
		r.answer = map[string]Verdict{"yes": Allow, "always": Always, "no": Deny}[rel]
	case "has":
		r.has = append(r.has, rest)
	case "loses":
		r.has = slices.DeleteFunc(r.has, func(one string) bool { return one == rest })
	case "always":
		r.always = append(r.always, rest)
	case "allows":
		testkit.Must(r.t, p.Approve(routines.Digest([]byte(r.text(rel))), rel, time.Now().Add(-time.Hour)))
	case "owns": // the directory, and so the record of scripts
		p.Scripts.Own()
	case "sees": // the script of a task's check
		task := r.task(rel, []byte(r.text(rel)))
		r.TaskWaits(&task)
		r.scripts[rel] = task.Script
	case "permits": // the script that was seen
		err := p.Scripts.Approve(r.task(rel, []byte(r.text(rel))).Check, r.scripts[rel])
		if (err != nil) != (spec == "in vain") {
			r.t.Errorf("the script of %s is permitted: %v", rel, err)
		}
	case "waits": // until what is there is older than every command to come: the clock of the file system cannot be faked
		for since := time.Now(); time.Since(since) < 2*stampSlack; {
		}
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
	case "forgets": // the record of writers, after a file was written
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

func (r *room) byAgent(name, verb, rel, spec string) {
	r.t.Helper()
	rest := strings.TrimSpace(rel + " " + spec)
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
	case "starts":
		r.call(name, toolUse("Bash", fields{"command": rest, "run_in_background": true}))
	case "ends":
		r.session(name).Hooks(nil).PostTool(r.t.Context(), r.calls[name])
	case "wrote": // a file, as a hook hears afterwards
		r.committed = "nothing"
		r.session(name).Hooks(func(_, message string) { r.committed = message }).PostTool(r.t.Context(), writing(rel, "x"))
	case "leaves":
		r.session(name).End()
		delete(r.sessions, name)
	default:
		r.t.Fatalf("no verb %q", verb)
	}
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

// weighs reports why a file with these bytes waits for the user, and its task.
func (r *room) weighs(rel string, data []byte) (why string, task routines.Task) {
	if judgedIn(rel) == "skills" {
		found, _, _ := skill.Parse(filepath.Base(filepath.Dir(rel)), data)
		return r.SkillWaits(found), task
	}
	task = r.task(rel, data)
	return r.TaskWaits(&task), task
}

func (r *room) task(rel string, data []byte) (task routines.Task) {
	switch judgedIn(rel) {
	case "webhooks":
		task = routines.Task{Kind: routines.KindWebhook, Path: rel, Background: true}
	case "reminders":
		found, _ := routines.ParseReminder(rel, data, time.UTC)
		task = found.Task
	default:
		found, _ := routines.ParseRoutine(rel, data)
		task = found.Task
	}
	task.Digest = routines.Digest(data)
	return task
}

// outcome returns what has become of a file: as expected, or what it is instead.
func (r *room) outcome(rel, want string) string {
	verb, rest, _ := strings.Cut(want, " ")
	got, differs := "", false
	switch verb {
	case "fires", "waits":
		got = "fires"
		if why, _ := r.weighs(rel, []byte(r.text(rel))); why != "" {
			got = "waits for " + strings.TrimSuffix(strings.TrimPrefix(why, "it may "), "; the agent that wrote it may not")
		}
		differs = !strings.HasPrefix(got, verb) || rest != "" && got != want
	case "says": // whose words it has: what a session reads with the file, and what it begins with as a task
		data := []byte(r.text(rel))
		all := []label.Label{r.reach.fileLabel(rel), r.FileLabel(rel), r.TaskLabel(r.task(rel, data))}
		got = fmt.Sprintf("says %q", all)
		mine := label.Label(rest)
		if rest == "the user's" {
			mine = ""
		}
		differs = slices.ContainsFunc(all, func(l label.Label) bool { return l != mine })
	case "follows": // the version that stays in force
		version := r.provenance.Before(routines.Digest([]byte(r.text(rel))))
		text, err := os.ReadFile(r.o.Dir.Path("state/approved/" + version + ".md"))
		got = "follows " + string(text)
		differs = rest == "nothing" && version != "" || rest != "nothing" && (err != nil || string(text) != taskText(rel, rest))
	case "uses": // the skills that it names, and why not the others
		_, task := r.weighs(rel, []byte(r.text(rel)))
		all := skill.Load(r.o.Dir, task.Skills)
		got = "uses nothing"
		for i, one := range r.Usable(task, all) {
			got = map[bool]string{true: "uses", false: got}[i == 0] + " " + one.Name
		}
		for _, one := range all {
			if why := r.SkillLeft(task, one); why != "" {
				got += fmt.Sprintf(", not %s: %s", one.Name, why)
			}
		}
		differs = got != want
	case "asks":
		got = "asks " + strings.Join(r.asked, ", ")
		fits := strings.Contains(got, rest)
		if strings.HasSuffix(rest, ".") { // it is the end
			fits = strings.HasSuffix(got, rest)
		}
		differs = (len(r.asked) != 1 || !fits) && (rest != "no one" || r.asked != nil)
		r.asked = nil
	case "ends": // its approval
		got = "ends: " + strings.Join(r.ended, ", ")
		differs, r.ended = !slices.Equal(r.ended, []string{rel}), nil
	case "noticed":
		got = "noticed: " + strings.Join(r.noticed, ", ")
		differs, r.noticed = !slices.Equal(r.noticed, []string{rel}), nil
	case "commits":
		got = "commits " + r.committed
		differs = got != want
	case "shows", "changed": // the script of its check, for the user
		scripts, check := r.provenance.Scripts, r.task(rel, []byte(r.text(rel))).Check
		got = verb + " " + strconv.Quote(map[string]func(string) string{"shows": scripts.Shown, "changed": scripts.Diff}[verb](check))
		differs = !strings.Contains(got, rest) || rest == ""
	default:
		r.t.Fatalf("no outcome %q", want)
	}
	if differs {
		return got
	}
	return want
}
