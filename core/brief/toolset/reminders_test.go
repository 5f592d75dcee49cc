package toolset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/leeway"
	"ollimbot/routines/when"
)

// shelf is an in-memory reminder book.
type shelf struct {
	list []routines.Reminder
	zone *time.Location
	fail error
}

func (s *shelf) Continue(ctx context.Context, _, next routines.Reminder) (routines.Reminder, error) {
	return s.Add(ctx, next)
}

func (s *shelf) Add(_ context.Context, r routines.Reminder) (routines.Reminder, error) {
	if s.fail != nil {
		return r, s.fail
	}
	r.ID = fmt.Sprintf("%08x", len(s.list)+1)
	r.Path = "reminders/" + r.ID + ".md"
	s.list = append(s.list, r)
	return r, nil
}

func (s *shelf) List() []routines.Reminder { return s.list }

func (s *shelf) Cancel(id string) (bool, error) {
	for i, r := range s.list {
		if r.ID == id {
			s.list = append(s.list[:i], s.list[i+1:]...)
			return true, s.fail
		}
	}
	return false, s.fail
}

func (s *shelf) Times() when.Reader { return when.Reader{Now: time.Now().In(s.zone)} }

// within returns a reminder with a window.
func within(at time.Time, body string) routines.Reminder {
	w := leeway.Window{From: 9 * 60, To: 11 * 60}
	if at.Hour() == 0 {
		w = leeway.Window{From: 30, To: 2 * 60}
	}
	return routines.Reminder{Task: routines.Task{Body: body, Background: true, Leeway: leeway.Rule{Window: w}}, RunAt: at}
}

func TestAWrongWindowIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for args, want := range map[string]string{
			`{"prompt":"x","window":"nine"}`:                            "is not a window",
			`{"prompt":"x","window":"11:00-9:00"}`:                      "midnight",
			`{"prompt":"x","window":"0:30-2:00","delay_minutes":30}`:    "Name a later day",
			`{"prompt":"x","window":"9:00-11:00","run_at":"yesterday"}`: "Error",
		} {
			book := &shelf{zone: time.FixedZone("", 3600)}
			if a := use(t, &recorder{book: book}, AddReminder, args); !a.IsError || !strings.Contains(a.Text, want) || len(book.list) > 0 {
				t.Errorf("%s: %+v", args, a)
			}
		}
	})
}

func TestAReminderIsSetAtItsTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	tests := []struct {
		args, answer string
		want         routines.Reminder
	}{
		{
			`{"prompt":"Call the dentist","delay_minutes":30}`, "Reminder 00000001 set for 1:30 AM.",
			routines.Reminder{Task: routines.Task{Body: "Call the dentist", Background: true}, RunAt: time.Date(2000, 1, 1, 1, 30, 0, 0, berlin)},
		},
		{
			`{"prompt":"x","run_at":"2000-01-01T15:00:00","description":"Tea\u001b[1m","foreground":true,"max_chain":3}`, "Reminder 00000001 set for 3:00 PM.",
			routines.Reminder{Task: routines.Task{Body: "x", Description: "Tea"}, RunAt: time.Date(2000, 1, 1, 15, 0, 0, 0, berlin), MaxChain: 3},
		},
		{
			`{"prompt":"with an offset","run_at":"2000-01-01T05:00:00Z"}`, "Reminder 00000001 set for 6:00 AM.",
			routines.Reminder{Task: routines.Task{Body: "with an offset", Background: true}, RunAt: time.Date(2000, 1, 1, 6, 0, 0, 0, berlin)},
		},
		{
			`{"prompt":"seconds are lost","run_at":"2000-01-01 01:10:59"}`, "Reminder 00000001 set for 1:10 AM.",
			routines.Reminder{Task: routines.Task{Body: "seconds are lost", Background: true}, RunAt: time.Date(2000, 1, 1, 1, 10, 0, 0, berlin)},
		},
		{
			`{"prompt":"at least a minute","run_at":"2000-01-01T01:00:20"}`, "Reminder 00000001 set for 1:01 AM.",
			routines.Reminder{Task: routines.Task{Body: "at least a minute", Background: true}, RunAt: time.Date(2000, 1, 1, 1, 1, 0, 0, berlin)},
		},
		// A window gives the time, run_at or delay_minutes the day.
		{
			`{"prompt":"next","window":"9:00-11:00"}`, "Reminder 00000001 set for between 9:00 AM and 11:00 AM: the program chooses the minute.",
			within(time.Date(2000, 1, 1, 9, 0, 0, 0, berlin), "next"),
		},
		{
			`{"prompt":"open","window":"0:30-2:00"}`, "Reminder 00000001 set for between 12:30 AM on Sun 2000-01-02 and 2:00 AM on Sun 2000-01-02: the program chooses the minute.",
			within(time.Date(2000, 1, 2, 0, 30, 0, 0, berlin), "open"),
		},
		{
			`{"prompt":"a day","window":"9:00-11:00","run_at":"2000-01-04T15:00"}`,
			"Reminder 00000001 set for between 9:00 AM on Tue 2000-01-04 and 11:00 AM on Tue 2000-01-04: the program chooses the minute.",
			within(time.Date(2000, 1, 4, 9, 0, 0, 0, berlin), "a day"),
		},
		// F2: a time of day means its next occurrence, and a day other than today is named.
		{
			`{"prompt":"today","run_at":"15:30"}`, "Reminder 00000001 set for 3:30 PM.",
			routines.Reminder{Task: routines.Task{Body: "today", Background: true}, RunAt: time.Date(2000, 1, 1, 15, 30, 0, 0, berlin)},
		},
		{
			`{"prompt":"tomorrow","run_at":"12:30 AM"}`, "Reminder 00000001 set for 12:30 AM on Sun 2000-01-02.",
			routines.Reminder{Task: routines.Task{Body: "tomorrow", Background: true}, RunAt: time.Date(2000, 1, 2, 0, 30, 0, 0, berlin)},
		},
		{
			`{"prompt":"by the minute","delay_minutes":1440}`, "Reminder 00000001 set for 1:00 AM on Sun 2000-01-02.",
			routines.Reminder{Task: routines.Task{Body: "by the minute", Background: true}, RunAt: time.Date(2000, 1, 2, 1, 0, 0, 0, berlin)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the bubble starts on 2000-01-01 at 01:00 in Berlin
				book := &shelf{zone: berlin}
				a := use(t, &recorder{book: book}, AddReminder, tt.args)
				if a.Text != tt.answer {
					t.Fatalf("answer %q, want %q", a.Text, tt.answer)
				}
				want := tt.want
				want.Kind, want.ID, want.Path = routines.KindReminder, "00000001", "reminders/00000001.md"
				want.Thinking, want.AllowPing, want.Mode = true, true, routines.OnPing
				if diff := cmp.Diff([]routines.Reminder{want}, book.list); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// The tool's answer, the written time and the parsed time are the same, even if the wall
// clock skips or repeats the time.
func TestAReminderHasOneTimeAtClockChanges(t *testing.T) {
	la, err := time.LoadLocation("America/Los_Angeles")
	testkit.Must(t, err)
	for _, c := range []struct{ now, runAt, answer, listed string }{
		{"2026-03-08T01:00:30-08:00", "2026-03-08T02:30:00", "3:00 AM.", "2026-03-08 03:00 AM —"},
		{"2026-11-01T00:10:30-07:00", "2026-11-01T01:30:00", "1:30 AM -07:00.", "2026-11-01 01:30 AM -07:00 —"},
		{"2026-11-01T00:10:30-07:00", "2026-11-01T01:30:00-08:00", "1:30 AM -08:00.", "2026-11-01 01:30 AM -08:00 —"},
		{"2026-11-22T17:30:20-08:00", "2026-11-22T18:00:00", "6:00 PM.", "2026-11-22 06:00 PM —"},
		{"2026-11-22T17:59:40-08:00", "2026-11-22 18:00", "6:00 PM.", "2026-11-22 06:00 PM —"},
		{"2026-11-22T17:30:20-08:00", "2026-11-23", "8:00 AM on Mon 2026-11-23.", "2026-11-23 08:00 AM —"},
	} {
		synctest.Test(t, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, c.now)
			testkit.Must(t, err)
			time.Sleep(time.Until(now))
			book := &shelf{zone: la}
			a := use(t, &recorder{book: book}, AddReminder, `{"prompt":"x","run_at":"`+c.runAt+`"}`)
			if a.IsError || !strings.HasSuffix(a.Text, "set for "+c.answer) {
				t.Fatalf("%s at %s: %q", c.runAt, c.now, a.Text)
			}
			if list := use(t, &recorder{book: book}, ListReminders, `{}`); !strings.Contains(list.Text, c.listed) {
				t.Errorf("%s is listed as %q", c.runAt, list.Text)
			}
			file, problems := routines.ParseReminder("r.md", []byte(strings.Replace(string(routines.FormatReminder(book.list[0])),
				book.list[0].RunAt.Format(time.RFC3339), c.runAt, 1)), la)
			if routines.HasErrors(problems) && c.runAt != "2026-11-23" || len(c.runAt) > 10 && !file.RunAt.Equal(book.list[0].RunAt) {
				t.Errorf("%s in a file is %s, from the tool %s", c.runAt, file.RunAt, book.list[0].RunAt)
			}
		})
	}
}

func TestRemindersAreListedByTimeAndCancelledById(t *testing.T) {
	at := time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC)
	book := &shelf{zone: time.UTC}
	r := &recorder{book: book}
	if a := use(t, r, ListReminders, `{}`); a.Text != "No pending reminders." {
		t.Errorf("an empty book: %q", a.Text)
	}
	for _, m := range []routines.Reminder{
		{Task: routines.Task{Body: "b"}, RunAt: at.Add(time.Hour)},
		{Task: routines.Task{Body: "a", Description: "Tea", Background: true}, RunAt: at},
	} {
		if _, err := book.Add(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	want := "- 00000002 [bg] 2026-03-01 03:00 PM — Tea  (reminders/00000002.md)\n" +
		"- 00000001 [fg] 2026-03-01 04:00 PM — (no description)  (reminders/00000001.md)"
	if a := use(t, r, ListReminders, `{}`); a.Text != want {
		t.Error(cmp.Diff(want, a.Text))
	}
	if a := use(t, r, CancelReminder, `{"reminder_id":" 00000002 "}`); a.Text != "Reminder 00000002 cancelled." || len(book.list) != 1 {
		t.Errorf("cancel: %+v", a)
	}
	book.fail = errors.New("disk full")
	if a := use(t, r, AddReminder, `{"prompt":"x","delay_minutes":1}`); !a.IsError || !strings.Contains(a.Text, "disk full") {
		t.Errorf("a disk's fault: %+v", a)
	}
}

func TestOnlyAReminderOfAChainThatCanBeWrittenHasOne(t *testing.T) {
	chain := &routines.Reminder{MaxChain: 1}
	for what, c := range map[string]struct {
		book     ReminderBook
		reminder *routines.Reminder
		has      bool
	}{
		"a chain": {&shelf{}, chain, true}, "no reminder": {&shelf{}, nil, false}, "a single one": {&shelf{}, &routines.Reminder{}, false},
		"a session that writes no reminders": {nil, chain, false},
	} {
		if has := NewChain(c.book, c.reminder) != nil; has != c.has {
			t.Errorf("%s: has a chain: %v", what, has)
		}
	}
}

func TestAnotherChecksTimeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &shelf{zone: time.UTC}
		c := NewChain(book, &routines.Reminder{Task: routines.Task{ID: "root0001"}, MaxChain: 2})
		if got := c.FollowUp(t.Context(), 1); got.Text != "Follow-up scheduled in 1 minute (12:01 AM), as check 2 of 3." {
			t.Errorf("answer %q", got.Text)
		}
		if got := c.next; !got.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("scheduled for %s", got)
		}
		if NewChain(book, &routines.Reminder{}) != nil || NewChain(book, nil) != nil {
			t.Error("a one-shot has a chain")
		}
	})
}
