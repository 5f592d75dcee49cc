package schedule

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

func untilDone(runAt string, extra ...string) string {
	return reminderText(idA, runAt, "call", append([]string{"until: done", "again: 10"}, extra...)...)
}

func TestAReminderUntilDoneComesBackUntilItsLastTime(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", untilDone("2000-01-01T00:10:00Z", "max-chain: 2"))
		var seen []string
		n.does(func(_ context.Context, d Due) error {
			time.Sleep(1500 * time.Millisecond) // it repeats after its end, at a whole second
			word := d.Reminder.Label()
			if d.Reminder.LastWord {
				word += ", the last"
			}
			seen = append(seen, word)
			return nil
		})
		n.start()
		n.sleep(2 * time.Hour)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00", "01 00:20:01 aaaaaaaa 01 00:20:01", "01 00:30:02 aaaaaaaa 01 00:30:02",
			"01 00:40:03 aaaaaaaa 01 00:40:03")
		if got := strings.Join(seen, "; "); strings.Count(got, "the last") != 1 || !strings.HasSuffix(got, "the last") {
			t.Errorf("it said %s", got)
		}
		n.wantFile("reminders/a.md", false)
	})
}

func TestAReminderUntilDoneThatCannotBeMovedOnIsTriedAgain(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", untilDone("2000-01-01T00:10:00Z"))
		n.does(func(context.Context, Due) error {
			n.remove("state") // contains the folder's lock
			n.put("state", "in the way")
			return nil
		})
		n.start()
		n.sleep(12 * time.Minute)
		if !strings.Contains(n.log.String(), "its run is tried again") {
			t.Errorf("logged: %s", &n.log)
		}
		n.does(func(context.Context, Due) error {
			n.remove("state")
			return nil
		})
		n.sleep(20 * time.Minute)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00", "01 00:15:00 aaaaaaaa 01 00:10:00 late", "01 00:25:00 aaaaaaaa 01 00:25:00")
	})
}

func TestWhatTheUserDoesToAReminderDuringItsRunStands(t *testing.T) {
	for name, do := range map[string]func(n *night){
		"removed": func(n *night) { n.remove("reminders/a.md") },
		"broken":  func(n *night) { n.put("reminders/a.md", "---\nrun-at: soon\n---\n") },
		"moved":   func(n *night) { n.put("reminders/a.md", untilDone("2000-01-02T00:00:00Z")) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("reminders/a.md", untilDone("2000-01-01T00:10:00Z"))
				n.does(func(context.Context, Due) error {
					do(n)
					return nil
				})
				n.start()
				n.sleep(10 * time.Minute)
				n.look()
				n.sleep(10 * time.Hour)
				n.want("01 00:10:00 aaaaaaaa 01 00:10:00")
				n.wantFile("reminders/a.md", name != "removed")
				if n.log.Len() > 0 {
					t.Errorf("logged: %s", &n.log)
				}
			})
		})
	}
}

func TestAReminderFiredBesideItsScheduleStillFires(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", untilDone("2000-01-01T05:00:00Z"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T05:00:00Z", "write"))
		hands := 0
		n.does(func(_ context.Context, d Due) error {
			if d.ByHand {
				hands++
			}
			return nil
		})
		n.start()
		testkit.Must(t, n.loop.FireNow(idA))
		n.sleep(time.Second)
		testkit.Must(t, n.loop.FireBeside(idB))
		n.sleep(time.Second)
		fires := []string{"01 00:00:00 aaaaaaaa 01 00:00:00", "01 00:00:01 bbbbbbbb 01 00:00:01"}
		if n.want(fires...); hands != 2 {
			t.Errorf("%d were fired by hand", hands)
		}
		n.sleep(5*time.Hour + time.Minute)
		n.wantFile("reminders/a.md", true) // not done yet
		n.wantFile("reminders/b.md", false)
		if len(n.fired) != 4 || hands != 2 {
			t.Errorf("fired %q, %d by hand", n.fired, hands)
		}
	})
}
