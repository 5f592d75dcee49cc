package dispatch

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// L5: a foreground task cut off by the user's next message counted as done.
func TestATaskThatTheUserCutsOffIsNoFailureAndIsSaidToBeCutOff(t *testing.T) {
	s := newStage(t, map[string]string{"reminders/kettle.md": "---\nid: k1\nrun-at: \"2000-01-01T09:00:00Z\"\nbackground: false\ndescription: Tea\n---\nThe kettle.\n"})
	s.talk.err = command.ErrInterrupted
	due, finished := s.due(t, "k1"), 0
	due.Finish = func() { finished++ }
	if err := s.d.Fire(t.Context(), due); !errors.Is(err, routines.ErrCutOff) || finished != 1 {
		t.Errorf("%v, used up %d times", err, finished)
	}
	if said := audited(t, s.dir); !strings.Contains(said, audit.RunInFront) || !strings.Contains(said, "Tea: interrupted by you") {
		t.Errorf("audit: %s", said)
	}
	if n := s.d.o.Notices.All(); len(n) != 0 {
		t.Errorf("the user hears of what they did: %+v", n)
	}
}

// L5: the run that repeats a fire is for the same fire, another one is not.
func TestARunKnowsItsFire(t *testing.T) {
	s := newStage(t, map[string]string{"routines/look.md": "---\nid: r1\ncron: 0 9 * * *\nbackground: true\n---\nLook.\n"})
	first := s.due(t, "r1")
	other, byHand := first, first
	other.At, byHand.ByHand = first.At.Add(time.Second), true
	for _, due := range []schedule.Due{first, first, other, byHand} {
		if err := s.d.Fire(t.Context(), due); err != nil {
			t.Fatal(err)
		}
	}
	j := s.runs.jobs
	if j[0].Fire == "" || j[1].Fire != j[0].Fire || j[2].Fire == j[0].Fire || j[3].Fire != "" {
		t.Errorf("the fires are %q, %q, %q and %q", j[0].Fire, j[1].Fire, j[2].Fire, j[3].Fire)
	}
}

// L5: neither does a run that the user stops.
func TestARunThatTheUserStopsIsCutOff(t *testing.T) {
	s := newStage(t, map[string]string{"routines/look.md": "---\nid: r1\ncron: 0 9 * * *\nbackground: true\n---\nLook.\n"})
	s.runs.end.State = fork.Stopped
	if err := s.d.Fire(t.Context(), s.due(t, "r1")); !errors.Is(err, routines.ErrCutOff) {
		t.Errorf("%v", err)
	}
	var put *schedule.PutOffError
	s.runs.fails = &fork.NoMoneyError{Why: "no money"} // it has left the queue, to wait for money
	if err := s.d.Fire(t.Context(), s.due(t, "r1")); !errors.As(err, &put) || !put.Broke {
		t.Errorf("without money: %v", err)
	}
}
