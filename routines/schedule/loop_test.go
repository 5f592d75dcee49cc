package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

func TestThousandRoutinesOfOneMinuteAllStartAtOnce(t *testing.T) {
	inBubble(t, func(n *night) {
		for i := range 1000 {
			n.task(fmt.Sprintf("%08x 5 * * * *", i))
		}
		n.play("", "start, sleep 5m")
		for _, f := range n.fires {
			if !f.at.Equal(n.fires[0].at) || len(n.fires) != 1000 {
				t.Fatalf("of %d one started at %v, another at %v", len(n.fires), n.fires[0], f)
			}
		}
	})
}

// A record or holds that cannot be read begin empty; holds of other kinds, of bad ids or without an end hold nothing.
func TestGarbageInAFileHoldsNothingAndOwesNothing(t *testing.T) {
	for text, file := range map[string]string{
		`{"routines": {"a": {"after": 12`: recordFile, `{"routines": {"a": null}}`: recordFile, `{"routines": null}`: recordFile, `null `: recordFile,
		`{"holds": [`: holdsFile, `7`: holdsFile, `{"holds": [{"kind": "webhook", "id": "a", "paused": true}]}`: holdsFile, `null`: holdsFile,
		`{"holds": [{"kind": "routine", "id": "../aaaa", "paused": true}]}`: holdsFile, `{"holds": [{"kind": "routine", "id": "a"}]}`: holdsFile,
	} {
		inBubble(t, func(n *night) {
			n.put(file, text)
			made(n.dir, nil) // which only looks
			if data, err := n.dir.Read(file); err != nil || string(data) != text {
				t.Errorf("a look has made %q of %s, %v", data, text, err)
			}
			n.play("a 5 * * * *", "sleep 12h, start, sleep 6m, notes, pause a, sleep 1h")
			n.want("12:05 a")
		})
	}
}

func TestNothingStartsOnceTheBotEnds(t *testing.T) {
	inBubble(t, func(n *night) {
		n.task("a 0 0 * * *")
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		for range 20 { // whichever it notices first
			s := made(n.dir, func(o *Options) { o.Fire = n.fire })
			s.now = n.clock
			s.orders.rouse()
			testkit.Must(t, s.Run(ended))
		}
		n.want("")
	})
}

func TestTheClockIsCorrectedOnlyBeyondItsBounds(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		to                     time.Time
		again, forgiven, unset bool
	}{
		"a second back":               {to: now.Add(-grace)},
		"more than a second back":     {to: now.Add(-grace - 1), again: true},
		"asleep for a year":           {to: now.Add(maxLeap)},
		"longer than any sleep":       {to: now.Add(maxLeap + 1), again: true, forgiven: true},
		"to the first year of clocks": {to: time.Date(firstYearSet, 1, 1, 0, 0, 0, 0, time.UTC), again: true},
		"to the year before":          {to: time.Date(firstYearSet, 1, 1, 0, 0, 0, -1, time.UTC), unset: true},
	} {
		r := newRoom(t)
		r.put("routines/a.md", routineText(idA, "30 * * * *", "water"))
		l := made(r.dir, nil).newLoop()
		l.begin(now)
		l.agenda.slot = now // a new agenda has none
		seen := l.record.entry(idA).Seen
		l.judgeClock(c.to)
		if again := l.agenda.slot.IsZero(); !c.unset && again != c.again {
			t.Errorf("%s: planned again: %v", name, again)
		}
		if forgiven := !l.record.entry(idA).Seen.Equal(seen); forgiven != c.forgiven {
			t.Errorf("%s: forgiven: %v", name, forgiven)
		}
		fresh := made(r.dir, nil).newLoop()
		if fresh.begin(c.to); fresh.unset != c.unset {
			t.Errorf("%s, at a start: unset %v", name, fresh.unset)
		}
		if noted := len(l.report.notes) > 0; l.unset != c.unset || noted != (c.forgiven || c.unset) {
			t.Errorf("%s: unset %v, notes %q", name, l.unset, l.report.notes)
		}
	}
}

func TestNothingIsRecordedByAWrongClock(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play("a 0 5 * * *", "start, sleep 2s")
		before, err := n.dir.Read(recordFile)
		testkit.Must(t, err)
		n.play("", "jump -10980d, sleep 30s, fire a, sleep 30s")
		after, err := n.dir.Read(recordFile)
		if err != nil || len(n.fires) != 1 || string(after) != string(before) {
			t.Errorf("fired %v, recorded %s, %v", n.fires, after, err)
		}
	})
}

// A routine leaves out the days of a calendar, as it is on the disk; without the calendar it fires, and the account says why.
func TestARoutineLeavesOutTheDaysOfACalendar(t *testing.T) {
	inBubble(t, func(n *night) {
		off := func(from, to string) {
			n.put("off.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Off\nDTSTART;VALUE=DATE:200001"+from+"\nDTEND;VALUE=DATE:200001"+to+"\nEND:VEVENT\nEND:VCALENDAR\n")
		}
		off("02", "04")
		n.play("a 0 9 * * *; skip: 5 Jan, off.ics", "start, sleep 4d1h")
		off("07", "08")
		n.play("", "sleep 4d7h58m30s")
		off("09", "10")
		n.play("", "sleep 16h")
		n.want("09:00 a, 04 09:00 a, 06 09:00 a, 08 09:00 a")
		n.play("", "remove off.ics, sleep 1d, account …10 09:00 a done …off.ics is not in the data directory…")
		if p := n.loop.Set().Problems; len(p) != 1 || p[0].Severity != routines.Warning || !strings.Contains(p[0].Message, "off.ics is not in the data directory") {
			t.Errorf("%+v", p)
		}
	})
}

