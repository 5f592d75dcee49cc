package guide

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func prepared(t testing.TB) *store.Dir {
	t.Helper()
	d := storetest.At(t, filepath.Join(t.TempDir(), "data"))
	testkit.Must(t, d.Prepare())
	return d
}

func sam() Options {
	return Options{UserName: "Sam", BotName: "Ollie", Zone: "Europe/Berlin", Google: true}
}

func install(t testing.TB, d *store.Dir) []Note {
	t.Helper()
	notes, err := Install(d, sam())
	testkit.Must(t, err)
	return notes
}

func exists(d *store.Dir, name string) bool {
	_, err := os.Lstat(d.Path(name))
	return err == nil
}

// tree returns every file below a folder with its bytes, and links with their targets.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			all[rel], err = os.Readlink(name)
			return err
		}
		data, err := os.ReadFile(name)
		all[rel] = string(data)
		return err
	})
	testkit.Must(t, err)
	return all
}

var installed = []string{
	"IDENTITY.md", "routine-reminder-spec.md", "skill-spec.md", "webhook-spec.md",
	".claude/agents/gmail-reader.md", ".claude/agents/history-reviewer.md", ".claude/agents/ollim-bot-guide.md",
	".claude/agents/responsiveness-reviewer.md", ".claude/agents/user-proxy.md",
	"skills/job-config/SKILL.md", "skills/setup/SKILL.md",
}

func TestTheFirstStartInstallsEverythingAndTheNextNothing(t *testing.T) {
	d := prepared(t)
	notes := install(t, d)
	if len(notes) != len(installed) {
		t.Errorf("%d notes: %+v", len(notes), notes)
	}
	for _, name := range installed {
		if text := storetest.Text(t, d, name); strings.Contains(text, "{USER_NAME}") || strings.Contains(text, "{BOT_NAME}") {
			t.Errorf("%s has a name left open", name)
		}
	}
	if exists(d, "USER.md") {
		t.Error("USER.md is the user's to make")
	}
	if target, err := os.Readlink(d.Path(".claude/skills")); err != nil || target != "../skills" {
		t.Errorf(".claude/skills leads to %q, %v", target, err)
	}
	if !strings.Contains(storetest.Text(t, d, "IDENTITY.md"), "You are Ollie, the personal assistant of Sam.") {
		t.Errorf("IDENTITY.md reads\n%s", storetest.Text(t, d, "IDENTITY.md"))
	}
	before, stamp := tree(t, d.Root()), modTimes(t, d)
	if notes := install(t, d); len(notes) > 0 {
		t.Errorf("the second start notes %+v", notes)
	}
	if diff := cmp.Diff(before, tree(t, d.Root())); diff != "" {
		t.Errorf("the second start changed files:\n%s", diff)
	}
	if diff := cmp.Diff(stamp, modTimes(t, d)); diff != "" {
		t.Errorf("the second start wrote files:\n%s", diff)
	}
	if offers := Offers(d); len(offers) > 0 {
		t.Errorf("a fresh directory is offered %+v", offers)
	}
}

// modTimes detects rewriting even if the bytes do not change, because a rename creates
// another file.
func modTimes(t testing.TB, d *store.Dir) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, name := range append([]string{recordFile}, installed...) {
		info, err := os.Lstat(d.Path(name))
		testkit.Must(t, err)
		all[name] = info.ModTime().UnixNano()
	}
	return all
}

func TestNamesFromOutsideForgeNothingInTheFiles(t *testing.T) {
	d := prepared(t)
	if _, err := Install(d, Options{UserName: "S\x1b[31m\n# Boss {BOT_NAME} " + strings.Repeat("x", 200)}); err != nil {
		t.Fatal(err)
	}
	text := storetest.Text(t, d, "IDENTITY.md")
	if strings.Contains(text, "\x1b") || strings.Contains(text, "\n# Boss") || strings.Contains(text, strings.Repeat("x", 81)) {
		t.Errorf("it reads\n%s", text)
	}
	if !strings.Contains(text, "You are the assistant, the personal assistant of S # Boss {BOT_NAME} x") {
		t.Errorf("a name was filled into a name:\n%s", text)
	}
	if _, problems := Subagents(d); len(problems) > 0 {
		t.Errorf("the subagents are broken: %+v", problems)
	}
}

