package pane_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

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
		{"and from view to view", "schedule", nil, `
			schedule.down schedule.down schedule.view schedule.fire => does FireNow ID=11aa22bb Stays=true
			schedule.view schedule.fire => does FireNow ID=11aa22bb Stays=true
			schedule.view schedule.fire => does FireNow ID=11aa22bb Stays=true`, nil},
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
		{"what is paused goes on, and a hold answers with its command", "schedule", nil, `
			schedule.view [plants] schedule.pause => does Pause ID=5a5a5a5a
			[medication] schedule.pause           => does Pause ID=9a8b7c6d Paused=true
			schedule.snooze => opens Snooze Medication until | form: active until Tue 09:00
			>enter          => sends Snooze ID=9a8b7c6d Until=` + noon.Add(30*time.Minute).String() + `
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
		{"a window within the hour stands there as a range", "schedule", func(c *core.Snapshot) {
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
	})
}
