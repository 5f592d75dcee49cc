package routines

import (
	"fmt"
	"os"
	"path/filepath"
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

func routineText(id, cron, body string, extra ...string) string {
	return fmt.Sprintf("---\nid: %q\ncron: %q\nbackground: true\n%s---\n%s\n", id, cron, lines(extra), body)
}

func reminderText(id, runAt, body string, extra ...string) string {
	return fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: true\n%s---\n%s\n", id, runAt, lines(extra), body)
}

func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// both runs a test with both kinds of scan: of everything, and of the named files.
func both(t *testing.T, test func(t *testing.T, look func(r *room, names ...string) Change)) {
	t.Run("scan", func(t *testing.T) {
		test(t, func(r *room, _ ...string) Change { return r.x.Scan() })
	})
	t.Run("refresh", func(t *testing.T) {
		test(t, func(r *room, names ...string) Change { return r.x.Refresh(names) })
	})
}

func wantChange(t *testing.T, got, want Change) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
}

func wantProblems(t *testing.T, x *Index, want ...string) {
	t.Helper()
	got := x.Set().Problems
	if len(got) != len(want) {
		t.Fatalf("got %d problems %v, want %d", len(got), got, len(want))
	}
	for i, w := range want {
		if text := words(got[i]); !strings.Contains(text, w) {
			t.Errorf("problem %d is %q, want it to hold %q", i, text, w)
		}
	}
}

// words formats a problem as "file:line:column: why".
func words(p Problem) string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

func TestMissingFoldersAreAnEmptyIndex(t *testing.T) {
	r := newRoom(t)
	wantChange(t, r.x.Scan(), Change{})
	if s := r.x.Set(); len(s.Routines)+len(s.Reminders)+len(s.Problems) != 0 {
		t.Errorf("set is %+v", s)
	}
}

func TestFilesComeChangeAndGo(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/b.md", routineText("bbbbbbbb", "0 9 * * *", "two"))
		r.put("routines/a.md", routineText("aaaaaaaa", "0 8 * * *", "one"))
		r.put("reminders/c.md", reminderText("cccccccc", "2026-11-23T10:00:00Z", "three"))
		names := []string{"routines/b.md", "routines/a.md", "reminders/c.md"}
		wantChange(t, look(r, names...), Change{IDs: []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"}})
		var paths []string
		for _, one := range r.x.Set().Routines {
			paths = append(paths, one.Path)
		}
		if diff := cmp.Diff([]string{"routines/a.md", "routines/b.md"}, paths); diff != "" {
			t.Errorf("routines are not sorted by path: %s", diff)
		}
		wantChange(t, look(r, names...), Change{})

		r.put("routines/a.md", routineText("aaaaaaaa", "0 7 * * *", "one, earlier"))
		wantChange(t, look(r, names...), Change{IDs: []string{"aaaaaaaa"}})
		if got, ok := r.x.Set().RoutineByID("aaaaaaaa"); !ok || got.Cron != "0 7 * * *" {
			t.Errorf("routine is %+v", got)
		}

		r.remove("routines/b.md")
		r.remove("reminders/c.md")
		wantChange(t, look(r, names...), Change{IDs: []string{"bbbbbbbb", "cccccccc"}})
		if _, ok := r.x.Set().Find("bbbbbbbb"); ok {
			t.Error("a removed routine is still found")
		}
	})
}

func TestAChangedIDIsAnotherTask(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/a.md", routineText("aaaaaaaa", "0 9 * * *", "one"))
		look(r, "routines/a.md")
		r.put("routines/a.md", routineText("bbbbbbbb", "0 9 * * *", "one"))
		wantChange(t, look(r, "routines/a.md"), Change{IDs: []string{"aaaaaaaa", "bbbbbbbb"}})
	})
}

func TestARenamedFileKeepsItsTask(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/a.md", routineText("aaaaaaaa", "0 9 * * *", "one"))
		look(r, "routines/a.md")
		testkit.Must(t, os.Rename(r.dir.Path("routines/a.md"), r.dir.Path("routines/z.md")))
		wantChange(t, look(r, "routines/a.md", "routines/z.md"), Change{IDs: []string{"aaaaaaaa"}})
		if got, _ := r.x.Set().Find("aaaaaaaa"); got.Path != "routines/z.md" {
			t.Errorf("path is %s", got.Path)
		}
	})
}

