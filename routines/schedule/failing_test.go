package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

// tellsFailing makes the loop report failing routines.
func (n *night) tellsFailing() func() []string {
	var list []string
	n.failing = func(_ context.Context, t routines.Task, why string, paused bool) {
		n.mu.Lock()
		defer n.mu.Unlock()
		list = append(list, fmt.Sprintf("%s %s %v", t.ID, why, paused))
	}
	return func() []string {
		n.mu.Lock()
		defer n.mu.Unlock()
		return slices.Clone(list)
	}
}

func fails(context.Context, Due) error { return errors.New("no route") }

func TestThreeFailuresInARowPauseARoutineOnceUntilItIsResumed(t *testing.T) {
	inBubble(t, func(n *night) {
		told := n.tellsFailing()
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water"))
		n.does(fails)
		n.start()
		n.sleep(90 * time.Minute) // two failures
		n.start()                 // which a restart does not forget
		if len(told()) > 0 {
			t.Fatalf("told too early: %q", told())
		}
		n.sleep(5 * time.Hour)
		if want := []string{idA + " no route true"}; !slices.Equal(told(), want) || len(n.fired) != 3 {
			t.Fatalf("told %q after %d fires", told(), len(n.fired))
		}
		n.wantFates(idA, "00:00 failed no route", "01:00 failed no route", "02:00 failed no route", "03:00 held paused", "04:00 held paused",
			"05:00 held paused", "06:00 held paused")
		n.does(func(context.Context, Due) error { return nil })
		_, err := n.loop.Hold(idA, Hold{})
		testkit.Must(t, err)
		n.sleep(time.Hour)
		n.does(fails)
		n.sleep(2 * time.Hour)
		if len(told()) != 1 {
			t.Errorf("two failures after a success are reported: %q", told())
		}
		n.sleep(time.Hour)
		if len(told()) != 2 {
			t.Errorf("three more failures are not reported: %q", told())
		}
	})
}

func TestACriticalRoutineThatFailsIsReportedAndGoesOn(t *testing.T) {
	inBubble(t, func(n *night) {
		told := n.tellsFailing()
		n.put("routines/a.md", routineText(idA, "0 * * * *", "pills", "critical: true"))
		n.does(fails)
		n.start()
		n.sleep(4 * time.Hour)
		if want := []string{idA + " no route false"}; !slices.Equal(told(), want) || len(n.fired) < 4 {
			t.Errorf("told %q after %d fires", told(), len(n.fired))
		}
	})
}

func TestAnEssentialRoutineThatFailsIsNotPaused(t *testing.T) {
	inBubble(t, func(n *night) {
		told := n.tellsFailing()
		n.put("routines/a.md", routineText(idA, "0 * * * *", "pills", "essential: true"))
		n.does(fails)
		n.start()
		n.sleep(5*time.Hour + time.Minute)
		if want := idA + " no route false"; !slices.Equal(told(), []string{want, want}) || len(n.fired) != 6 {
			t.Errorf("told %q after %d fires", told(), len(n.fired))
		}
	})
}
