package pane_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	taskpage "ollimbot/tui/pane/task"
)

// halfADay is the fixture with runs that have ended, one of them hours ago.
func halfADay(c *core.Snapshot) {
	ended := func(id, task, title string, ago time.Duration, state fork.State) fork.View {
		return fork.View{ID: id, TaskID: task, Title: title, State: state, Started: noon.Add(-ago), Ended: noon.Add(time.Second - ago)}
	}
	c.Ended = []fork.View{
		ended("r0", "ab", "Breakfast", 6*time.Hour, fork.Done),
		ended("r1", "aa", "Morning walk", 14*time.Minute, fork.Failed),
		ended("r2", "bb", "Inbox sweep", 13*time.Minute, fork.Done),
		ended("r3", "cc", "Move around", 12*time.Minute, fork.Done),
		ended("r4", "9a8b7c6d", "Medication", 7*time.Minute, fork.Done),
	}
	c.Ended[2].Reports, c.Ended[3].Refused, c.Ended[4].Pings = 1, 1, 1
	c.Budget.Pings = []budget.Ping{{At: noon.Add(-6 * time.Minute), Run: "r4", Answered: noon.Add(-2 * time.Minute)}}
	c.Schedule.Missed = []schedule.Entry{{ID: "dd", Description: "Stretch", FireTime: noon.Add(-time.Hour), Tag: "missed"}}
}

// dated puts a day of the user's own into the fixture: by their starts, those of whole days
// first, as the core has them.
func dated(s *core.Snapshot) {
	at := func(h, m int) time.Time { return time.Date(2026, 11, 23, h, m, 0, 0, zone) }
	s.Schedule.Problems = nil
	s.Day = []google.Item{
		{ID: "fair", Calendar: "primary", Title: "Book fair", Start: at(0, 0), End: at(48, 0), AllDay: true},
		{Tasks: []google.Task{{Title: "Buy milk"}, {Title: "Return the parcel"}}, Start: at(0, 0), End: at(24, 0), AllDay: true},
		{ID: "call", Calendar: "primary", Title: "Call with Ann", Start: at(13, 30), End: at(14, 30)},
		{ID: "dentist", Calendar: "primary", Title: "Dentist", Place: "12 High Street", Text: "Bring the card.", Link: "https://x.example/e", Start: at(15, 15), End: at(16, 0)},
		{ID: "party", Calendar: "team@example.com", Title: "Party", Start: at(22, 0), End: at(25, 30)},
		{Tasks: []google.Task{{Title: "Taxes"}}, Start: at(24, 0), End: at(48, 0), AllDay: true},
		{ID: "run", Calendar: "primary", Start: at(31, 0), End: at(32, 0)},
	}
}

const waitsFor = "it may use Bash; the agent that wrote it may not"

// awaited is a schedule in which a task, a chain's link and a skill wait for the user.
func awaited(c *core.Snapshot) {
	c.Schedule.Tasks, c.Schedule.Entries = slices.Clone(c.Schedule.Tasks), slices.Clone(c.Schedule.Entries)
	c.Schedule.Entries[2].Held, c.Schedule.Entries[2].Tag, c.Schedule.Entries[2].Why = true, schedule.TagWaits, waitsFor
	c.Schedule.Tasks[0].Waits, c.Schedule.Tasks[1].Waits = waitsFor, waitsFor
	c.Schedule.Problems = []routines.Problem{{File: "skills/x/SKILL.md", Severity: routines.Warning, Message: "this skill is not used until you approve it", Waits: true}}
}

// lacking is a task that runs without a login.
func lacking(c *core.Snapshot) {
	c.Schedule.Problems = []routines.Problem{
		{File: "routines/move-a-little.md", Severity: routines.Warning, Message: "two routines share a title"},
		{File: "routines/move-a-little.md", Severity: routines.Warning, Message: "it runs without your Google calendar: log in with /google-auth", Lacks: "no login"},
	}
}

// windowed has a fire whose minute is not chosen, from 14:30 to 16:00.
func windowed(c *core.Snapshot) {
	c.Schedule.Entries = slices.Clone(c.Schedule.Entries)
	c.Schedule.Entries[2].Until = c.Schedule.Entries[2].FireTime.Add(90 * time.Minute)
}