func TestATouchedFileIsNotAChangedOne(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/a.md", routineText("aaaaaaaa", "0 9 * * *", "one"))
		look(r, "routines/a.md")
		before := r.x.Set()
		later := time.Now().Add(time.Hour)
		testkit.Must(t, os.Chtimes(r.dir.Path("routines/a.md"), later, later))
		wantChange(t, look(r, "routines/a.md"), Change{})
		if r.x.Set() != before {
			t.Error("a new set was made for nothing")
		}
	})
}

func TestAnInvalidFileKeepsItsLastGoodVersionAndSaysSo(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/a.md", routineText("aaaaaaaa", "0 9 * * *", "one"))
		look(r, "routines/a.md")
		r.put("routines/a.md", routineText("aaaaaaaa", "0 99 * * *", "one"))
		wantChange(t, look(r, "routines/a.md"), Change{Problems: true})
		wantProblems(t, r.x, "until then the previous version stays active")
		if got, ok := r.x.Set().RoutineByID("aaaaaaaa"); !ok || got.Cron != "0 9 * * *" {
			t.Errorf("in force is %+v", got)
		}
		r.put("routines/a.md", routineText("aaaaaaaa", "0 10 * * *", "one"))
		wantChange(t, look(r, "routines/a.md"), Change{IDs: []string{"aaaaaaaa"}, Problems: true})
		wantProblems(t, r.x)
	})
}

func TestAFileThatWasNeverGoodIsOnlyAProblem(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/a.md", "no front matter")
		wantChange(t, look(r, "routines/a.md"), Change{Problems: true})
		wantProblems(t, r.x, "routines/a.md:1:1")
		r.remove("routines/a.md")
		wantChange(t, look(r, "routines/a.md"), Change{Problems: true})
		wantProblems(t, r.x)
	})
}

func TestOfTwoFilesWithOneIDTheOneInForceStays(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/water.md", routineText("aaaaaaaa", "0 9 * * *", "the one that works"))
		wantChange(t, look(r, "routines/water.md"), Change{IDs: []string{"aaaaaaaa"}})
		r.put("routines/a copy.md", routineText("aaaaaaaa", "0 8 * * *", "copied"))
		wantChange(t, look(r, "routines/a copy.md"), Change{Problems: true})
		wantProblems(t, r.x, "routines/a copy.md has the same id (aaaaaaaa) as routines/water.md")
		r.put("routines/water.md", routineText("aaaaaaaa", "0 10 * * *", "changed since"))
		wantChange(t, look(r, "routines/water.md"), Change{IDs: []string{"aaaaaaaa"}})
		if got, _ := r.x.Set().RoutineByID("aaaaaaaa"); got.Path != "routines/water.md" || got.Cron != "0 10 * * *" || len(r.x.Set().Routines) != 1 {
			t.Errorf("in force is %s of %d", got.Path, len(r.x.Set().Routines))
		}
		r.remove("routines/water.md")
		wantChange(t, look(r, "routines/water.md"), Change{IDs: []string{"aaaaaaaa"}, Problems: true})
		if got, _ := r.x.Set().Find("aaaaaaaa"); got.Path != "routines/a copy.md" {
			t.Errorf("in force is %s", got.Path)
		}
	})
}

