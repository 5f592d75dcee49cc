package schedule

import (
	"context"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/watch"
)

// The files are read before the loop is notified. In between, due tasks are judged by the
// files.
func TestWhatTheUserChangedAMomentAgoDoesNotFire(t *testing.T) {
	pause := func(n *night, k key) {
		testkit.Must(n.t, n.loop.holds.change(n.dir, false, func(all map[key]held) { all[k] = held{Hold: Hold{Since: n.clock(), Paused: true}} }))
	}
	for name, c := range map[string]struct {
		change func(n *night)
		fires  []string
	}{
		"nothing": {func(*night) {}, []string{
			"01 02:05:00 bbbbbbbb 01 02:05:00", "01 02:05:02 cccccccc 01 02:05:02", "01 02:05:04 aaaaaaaa 01 00:30:00 late",
		}},
		"removed": {func(n *night) { n.remove("routines"); n.remove("reminders") }, nil},
		"paused": {func(n *night) {
			pause(n, routineKey(idA))
			pause(n, routineKey(idB))
			pause(n, reminderKey("cccccccc"))
		}, nil},
		"moved": {func(n *night) {
			n.put("routines/a.md", routineText(idA, "30 * * * *", "water")) // no missed: run
			n.remove("routines/b.md")
			n.put("reminders/c.md", reminderText("cccccccc", "2000-01-01T09:00:00Z", "call"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("routines/a.md", routineText(idA, "30 0 * * *", "water", "missed: run"))
				n.put("routines/b.md", routineText(idB, "5 2 * * *", "wash"))
				n.put("reminders/c.md", reminderText("cccccccc", "2000-01-01T02:05:02Z", "call"))
				n.start()
				n.stop()
				time.Sleep(2*time.Hour + 4*time.Minute + 59*time.Second)
				n.start()
				c.change(n)
				n.loop.index.Apply(watch.Batch{Full: true})
				n.sleep(10 * time.Minute)
				n.want(c.fires...)
			})
		})
	}
}

func TestNothingStartsOnceTheBotEnds(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 0 * * *", "due now"))
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		for range 20 { // whichever it notices first
			s := made(Options{Dir: n.dir, Fire: n.fire})
			s.now = n.clock
			s.index.Scan()
			s.orders.rouse()
			testkit.Must(t, s.Run(ended))
		}
		n.want()
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
		l := r.schedule().newLoop()
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
		if told := len(l.report.notes) > 0; l.unset != c.unset || told != (c.forgiven || c.unset) {
			t.Errorf("%s: unset %v, notes %q", name, l.unset, l.report.notes)
		}
	}
}

func TestNothingIsRecordedByAWrongClock(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 5 * * *", "water"))
		n.start()
		n.sleep(2 * saveDelay)
		before, err := n.dir.Read(recordFile)
		testkit.Must(t, err)
		n.jump(-30 * 366 * 24 * time.Hour)
		n.sleep(longestSleep)
		testkit.Must(t, n.loop.FireNow(idA))
		n.sleep(longestSleep)
		after, err := n.dir.Read(recordFile)
		if err != nil || len(n.fired) != 1 || string(after) != string(before) {
			t.Errorf("fired %q, recorded %s, %v", n.fired, after, err)
		}
	})
}
