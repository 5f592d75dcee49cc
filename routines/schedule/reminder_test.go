package schedule

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func (n *night) wantFile(rel string, there bool) {
	n.t.Helper()
	if _, err := os.Stat(n.dir.Path(rel)); (err == nil) != there {
		n.t.Errorf("%s is there: %v, want %v", rel, err == nil, there)
	}
}

func TestAReminderFiresOnceAndItsFileIsRemovedAfterItsRun(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(context.Context, Due) error {
			n.wantFile("reminders/a.md", true)
			return nil
		})
		n.start()
		n.sleep(time.Hour)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00")
		n.wantFile("reminders/a.md", false)
		if len(n.gone) != 1 || n.gone[0] != "reminders/a.md: remove reminder aaaaaaaa" {
			t.Errorf("removed: %v", n.gone)
		}
		if _, ok := n.loop.Set().Find(idA); ok {
			t.Error("it is still in force")
		}
	})
}

func TestAReminderThatFailsIsRemovedToo(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(context.Context, Due) error { panic("no") })
		n.start()
		n.sleep(time.Hour)
		n.wantFile("reminders/a.md", false)
	})
}

func TestAnOverdueReminderFiresAfterFiveSecondsAndIsLate(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(48 * time.Hour)
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.sleep(10 * time.Second)
		n.put("reminders/b.md", reminderText(idB, "2000-01-02T00:10:00Z", "write"))
		n.look()
		n.sleep(10 * time.Second)
		n.want("03 00:00:05 aaaaaaaa 01 00:10:00 late", "03 00:00:15 bbbbbbbb 02 00:10:00 late")
	})
}

func TestAnEditOfALateReminderKeepsItsPlace(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(48 * time.Hour)
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.sleep(4 * time.Second)
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call home"))
		n.look()
		n.sleep(10 * time.Second)
		n.want("03 00:00:05 aaaaaaaa 01 00:10:00 late")
	})
}

func TestAReminderWhoseRunWasInterruptedFiresAgainLate(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(ctx context.Context, _ Due) error {
			<-ctx.Done()
			return ctx.Err()
		})
		n.start()
		n.sleep(11 * time.Minute)
		n.stop()
		n.wantFile("reminders/a.md", true)
		n.does(func(context.Context, Due) error { return nil })
		n.start()
		n.sleep(10 * time.Second)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00", "01 00:11:05 aaaaaaaa 01 00:10:00 late")
		n.wantFile("reminders/a.md", false)
	})
}

func TestACancelledReminderDoesNotFire(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(time.Hour)
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T01:10:00Z", "call"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T00:10:00Z", "overdue"))
		n.start()
		n.remove("reminders/a.md")
		n.remove("reminders/b.md")
		n.look()
		n.sleep(time.Hour)
		n.want()
	})
}

func TestAnEditedReminderMoves(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:20:00+00:00", "call"))
		n.look()
		n.sleep(15 * time.Minute)
		n.want()
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:16:00Z", "call"))
		n.look()
		n.sleep(15 * time.Minute)
		n.want("01 00:16:00 aaaaaaaa 01 00:16:00")
	})
}

func TestAReminderEditedDuringItsRunFiresAgainAtItsNewTime(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(context.Context, Due) error {
			time.Sleep(time.Minute)
			return nil
		})
		n.start()
		n.sleep(10*time.Minute + 30*time.Second)
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:30:00Z", "call again"))
		n.look()
		n.sleep(time.Hour)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00", "01 00:30:00 aaaaaaaa 01 00:30:00")
		n.wantFile("reminders/a.md", false)
	})
}

func TestAReminderRenamedDuringItsRunIsRemoved(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(context.Context, Due) error {
			time.Sleep(time.Minute)
			return nil
		})
		n.start()
		n.sleep(10*time.Minute + 30*time.Second)
		testkit.Must(t, os.Rename(n.dir.Path("reminders/a.md"), n.dir.Path("reminders/b.md")))
		n.look()
		n.sleep(time.Hour)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00")
		n.wantFile("reminders/b.md", false)
	})
}

func TestAReminderWhoseFileCannotBeRemovedDoesNotFireTwice(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.does(func(context.Context, Due) error {
			// The folder's lock is in state/; without it nothing can be removed.
			n.remove("state")
			n.put("state", "in the way")
			return nil
		})
		n.start()
		n.sleep(time.Hour)
		n.look()
		n.sleep(time.Hour)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00")
		n.wantFile("reminders/a.md", true)
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T03:00:00Z", "call"))
		n.look()
		n.sleep(2 * time.Hour)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00", "01 03:00:00 aaaaaaaa 01 03:00:00")
	})
}

func TestFireNowOfAReminderUsesItUp(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		n.start()
		n.sleep(time.Minute)
		testkit.Must(t, n.loop.FireNow(idA))
		synctest.Wait()
		n.wantFile("reminders/a.md", false)
		n.sleep(time.Hour)
		n.want("01 00:01:00 aaaaaaaa 01 00:01:00")
	})
}

func TestAReminderWhoseFailedRunCouldNotBeRecordedIsTriedAgain(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T00:10:00Z", "call"))
		tries := 0
		n.does(func(context.Context, Due) error {
			if tries++; tries < 3 {
				return fmt.Errorf("no space: %w", routines.ErrUnrecorded)
			}
			return nil
		})
		n.start()
		n.sleep(12 * time.Minute)
		n.wantFile("reminders/a.md", true)
		n.wantTold([]string{"00:10 aaaaaaaa overdue"}, []string{"00:10 aaaaaaaa overdue"}) // not shown as running
		n.sleep(time.Hour)
		n.want("01 00:10:00 aaaaaaaa 01 00:10:00", "01 00:15:00 aaaaaaaa 01 00:10:00 late", "01 00:20:00 aaaaaaaa 01 00:10:00 late")
		n.wantFile("reminders/a.md", false)
	})
}

func TestAReminderThatIsKeptDuringItsRunFiresAtItsTime(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T05:00:00Z", "call"))
		n.does(func(context.Context, Due) error { time.Sleep(time.Minute); return nil })
		n.start()
		if n.loop.Keep(idA) {
			t.Error("kept without a run")
		}
		testkit.Must(t, n.loop.FireNow(idA))
		n.sleep(10 * time.Second)
		if !n.loop.Keep(idA) {
			t.Error("not kept")
		}
		n.sleep(time.Hour)
		n.wantFile("reminders/a.md", true)
		n.sleep(6 * time.Hour)
		n.wantFile("reminders/a.md", false)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 05:00:00 aaaaaaaa 01 05:00:00")
	})
}

func TestAReminderThatIsPutBackFiresAtItsTime(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T05:00:00Z", "call"))
		n.start()
		testkit.Must(t, n.loop.FireNow(idA))
		n.sleep(time.Hour)
		n.wantFile("reminders/a.md", false)
		if _, err := routines.RestoreTask(n.dir, time.Now(), idA); err != nil {
			t.Fatal(err)
		}
		n.look()
		n.sleep(6 * time.Hour)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 05:00:00 aaaaaaaa 01 05:00:00")
	})
}