// edited has edits of files that wait for the user.
func edited(c *core.Snapshot) {
	edit := routines.Proposal{Version: "v1", Why: "it may use Bash; the agent that wrote it may not", Diff: "@@ -1 +1 @@\n-old\n+new"}
	c.Schedule.Tasks, c.Schedule.Entries = slices.Clone(c.Schedule.Tasks), slices.Clone(c.Schedule.Entries)
	c.Schedule.Entries[2].Tag, c.Schedule.Tasks[0].Proposed, c.Schedule.Tasks[1].Proposed = schedule.TagProposed, edit, edit
	c.Schedule.Problems = []routines.Problem{
		{File: "webhooks/ci.md", Severity: routines.Warning, Message: "an edit waits: " + edit.Why, Waits: true, Version: "v1", Proposed: edit},
		{File: c.Schedule.Tasks[0].Path, Severity: routines.Warning, Message: "a hint"},
	}
}

// crowded is a day of which the list of fires shows nine hours only.
func crowded(s *core.Snapshot) {
	from := s.At.Truncate(time.Hour).Add(time.Hour)
	s.Schedule.Problems, s.Schedule.Day = nil, nil
	for i := range 500 {
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: fmt.Sprint(i), Description: fmt.Sprint("Fire ", i), FireTime: from.Add(time.Duration(i) * 65 * time.Second), Kind: routines.KindRoutine})
	}
	s.Schedule.DayUntil = s.Schedule.Day[499].FireTime
}

