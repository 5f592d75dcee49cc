package routines

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/when"
)

const plants = "---\nid: plants\ncron: \"0 8 * * *\"\ndescription: Pflänzchen gießen\n---\nGieß sie.\n"

// Z4: each file is read, or has the true reason why not. The encodings are the business of package frontmatter.
func TestFilesAsOtherProgramsWriteThem(t *testing.T) {
	var utf16le []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + plants)) {
		utf16le = binary.LittleEndian.AppendUint16(utf16le, unit)
	}
	const latin = "is not UTF-8 text, as in files saved as Latin-1, and is shown as \"�\"; save the file as UTF-8\n"
	for text, want := range map[string]string{
		"\ufeff" + strings.ReplaceAll(plants, "\n", "\r\n"): "", string(utf16le): "",
		string(utf16le) + "x":                         "p.md:1:1: error: the file is saved as UTF-16: save it as UTF-8\n",
		strings.Replace(plants, "Gieß", "Gie\xdf", 1): "p.md:6:4: warning: the byte 0xdf " + latin,
	} {
		r, problems := ParseRoutine("p.md", []byte(text))
		if got := report(problems); got != want || !HasErrors(problems) && r.ID != "plants" {
			t.Errorf("%.30q is read as %q: %s", text, r.ID, got)
		}
	}
	// A change by the bot leaves a text that the original program reads too.
	out, err := frontmatter.Splice(utf16le, []frontmatter.Entry{{Key: "cron", Value: "0 9 * * *"}})
	if want := strings.Replace(plants, "0 8", "0 9", 1); err != nil || string(out) != want {
		t.Errorf("%q, %v", out, err)
	}
}

func TestAWebhooksFileIsWarnedOfKeysThatDoNothingAndOfSecrets(t *testing.T) {
	f, ok := Open(KindWebhook, "w.md", []byte("---\nid: a\nfields: {}\nbackground: true\ncron: x\napi_key: x\nMyToken: x\npasswd: x\nkey: x\nmonkey: x\n---\n"+strings.Repeat("\n", 300)))
	f.Task()
	f.UnknownKeys()
	secret := func(place, key string) string {
		return place + ": error: a secret does not belong into this file, which git keeps: delete the key \"" + key + "\", put a new secret into the bot's environment, " +
			"as NAME_SECRET=value, and write secret-env: NAME_SECRET here\n"
	}
	want := "w.md:4:1: warning: background has no effect here because webhooks always run in the background; delete it\n" +
		"w.md:5:1: warning: webhooks have no key \"cron\", so it does nothing; correct or delete it\n" +
		secret("w.md:6:1", "api-key") + secret("w.md:7:1", "MyToken") + secret("w.md:8:1", "passwd") + secret("w.md:9:1", "key") +
		"w.md:10:1: warning: webhooks have no key \"monkey\", so it does nothing; correct or delete it\n" +
		"w.md:12:1: error: there is no prompt; write below the second --- what the agent should do, with {name} for the field of that name\n"
	if diff := cmp.Diff(want, report(f.Problems())); diff != "" || !ok {
		t.Error(diff)
	}
}

func TestAReminderSaysWhatItIsAndWhenItSpeaks(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	ahead := []when.Ahead{{Rest: time.Hour}, {Days: 1, Text: "tomorrow"}}
	for _, c := range []struct {
		r     Reminder
		label string
		first time.Time
		early []time.Time
	}{
		{Reminder{}, "Reminder", at, []time.Time{}},
		{Reminder{MaxChain: 2, ChainDepth: 1, Ahead: ahead}, "Chain reminder (2/3)", at, []time.Time{at.AddDate(0, 0, -1), at.Add(-time.Hour)}},
		{Reminder{MaxChain: 2, UntilDone: true, FirstAt: at.Add(-time.Hour), Ahead: ahead}, "Reminder until done", at.Add(-time.Hour), []time.Time{}},
	} {
		c.r.RunAt = at
		early := []time.Time{}
		for _, e := range c.r.Early() {
			early = append(early, e.At)
		}
		if diff := cmp.Diff(c.early, early); diff != "" || c.r.Label() != c.label || !c.r.First().Equal(c.first) {
			t.Errorf("%s, first at %v, want %s: %s", c.r.Label(), c.r.First(), c.label, diff)
		}
	}
}

