package dialog

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
	"ollimbot/tui/pane"
	"ollimbot/tui/tuitest"
)

// reminder makes the file one of a reminder that is due in an hour.
func reminder(d *desk) {
	d.file.Kind, d.file.Cron, d.file.RunAt = routines.KindReminder, "", tuesday.Add(time.Hour)
}

func TestATaskIsEditedAsItsStoriesSay(t *testing.T) {
	changed := map[string]func(d *desk){"the file is changed": func(d *desk) {
		other := newDesk().file
		other.Cron, other.Digest = "0 8 * * *", "v2"
		d.gives(pane.Done{Err: &command.ChangedError{Now: other}})
	}}
	tell(t, []story{
		{"what was not changed is not written", nil, `edit enter => gives sends EditTask ID=aaaa0001 Version=v1`, nil},
		{"only what was changed is written", nil, `
			edit ctrl+u "every weekday at 10" tab ctrl+u tab ctrl+u "Make coffee." tab tab tab => ▸ More options… | hints: enter open, tab next field, ctrl+s save the file, esc leave
			enter => ▸ Runs in the background
			<May use> "Bash(git log, x); Read(**.md)" ctrl+s => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=cron Value=0 10 * * 1-5} {Key=description} {Key=allowed-tools Value=[Bash(git log, x) Read(**.md)]}] Body=Make coffee.}`, nil},
		{"a wrong field is refused beside it", nil, `edit ctrl+u "61 * * * *" enter => ! minute 61 does not exist; write 0 to 59 | gives nothing`, nil},
		{"a file that was changed under the form shows both and asks", nil, `
			@78x40 edit ctrl+u "0 10 * * *" enter => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=cron Value=0 10 * * *}]}
			(the file is changed) => gives nothing | ✗ routines/tea.md has changed on disk since you last saw it: When is "0 | ✗ routines/tea.md has changed on disk since you last saw it: When is "0 8 * * *" in the file and "0 10 * * *" here. Enter overwrites it with | 8 * * *" in the file and "0 10 * * *" here. Enter overwrites it with
			enter                 => gives sends EditTask ID=aaaa0001 Version=v2 Edit={Set=[{Key=cron Value=0 10 * * *}]}`, changed},
		{"a prompt of several lines is written in the form", func(d *desk) { d.file.Body = "Make tea.\nGreen." }, `
			edit tab tab => ▸ Prompt Make tea. | Green.
			alt+enter {With milk.} up space {Now.} => ▸ Prompt Make tea.
			enter => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Body=Make tea.\nGreen. Now.\nWith milk.}`, nil},
		{"a prompt that is too long is left to the editor", func(d *desk) { d.file.Body = strings.Repeat("Make tea.\n", 4000) + "Green." }, `
			@78x40 edit => Prompt 4001 lines: edit them in the file
			enter       => gives sends EditTask ID=aaaa0001 Version=v1`, nil},
		{"a reminder is kept until it is done", reminder, `
			edit up up space enter => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=until Value=done}]}`, nil},
		{"a reminder until it is done is a time", nil, `
			new up space space down "in 2 hours" tab tab "Look" enter => gives sends AddTask At=10 16:02:00 Message=Look UntilDone=true`, nil},
		{"what was typed is not lost by one key", nil, `
			edit tab "X" => hints: enter save the file, tab next field, esc leave
			esc  => gives nothing | ✗ Esc again discards; any other key keeps editing
			tab  => !Esc again discards
			esc esc => gives closes`, nil},
		{"without a change it is left at once", nil, `edit => hints: enter save the file, tab next field, esc cancel
			esc => gives closes`, nil},
		{"the numbers of the budget are typed over", nil, `
			budget "8" tab "45" enter => gives sends SetBudget Capacity=8 RefillMinutes=45
			budget "x" enter          => ! the capacity is a whole number of tokens; 0 mutes | gives nothing`, nil},
		{"a wrong window, jitter or chain is refused beside it", reminder, `
			edit <More> <Window> "25:00-26:00" enter => ! this is not a window; write its start and end, for | gives nothing
			edit <More> <Window> "9:00-10:00" => the bot chooses the minute; When says on which days, and
			tab "x" enter => ! this is not a jitter; write minutes or hours, for | gives nothing
			backspace "5m" <Repeats> ctrl+u "x" enter => gives nothing
			ctrl+u "2" enter => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=window Value=9:00-10:00} {Key=jitter Value=5m} {Key=max-chain Value=2}]}`, nil},
		{"fields are chosen with clicks, and a second click turns a choice", nil, `
			edit <Pings> => ▸ Pings when it has something to say | gives nothing | hints: enter save the file, tab next field, space change, esc cancel
			<Pings>      => ▸ Pings never | !when it has something
			<Prompt>     => ▸ Prompt Make tea. | hints: enter save the file, tab next field, alt+enter new line, esc leave
			<More>       => ▸ Runs in the background
			enter        => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=allow-ping Value=false}]}
			"x"          => !x | saving the file…`, nil},
		{"a reminder's time and words before are changed", reminder, `
			edit ctrl+u "tomorrow 9:00" up up up up => gives nothing
			enter => saving the file…
			edit ctrl+u "in 2 hours" enter => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=run-at Value=2026-03-10T16:02:00+00:00}]}
			edit <More> <Ahead> "soon" enter => gives nothing
			ctrl+u "1 hour" enter => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=ahead Value=[1 hour]}]}`, nil},
		{"how late it may run is changed", func(d *desk) { d.file.Late, d.file.Model = 2*time.Hour, "lab/x" }, `
			edit <More> => Model lab/x
			<Late> ctrl+u "40 days" enter => gives nothing
			ctrl+u enter => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Set=[{Key=late}]}`, nil},
		{"a model is picked, or typed", func(d *desk) { d.model = "sonnet" }, `
			models     => painted: ‹select  ‹focus ▸ ›‹select sonnet  ›‹select  › | opus | painted: lab/x | Another | what the agent runs | hints: enter set, ↑/↓ next, name type, esc cancel
			enter      => gives closes
			models down => painted: ‹select  ‹focus ▸ ›‹select lab/x  ›‹select  › | it runs on lab
			enter      => gives sends SetConfig Key=model Value=lab/x
			models "bad/y" enter => painted: ‹warn ! no provider has that model› | gives nothing
			ctrl+u "haiku" enter => gives sends SetConfig Key=model Value=haiku
			models <opus> => painted: ‹select  ‹focus ▸ ›‹select opus  ›‹select  › | gives nothing
			<opus>     => gives nothing
			~300ms <opus> => gives sends SetConfig Key=model Value=opus`, nil},
		{"a model that is no short name is marked where it is listed", func(d *desk) { d.model = "lab/x" }, `models => painted: ‹select  ‹focus ▸ ›‹select lab/x  ›‹select  ›`, nil},
		{"one that is listed nowhere can be typed over", func(d *desk) { d.model = "own" }, `
			models        => painted: ‹select  ‹focus ▸ ›‹select Another  ›‹select ‹caret own›‹select  ›
			"haiku" enter => gives sends SetConfig Key=model Value=haiku`, nil},
		{"a new task gets its options", nil, `
			tea up up enter => ▸ Runs in the background
			<Model> space <Isolated> space <Above limits> space enter => gives sends AddTask Cron=15 8 * * * Description=Tea Message=Make tea. Model=opus Isolated=true Critical=true`, nil},
	})
}

