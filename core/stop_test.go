package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	duetimes "ollimbot/routines/account"
)

// stopping is a routine whose run calls stop_routine with these arguments.
func stopping(extra, args string) file {
	return file{tidyFile, everyMinute(tidyID, extra, please("call stop_routine "+args))}
}

// A run may pause its own routine, and the user sees why, wherever they look, and takes it back as any pause.
func TestARunPausesItsOwnRoutineAndTheUserResumesIt(t *testing.T) {
	const why = "The parcel has arrived."
	for args, paused := range map[string]bool{
		`{"reason": "The parcel has arrived."}`:                        true,
		`{"reason": "The parcel has arrived.", "until": "in 2 hours"}`: false,
	} {
		t.Run(args, func(t *testing.T) {
			story(t, []file{stopping("", args)}, func(w *world) {
				w.sleep(5 * time.Minute)
				s := w.Snapshot()
				w.needs(len(s.Forks) == 1 && strings.HasPrefix(s.Forks[0].Stopped, "paused itself"), "runs", s.Forks)
				v := w.view(tidyID)
				w.holds(v.Stopped == why && strings.HasPrefix(v.Held, "paused by its own run") && v.Paused == paused, "the task", v)
				w.holds(w.noted(why+" It can be resumed.") > 0, "notices", s.Notices)
				w.holds(len(s.Updates) == 1 && strings.Contains(s.Updates[0].Message, "paused itself"), "updates", s.Updates)
				w.holds(s.Budget.State.Available == float64(s.Budget.State.Capacity) && len(s.Budget.Pings) == 0, "it pinged", s.Budget)
				past, err := duetimes.New(w.dir).Read(time.Now())
				testkit.Must(t, err)
				last := past.Rows[len(past.Rows)-1]
				w.holds(last.Fate == duetimes.Held && strings.Contains(last.Why, why), "the account", last)
				w.holds(w.agentDecided(audit.TaskHeld, why), "it is not in the audit log")
				w.do(command.Snooze{ID: tidyID})
				w.sleep(2 * time.Minute)
				w.is("runs after it was resumed", w.ran(tidyID), 2)
			})
		})
	}
}

// A routine that has ended itself is gone like one that the user cancelled, and returns the same way, as it was.
func TestARunEndsItsOwnRoutineAndTheUserRestoresIt(t *testing.T) {
	ends := stopping("", `{"reason": "The race is over", "end": true}`)
	story(t, []file{ends}, func(w *world) {
		w.sleep(3 * time.Minute)
		s := w.Snapshot()
		w.needs(!w.has(tidyFile) && len(s.Forks) == 1 && s.Forks[0].Stopped == "ended itself", "runs", s.Forks)
		w.holds(w.noted("The race is over. It can be restored within a day.") > 0, "notices", s.Notices)
		w.holds(w.agentDecided(audit.TaskRemoved, "The race is over"), "it is not in the audit log")
		w.holds(w.do(command.RestoreTask{ID: tidyID}).Message != "", "it answers nothing")
		w.is("its file", w.read(tidyFile), ends.text)
	})
}

// A pause of the user's is theirs, and so are tasks that they must not miss. Only a background run of a routine has a routine to stop.
func TestARunDoesNotStopWhatOnlyTheUserStops(t *testing.T) {
	const enough = `{"reason": "Enough"}`
	for extra, says := range map[string]string{"essential: true\n": "it is essential", "critical: true\n": "it is critical"} {
		story(t, []file{stopping(extra, enough)}, func(w *world) {
			w.sleep(2*time.Minute + 30*time.Second)
			s := w.Snapshot()
			w.holds(len(s.Forks) >= 2 && s.Forks[0].Stopped == "" && w.view(tidyID).Held == "", extra, s.Forks)
			w.shows("the run says", w.output(s.Forks[0].ID), says)
		})
	}
	yearly := stopping("", enough)
	yearly.text = strings.Replace(yearly.text, "* * * * *", "0 0 1 6 *", 1)
	story(t, []file{yearly}, func(w *world) {
		w.do(command.Pause{ID: tidyID, Paused: true})
		w.do(command.FireNow{ID: tidyID})
		w.sleep(time.Minute)
		v := w.view(tidyID)
		w.holds(v.Stopped == "" && v.Held == "paused", "a pause of the user's", v)
		w.shows("the run says", w.output(w.Snapshot().Forks[0].ID), "it is held already")
	})
	story(t, []file{remind("11111111", time.Second, "", "call stop_routine "+enough)}, func(w *world) {
		w.sleep(time.Minute)
		w.shows("a reminder's run says", w.output(w.Snapshot().Forks[0].ID), "only available in a background run of a routine")
	})
}

// agentDecided reports whether the audit log has an action of the agent with this detail.
func (w *world) agentDecided(action, detail string) bool {
	w.Helper()
	list, _, err := w.audit.Read(50)
	testkit.Must(w, err)
	return slices.ContainsFunc(list, func(e audit.Entry) bool {
		return e.Action == action && e.Actor == audit.Agent && strings.Contains(e.Detail, detail)
	})
}
