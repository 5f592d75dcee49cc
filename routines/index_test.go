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
	"github.com/google/go-cmp/cmp/cmpopts"

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
}

func newRoom(t testing.TB) *room {
	t.Helper()
	root := t.TempDir()
	d := storetest.At(t, root)
	return &room{t: t, root: root, dir: d, x: NewIndex(d, time.UTC)}
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

func wantProblems(t *testing.T, x *Index, want ...string) {
	t.Helper()
	got := report(x.Set().Problems)
	if strings.Count(got, "\n") != len(want) {
		t.Errorf("want %d problems, got\n%s", len(want), got)
	}
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no problem holds %q:\n%s", w, got)
		}
	}
}

// do plays one edit of a story: a.md=a@9 writes the routine a that fires at 9:00 (reminders/… a reminder), a.md=other
// words those alone, -a.md removes, "touch a.md" touches, a.md>b.md renames. It returns the files that it touches.
func (r *room) do(edit string) []string {
	full := func(name string) string {
		if strings.Contains(name, "/") {
			return path.Clean(name)
		}
		return "routines/" + name
	}
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
	name, text, _ := strings.Cut(edit, "=")
	if id, hour, is := strings.Cut(text, "@"); is && strings.HasPrefix(full(name), ReminderFolder) {
		text = reminderText(id, fmt.Sprintf("2026-11-23T%s:00:00Z", hour), "Go.")
	} else if is {
		text = routineText(id, "0 "+hour+" * * *", "Go.")
	}
	r.put(full(name), text)
	return []string{full(name)}
}

// inForce lists what a set has in force, as the edits that wrote it.
func inForce(s *Set) string {
	var list []string
	for _, one := range s.Routines {
		list = append(list, fmt.Sprintf("%s=%s@%s", strings.TrimPrefix(one.Path, "routines/"), one.ID, strings.Fields(one.Cron)[1]))
	}
	for _, one := range s.Reminders {
		list = append(list, fmt.Sprintf("%s=%s@%d", one.Path, one.ID, one.RunAt.Hour()))
	}
	return strings.Join(list, ", ")
}

// beat is a moment of a story: edits, the ids that change with an ! if the problems do, what is then in force, and the
// only problem.
type beat struct{ edits, changed, inForce, problem string }

func TestWhatIsInForceFollowsTheFiles(t *testing.T) {
	for name, story := range map[string][]beat{
		"missing folders are an empty index": {{"", "", "", ""}},
		"files come, change and go": {
			{"b.md=b@9, a.md=a@8, reminders/c.md=c@10", "a b c", "a.md=a@8, b.md=b@9, reminders/c.md=c@10", ""},
			{"", "", "a.md=a@8, b.md=b@9, reminders/c.md=c@10", ""},
			{"a.md=a@7", "a", "a.md=a@7, b.md=b@9, reminders/c.md=c@10", ""},
			{"-b.md, -reminders/c.md", "b c", "a.md=a@7", ""},
		},
		"a changed id is another task":         {{"a.md=a@9", "a", "a.md=a@9", ""}, {"a.md=b@9", "a b", "a.md=b@9", ""}},
		"a renamed file keeps its task":        {{"a.md=a@9", "a", "a.md=a@9", ""}, {"a.md>z.md", "a", "z.md=a@9", ""}},
		"a touched file is not a changed one":  {{"a.md=a@9", "a", "a.md=a@9", ""}, {"touch a.md", "", "a.md=a@9", ""}},
		"a routine and a reminder share an id": {{"a.md=a@9, reminders/a.md=a@10", "a", "a.md=a@9, reminders/a.md=a@10", ""}},
		"an invalid file keeps its last good version and says so": {
			{"a.md=a@9", "a", "a.md=a@9", ""},
			{"a.md=a@99", "!", "a.md=a@9", "until then the previous version stays active"},
			{"a.md=a@10", "a !", "a.md=a@10", ""},
		},
		"a file that was never good is only a problem": {{"a.md=no front matter", "!", "", "routines/a.md:1:1"}, {"-a.md", "!", "", ""}},
		"of two files with one id the one in force stays": {
			{"water.md=a@9", "a", "water.md=a@9", ""},
			{"a copy.md=a@8", "!", "water.md=a@9", "routines/a copy.md has the same id (a) as routines/water.md"},
			{"water.md=a@10", "a", "water.md=a@10", "routines/a copy.md has the same id (a) as routines/water.md"},
			{"-water.md", "a !", "a copy.md=a@8", ""},
		},
		"it stays also against a name that comes first": {
			{"water.md=a@9", "a", "water.md=a@9", ""},
			{"a.md=a@8", "!", "water.md=a@9", "routines/a.md has the same id (a) as routines/water.md"},
		},
		"an id that a file gave away is no longer its own": {
			{"b.md=a@9, c.md=b@9", "a b", "b.md=a@9, c.md=b@9", ""},
			{"b.md=b@8", "a !", "c.md=b@9", "routines/b.md has the same id (b) as routines/c.md"},
			{"d.md=a@7", "a", "c.md=b@9, d.md=a@7", "routines/b.md has the same id (b) as routines/c.md"},
			{"b.md=a@9", "!", "c.md=b@9, d.md=a@7", "routines/b.md has the same id (a) as routines/d.md"},
		},
		"of files that are found together the first name is in force": {
			{"reminders/b.md=a@10, reminders/a.md=a@11", "a !", "reminders/a.md=a@11", "reminders/b.md has the same id (a)"},
		},
		// The original names a file after the ASCII letters of its text, so that a text without any becomes ".md".
		"a file that is called only .md is a task": {
			{"reminders/.md=a@10, reminders/.hidden.md=b@10, reminders/.#tea.md=c@10", "a", "reminders/.md=a@10", ""},
			{"-reminders/.md", "a", "", ""},
		},
		"files outside of the folders are ignored": {
			{"webhooks/a.md=a@9, ./a.md=a@9, a.txt=a@9, .a.md=a@9, .#a.md=a@9, #a.md=a@9, ~a.md=a@9, ..md=a@9", "", "", ""},
			{"routines/deep/a.md=a@9", "!", "", "the files in this folder are ignored"},
			{"", "", "", "the files in this folder are ignored"},
		},
	} {
		for _, kind := range []string{"scan", "refresh"} {
			t.Run(name+", "+kind, func(t *testing.T) {
				r := newRoom(t)
				for i, b := range story {
					before := r.x.Set()
					var names []string
					for edit := range strings.SplitSeq(b.edits, ", ") {
						if edit != "" {
							names = append(names, r.do(edit)...)
						}
					}
					var c Change
					if kind == "scan" {
						c = r.x.Scan()
					} else {
						c = r.x.Refresh(names)
					}
					want := Change{IDs: slices.DeleteFunc(strings.Fields(b.changed), func(s string) bool { return s == "!" }), Problems: strings.Contains(b.changed, "!")}
					if diff := cmp.Diff(want, c, cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("%q: change (-want +got)\n%s", b.edits, diff)
					}
					if got := inForce(r.x.Set()); got != b.inForce {
						t.Errorf("%q: in force is %q, want %q", b.edits, got, b.inForce)
					}
					if c.Empty() && r.x.Set() != before && i > 0 { // the first look makes one
						t.Errorf("%q: a new set was made for nothing", b.edits)
					}
					if b.problem == "" {
						wantProblems(t, r.x)
					} else {
						wantProblems(t, r.x, b.problem)
					}
				}
			})
		}
	}
}