func TestThePartsOfADialogHaveTheirColours(t *testing.T) {
	tell(t, []story{
		{"a form", reminder, `
			edit  => painted: ‹select  ‹focus ▸ ›‹select When  ›‹select 2026-03-10 15:02‹caret  ›‹select  › | painted: Title  Tea | painted: Prompt  Make tea. | painted: ‹dim what the bot should do, in your words› | painted: More options…
			ctrl+u "in 2 hours" => painted: ‹accent today at 16:02 (in 2h)›
			tab tab  => painted: ‹select  ‹focus ▸ ›‹select Prompt  ›‹select Make tea.‹caret  ›‹select  ›
			up "x"  => painted: ‹select  ‹focus ▸ ›‹select Title  ›‹select Teax‹caret  ›‹select  ›
			esc  => painted: ‹bad  ✗ Esc again discards; any other key keeps editing›
			budget  => painted: ‹select  ‹focus ▸ ›‹select Capacity  ›‹select ‹caret 0›‹select  › | painted: Refill (min)  0
			"x" enter  => painted: ‹warn ! the capacity is a whole number of tokens; 0 mutes›
			new enter  => painted: ‹warn ! needed: every weekday at 9, daily 8:15, or cron: 0 9›`, nil},
		{"a choice of moments", sweeping, `
			snooze  => painted: ‹select  ‹focus ▸ ›‹select 30 minutes  ›‹select 14:32  › | painted: 1 hour  15:02
			down  => painted: ‹accent  skips the fire at 14:30; fires next at 17:02›
			up up  => painted: ‹select  ‹focus ▸ ›‹select at a time  ›‹select ‹caret  ›‹select  ›
			"x"  => painted: ‹select  ‹focus ▸ ›‹select at a time  ›‹select x‹caret  ›‹select  › | painted: ‹warn ! I do not understand "x"; say a time such as 18:30,›`, nil},
		{"a question", nil, `
			leave  => painted: 1 fork still running: stopped at once. Reminders among | painted: ‹focus  ▸ ›‹key n›‹strong  stay› | painted: ‹key y›‹dim  quit and stop them›`, nil},
		{"the palette", busy, `
			: "tea"  => painted: ‹key  /›tea‹caret  ›  ‹accent 1 of 8 › | painted: ‹select  ▸ Open ‹match Tea›‹select  ›‹select  ‹dim task ›‹select › | painted: Fire ‹match Tea›  ‹dim task › | painted: ‹dim  enter opens its page› 
			: "report and leave" => painted: ‹select  ▸ ‹dim Chat: ›‹select ‹match Report›‹select  ‹match and›‹select  ‹match leave›‹select ‹dim  fork›‹select  ›‹select  ‹warn off  ›‹select ‹key R›‹select  › | painted: ‹warn off: the chat is not in a fork›`, nil},
		{"the keys", nil, `
			help / "stop" => painted: ‹key  /›stop‹caret  ›  ‹accent 3 actions › | painted: ‹strong  Runs (4)›  ‹strong  Everywhere›`, nil},
		{"the page of the connections", nil, `
			connect  => painted: ‹strong Until a model is connected, scripted replies answer, at no cost. Run these› | painted: ‹key  1 ›npm install -g @anthropic-ai/claude-code
			engine  => painted: today  $0.00`, nil},
		{"an edit", func(d *desk) {
			d.edit = routines.Proposal{Version: "v1", Why: "it may use Bash(rm *)", Diff: "--- a\n+++ b\n@@ -1 +1 @@\n-one\n+two\n three"}
		}, `
			review => painted: ‹bad -one› | painted: ‹good +two› | painted: ‹dim @@ -1 +1 @@› | painted: three | painted: y allows the edit, r refuses it and restores the file, esc decides later.`, nil},
		{"a long page", nil, `
			@78x10 help => painted: ‹strong  Runs (4)›  ‹strong  Everywhere›`, nil},
	})
}