func TestOfFilesThatAreFoundTogetherTheFirstNameIsInForce(t *testing.T) {
	r := newRoom(t)
	r.put("reminders/b.md", reminderText("aaaaaaaa", "2026-11-23T10:00:00Z", "second"))
	r.put("reminders/a.md", reminderText("aaaaaaaa", "2026-11-23T10:00:00Z", "first"))
	r.x.Scan()
	if got, _ := r.x.Set().ReminderByID("aaaaaaaa"); got.Path != "reminders/a.md" {
		t.Errorf("in force is %s", got.Path)
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

// The original names a file after the ASCII letters of its text, so that a text without
// any becomes ".md".
func TestAFileThatIsCalledOnlyMdIsATask(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("reminders/.md", reminderText("aaaaaaaa", "2026-11-23T10:00:00Z", "水をやる"))
		r.put("reminders/.hidden.md", reminderText("bbbbbbbb", "2026-11-23T10:00:00Z", "hidden"))
		r.put("reminders/.#tea.md", reminderText("cccccccc", "2026-11-23T10:00:00Z", "an editor's"))
		wantChange(t, look(r, "reminders/.md", "reminders/.hidden.md", "reminders/.#tea.md"), Change{IDs: []string{"aaaaaaaa"}})
		r.remove("reminders/.md")
		wantChange(t, look(r, "reminders/.md"), Change{IDs: []string{"aaaaaaaa"}})
	})
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

func TestARoutineAndAReminderMayShareAnID(t *testing.T) {
	r := newRoom(t)
	r.put("routines/a.md", routineText("aaaaaaaa", "0 9 * * *", "routine"))
	r.put("reminders/a.md", reminderText("aaaaaaaa", "2026-11-23T10:00:00Z", "reminder"))
	wantChange(t, r.x.Scan(), Change{IDs: []string{"aaaaaaaa"}})
	if got, _ := r.x.Set().Find("aaaaaaaa"); got.Kind != KindRoutine {
		t.Errorf("found the %s first", got.Kind)
	}
	if _, ok := r.x.Set().ReminderByID("aaaaaaaa"); !ok {
		t.Error("the reminder is not in force")
	}
}

func TestBadFilesHurtNoOther(t *testing.T) {
	both(t, func(t *testing.T, look func(*room, ...string) Change) {
		r := newRoom(t)
		r.put("routines/good.md", routineText("aaaaaaaa", "0 9 * * *", "fine"))
		r.put("routines/huge.md", routineText("bbbbbbbb", "0 9 * * *", strings.Repeat("a lot of text\n", 400_000)))
		r.put("routines/bytes.md", "---\nid: \"cccccccc\"\ncron: \"0 9 * * *\"\ndescription: \"\xff\xfe\x1b[31m\"\n---\nbody")
		r.put("routines/folder.md/x", "a folder with the name of a file")
		r.put("routines/es\x1b[31mcape.md", routineText("dddddddd", "0 9 * * *", "bad name"))
		names := []string{"routines/good.md", "routines/huge.md", "routines/bytes.md", "routines/folder.md", "routines/es\x1b[31mcape.md"}
		testkit.Must(t, os.Symlink("nowhere", r.dir.Path("routines/dangling.md")))
		look(r, append(names, "routines/dangling.md")...)
		if _, ok := r.x.Set().RoutineByID("aaaaaaaa"); !ok {
			t.Fatalf("the good routine is not in force: %v", r.x.Set().Problems)
		}
		seen := map[string]bool{}
		for _, p := range r.x.Set().Problems {
			seen[p.File] = true
			if text := words(p); !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\n") || p.Message == "" {
				t.Errorf("problem %q is not fit to be shown", text)
			}
		}
		want := map[string]bool{"routines/huge.md": true, "routines/bytes.md": true, "routines/folder.md": true, "routines/escape.md": true}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("files with problems (-want +got):\n%s", diff)
		}
		wantChange(t, r.x.Scan(), Change{})
	})
}

func TestAFileOutsideTheFoldersIsIgnored(t *testing.T) {
	r := newRoom(t)
	for _, name := range []string{"webhooks/a.md", "routines/deep/a.md", "a.md", "routines/a.txt", "routines/.a.md", "routines/.#a.md", "routines/#a.md", "routines/~a.md", "routines/..md"} {
		r.put(name, routineText("aaaaaaaa", "0 9 * * *", "x"))
		wantChange(t, r.x.Refresh([]string{name}), Change{Problems: name == "routines/deep/a.md"}) // which is named once
	}
	wantChange(t, r.x.Scan(), Change{})
}

func TestAFolderThatCannotBeReadKeepsWhatIsInForce(t *testing.T) {
	r := newRoom(t)
	r.put("routines/a.md", routineText("aaaaaaaa", "0 9 * * *", "one"))
	r.x.Scan()
	testkit.Must(t, os.Rename(r.dir.Path("routines"), r.dir.Path("kept")))
	// A link loop is unreadable for every user, including root.
	testkit.Must(t, os.Symlink("routines", r.dir.Path("routines")))
	wantChange(t, r.x.Scan(), Change{Problems: true})
	wantProblems(t, r.x, "the folder cannot be read")
	if _, ok := r.x.Set().Find("aaaaaaaa"); !ok {
		t.Error("the routine left the schedule")
	}
	wantChange(t, r.x.Scan(), Change{})
	r.remove("routines")
	testkit.Must(t, os.Rename(r.dir.Path("kept"), r.dir.Path("routines")))
	wantChange(t, r.x.Scan(), Change{Problems: true})
	wantProblems(t, r.x)
	r.remove("routines")
	wantChange(t, r.x.Scan(), Change{IDs: []string{"aaaaaaaa"}})
}