func TestTheScheduleIsUsedAsItsStoriesSay(t *testing.T) {
	sooner := map[string]change{"something is due sooner": func(c *core.Snapshot) {
		at := slices.IndexFunc(c.Schedule.Entries, func(e schedule.Entry) bool { return e.FireTime.After(noon) })
		c.Schedule.Entries = slices.Insert(slices.Clone(c.Schedule.Entries), at, schedule.Entry{ID: "new", Description: "Sooner", FireTime: noon.Add(time.Second)})
	}}
	tell(t, []story{
		{"what comes next is selected, and details open its page", "schedule", nil, `
			schedule.fire                  => does FireNow ID=0f1e2d3c Stays=true
			schedule.down schedule.details => leads to task c0ffee00
			schedule.edit                  => for c0ffee00
			schedule.delete                => does DeleteTask ID=c0ffee00`, nil},
		{"the selection stays with its task when something comes before it", "schedule", nil, `
			schedule.details => leads to task 0f1e2d3c
			(something is due sooner) schedule.details => leads to task 0f1e2d3c`, sooner},
		{"and when others come and go", "schedule", nil, `
			schedule.down schedule.down (others come) schedule.preview => for 11aa22bb`, map[string]change{"others come": func(c *core.Snapshot) {
			c.Schedule.Entries = slices.Concat([]schedule.Entry{{ID: "newer", FireTime: noon.Add(time.Second)}, {ID: "new", FireTime: noon.Add(time.Minute)}}, c.Schedule.Entries[1:])
		}}},
		{"and from view to view, where what is fired by hand keeps its schedule: a reminder, too", "schedule", nil, `
			schedule.down schedule.fire => does FireNow ID=c0ffee00 Stays=true
			schedule.view schedule.fire => does FireNow ID=c0ffee00 Stays=true
			schedule.view schedule.fire => does FireNow ID=c0ffee00 Stays=true`, nil},
		{"each fire of a task is a row of its own, which stays selected", "schedule", nil, `
			@80x20 schedule.down schedule.down schedule.down schedule.down schedule.down schedule.down => ▸ 18:15
			(time goes by) => ▸ 18:15`, map[string]change{"time goes by": func(c *core.Snapshot) { c.Schedule.Day = c.Schedule.Day[2:] }}},
		{"a problem is read, not fired, and opens at its place", "schedule", nil, `
			[is:error] schedule.details => reads error in routines/gym.md:3:8 | reads as in 0 9 * * 1 | reads Save the file to apply it at once
			schedule.fire    => nothing | says
			schedule.snooze  => nothing | says
			schedule.pause   => nothing | says
			schedule.preview => nothing | says
			schedule.open    => edits routines/gym.md:3:8`, nil},
		{"the title says which view it is", "schedule", func(c *core.Snapshot) { c.Schedule.Problems, c.Routines, c.Reminders = nil, 0, 0 }, `
			              => state: next 3h
			schedule.view => state: all tasks 8
			schedule.view => state: next 3h
			schedule.view => state: all tasks 8`, nil},
		{"problems do not hide it", "schedule", nil, `
			              => state: next 3h · 1 error · 12 routines · 4 reminders
			schedule.view => state: all tasks 8 · 1 error · 12 routines · 4 reminders`, nil},
		{"a day that is not listed to its end says so", "schedule", crowded, `
			@80x20           => not every fire after Tue 00:00 is listed
			(it is whole)    => !is listed
			(it is not) schedule.view => !is listed`, map[string]change{
			"it is whole": func(c *core.Snapshot) { c.Schedule.DayUntil = c.At.Add(24 * time.Hour) }, "it is not": crowded,
		}},
		{"what is paused continues, and a hold answers with its command", "schedule", nil, `
			schedule.view [plants] schedule.pause => does Pause ID=5a5a5a5a
			[medication] schedule.pause           => does Pause ID=9a8b7c6d Paused=true
			schedule.snooze => opens Snooze Medication until | form: active until Tue 09:00
			>enter          => sends Snooze ID=9a8b7c6d Until=` + noon.Add(30*time.Minute).Format("02 15:04:05") + `
			schedule.open   => edits routines/medication.md:0:0`, nil},
		{"what waits is shown with its reason and let go by a key", "schedule", awaited, `
			@160x20 => needs your approval | may use Bash
			schedule.down schedule.allow => asks may use Bash | asks AllowTask ID=c0ffee00
			schedule.down schedule.allow => nothing | says is not waiting
			[is:error] schedule.allow    => asks this skill is not used | asks AllowTask ID=skills/x/SKILL.md
			schedule.view [check email] schedule.allow => asks ` + waitsFor + ` | asks AllowTask ID=0f1e2d3c | needs your approval`, nil},
		{"nothing scheduled still takes a new task", "schedule", func(c *core.Snapshot) { c.Schedule = schedule.View{} }, `
			schedule.new               => opens
			schedule.view schedule.new => opens
			schedule.view schedule.new => opens`, nil},
		{"a task that lacks something says so in its row and in its reason", "schedule", lacking, `
			@80x20 [is:lacking] => "! Nudge me to stand up and move for five minutes, unless… no login" | no login ─ | it runs without your Google calendar
			schedule.view [is:lacking] => "! Nudge me to stand up and move for five minutes, un… no login" | no login ─ | it runs without your Google calendar`, nil},
		{"a window is never cut to its beginning: a narrow list has it in short", "schedule", windowed, `
			@120x20 => 14:30–16:00
			@80x12  => 14:30–16:00
			@40x8   => "14:30–16 "
			@28x6   => "14:30–16 "
			(twelve hours) @80x12 => 2:30pm–4:00pm
			@40x8   => "2:30–4pm "`, map[string]change{"twelve hours": func(c *core.Snapshot) { c.TwelveHours = true }}},
		{"a window within the hour is a range", "schedule", func(c *core.Snapshot) {
			e := schedule.Entry{ID: "ww", Description: "Water", FireTime: noon.Add(4 * time.Minute), Until: noon.Add(64 * time.Minute), Kind: routines.KindRoutine}
			c.Schedule.Entries, c.Schedule.Day = []schedule.Entry{e}, []schedule.Entry{e}
		}, `@60x30 => 14:06–15:06   Water`, nil},
		{"a fire whose check found nothing says so", "schedule", func(c *core.Snapshot) {
			c.Schedule.Entries = append(c.Schedule.Entries, schedule.Entry{
				ID: "ee", Description: "Look for mail", FireTime: noon.Add(-20 * time.Minute), Kind: routines.KindRoutine, Tag: "nothing new",
			})
		}, `@60x30 => Look for mail | nothing new`, nil},
		{"it is filtered as a whole", "schedule", halfADay, `
			@80x16 [is:failed]      => Morning walk | /is:failed | " of 2"
			[is:refused]     => Move around | /is:refused | " of 2"
			[is:answered]    => Medication | /is:answered | " of 2"
			[is:missed]      => Stretch | /is:missed | " of 2"
			[1 dec]          => Christmas cards | /1 dec | " of 2"
			["the landlord"] => Has the landlord answered? | /"the landlord" | " of 2"`, nil},
		{"a filter that keeps nothing says so, and its words are offered", "schedule", nil, `
			@80x16 schedule.find "nowhere"     => "No match in " | Esc removes the filter.
			escape @120x16 schedule.find "is:" => is:routine running silent`, nil},
		{"the list of all tasks has no appointments", "schedule", dated, `@80x16 schedule.view => !▪ | Christmas`, nil},
		{"the next appointment is in the one line", "schedule", func(c *core.Snapshot) {
			dated(c)
			c.Schedule.Day, c.Schedule.Entries, c.Schedule.Tasks = nil, nil, nil
		}, `=> line: Schedule 15:15 in 1h13 Dentist`, nil},
		{"an appointment is read and nothing else", "schedule", dated, `
			@80x16 schedule.top schedule.down schedule.down schedule.details => opens Book fair
			=> page: Mon 23 Nov to Tue 24 Nov⏎calendar primary⏎⏎Due on Mon 23 Nov:⏎- Buy milk⏎- Return the parcel
			schedule.down schedule.details => page: Due on Mon 23 Nov:⏎- Buy milk⏎- Return the parcel
			[dentist]        => ▪ Dentist
			schedule.details => reads Mon 23 Nov 15:15 to 16:00⏎12 High Street⏎https://x.example/e⏎calendar primary⏎⏎Bring the card.⏎⏎Due on
			schedule.fire    => nothing | says this is in your Google account: change it there, or ask the agent to
			schedule.preview => nothing | says this is in your Google account: change it there, or ask the agent to
			schedule.snooze  => nothing | says this is in your Google account: change it there, or ask the agent to
			schedule.pause   => nothing | says this is in your Google account: change it there, or ask the agent to
			schedule.open    => nothing | says this is in your Google account: change it there, or ask the agent to
			schedule.new     => opens
			esc (one more)   => ▸ 15:15 ▪ Dentist
			(none)           => !▪ | ▸`, map[string]change{
			"one more": func(c *core.Snapshot) {
				c.Day = slices.Insert(slices.Clone(c.Day), 0, google.Item{ID: "new", Title: "New", AllDay: true, Start: noon.Add(-14 * time.Hour), End: noon.Add(10 * time.Hour)})
			},
			"none": func(c *core.Snapshot) { c.Day = nil },
		}},
		{"what has run hours ago is in the list of runs, and not here too", "schedule", halfADay, `@44x30 => !Breakfast | Morning walk`, nil},
		{"what has waited since an earlier day is under that day", "schedule", halfADay, `
			@60x40 (others wait) schedule.top => in order: ─ yesterday, 15:02   Bins, 16:02 ! The library book, ─ today, 13:02   Stretch, files to fix, ─ today, 13:02 ! The keys, ─ now`, map[string]change{"others wait": func(c *core.Snapshot) {
			c.Schedule.Missed = append(c.Schedule.Missed, schedule.Entry{ID: "ee", Description: "Bins", FireTime: noon.Add(-23 * time.Hour), Tag: "missed"})
			c.Schedule.Tasks = append(slices.Clone(c.Schedule.Tasks),
				schedule.TaskView{ID: "ff", Title: "The library book", Kind: routines.KindReminder, Next: noon.Add(-22 * time.Hour), Waits: "it may use Bash"},
				schedule.TaskView{ID: "f1", Title: "The keys", Kind: routines.KindReminder, Next: noon.Add(-time.Hour), Waits: "it may use Bash"})
		}}},
		{"now is a third from the top until one scrolls", "schedule", func(c *core.Snapshot) { halfADay(c); c.Schedule.Problems = nil }, `
			@44x15              => 4: now 14:02 | 14: :
			(time goes by)      => ▸ 14:05
			(it is as before) schedule.top => 0: today | 2: Morning walk | 9: now 14:02
			schedule.down schedule.details => leads to forks r1
			schedule.fire       => nothing | says no longer scheduled
			esc                 => 4: now 14:02`, map[string]change{"time goes by": func(c *core.Snapshot) { c.Ended = c.Ended[2:] }, "it is as before": func(c *core.Snapshot) {
			problems := c.Schedule.Problems
			halfADay(c)
			c.Schedule.Problems = problems
		}}},
		{"a link of a chain is one in every view", "schedule", nil, `
			@80x20        => once: answered?, check 2 of 5 | once: landlord
			schedule.view => once: answered?, check 2 of 5 | once: landlord`, nil},
		{"a file that is broken is fixed first, and one with a hint only is in force", "schedule", func(c *core.Snapshot) {
			c.Schedule.Problems = []routines.Problem{
				{File: "routines/weekly-review.md", Severity: routines.Warning, Message: "two routines share a title"},
				{File: "webhooks/post.md", Severity: routines.Warning, Message: "nobody can reach it"},
				{File: "routines/weekly-review.md", Line: 2, Severity: routines.Error, Message: "no cron"},
			}
		}, `
			[is:error] schedule.bottom schedule.fire => nothing | says fix this file first: enter shows how
			schedule.preview => nothing | says fix this file first
			schedule.snooze  => nothing | says fix this file first
			schedule.pause   => nothing | says fix this file first
			schedule.up schedule.fire => nothing | says not a task
			schedule.preview => nothing | says not a task
			schedule.snooze  => nothing | says not a task
			schedule.pause   => nothing | says not a task
			schedule.up schedule.fire => nothing | says fix this file first
			(the error is mended) schedule.top schedule.fire => does FireNow ID=e5f6a7b8 Stays=true
			schedule.preview => for e5f6a7b8
			schedule.snooze  => opens
			schedule.pause   => does Pause ID=e5f6a7b8 Paused=true
			schedule.details => reads two routines share a title`, map[string]change{"the error is mended": func(c *core.Snapshot) { c.Schedule.Problems = c.Schedule.Problems[:2] }}},
		// Of a task, of a task with a hint, and of a webhook, which has no row but that of a problem.
		{"an edit that waits is marked and shown by a key", "schedule", edited, `
			@36x20 [landlord]       => an edit waits | y shows it: it may use Bash
			schedule.allow          => opens Edit of
			~1s >r                  => does RefuseEdit ID=c0ffee00 Version=v1
			[is:error "a hint"]     => an edit waits | y shows it: it may use Bash
			schedule.allow          => opens Edit of routines/email-sweep.md
			~1s >r                  => does RefuseEdit ID=routines/email-sweep.md Version=v1
			[is:error webhooks]     => an edit waits | y shows it: it may use Bash
			schedule.allow          => opens Edit of webhooks/ci.md
			~1s >r                  => does RefuseEdit ID=webhooks/ci.md Version=v1
			esc @160x20             => in order: ` + schedule.TagProposed + `, ` + schedule.TagProposed, nil},
		{"the page of a task says what it lacks", "task", func(c *core.Snapshot) {
			c.Schedule.Problems = []routines.Problem{{File: c.Schedule.Tasks[0].Path, Severity: routines.Warning, Message: "it runs without your Google calendar: log in with /google-auth", Lacks: "no login"}}
		}, `@160x20 => it runs without your Google calendar: log in with /google-auth`, nil},
	})
	s := open("schedule")
	made := schedule.TaskView{ID: "new1", Title: "Just made", Path: "routines/just-made.md", Kind: "routine", Next: noon.Add(30 * time.Hour)}
	s.Pane.(interface {
		Show(c pane.Context, id string)
	}).Show(s.c, made.ID) // before the snapshot has it
	(&player{stage: s, t: t, w: 60, h: 20, own: map[string]change{"it is there": func(c *core.Snapshot) { c.Schedule.Tasks = append(slices.Clone(c.Schedule.Tasks), made) }}}).plays(`
		(it is there) (nothing happens) => ▸ 20:02   Just made
		schedule.preview                => for new1`)
}