// The same field has the same name in both forms, and docs/routines.md names it.
func TestTheDocsNameEveryFieldOfTheForms(t *testing.T) {
	text, err := os.ReadFile("../../docs/routines.md")
	testkit.Must(t, err)
	page := strings.Join(strings.Fields(string(text)), " ")
	once, known := newDesk(), map[string]bool{}
	reminder(once)
	for _, file := range []command.TaskFile{newDesk().file, once.file} {
		for _, l := range editTask(file).lines {
			known[l.field.Label] = true
			if field := l.field.Label + " (`" + l.key + "`)"; l.key != "" && !strings.Contains(page, field) {
				t.Errorf("docs/routines.md lacks %s", field)
			}
		}
	}
	for _, f := range NewTask().Fields {
		for _, f := range append(f.more, f) {
			if f.more == nil && !known[f.Label] && f.Label != fieldKind {
				t.Errorf("%s is only in the form of a new task", f.Label)
			}
		}
	}
}

// What a reminder says before, and how late a routine may run, are read as people say them and shown as they are read.
func TestAFieldOfATaskIsSetByALine(t *testing.T) {
	for _, c := range []struct {
		name, field, value, set, note string
		on                            func(d *desk)
	}{
		{"a span is written as the file has it", "late", "2 hours", "[{late 2h}]", "at most 2 hours late", nil},
		{"what is so already", "late", "at most 2 hours 30 minutes late", "", "already", func(d *desk) { d.file.Late = 150 * time.Minute }},
		{"too late", "late", "40 days", "", "31 days", nil},
		{"what is said before", "ahead", "1 hour: Leave now; a day before", "[{ahead [1 day 1 hour: Leave now]}]", "1 day and 1 hour before", reminder},
		{"no span before", "ahead", "soon", "", "before", reminder},
	} {
		d := newDesk()
		if c.on != nil {
			c.on(d)
		}
		do, note, ok := EditField(d.Context, d.file, c.field, c.value)
		edit, _ := do.(command.EditTask)
		if got := strings.TrimPrefix(fmt.Sprint(edit.Edit.Set), "[]"); got != c.set || ok != (c.set != "") || !strings.Contains(note, c.note) {
			t.Errorf("%s: sets %s, and says %q", c.name, got, note)
		}
	}
}

