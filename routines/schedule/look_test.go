package schedule

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func TestTheNextFiresOfATaskAreListedAlsoBesideTheBot(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/30 * * * *", "water"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.hold(idA, Hold{Until: n.at("01 01:00")})
		n.hold(idB, Hold{Paused: true})
		beside := n.schedule()
		for name, s := range map[string]*Schedule{"the bot": n.loop, "a command": beside} {
			for at, want := range map[string][]string{
				"01 00:00": {"00:30 aaaaaaaa snoozed until 01:00 held", "01:00 aaaaaaaa ", "01:30 aaaaaaaa "},
				"01 00:30": {"01:00 aaaaaaaa ", "01:30 aaaaaaaa ", "02:00 aaaaaaaa "},
			} {
				if diff := cmp.Diff(want, brief(s.NextOf(idA, n.at(at), 3))); diff != "" {
					t.Errorf("%s at %s (-want +got):\n%s", name, at, diff)
				}
			}
			if diff := cmp.Diff([]string{"00:10 bbbbbbbb paused held"}, brief(s.NextOf(idB, n.at("01 00:00"), 3))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if got := s.NextOf("nobody", n.clock(), 3); got != nil {
				t.Errorf("%s: an unknown task fires at %v", name, got)
			}
		}
	})
}

// The outcome of a fire, by its due time.
func TestTheOutcomeOfAFireIsKnownByItsTime(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	e := &routineEntry{Seen: ago(20), LastFire: ago(15), Outcome: outcomeFailed, Passed: ago(12), Why: outcomeHeld, After: ago(10)}
	old := &routineEntry{Seen: ago(30), LastFire: ago(30), Passed: ago(30), After: ago(30)}
	r := record{Routines: map[string]*routineEntry{"a": e, "old": old}, Reminders: map[string]time.Time{"runs": ago(1)}}
	recent, all := r.outcomesSince(now, ago(30)), r.outcomesSince(now, time.Time{})
	for _, c := range []struct {
		k    *outcomes
		id   string
		at   time.Time
		want outcome
	}{
		{recent, "a", ago(20), outcomeNone},
		{recent, "a", ago(20).Add(1), outcomeUnknown},
		{recent, "a", ago(15), outcomeFailed},
		{recent, "a", ago(12), outcomeHeld},
		{recent, "a", ago(10), outcomeUnknown},
		{recent, "a", ago(10).Add(1), outcomeMissed},
		{recent, "a", now, outcomeMissed},
		{recent, "a", now.Add(1), outcomeUnknown},
		{recent, "old", ago(25), outcomeUnknown}, // without news it is not listed
		{all, "old", ago(25), outcomeMissed},
		{recent, "new", ago(1), outcomeUnknown},
		{all, "new", now, outcomeNone},
		{all, "new", now.Add(1), outcomeUnknown},
		{nil, "a", ago(15), outcomeUnknown},
	} {
		if got, before := c.k.routine(c.id, c.at); got != c.want || c.k != nil && c.id == "a" && !before.Equal(e.LastFire) {
			t.Errorf("%s at %v: %q, run before at %v, want %q", c.id, c.at, got, before, c.want)
		}
	}
	for id, want := range map[string]outcome{"runs": outcomeRunning, "waits": outcomeOverdue} {
		if got := recent.reminder(id, now); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
		if got := recent.reminder(id, now.Add(1)); got != outcomeUnknown {
			t.Errorf("%s, after the last look: %q", id, got)
		}
	}
}

func TestTimesAreToldAsPeopleSayThem(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) // a Monday
	for at, want := range map[string]string{
		"2026-11-23T00:00:00Z": "00:00", "2026-11-22T23:59:00Z": "Sunday 23:59", "2026-11-17T12:00:00Z": "Tuesday 12:00",
		"2026-11-16T12:00:00Z": "November 16, 12:00", "2026-11-24T12:00:00Z": "November 24, 12:00", "2025-12-31T12:00:00Z": "December 31 2025, 12:00",
		"2026-11-23T01:30:00+02:00": "Sunday 23:30",
	} {
		when, err := time.Parse(time.RFC3339, at)
		testkit.Must(t, err)
		if got := dueWords(when, now); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
}