func TestARemovedRoutineIsRememberedFor30Days(t *testing.T) {
	c := &crashing{room: newRoom(t), now: time.Date(2026, 3, 28, 6, 0, 30, 0, time.UTC)}
	c.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
	c.begin()
	c.step()
	c.l.record.save()
	c.remove("routines/a.md")
	c.begin() // it notices
	c.l.record.save()
	for _, kept := range []bool{true, false} {
		c.now = c.now.Add(keepRemoved)
		c.begin()
		if _, known := c.l.record.Routines[idA]; known != kept {
			t.Errorf("at %s it is remembered: %v", c.now, known)
		}
		c.now = c.now.Add(time.Second - keepRemoved)
	}
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
		n.play("", "sleep 10m")
		n.want("00:05 a")
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
		more := "water more"
		_, err = n.loop.Edit(a.Task, a.Digest, time.UTC, routines.Edit{Body: &more})
		testkit.Must(t, err)
		now, _ := n.loop.Set().Find(idA)
		_, err = n.loop.Revert(a.Task, now.Digest, []byte(routineText(idA, "5 * * * *", "water less")))
		testkit.Must(t, err)
		if less, _ := n.loop.Set().Find(idA); now.Body != more || less.Body != "water less" {
			t.Errorf("it was edited to %q and reverted to %q", now.Body, less.Body)
		}
		rel, found, err := n.loop.Remove(routines.KindReminder, idB)
		if rel != b.Path || !found || err != nil || inForce(idB) {
			t.Errorf("removed %s, %v, %v", rel, found, err)
		}
		if _, found, err := n.loop.Remove(routines.KindRoutine, "nosuch"); found || err != nil {
			t.Errorf("an unknown task was removed: %v, %v", found, err)
		}
		n.play("", "fire a, sleep 1s")
		n.remove(a.Path)
		if _, err := n.loop.Withdraw(idA, routines.Digest([]byte(routineText(idA, "5 * * * *", "water less")))); !errors.Is(err, ErrGone) {
			t.Errorf("a file that is gone was withdrawn: %v", err)
		}
		want := []string{
			a.Path + ": add routine a", b.Path + ": add reminder b", a.Path + ": remove routine a", a.Path + ": restore routine a",
			a.Path + ": change routine a", a.Path + ": change routine a", b.Path + ": remove reminder b",
		}
		starters, err := n.loop.AddStarters()
		testkit.Must(t, err)
		for _, r := range starters {
			if want = append(want, r.Path+": add routine "+r.ID); !inForce(r.ID) {
				t.Errorf("%s is not in force", r.ID)
			}
		}
		if diff := cmp.Diff(want, n.commits); diff != "" {
			t.Errorf("committed (-want +got):\n%s", diff)
		}
	})
}

func TestATaskIsHeldWithoutABotButNotBesideOne(t *testing.T) {
	r := newRoom(t)
	r.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
	r.put("reminders/b.md", reminderText(idB, "2026-11-23T12:00:00Z", "call"))
	if _, err := made(r.dir, nil).Hold(idA, Hold{Paused: true, Until: time.Unix(0, 0)}); err != nil {
		t.Fatal(err) // a pause has no end, so it cannot have passed
	}
	other := made(r.dir, nil)
	if before, err := other.Hold(idB, Hold{Paused: true}); err != nil || before != (Hold{}) {
		t.Errorf("%+v, %v", before, err)
	}
	for _, task := range made(r.dir, nil).Plan(time.Now()).list() {
		if !task.Paused || !task.Next.IsZero() {
			t.Errorf("%+v is not paused", task)
		}
	}
	if err := other.FireNow(idA); err == nil {
		t.Error("a schedule that does not run fired")
	}
	unlock, err := r.dir.Lock()
	testkit.Must(t, err)
	if _, err := made(r.dir, nil).Hold(idA, Hold{}); err == nil || err.Error() != msgClosed {
		t.Errorf("behind the back of a running bot: %v", err)
	}
	testkit.Must(t, unlock())
}

// A gap in the account is filled at the next start, as far as the record allows.
func TestAHoleInTheAccountIsSaidToBeOne(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play("a 0 * * * *", "start, sleep 3h1m, stop")
		data, err := n.dir.Read(account.File)
		testkit.Must(t, err)
		var left []string
		for line := range strings.Lines(string(data)) {
			if !strings.Contains(line, "T01:00") && !strings.Contains(line, "T03:00:00Z\",\"at") {
				left = append(left, line)
			}
		}
		testkit.Must(t, n.dir.Write(account.File, []byte(strings.Join(left, ""))))
		n.play("", "start, account 00:00 a done / 01:00 a unrecorded / 02:00 a done / 03:00 a done")
	})
}

func TestALoopThatIsHeldUpDoesNotAnswer(t *testing.T) {
	inBubble(t, func(n *night) {
		release := make(chan struct{})
		var held atomic.Bool
		n.block = func() {
			if held.Load() {
				<-release
			}
		}
		n.play("", "start")
		ask := func() error {
			ctx, stop := context.WithTimeout(context.Background(), time.Minute)
			defer stop()
			return n.loop.Alive(ctx)
		}
		if err := ask(); err != nil {
			t.Errorf("a loop that waits answers %v", err)
		}
		held.Store(true)
		n.task("a @ 00:02")
		n.loop.Refresh("reminders/a.md")
		n.sleep(2 * time.Minute)
		if err := ask(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a loop that is held up answers %v", err)
		}
		close(release)
		if err := ask(); err != nil {
			t.Errorf("once it is let go it answers %v", err)
		}
	})
}