func TestTheFieldsOfATaskAreListedWithWhatTheyTake(t *testing.T) {
	const yes, pings, runs = "one of: yes, no", "when it has something to say", "in the background"
	routine, once := newDesk(), newDesk()
	reminder(once)
	for _, c := range []struct {
		d    *desk
		want []string
	}{
		{routine, []string{
			"when: 0 9 * * *", "title: Tea", "prompt: Make tea.", "pings: " + pings + ", one of: " + pings + ", never", "if-missed: only note it, one of: run late, once, only note it",
			"runs: " + runs + ", one of: " + runs + ", in the main conversation", "window: ", "jitter: ", "late: ", "reports: on_ping, one of: on_ping, always, freely, blocked",
			"check: ", "message: from the model, one of: what the check prints, from the model", "model: (default), one of: (default), opus, sonnet, haiku",
			"thinking: yes, " + yes, "isolated: no, " + yes, "above-limits: no, " + yes, "may-use: ", "may-not-use: ", "skills: ", "trusts-input: no, " + yes,
		}},
		{once, []string{
			"when: 2026-03-10 15:02", "title: Tea", "prompt: Make tea.", "pings: " + pings + ", one of: " + pings + ", never", "until: fire once, one of: repeat until done, fire once",
			"runs: " + runs + ", one of: " + runs + ", in the main conversation", "window: ", "jitter: ", "ahead: ", "reports: on_ping, one of: on_ping, always, freely, blocked",
			"model: (default), one of: (default), opus, sonnet, haiku",
			"thinking: yes, " + yes, "isolated: no, " + yes, "above-limits: no, " + yes, "may-use: ", "may-not-use: ", "skills: ", "trusts-input: no, " + yes, "repeats: 0",
		}},
	} {
		var got []string
		for _, row := range EditRows(c.d.file) {
			got = append(got, row.Head+": "+row.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("the fields of a %s (-want +got):\n%s", c.d.file.Kind, diff)
		}
	}
}

func TestWhatIsTypedAsATimeIsExplainedOrRefused(t *testing.T) {
	const say, refused = "; say a time such as 18:30, tomorrow 9:00, in 2 hours or 24 dec 9am", "✗ "
	clock := func(c pane.Context, text string) (string, bool) {
		at, err := clockTime(text, c.Snap.Times())
		return at.Format("02 15:04"), err == nil
	}
	for what, c := range map[string]struct {
		check Check
		texts map[string]string
	}{
		"a reminder": {checkMoment, map[string]string{
			"18:30": "today at 18:30 (in 4h28)", "tomorrow 9:00": "Wednesday 11 March at 09:00 (in 18h)", "Tomorrow 15:00": "Wednesday 11 March at 15:00 (in 24h)",
			"in 45m": "today at 14:47 (in 45m)", "2026-03-12 08:00": "Thursday 12 March at 08:00 (in 41h)", "tonight": "today at 21:00 (in 6h58)",
			"in 20 minutes": "today at 14:22 (in 20m)", "2026-12-24 18:00": "Thursday 24 December at 18:00 (in 289d)", "9999h": refused + textFarMoment,
			"2026-03-09 08:00": refused + "Mon 9 Mar 08:00 has passed" + say, "today 14:00": refused + "14:00 today has passed; say tomorrow 14:00",
			"soon": refused + `I do not understand "soon"` + say, "2026-02-30 08:00": refused + "February has no 30th; the last day is 28 February",
		}},
		"a routine": {CheckCron, map[string]string{
			"every weekday at 9": "at 9:00, Monday to Friday; next Wednesday 11 March at 09:00 (in 18h)", "daily 8:15": "at 8:15, every day; next Wednesday 11 March at 08:15 (in 18h)",
			"evry day": refused + `I do not understand "evry"; did you mean every?`, "0 0 30 2 *": refused + textNeverFires,
			"9 sharp": refused, "0 9 * *": refused, "61 * * * *": refused,
		}},
		"the end of a mute": {clock, map[string]string{
			"18:30": "10 18:30", "1830": "10 18:30", "18": "10 18:00", "8:30": "11 08:30", "8": "11 08:00", "tomorrow 9": "11 09:00", "fri 0930": "13 09:30",
			"6:30pm": "10 18:30", "14:02": "11 14:02", "00:00": "11 00:00",
			"": refused, "24": refused, "18:60": refused, "183": refused, ":30": refused, "abc": refused, "tomorrow at 930": refused,
		}},
	} {
		for text, want := range c.texts {
			got, ok := c.check(newDesk().Context, text)
			if !ok {
				got = refused + got
			}
			if got != want && (ok || want != refused) || strings.Contains(got, "column") {
				t.Errorf("%s: %q is %q, want %q", what, text, got, want)
			}
		}
	}
}

func TestEveryMomentOfTheDialogLiesAhead(t *testing.T) {
	for now, want := range map[time.Time]string{
		clockAt(16, 59): "30 minutes 17:29, 1 hour 17:59, this evening 18:00, tomorrow 08:00", clockAt(17, 0): "30 minutes 17:30, 1 hour 18:00, tomorrow 08:00",
	} {
		var got []string
		for _, c := range moments(when.Reader{Now: now}) {
			got = append(got, c.name+" "+c.when.Format("15:04"))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("at %s there are %s", now, got)
		}
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	testkit.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, zone).Add(time.Duration(rapid.IntRange(0, 365*86400).Draw(t, "s")) * time.Second)
		for _, c := range moments(when.Reader{Now: now}) {
			if d := c.when.Sub(now); d <= 0 || d > 33*time.Hour {
				t.Fatalf("%s is %s away at %s", c.name, d, now)
			}
		}
		text := rapid.StringMatching(`[0-9:]{0,5}`).Draw(t, "text")
		if at, err := clockTime(text, when.Reader{Now: now}); err == nil && (!at.After(now) || at.Sub(now) > 25*time.Hour+time.Minute) {
			t.Fatalf("%q at %s is %s", text, now, at)
		}
	})
}