func TestEachFireAndAppointmentIsShownOnceByItsTime(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := open("schedule")
		moments := func(from int) *rapid.Generator[[]int] { return rapid.SliceOfN(rapid.IntRange(from, 60), 0, 12) }
		var want int
		s.next(func(c *core.Snapshot) {
			c.Schedule, c.Forks = schedule.View{}, nil
			fires, dates := moments(-5).Draw(t, "fires"), moments(0).Draw(t, "dates")
			slices.Sort(fires)
			slices.Sort(dates)
			for i, m := range fires {
				c.Schedule.Entries = append(c.Schedule.Entries, schedule.Entry{ID: fmt.Sprint("f", i), Description: "Fire", FireTime: noon.Add(time.Duration(m) * time.Minute)})
			}
			for i, m := range dates {
				at := noon.Add(time.Duration(m) * time.Minute)
				c.Day = append(c.Day, google.Item{ID: fmt.Sprint("d", i), Title: "Date", Start: at, End: at.Add(time.Hour)})
			}
			want = len(fires) + len(dates)
		})
		var clocks []string
		for _, l := range strings.Split(s.screen(80, 30), "\n") {
			if strings.Contains(l, "Fire") || strings.Contains(l, "Date") {
				clocks = append(clocks, strings.TrimSpace(strings.ReplaceAll(l, "▸", " "))[:5])
			}
		}
		if len(clocks) != want || !slices.IsSorted(clocks) {
			t.Errorf("%d of %d: %v", len(clocks), want, clocks)
		}
	})
}