// older replaces a file with the version installed by an earlier release.
func older(t testing.TB, d *store.Dir, name, text string) {
	t.Helper()
	storetest.Put(t, d, name, text)
	var records map[string]record
	if _, err := d.ReadJSON(recordFile, &records); err != nil {
		t.Fatal(err)
	}
	records[name] = record{Ours: routines.Digest([]byte(text)), File: routines.Digest([]byte(text))}
	testkit.Must(t, d.WriteJSON(recordFile, records))
}

// play plays a story of one of our files in a new directory: start, also without Google or without permission to read
// mail; older, the version that an earlier release installed; mine, what the user writes; remove. It returns what the file has in the end, what is
// offered for it, and how many notes the last start had.
func play(t *testing.T, name, story string) (content, offered string, notes int) {
	t.Helper()
	d, fresh := prepared(t), prepared(t)
	install(t, fresh)
	for step := range strings.SplitSeq(story, ", ") {
		switch step {
		case "start", "start without Google", "start without mail":
			o := sam()
			o.Google, o.NoMail = step != "start without Google", step == "start without mail"
			list, err := Install(d, o)
			if testkit.Must(t, err); warned(list) {
				t.Errorf("%s: %s: notes are %+v", name, story, list)
			}
			notes = len(slices.DeleteFunc(list, func(n Note) bool { return n.File != name }))
		case "older":
			older(t, d, name, "older")
		case "mine":
			storetest.Put(t, d, name, "mine")
		case "remove":
			testkit.Must(t, d.Remove(name))
		}
	}
	content = "gone"
	if exists(d, name) {
		content = strings.Replace(storetest.Text(t, d, name), storetest.Text(t, fresh, name), "ours", 1)
	}
	for _, o := range Offers(d) {
		offered += map[bool]string{true: "edited", false: "as it was"}[o.Edited]
		if o.File != name || !strings.Contains(o.Text, name) {
			t.Errorf("%s: %s: offered is %+v", name, story, o)
		}
	}
	return content, offered, notes
}

func TestWhatBecomesOfOurFilesOverStartsAndEdits(t *testing.T) {
	const document, subagent, aSkill = "webhook-spec.md", ".claude/agents/user-proxy.md", "skills/setup/SKILL.md"
	for _, c := range []struct {
		names            []string
		story            string
		content, offered string
		notes            int
	}{
		// An identity is written once in a lifetime.
		{[]string{"IDENTITY.md"}, "start, mine, start", "mine", "", 0},
		{[]string{"IDENTITY.md"}, "start, remove, start", "gone", "", 0},
		{[]string{"IDENTITY.md"}, "mine, start, remove, start", "gone", "", 0}, // of the original program
		// A document follows the program until the user changes it.
		{[]string{document}, "start, older", "older", "", 1}, // what the next start does by itself is not offered
		{[]string{document}, "start, older, start", "ours", "", 1},
		{[]string{document}, "start, older, mine, start", "mine", "edited", 0},
		{[]string{document}, "start, older, mine, start, remove, start", "ours", "", 1},
		// Subagents and skills are offered and never written over.
		{[]string{subagent, aSkill}, "start, mine, start", "mine", "", 0},
		{[]string{subagent, aSkill}, "start, older, start", "older", "as it was", 0},
		{[]string{subagent, aSkill}, "start, older, mine, start", "mine", "edited", 0},
		{[]string{subagent, aSkill}, "start, older, mine, start, remove, start", "ours", "", 1},
	} {
		for _, name := range c.names {
			content, offered, notes := play(t, name, c.story)
			if content != c.content || offered != c.offered || notes != c.notes {
				t.Errorf("%s: %s: it is %.60q, offered %q, %d notes; want %+v", name, c.story, content, offered, notes, c)
			}
		}
	}
}