func clockAt(hour, minute int) time.Time { return time.Date(2026, 3, 10, hour, minute, 0, 0, time.UTC) }

// sweeping has a routine with four fires and a reminder; ticking has 500 fires of a routine, behind which it is not known.
func sweeping(d *desk) {
	sweep := func(t time.Time) schedule.Entry {
		return schedule.Entry{ID: "aaaa1111", Description: "Email sweep", FireTime: t}
	}
	d.Snap.Schedule = schedule.View{
		Day: []schedule.Entry{sweep(clockAt(14, 30)), {ID: "cccc3333", FireTime: clockAt(16, 2)}, sweep(clockAt(17, 2)), sweep(clockAt(18, 2)), sweep(clockAt(19, 2))},
		Tasks: []schedule.TaskView{
			{ID: "aaaa1111", Title: "Email sweep", Kind: routines.KindRoutine, Next: clockAt(14, 30)},
			{ID: "cccc3333", Title: "Check the oven", Kind: routines.KindReminder, Next: clockAt(16, 2)},
			{ID: "week", Kind: routines.KindRoutine, Next: tuesday.Add(4 * 24 * time.Hour)},
			{ID: "month", Kind: routines.KindRoutine, Next: tuesday.Add(9 * 24 * time.Hour)},
			{ID: "year", Kind: routines.KindRoutine, Next: time.Date(2027, 1, 1, 3, 0, 0, 0, time.UTC)},
		},
	}
}

