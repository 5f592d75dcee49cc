package schedule

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/routines"
)

// told returns the past fires in the schedule for people and for agents, at the loop's
// moment.
func (n *night) told() (people, agents []string) {
	now := n.clock()
	f := n.loop.Forward(now, "")
	for _, e := range f.Told() {
		if !e.FireTime.After(now) {
			people = append(people, fmt.Sprintf("%s %s %s", e.FireTime.Format("15:04"), e.ID, e.Tag))
		}
	}
	for _, e := range f.Entries {
		if !e.FireTime.After(now) {
			agents = append(agents, fmt.Sprintf("%s %s %s", e.FireTime.Format("15:04"), e.ID, e.Tag))
		}
	}
	return people, agents
}

func (n *night) wantTold(people, agents []string) {
	n.t.Helper()
	gotPeople, gotAgents := n.told()
	if diff := cmp.Diff(people, gotPeople); diff != "" {
		n.t.Errorf("people at %s (-want +got):\n%s", n.clock().Format("15:04:05"), diff)
	}
	if diff := cmp.Diff(agents, gotAgents); diff != "" {
		n.t.Errorf("agents at %s (-want +got):\n%s", n.clock().Format("15:04:05"), diff)
	}
}

func TestTheScheduleSaysWhatHasBecomeOfAFire(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/4 * * * *", "often"))
		n.put("routines/b.md", routineText(idB, "10 0 * * *", "fails"))
		n.put("routines/c.md", routineText("cccccccc", "11 0 * * *", "looks"))
		n.does(func(_ context.Context, d Due) error {
			switch d.Task().ID {
			case idB:
				return errors.New("no")
			case "cccccccc":
				return routines.ErrNothingNew
			}
			return nil
		})
		n.start()
		n.sleep(13 * time.Minute)
		n.wantTold([]string{"00:10 bbbbbbbb failed", "00:11 cccccccc nothing new", "00:12 aaaaaaaa just fired"},
			[]string{"00:10 bbbbbbbb failed", "00:12 aaaaaaaa just fired"})
	})
}

func TestAFireThatNobodyWasThereForIsMissedAndNotFired(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/5 * * * *", "often"))
		n.put("routines/b.md", routineText(idB, "10 * * * *", "hourly"))
		n.start()
		n.sleep(4 * time.Minute)
		n.stop()
		n.sleep(8 * time.Minute)
		n.loop = n.schedule() // a command while the bot is down
		n.loop.now = n.clock
		n.wantTold([]string{"00:00 aaaaaaaa just fired", "00:10 aaaaaaaa missed", "00:10 bbbbbbbb missed"}, []string{"00:00 aaaaaaaa just fired"})
		n.start() // and the restarted bot
		n.wantTold([]string{"00:00 aaaaaaaa just fired", "00:10 aaaaaaaa missed", "00:10 bbbbbbbb missed"}, []string{"00:00 aaaaaaaa just fired"})
		n.sleep(4 * time.Minute)
		n.wantTold([]string{"00:10 bbbbbbbb missed", "00:15 aaaaaaaa just fired"}, []string{"00:15 aaaaaaaa just fired"})
		n.put("reminders/b.md", reminderText(idB, "2000-01-09T00:00:00Z", "of the same id"))
		n.look()
		missed := []string{"00:10 aaaaaaaa missed", "00:10 bbbbbbbb missed"}
		for _, at := range []struct {
			now  time.Time
			want []string
		}{
			{n.clock(), missed}, {n.at("01 00:10"), missed}, {n.at("01 00:10").Add(-1), nil}, // the clock was set back
			{n.at("02 00:10").Add(-1), missed}, {n.at("02 00:10"), nil},
		} {
			if diff := cmp.Diff(at.want, brief(n.loop.View(at.now).Missed)); diff != "" {
				t.Errorf("missed at %v (-want +got):\n%s", at.now, diff)
			}
		}
	})
}

func TestAFireFromBeforeTheTaskWasThereIsNotTold(t *testing.T) {
	inBubble(t, func(n *night) {
		n.start()
		n.sleep(7 * time.Minute)
		n.put("routines/a.md", routineText(idA, "*/5 * * * *", "new"))
		n.look()
		n.sleep(time.Second)
		n.wantTold(nil, nil)
		n.sleep(4 * time.Minute)
		n.wantTold([]string{"00:10 aaaaaaaa just fired"}, []string{"00:10 aaaaaaaa just fired"})
		n.put("routines/a.md", routineText(idA, "6 * * * *", "other times"))
		n.look()
		n.wantTold(nil, nil)
	})
}

func TestARunThatIsUnderWayIsTold(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/5 * * * *", "slow"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:01:00Z", "slow too"))
		n.does(func(context.Context, Due) error {
			time.Sleep(7 * time.Minute)
			return nil
		})
		n.start()
		n.sleep(2 * time.Minute)
		both := []string{"00:00 aaaaaaaa just fired", "00:01 bbbbbbbb just fired"}
		n.wantTold([]string{"00:00 aaaaaaaa running", "00:01 bbbbbbbb running"}, both)
		loop := n.loop
		n.loop = n.schedule()
		n.wantTold([]string{"00:00 aaaaaaaa running", "00:01 bbbbbbbb running"}, both)
		n.loop = loop
		n.sleep(4 * time.Minute) // at 00:05 it was still running
		n.wantTold([]string{"00:00 aaaaaaaa running", "00:01 bbbbbbbb running", "00:05 aaaaaaaa skipped"}, both)
		n.sleep(3 * time.Minute)
		n.wantTold([]string{"00:00 aaaaaaaa just fired", "00:05 aaaaaaaa skipped"}, []string{"00:00 aaaaaaaa just fired"})
	})
}

func TestWhatPassedWhileATaskWasHeldIsToldAsHeld(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "*/5 * * * *", "often"))
		n.start()
		n.sleep(time.Minute)
		if _, err := n.loop.Hold(idA, Hold{Until: n.clock().Add(7 * time.Minute)}); err != nil {
			t.Fatal(err)
		}
		n.sleep(5 * time.Minute)
		n.wantTold([]string{"00:00 aaaaaaaa just fired", "00:05 aaaaaaaa held"}, []string{"00:00 aaaaaaaa just fired"})
		n.sleep(3 * time.Minute) // the hold is over and removed
		n.wantTold([]string{"00:00 aaaaaaaa just fired", "00:05 aaaaaaaa held"}, []string{"00:00 aaaaaaaa just fired"})
	})
}

func TestAReminderThatHasNotBegunIsOverdue(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 0 * * *", "x"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:05:00Z", "soon"))
		n.start()
		n.sleep(2 * time.Second)
		n.stop()
		n.sleep(10 * time.Minute)
		n.loop = n.schedule()
		n.wantTold([]string{"00:00 aaaaaaaa just fired", "00:05 bbbbbbbb overdue"}, []string{"00:00 aaaaaaaa just fired", "00:05 bbbbbbbb overdue"})
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