func TestACalendarThatChangesConcernsItsRoutinesAlone(t *testing.T) {
	r := newRoom(t)
	r.put("routines/a.md", "---\nid: a\ncron: 0 9 * * *\nskip: off.ics\nzone: Asia/Tokyo\n---\nGo.\n")
	r.do("b.md=b@9")
	r.x.Scan()
	if got := report(r.x.Set().Problems); !strings.HasPrefix(got, "routines/a.md:0:0: warning: ") || !r.x.Set().Calendars || !slices.Equal(Zones(r.x.Set().Routines), []string{"Asia/Tokyo"}) {
		t.Errorf("without the calendar: %s", got)
	}
	if c := r.x.LookAtCalendars(); !c.Empty() {
		t.Errorf("nothing has changed, but %+v", c)
	}
	r.put("off.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261124\nEND:VEVENT\nEND:VCALENDAR\n")
	if c := r.x.LookAtCalendars(); !slices.Equal(c.IDs, []string{"a"}) || !c.Problems || len(r.x.Set().Problems) > 0 {
		t.Errorf("%+v, %s", c, report(r.x.Set().Problems))
	}
}

func TestASetListsItsTasksAndItsRemindersByTime(t *testing.T) {
	r := newRoom(t)
	r.do("b.md=b@9")
	r.do("a.md=a@8")
	r.do("reminders/x.md=x@12")
	r.do("reminders/y.md=y@10")
	r.x.Scan()
	var tasks, reminders []string
	for _, task := range r.x.Set().Tasks() {
		tasks = append(tasks, task.ID)
	}
	for _, one := range r.x.Set().RemindersByTime() {
		reminders = append(reminders, one.ID)
	}
	if got := strings.Join(tasks, "") + " " + strings.Join(reminders, ""); got != "abxy yx" {
		t.Error(got)
	}
}

func TestStartersAreAddedOnceAndReplaceNothing(t *testing.T) {
	r := newRoom(t)
	all, err := Starters()
	testkit.Must(t, err)
	storetest.Put(t, r.dir, all[0].Path, "mine")
	r.put("routines/other.md", routineText(all[1].ID, "0 9 * * *", "Go."))
	r.x.Scan()
	for _, want := range [][]Routine{all[2:], nil} {
		added, err := AddStarters(r.dir, r.x.Set())
		if diff := cmp.Diff(Titles(want), Titles(added)); diff != "" || err != nil {
			t.Error(diff, err)
		}
		r.x.Scan()
	}
	if storetest.Text(t, r.dir, all[0].Path) != "mine" || len(r.x.Set().Routines) != len(all)-1 || !strings.Contains(Titles(all), ", ") {
		t.Errorf("in force is %s", inForce(r.x.Set()))
	}
}

func TestAProposalIsNamedAndItsTextsAreKeptWhileTheyAreWanted(t *testing.T) {
	edit, other := Proposal{Why: "it may do more"}, Proposal{What: "script of tea", Text: "It is new."}
	got := []string{edit.Says(), edit.Named("tea"), edit.Title("tea"), other.Says(), other.Named("tea"), other.Title("tea")}
	want := []string{
		"With the agent's edit, it may do more. The old text stays in force until you decide.", "edit of tea", "Edit of tea", "It is new.", "script of tea", "Script of tea",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	d := storetest.Dir(t)
	PruneTexts(d, func(string) bool { return false })
	for _, text := range []string{"a", "a", "b"} {
		testkit.Must(t, KeepText(d, []byte(text)))
	}
	PruneTexts(d, func(version string) bool { return version == Digest([]byte("b")) })
	if storetest.Text(t, d, keptFile(Digest([]byte("a")))) != "" || storetest.Text(t, d, keptFile(Digest([]byte("b")))) != "b" {
		t.Error("another text was forgotten")
	}
}

func TestNoFileIsWrittenOrRemovedWhereThatIsRefused(t *testing.T) {
	d, refused := storetest.Dir(t), errors.New("refused")
	r, err := AddReminder(d, reminder("Tea"), func(rel string, data []byte) error {
		if rel != "reminders/tea.md" || !strings.HasSuffix(string(data), "---\nTea\n") {
			t.Errorf("asked about %s: %s", rel, data)
		}
		return refused
	})
	if !errors.Is(err, refused) || storetest.Text(t, d, "reminders/tea.md") != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, err := RemoveTask(d, KindWebhook, "a", Task{}); err == nil || err.Error() != "a webhook has no file here; remove a routine or a reminder" {
		t.Error(err)
	}
	broken := storetest.Dir(t)
	testkit.Must(t, broken.Write("state", nil))
	if _, _, err := RemoveTask(broken, KindRoutine, "a", Task{}); err == nil || !strings.HasPrefix(err.Error(), "remove routine a: lock routines: ") {
		t.Error(err)
	}
}