func TestAFolderMayBeALink(t *testing.T) {
	r := newRoom(t)
	r.put("elsewhere/a.md", routineText("aaaaaaaa", "0 9 * * *", "one"))
	testkit.Must(t, os.Symlink("elsewhere", r.dir.Path("routines")))
	wantChange(t, r.x.Scan(), Change{IDs: []string{"aaaaaaaa"}})
}

func TestAWriteOfTheSameSizeIsSeen(t *testing.T) {
	r := newRoom(t)
	for i := range 50 {
		r.put("routines/a.md", routineText("aaaaaaaa", fmt.Sprintf("%d 9 * * *", 10+i%2), "one"))
		r.x.Scan()
		if got, _ := r.x.Set().RoutineByID("aaaaaaaa"); got == nil || got.Cron != fmt.Sprintf("%d 9 * * *", 10+i%2) {
			t.Fatalf("write %d: in force is %+v", i, got)
		}
	}
}

func TestASetNeverChanges(t *testing.T) {
	r := newRoom(t)
	for i := range 100 {
		r.put(fmt.Sprintf("routines/%03d.md", i), routineText(fmt.Sprintf("%08x", i), "0 9 * * *", "one"))
	}
	r.x.Scan()
	old := r.x.Set()
	kept := append([]*Routine(nil), old.Routines...)
	r.put("routines/050.md", routineText("00000032", "0 10 * * *", "changed"))
	r.remove("routines/000.md")
	r.x.Refresh([]string{"routines/050.md", "routines/000.md"})
	if diff := cmp.Diff(kept, old.Routines, cmpopts.EquateComparable(), cmp.Comparer(func(a, b *Routine) bool { return a == b })); diff != "" {
		t.Errorf("the old set changed: %s", diff)
	}
	if n := len(r.x.Set().Routines); n != 99 {
		t.Errorf("the new set has %d routines", n)
	}
}

func TestTheSetOfManyChangesEqualsAFreshOne(t *testing.T) {
	r := newRoom(t)
	write := func(i, hour int) {
		r.put(fmt.Sprintf("routines/%03d.md", i), routineText(fmt.Sprintf("%08x", 1000-i), fmt.Sprintf("0 %d * * *", hour), "one"))
	}
	for i := range 200 {
		write(i, 9)
	}
	r.x.Scan()
	var names []string
	for i := 100; i < 260; i++ {
		write(i, 10)
		names = append(names, fmt.Sprintf("routines/%03d.md", i))
	}
	for i := range 20 {
		r.remove(fmt.Sprintf("routines/%03d.md", i))
		names = append(names, fmt.Sprintf("routines/%03d.md", i))
	}
	r.x.Refresh(names)
	fresh := NewIndex(r.dir, time.UTC)
	fresh.Scan()
	same := cmp.Comparer(func(a, b *Routine) bool { return a.ID == b.ID && a.Path == b.Path && a.Cron == b.Cron })
	if diff := cmp.Diff(fresh.Set().Routines, r.x.Set().Routines, same); diff != "" {
		t.Errorf("by path (-fresh +got):\n%s", diff)
	}
}

func TestAScanLooksBehindALink(t *testing.T) {
	r := newRoom(t)
	r.put("elsewhere/a.md", routineText("aaaaaaaa", "0 9 * * *", "one"))
	r.put("routines/b.md", routineText("bbbbbbbb", "0 9 * * *", "two"))
	testkit.Must(t, os.Symlink("../elsewhere/a.md", r.dir.Path("routines/a.md")))
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"elsewhere/a.md", "routines/b.md", "routines"} {
		testkit.Must(t, os.Chtimes(r.dir.Path(name), old, old))
	}
	r.x.Scan()
	r.put("elsewhere/a.md", routineText("aaaaaaaa", "0 10 * * *", "one"))
	wantChange(t, r.x.Scan(), Change{IDs: []string{"aaaaaaaa"}})
}