func TestProblemsAreAlwaysInSight(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := open("schedule")
		s.next(func(c *core.Snapshot) {
			for i := range rapid.IntRange(0, 20).Draw(t, "entries") {
				c.Schedule.Entries = append(c.Schedule.Entries, schedule.Entry{ID: fmt.Sprint(i), FireTime: noon.Add(time.Hour)})
			}
		})
		for range rapid.IntRange(0, 25).Draw(t, "down") {
			s.do(action.Schedule.ID("down"))
		}
		screen := s.screen(rapid.IntRange(16, 90).Draw(t, "w"), rapid.IntRange(2, 30).Draw(t, "h"))
		if !strings.Contains(screen, "error") && !strings.Contains(screen, "gym") || strings.Count(screen, "▸") != 1 {
			t.Fatalf("the error or the selection is out of sight:\n%s", screen)
		}
	})
}

func TestThousandsOfTasksAreDrawnAsFastAsAFew(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) {
		c.Schedule.Tasks = make([]schedule.TaskView, 10_000)
		for i := range c.Schedule.Tasks {
			c.Schedule.Tasks[i] = schedule.TaskView{ID: fmt.Sprint(i), Title: fmt.Sprintf("Task %d", i), When: "9:00, every day", Next: noon.Add(time.Hour)}
		}
	})
	s.do(action.ScheduleView, action.Schedule.ID("bottom"))
	allocs := testing.AllocsPerRun(5, func() {
		s.next(func(*core.Snapshot) {})
		s.screen(80, 20)
	})
	if allocs > 1500 {
		t.Errorf("%.0f allocations to draw 20 of 10,000 rows", allocs)
	}
	has(t, s.screen(80, 20), "Task 9999")
}

