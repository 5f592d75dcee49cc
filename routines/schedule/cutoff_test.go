package schedule

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ollimbot/routines"
)

// L5: what the user had cut off counted as done.
func TestWhatTheUserCutsOffIsNotDoneAndNotRepeated(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.put("reminders/b.md", reminderText(idB, "2000-01-01T01:30:00Z", "call"))
		fires := 0
		n.does(func(context.Context, Due) error {
			fires++
			return fmt.Errorf("the turn: %w", routines.ErrCutOff)
		})
		n.start()
		n.sleep(time.Hour + time.Minute)
		n.wantTold([]string{"01:00 aaaaaaaa cut off"}, []string{"01:00 aaaaaaaa cut off"})
		n.sleep(58 * time.Minute)
		n.wantFates(idA, "00:00 interrupted by you", "01:00 interrupted by you")
		n.wantFates(idB, "01:30 interrupted by you")
		n.stop()
		n.start()
		n.sleep(30 * time.Second)
		if fires != 3 {
			t.Errorf("%d fires; it is repeated", fires)
		}
		n.wantFile("reminders/b.md", false)
		n.wantFates(idA, "00:00 interrupted by you", "01:00 interrupted by you")
		n.wantFates(idB, "01:30 interrupted by you")
	})
}

// L5: three of them in a row are no failures, and do not make up for earlier ones.
func TestWhatTheUserCutsOffIsNoFailure(t *testing.T) {
	for _, o := range []outcome{outcomeStopped, outcomeCutOff} {
		l, e := &loop{}, &routineEntry{Failures: 2}
		l.countFailure(e, ended{outcome: o}, time.Time{})
		if e.Failures != 2 {
			t.Errorf("%s: %d failures", o, e.Failures)
		}
	}
}