func ticking(d *desk) {
	for i := range 500 {
		d.Snap.Schedule.Day = append(d.Snap.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: "Tick", FireTime: tuesday.Add(time.Duration(i+1) * time.Minute)})
	}
	d.Snap.Schedule.DayUntil = tuesday.Add(501 * time.Minute)
}

func silent(d *desk) {
	ticking(d)
	for i := range d.Snap.Schedule.Day {
		d.Snap.Schedule.Day[i].Silent = true
	}
}

func TestASnoozeOrAMuteSaysWhatItChanges(t *testing.T) {
	const ticks = "fires without pings: 14:03 Tick, 14:04 Tick, 14:05 Tick and more. Critical pings are still delivered."
	snooze := func(id string, span time.Duration) command.Value {
		return command.Snooze{ID: id, Until: tuesday.Add(span)}
	}
	mute := func(span time.Duration) command.Value { return command.MuteUntil{Until: tuesday.Add(span)} }
	for _, c := range []struct {
		on   func(d *desk)
		do   command.Value
		want string
	}{
		{sweeping, snooze("aaaa1111", 10*time.Minute), "it would not have fired before then; fires next at 14:30"},
		{sweeping, snooze("aaaa1111", time.Hour), "skips the fire at 14:30; fires next at 17:02"},
		{sweeping, snooze("aaaa1111", 4*time.Hour+time.Minute), "skips 3 fires, the first at 14:30; fires next at 19:02"},
		{sweeping, snooze("cccc3333", 3*time.Hour), "it fires at 17:02"},
		{sweeping, snooze("cccc3333", time.Hour), "changes nothing: it fires at 16:02"},
		{sweeping, command.Snooze{ID: "aaaa1111"}, textSnoozeEnds},
		{sweeping, command.MuteUntil{}, textMuteEnds},
		{sweeping, mute(time.Minute), textMuteNothing},
		{sweeping, snooze("week", 15*time.Hour), "it would not have fired before then; fires next at Sat 14:02"},
		{sweeping, snooze("month", 15*time.Hour), "it would not have fired before then; fires next at Thu 19 March 14:02"},
		{sweeping, snooze("year", 15*time.Hour), "it would not have fired before then; fires next at Fri 1 January 2027 03:00"},
		{ticking, mute(time.Hour), "59 " + ticks},
		{ticking, mute(18 * time.Hour), "at least 500 " + ticks},
		{ticking, snooze("aaaa1111", 18*time.Hour), "skips at least 500 fires, the first at 14:03"},
		{ticking, snooze("bbbb2222", 18*time.Hour), "it would not have fired before 22:23; the schedule is not known further ahead"},
		{silent, mute(18 * time.Hour), "no task that may ping fires until 22:23; the schedule is not known further ahead"},
	} {
		d := newDesk()
		c.on(d)
		if got := consequence(d.Snap, c.do); got != c.want {
			t.Errorf("%s: %q, want %q", tuitest.Words(c.do), got, c.want)
		}
	}
}

func TestAMomentIsChosenAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"a moment that passes while the form is open cannot be chosen", nil, `
			mute (half an hour passes) => that is in the past; choose a later time
			enter      => gives nothing
			down enter => gives sends MuteUntil Until=10 15:02:00`, map[string]func(d *desk){"half an hour passes": func(d *desk) {
			later := *d.Snap
			later.At = later.At.Add(30 * time.Minute)
			d.Snap = &later
		}}},
		{"the keys are named", nil, `mute => hints: enter set, ↑/↓ next, HH:MM type, esc cancel`, nil},
		{"a moment of several words can be typed", nil, `mute "sunday 9:00" enter => gives sends MuteUntil Until=15 09:00:00`, nil},
		{"the task that is snoozed is named", sweeping, `
			ending up up    => painted: ‹select  ‹focus ▸ ›‹select end it now  ›‹select active until 16:00  ›
			enter        => gives sends MuteUntil
			snooze down => skips the fire at 14:30; fires next at 17:02
			enter       => gives sends Snooze ID=aaaa1111 Until=10 15:02:00`, nil},
	})
}