// askedFor notes which task was read last.
type askedFor struct {
	pane.Reader
	id string
}

func (r *askedFor) Preview(_ context.Context, id string) (string, error) {
	r.id = id
	return "", nil
}

func (r *askedFor) Past(_ context.Context, id string) (command.TaskPast, error) {
	r.id = id
	return command.TaskPast{}, nil
}

// readFor is the task that a page is read of.
func readFor(t *testing.T, a pane.Answer) string {
	t.Helper()
	if a.Open == nil || a.Load == nil {
		t.Fatalf("it reads nothing: %#v", a)
	}
	r := &askedFor{}
	a.Load(t.Context(), r)
	return r.id
}

func TestThePageOfATaskForgetsWhatWasReadForAnother(t *testing.T) {
	p := &taskpage.Page{}
	c := everydayContext(plainTheme())
	c.Zoomed = true
	one, other := c.Snap.Schedule.Tasks[0].ID, c.Snap.Schedule.Tasks[1].ID
	p.Show(c, one)
	for range 2 { // the past, and the prompt
		late := p.Wants(c).Load(t.Context(), stored{past: command.TaskPast{Runs: make([]fork.View, 7)}, prompt: "of the first"})
		p.Show(c, other)
		late(c)
		lacks(t, "the first task is shown", strings.Join(drawn(p, c, 80, 20, true), "\n"), "of the first")
		lacks(t, "the first task is shown", strings.Join(drawn(p, c, 80, 20, true), "\n"), "7 runs")
		p.Show(c, one)
		p.Wants(c)
	}
}

// Poster 2: a task beside the list is its own text first, then what is known, and the rest of its prompt only as a number.
func TestAWidePageOfTheScheduleShowsTheSelectedTask(t *testing.T) {
	past := command.TaskPast{Next: []command.NextFire{{At: noon.Add(time.Hour)}}, Rate: fork.Rate{Runs: 2, Pings: 1}}
	past.File.Body = "Look through what is unread.\nLeave newsletters out."
	for i := range 3 {
		at := noon.Add(time.Duration(i-5) * time.Hour)
		past.Runs = append(past.Runs, fork.View{State: fork.Done, Started: at, Ended: at.Add(time.Minute)})
	}
	from := stored{past: past, prompt: "[routine-bg]\nLook through what is unread.\nLeave newsletters out.\nYou may ping."}
	(&player{stage: open("schedule"), t: t, w: 198, h: 40, ledger: &ledger{Reader: from}}).plays(`
		zoom
		load          => in order: │─ Check email ─, │ Look through, │ Leave newsletters out., │ every hour, never pings, next      15:02, pings, also sent 2 lines, p shows, runs, 11:02 · done, 10:02 · done, 09:02 · done
		=> !You may ping
		schedule.down => │─ Has the landlord answered? | !unread.
		@118x40       => ─ Has the landlord answered?, check 2 of 5 ─ | !│`)
}
