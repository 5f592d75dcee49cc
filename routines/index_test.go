package routines

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// room is a data directory in a test, with an index.
type room struct {
	t    testing.TB
	root string
	dir  *store.Dir
	x    *Index

	kept   string            // a text that stays in force while the agent's edits of it wait
	before map[string]string // the version before an agent's edit
	stops  bool              // every text needs approval
	seen   *Set
}

func newRoom(t testing.TB) *room {
	t.Helper()
	root := t.TempDir()
	r := &room{t: t, root: root, dir: storetest.At(t, root), before: map[string]string{}}
	r.restart()
	return r
}

func (r *room) restart() {
	r.x = NewIndex(r.dir, time.UTC)
	r.x.JudgeBy(func(t *Task) string {
		if strings.Contains(t.Body, "agent") || r.stops {
			return "it may do more"
		}
		return ""
	})
	r.x.KeepBy(func(version string) string { return r.before[version] })
}

// put writes a file in place, like an editor without temporary files.
func (r *room) put(rel, text string) {
	r.t.Helper()
	path := filepath.Join(r.root, rel)
	testkit.Must(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(r.t, os.WriteFile(path, []byte(text), 0o600))
}

func (r *room) remove(rel string) {
	r.t.Helper()
	testkit.Must(r.t, os.RemoveAll(filepath.Join(r.root, rel)))
}

func routineText(id, cron, body string) string {
	return fmt.Sprintf("---\nid: %q\ncron: %q\nbackground: true\n---\n%s\n", id, cron, body)
}

func reminderText(id, runAt, body string) string {
	return fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: true\n---\n%s\n", id, runAt, body)
}

// full is the path of a name in a story.
func full(name string) string {
	if strings.Contains(name, "/") {
		return path.Clean(name)
	}
	return "routines/" + name
}

// text is that of "a@9 Go": the routine a, or the reminder, that fires at 9:00 and says "Go"; other words are a text alone.
func text(name, words string) string {
	at, body, _ := strings.Cut(words, " ")
	id, hour, is := strings.Cut(at, "@")
	switch {
	case !is:
		return words
	case strings.HasPrefix(full(name), ReminderFolder):
		return reminderText(id, fmt.Sprintf("2030-11-23T%s:00:00Z", hour), body+".")
	}
	return routineText(id, "0 "+hour+" * * *", body+".")
}

// do makes one edit: a.md=a@9 writes a task (see text), -a.md removes, a.md>b.md renames, "touch a.md" touches. It returns the files
// that it touches.
func (r *room) do(edit string) []string {
	if name, is := strings.CutPrefix(edit, "-"); is {
		r.remove(full(name))
		return []string{full(name)}
	}
	if name, is := strings.CutPrefix(edit, "touch "); is {
		later := time.Now().Add(time.Hour)
		testkit.Must(r.t, os.Chtimes(r.dir.Path(full(name)), later, later))
		return []string{full(name)}
	}
	if from, to, is := strings.Cut(edit, ">"); is {
		testkit.Must(r.t, os.Rename(r.dir.Path(full(from)), r.dir.Path(full(to))))
		return []string{full(from), full(to)}
	}
	name, words, _ := strings.Cut(edit, "=")
	r.put(full(name), text(name, words))
	return []string{full(name)}
}

// inForce lists what a set has in force, as the edits that wrote it.
func inForce(s *Set) string {
	var list []string
	add := func(t *Task, path, hour string) {
		line := fmt.Sprintf("%s=%s@%s", path, t.ID, hour)
		if t.Waits != "" {
			line += " waits as " + t.Waits
		}
		if p := t.Proposed; p.Version != "" {
			line += " beside an edit: " + p.Why + strings.ReplaceAll(p.Diff, "\n", " | ")
		}
		list = append(list, line)
	}
	for _, one := range s.Routines {
		add(&one.Task, strings.TrimPrefix(one.Path, "routines/"), strings.Fields(one.Cron)[1])
	}
	for _, one := range s.Reminders {
		add(&one.Task, one.Path, strconv.Itoa(one.RunAt.Hour()))
	}
	return strings.Join(list, ", ")
}

func outcome(what string, err error) string {
	if err != nil {
		return fmt.Sprintln("an error:", err)
	}
	return what + "\n"
}

// step plays a line of a story and returns what came of it.
func (r *room) step(line string, scans bool) (out string) {
	r.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	name, more, _ := strings.Cut(rest, " ")
	var names []string
	var c Change
	switch verb {
	case "cancel": // routine a
		task, _ := r.x.Set().Find(more)
		rel, _, err := RemoveTask(r.dir, Kind(name), more, task)
		return outcome("removed "+rel, err)
	case "restore", "removed": // a, after 23h59m
		after, _ := time.ParseDuration(strings.TrimPrefix(more, "after "))
		if verb == "removed" {
			for _, one := range RemovedTasks(r.dir, time.Now().Add(after)) {
				out += one.ID + " at " + one.Path + "\n"
			}
			return out
		}
		task, err := RestoreTask(r.dir, time.Now().Add(after), name)
		return outcome("restored "+task.Path, err)
	case "find":
		task, _ := r.x.Set().Find(rest)
		return string(task.Kind) + "\n"
	case "refuse":
		task, _ := r.x.Set().Find(rest)
		_, err := RefuseProposal(r.dir, time.Now(), task)
		return outcome("refused", err)
	case "contested":
		return strings.Join(r.x.Set().Contested, " ") + "\n"
	case "versions": // that are known
		return fmt.Sprintln(len(r.x.Set().Versions))
	case "read": // a file, or what is in the trash
		rels := []string{full(rest)}
		if rest == "trash" {
			entries, _ := r.dir.Entries("state/trash")
			rels = nil
			for _, e := range entries {
				rels = append(rels, "state/trash/"+e.Name())
			}
		}
		for _, rel := range rels {
			out += strings.ReplaceAll(strings.TrimSpace(storetest.Text(r.t, r.dir, rel)), "\n", " | ") + "\n"
		}
		return out
	case "text": // in force
		task, _ := r.x.Set().Find(rest)
		data, err := ReadText(r.dir, task)
		return outcome(strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", " | "), err)
	case "write": // what is not looked at yet
		r.do(rest)
		return ""
	case "link":
		r.remove(full(name))
		testkit.Must(r.t, os.MkdirAll(filepath.Dir(r.dir.Path(full(name))), 0o700))
		testkit.Must(r.t, os.Symlink(more, r.dir.Path(full(name))))
		return ""
	case "move":
		testkit.Must(r.t, os.Rename(r.dir.Path(name), r.dir.Path(more)))
		return ""
	case "drop":
		r.remove(rest)
		return ""
	case "age": // so that no file counts as fresh
		old := time.Now().Add(-time.Hour)
		for _, rel := range strings.Fields(rest) {
			testkit.Must(r.t, os.Chtimes(r.dir.Path(rel), old, old))
		}
		return ""
	case "restart", "look":
		if verb == "restart" { // or "restart water.md", which was in force before
			r.restart()
			r.x.Prefer([]string{full(rest)})
		}
		scans = true
	case "keep", "approve": // a.md=a@9, which an edit has replaced if it is only approved
		file, words, _ := strings.Cut(rest, "=")
		r.kept = text(file, words)
		testkit.Must(r.t, KeepText(r.dir, []byte(r.kept)))
		if verb == "approve" {
			return ""
		}
		names = r.do(rest)
	case "spoil": // what was kept
		r.put(keptFile(Digest([]byte(r.kept))), "other words")
		return ""
	case "lose":
		r.remove(keptFolder)
		return ""
	case "mend":
		testkit.Must(r.t, KeepText(r.dir, []byte(r.kept)))
		c = r.x.Judge()
	case "agent": // an edit of it
		file, words, _ := strings.Cut(rest, "=")
		r.before[Digest([]byte(text(file, words)))] = Digest([]byte(r.kept))
		names = r.do(rest)
	case "stop", "go", "forget", "judge":
		r.stops = verb == "stop"
		if verb == "forget" {
			clear(r.before)
		}
		c = r.x.Judge()
	default:
		for edit := range strings.SplitSeq(line, ", ") {
			names = append(names, r.do(edit)...)
		}
	}
	switch judged := verb == "mend" || verb == "stop" || verb == "go" || verb == "forget" || verb == "judge"; {
	case judged:
	case scans:
		c = r.x.Scan()
	default:
		c = r.x.Refresh(names)
	}
	if c.Empty() && r.x.Set() != r.seen && r.seen != nil && verb != "restart" {
		r.t.Errorf("%s: a new set was made for nothing", line)
	}
	r.seen = r.x.Set()
	if c.Problems {
		c.IDs = append(c.IDs, "problems")
	}
	out = strings.Join(c.IDs, " ") + ": " + inForce(r.seen) + "\n"
	for line := range strings.Lines(report(r.seen.Problems)) {
		out += "  " + line
	}
	return out
}

// Behind each line is which tasks have changed, or the problems, and what is then in force. A look of its own and one at the files that
// were touched see the same.
func TestWhatIsInForceFollowsTheFiles(t *testing.T) {
	goldentest.Stories(t, "stories/index.txt", func(t *testing.T, story string) (got string) {
		for i, scans := range []bool{false, true} {
			r := newRoom(t)
			var out strings.Builder
			for line := range strings.Lines(story) {
				if line = strings.TrimRight(line, "\n"); line == "" || strings.HasPrefix(line, "  ") {
					continue
				}
				fmt.Fprintln(&out, line)
				for said := range strings.Lines(r.step(line, scans)) {
					fmt.Fprintln(&out, "  "+strings.TrimSpace(said))
				}
			}
			if i > 0 && out.String() != got {
				t.Errorf("a scan sees otherwise:\n%s", cmp.Diff(got, out.String()))
			}
			got = out.String()
		}
		return got
	})
}

// Q2: with a copy that a sync program or a file manager made, 7 of 9 names won over the file itself.
func TestACopyNeverOwnsAnIDThatAnotherFileHas(t *testing.T) {
	for _, name := range []string{
		"meds (conflicted copy).md", "meds (Sam's conflicted copy 2026-11-29).md", "meds 2.md", "meds - Copy.md", "meds - Copy (2).md", "Copy of meds.md",
		"meds copy.md", "meds (1).md", "meds.sync-conflict-20261129-101112-ABCDEFG.md", "meds (Case Conflict).md", "a copy 2.md",
	} {
		r := newRoom(t)
		for _, step := range []struct{ edit, want string }{{name + "=meds@8", name}, {"meds.md=meds@8", "meds.md"}, {"", "meds.md"}} {
			if step.edit == "" {
				r.restart()
			} else {
				r.do(step.edit)
			}
			if r.x.Scan(); inForce(r.x.Set()) != step.want+"=meds@8" {
				t.Errorf("%s: after %q in force is %s", name, step.edit, inForce(r.x.Set()))
			}
		}
	}
	for _, name := range []string{"meds.md", "2.md", "copy.md", "evening meds.md", "conflict.md"} {
		if isCopy(name) {
			t.Errorf("%s counts as a copy", name)
		}
	}
}

func TestAnIDIsWhateverTheOriginalAcceptsAsOne(t *testing.T) {
	for _, id := range []string{
		"water the plants", "v1.2", "gießen", "水やり", "12:30:45", "a/b", "..", "-", "true", "3e5", "it's \"quoted\"", "$(date)",
		strings.Repeat("long ", 50) + "id",
	} {
		text := strings.Replace(routineText("X", "0 9 * * *", "body"), `"X"`, strconv.Quote(id), 1)
		got, problems := ParseRoutine("routines/a.md", []byte(text))
		if HasErrors(problems) || got.ID != id {
			t.Errorf("%q became %q: %v", id, got.ID, problems)
		}
		again, problems := ParseRoutine("routines/a.md", FormatRoutine(got))
		if HasErrors(problems) || again.ID != id {
			t.Errorf("%q was written as %q: %v", id, again.ID, problems)
		}
	}
	for _, id := range []string{"12:30:45", "v1.2", "gießen", "12345678", "3e5", "true"} { // also without quotes
		text := strings.Replace(routineText("X", "0 9 * * *", "body"), `"X"`, id, 1)
		if got, problems := ParseRoutine("routines/a.md", []byte(text)); HasErrors(problems) || got.ID != id {
			t.Errorf("%s became %q: %v", id, got.ID, problems)
		}
	}
	for _, id := range []string{"", " ", " edge", "two\nlines", "a\x1b[31m", "a\u202eb", strings.Repeat("x", 257)} {
		text := strings.Replace(routineText("X", "0 9 * * *", "body"), `"X"`, strconv.Quote(id), 1)
		if got, problems := ParseRoutine("routines/a.md", []byte(text)); !HasErrors(problems) {
			t.Errorf("%q was accepted as %q", id, got.ID)
		}
	}
}

func TestBadFilesHurtNoOther(t *testing.T) {
	for _, look := range []func(*Index, []string){func(x *Index, _ []string) { x.Scan() }, func(x *Index, names []string) { x.Refresh(names) }} {
		r := newRoom(t)
		r.do("good.md=a@9")
		r.put("routines/huge.md", routineText("bbbbbbbb", "0 9 * * *", strings.Repeat("a lot of text\n", 400_000)))
		r.put("routines/bytes.md", "---\nid: \"cccccccc\"\ncron: \"0 9 * * *\"\ndescription: \"\xff\xfe\x1b[31m\"\n---\nbody")
		r.put("routines/folder.md/x", "a folder with the name of a file")
		r.do("es\x1b[31mcape.md=d@9")
		testkit.Must(t, os.Symlink("nowhere", r.dir.Path("routines/dangling.md")))
		var names []string
		for _, name := range []string{"good", "huge", "bytes", "folder", "es\x1b[31mcape", "dangling"} {
			names = append(names, "routines/"+name+".md")
		}
		look(r.x, names)
		if _, ok := r.x.Set().RoutineByID("a"); !ok {
			t.Fatalf("the good routine is not in force: %v", r.x.Set().Problems)
		}
		seen := map[string]bool{}
		for _, p := range r.x.Set().Problems {
			seen[p.File] = true
			if !utf8.ValidString(p.Message) || strings.ContainsAny(p.Position()+p.Message, "\x1b\n") || p.Message == "" {
				t.Errorf("problem %+v is not fit to be shown", p)
			}
		}
		want := map[string]bool{"routines/huge.md": true, "routines/bytes.md": true, "routines/folder.md": true, "routines/escape.md": true}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("files with problems (-want +got):\n%s", diff)
		}
		if c := r.x.Scan(); !c.Empty() {
			t.Errorf("nothing has changed, but %+v", c)
		}
	}
}

func TestAWriteOfTheSameSizeIsSeen(t *testing.T) {
	r := newRoom(t)
	for i := range 50 {
		want := fmt.Sprintf("a.md=a@%d", 10+i%2)
		r.do(want)
		if r.x.Scan(); inForce(r.x.Set()) != want {
			t.Fatalf("write %d: in force is %s", i, inForce(r.x.Set()))
		}
	}
}

// Many changes leave a set equal to that of an index that reads everything, and the set before them as it was.
func TestTheSetOfManyChangesEqualsAFreshOneAndNoSetEverChanges(t *testing.T) {
	r := newRoom(t)
	write := func(i, hour int) string {
		name := fmt.Sprintf("routines/%03d.md", i)
		r.put(name, routineText(fmt.Sprintf("%08x", 1000-i), fmt.Sprintf("0 %d * * *", hour), "one"))
		return name
	}
	for i := range 200 {
		write(i, 9)
	}
	r.x.Scan()
	old := r.x.Set()
	pointers, was := slices.Clone(old.Routines), inForce(old)
	var names []string
	for i := 100; i < 260; i++ {
		names = append(names, write(i, 10))
	}
	for i := range 20 {
		name := fmt.Sprintf("routines/%03d.md", i)
		r.remove(name)
		names = append(names, name)
	}
	r.x.Refresh(names)
	fresh := NewIndex(r.dir, time.UTC)
	fresh.Scan()
	if got, want := inForce(r.x.Set()), inForce(fresh.Set()); got != want || len(r.x.Set().Routines) != 240 {
		t.Errorf("in force is\n%s\nfresh\n%s", got, want)
	}
	if !slices.Equal(pointers, old.Routines) || inForce(old) != was {
		t.Error("the old set changed")
	}
}