func TestANoteNamesFiveFilesAndCountsTheRest(t *testing.T) {
	list := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range map[int]string{
		1: "This routine file has an error:\na",
		2: "These routine files have errors:\na\nb",
		5: "These routine files have errors:\na\nb\nc\nd\ne",
		6: "These routine files have errors:\na\nb\nc\nd\ne\nand 1 more: `ollim-bot check` lists them",
		7: "These routine files have errors:\na\nb\nc\nd\ne\nand 2 more: `ollim-bot check` lists them",
	} {
		for unread, tr := range map[bool]trouble{true: {routines.KindRoutine, list[:n], nil}, false: {routines.KindRoutine, nil, list[:n]}} {
			if got := tr.words(unread); got != want {
				t.Errorf("%d: %q, want %q", n, got, want)
			}
			if got := tr.words(!unread); got != "" {
				t.Errorf("%d: there is nothing to say, and it says %q", n, got)
			}
		}
	}
}

func TestATaskIsHeldWithoutABotButNotBesideOne(t *testing.T) {
	r := newRoom(t)
	r.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
	r.put("reminders/b.md", reminderText(idB, "2026-11-23T12:00:00Z", "call"))
	if _, err := r.schedule().Hold(idA, Hold{Paused: true, Until: time.Unix(0, 0)}); err != nil {
		t.Fatal(err) // a pause has no end, so it cannot have passed
	}
	other := r.schedule()
	if before, err := other.Hold(idB, Hold{Paused: true}); err != nil || before != (Hold{}) {
		t.Errorf("%+v, %v", before, err)
	}
	for _, task := range r.schedule().Plan(time.Now()).list() {
		if !task.Paused || !task.Next.IsZero() {
			t.Errorf("%+v is not paused", task)
		}
	}
	if err := other.FireNow(idA); err == nil {
		t.Error("a schedule that does not run fired")
	}
	unlock, err := r.dir.Lock()
	testkit.Must(t, err)
	if _, err := r.schedule().Hold(idA, Hold{}); err == nil || err.Error() != msgClosed {
		t.Errorf("behind the back of a running bot: %v", err)
	}
	testkit.Must(t, unlock())
}

func TestEveryChangeOfATaskIsInForceAtOnceAndCommitted(t *testing.T) {
	inBubble(t, func(n *night) {
		n.start()
		inForce := func(id string) bool { _, ok := n.loop.Set().Find(id); return ok }
		a, err := n.loop.AddRoutine(routines.Routine{Task: routines.Task{ID: idA, Body: "water", Background: true}, Cron: "5 * * * *"})
		testkit.Must(t, err)
		b, err := n.loop.AddReminder(routines.Reminder{Task: routines.Task{ID: idB, Body: "call", Background: true}, RunAt: n.at("01 06:00")})
		testkit.Must(t, err)
		if !inForce(idA) || !inForce(idB) {
			t.Error("a new task is not in force")
		}
		n.sleep(10 * time.Minute)
		n.want("01 00:05:00 aaaaaaaa 01 00:05:00")
		if _, err := n.loop.Withdraw(idA, "another version"); !errors.Is(err, ErrEdited) || !inForce(idA) {
			t.Errorf("an edited file was withdrawn: %v", err)
		}
		if _, err := n.loop.Withdraw(idA, a.Digest); err != nil || inForce(idA) {
			t.Errorf("not withdrawn: %v", err)
		}
		if _, err := n.loop.Withdraw(idA, a.Digest); !errors.Is(err, ErrGone) {
			t.Errorf("withdrawn twice: %v", err)
		}
		if _, err := n.loop.Restore(idA); err != nil || !inForce(idA) {
			t.Errorf("not restored: %v", err)
		}
		rel, found, err := n.loop.Remove(routines.KindReminder, idB)
		if rel != b.Path || !found || err != nil || inForce(idB) {
			t.Errorf("removed %s, %v, %v", rel, found, err)
		}
		if _, found, err := n.loop.Remove(routines.KindRoutine, "nobody"); found || err != nil {
			t.Errorf("an unknown task was removed: %v, %v", found, err)
		}
		testkit.Must(t, n.loop.FireNow(idA))
		n.does(func(context.Context, Due) error { return nil })
		n.sleep(time.Second)
		added := []string{a.Path + ": add routine aaaaaaaa", b.Path + ": add reminder bbbbbbbb", a.Path + ": restore routine aaaaaaaa"}
		if diff := cmp.Diff(added, n.added); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
		gone := []string{a.Path + ": remove routine aaaaaaaa", b.Path + ": remove reminder bbbbbbbb"}
		if diff := cmp.Diff(gone, n.gone); diff != "" {
			t.Errorf("removed (-want +got):\n%s", diff)
		}
	})
}