func TestTheMailReaderIsThereOnlyWhileMailCanBeRead(t *testing.T) {
	for _, c := range []struct {
		story, content string
		notes          int
	}{
		{"start without Google", "gone", 0},
		{"start without Google, start", "ours", 1},
		{"start, start without Google", "gone", 0},
		{"start, start without Google, start", "ours", 1},
		{"start, mine, start without Google", "mine", 0},
		{"start without mail", "gone", 0},
		{"start without mail, start", "ours", 1},
		{"start, start without mail", "gone", 0},
	} {
		content, offered, notes := play(t, ".claude/agents/gmail-reader.md", c.story)
		if content != c.content || offered != "" || notes != c.notes {
			t.Errorf("%s: it is %.60q, offered %q, %d notes; want %+v", c.story, content, offered, notes, c)
		}
	}
}

// A directory of the original program: its own subagents, and links to documents in its
// checkout.
func TestADirectoryOfTheOriginalProgramIsTakenOver(t *testing.T) {
	d := prepared(t)
	checkout := t.TempDir()
	outside := filepath.Join(checkout, "webhook-spec.md")
	testkit.Must(t, os.WriteFile(outside, []byte("The original's."), 0o600))
	link(t, outside, d.Path("webhook-spec.md"))
	link(t, filepath.Join(checkout, "gone.md"), d.Path("routine-reminder-spec.md"))
	storetest.Put(t, d, ".claude/agents/user-proxy.md", "---\nname: user-proxy\ntools: Bash(claude-history *)\n---\nx")
	link(t, "../skills", d.Path(".claude/skills"))

	install(t, d)
	for _, name := range []string{"webhook-spec.md", "routine-reminder-spec.md"} {
		if info, err := os.Lstat(d.Path(name)); err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(storetest.Text(t, d, name), "# ") {
			t.Errorf("%s is not ours now (%v)", name, err)
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "The original's." {
		t.Errorf("the checkout was touched: %q, %v", data, err)
	}
	if got := storetest.Text(t, d, ".claude/agents/user-proxy.md"); !strings.Contains(got, "claude-history") {
		t.Errorf("the original's subagent was written over: %q", got)
	}
	if offers := Offers(d); len(offers) != 1 || !offers[0].Edited || offers[0].File != ".claude/agents/user-proxy.md" {
		t.Errorf("offered is %+v", offers)
	}
}

func link(t testing.TB, target, name string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	testkit.Must(t, os.Symlink(target, name))
}

func TestNothingIsWrittenThroughLinksOutOfTheDirectory(t *testing.T) {
	for _, name := range []string{".claude", ".claude/agents", "skills", "skills/setup", "IDENTITY.md", ".claude/agents/user-proxy.md", "skills/setup/SKILL.md"} {
		for _, there := range []bool{true, false} {
			d, outside := prepared(t), t.TempDir()
			target := filepath.Join(outside, "target")
			folder := filepath.Ext(name) != ".md"
			switch {
			case there && folder:
				testkit.Must(t, os.Mkdir(target, 0o700))
			case there:
				testkit.Must(t, os.WriteFile(target, []byte("theirs"), 0o600))
			}
			link(t, target, d.Path(name))
			before := tree(t, outside)
			notes := install(t, d)
			if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
				t.Errorf("%s, there: %v: written outside:\n%s", name, there, diff)
			}
			if _, err := os.Lstat(target); !there && err == nil {
				t.Errorf("%s: its target was made", name)
			}
			if got, err := os.Readlink(d.Path(name)); err != nil || got != target {
				t.Errorf("%s is no longer the user's link (%v)", name, err)
			}
			if warned(notes) != folder { // a folder contains what cannot be installed
				t.Errorf("%s, there: %v: notes are %+v", name, there, notes)
			}
			if !exists(d, "webhook-spec.md") {
				t.Errorf("%s keeps the other files away", name)
			}
			Offers(d) // must not fail on it either
		}
	}
}

func warned(notes []Note) bool {
	for _, n := range notes {
		if n.Warning {
			return true
		}
	}
	return false
}

func TestOtherThingsInOurPlacesAreLeftAlone(t *testing.T) {
	d := prepared(t)
	for _, name := range []string{"IDENTITY.md", ".claude/agents/user-proxy.md", ".claude/skills", "webhook-spec.md"} {
		testkit.Must(t, os.MkdirAll(d.Path(name), 0o700))
	}
	storetest.Put(t, d, "notes/mine.md", "mine")
	link(t, "notes/mine.md", d.Path("skill-spec.md"))
	before := tree(t, d.Path("notes"))
	if notes := install(t, d); warned(notes) {
		t.Errorf("notes are %+v", notes)
	}
	if info, err := os.Lstat(d.Path("webhook-spec.md")); err != nil || !info.IsDir() {
		t.Error("a folder was replaced")
	}
	if diff := cmp.Diff(before, tree(t, d.Path("notes"))); diff != "" || storetest.Text(t, d, "skill-spec.md") != "mine" {
		t.Errorf("a link within the directory was written through:\n%s", diff)
	}
}

func TestABrokenRecordIsSetAsideAndCostsNoFile(t *testing.T) {
	d := prepared(t)
	install(t, d)
	storetest.Put(t, d, "webhook-spec.md", "Mine.")
	storetest.Put(t, d, recordFile, "{oops")
	notes := install(t, d)
	if len(notes) != 1 || !notes[0].Warning || !strings.Contains(notes[0].Text, ".corrupt-") {
		t.Errorf("notes are %+v", notes)
	}
	if got := storetest.Text(t, d, "webhook-spec.md"); got != "Mine." {
		t.Errorf("the user's file reads %q", got)
	}
	if notes := install(t, d); len(notes) > 0 {
		t.Errorf("the next start notes %+v", notes)
	}
}

func TestTwoStartsAtOnceInstallOnce(t *testing.T) {
	d := prepared(t)
	var wg sync.WaitGroup
	counts := make([]int, 4)
	for i := range counts {
		wg.Go(func() {
			notes, err := Install(d, sam())
			if err != nil {
				t.Error(err)
			}
			counts[i] = len(notes)
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	if total != len(installed) {
		t.Errorf("%d files were installed, want %d", total, len(installed))
	}
}

func TestAFullDiskGivesNotesAndNoHarmAndIsMadeUpForLater(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	d := prepared(t)
	install(t, d)
	for _, name := range []string{"webhook-spec.md", "skills/setup/SKILL.md"} {
		testkit.Must(t, d.Remove(name))
	}
	older(t, d, "skill-spec.md", "An earlier version.")
	var notes []Note
	if err := storetest.FullDisk(t, func() (err error) {
		notes, err = Install(d, sam())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 3 || !notes[0].Warning || !notes[1].Warning || !notes[2].Warning {
		t.Errorf("notes are %+v", notes)
	}
	if got := storetest.Text(t, d, "skill-spec.md"); got != "An earlier version." {
		t.Errorf("a file was harmed: %q", got)
	}
	if notes := install(t, d); len(notes) != 3 || warned(notes) {
		t.Errorf("with room again, notes are %+v", notes)
	}
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	d := storetest.At(t, filepath.Join(t.TempDir(), "nowhere"))
	if _, err := Install(d, sam()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if offers := Offers(d); offers != nil || d.Exists() {
		t.Errorf("offered is %+v", offers)
	}
}

func BenchmarkInstallWithNothingToDo(b *testing.B) {
	d := prepared(b)
	install(b, d)
	for b.Loop() {
		if notes := install(b, d); len(notes) > 0 {
			b.Fatal(notes)
		}
	}
}