func TestCancellingATaskRemovesTheFileThatIsInForce(t *testing.T) {
	r := newRoom(t)
	r.put("reminders/tea.md", reminderText("aaaaaaaa", "2026-11-23T10:00:00Z", "the one that works"))
	r.x.Scan()
	r.put("reminders/a copy.md", reminderText("aaaaaaaa", "2026-11-23T11:00:00Z", "copied"))
	r.x.Scan()
	in, _ := r.x.Set().ReminderByID("aaaaaaaa")
	if rel, found, err := RemoveTask(r.dir, KindReminder, "aaaaaaaa", in.Task); rel != "reminders/tea.md" || !found || err != nil {
		t.Errorf("removed %q, %v, %v", rel, found, err)
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

func TestFindTakesTheRoutineOfTwoTasksWithOneID(t *testing.T) {
	r := newRoom(t)
	r.do("a.md=a@9")
	r.do("reminders/a.md=a@10")
	r.x.Scan()
	if got, _ := r.x.Set().Find("a"); got.Kind != KindRoutine {
		t.Errorf("found the %s first", got.Kind)
	}
	r.do("-a.md")
	r.x.Scan()
	if got, ok := r.x.Set().Find("a"); !ok || got.Kind != KindReminder {
		t.Errorf("then %+v", got)
	}
	r.do("-reminders/a.md")
	r.x.Scan()
	if _, ok := r.x.Set().Find("a"); ok {
		t.Error("what was removed is still found")
	}
}

func TestAFolderThatCannotBeReadKeepsWhatIsInForceAndAFolderMayBeALink(t *testing.T) {
	r := newRoom(t)
	scan := func(want, force string, problems ...string) {
		t.Helper()
		c := r.x.Scan()
		if got := fmt.Sprint(c.IDs, c.Problems); got != want || inForce(r.x.Set()) != force {
			t.Errorf("changed %s, want %s; in force %s", got, want, inForce(r.x.Set()))
		}
		wantProblems(t, r.x, problems...)
	}
	r.do("a.md=a@9")
	scan("[a] false", "a.md=a@9")
	testkit.Must(t, os.Rename(r.dir.Path("routines"), r.dir.Path("kept")))
	testkit.Must(t, os.Symlink("routines", r.dir.Path("routines"))) // a loop is unreadable for every user, including root
	scan("[] true", "a.md=a@9", "the folder cannot be read")
	scan("[] false", "a.md=a@9", "the folder cannot be read")
	r.remove("routines")
	testkit.Must(t, os.Symlink("kept", r.dir.Path("routines")))
	scan("[] true", "a.md=a@9")
	r.remove("routines")
	scan("[a] false", "")
	testkit.Must(t, os.Symlink("kept", r.dir.Path("routines")))
	scan("[a] false", "a.md=a@9")
}

func TestAScanLooksBehindALink(t *testing.T) {
	r := newRoom(t)
	r.do("elsewhere/a.md=a@9")
	r.do("b.md=b@9")
	testkit.Must(t, os.Symlink("../elsewhere/a.md", r.dir.Path("routines/a.md")))
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"elsewhere/a.md", "routines/b.md", "routines"} {
		testkit.Must(t, os.Chtimes(r.dir.Path(name), old, old))
	}
	r.x.Scan()
	r.do("elsewhere/a.md=a@10")
	if c := r.x.Scan(); !slices.Equal(c.IDs, []string{"a"}) || c.Problems {
		t.Errorf("changed: %+v", c)
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
