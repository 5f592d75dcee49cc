package core

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	duetimes "ollimbot/routines/account"
)

// stopping returns a routine whose run calls stop_routine with these arguments.
func stopping(extra, args string) string {
	return everyMinute(tidyID, extra, script_("call stop_routine "+args))
}

// A run may pause its own routine, and the user sees why, wherever they look, and takes it back as
// any pause.
func TestARunPausesItsOwnRoutineAndTheUserResumesIt(t *testing.T) {
	for name, args := range map[string]string{
		"until resumed":  `{"reason": "The parcel has arrived."}`,
		"until a moment": `{"reason": "The parcel has arrived.", "until": "in 2 hours"}`,
	} {
		running(t, func(h home) { h.write(tidyFile, stopping("", args)) }, func(h home, b *Bot) {
			time.Sleep(5 * time.Minute)
			s := b.Snapshot()
			if len(s.Forks) != 1 || !strings.HasPrefix(s.Forks[0].Stopped, "paused itself") {
				t.Fatalf("%s: runs %+v", name, s.Forks)
			}
			v := viewOf(t, s, tidyID)
			if v.Stopped != "The parcel has arrived." || !strings.HasPrefix(v.Held, "paused by its own run") || v.Paused == strings.Contains(args, "until") {
				t.Errorf("%s: %+v", name, v)
			}
			if !noticed(s, "The parcel has arrived. It can be resumed.") {
				t.Errorf("%s: notices %+v", name, s.Notices)
			}
			if len(s.Updates) != 1 || !strings.Contains(s.Updates[0].Message, "paused itself") {
				t.Errorf("%s: updates %+v", name, s.Updates)
			}
			if s.Budget.State.Available != float64(s.Budget.State.Capacity) || len(b.Snapshot().Budget.Pings) != 0 {
				t.Errorf("%s: it pinged", name)
			}
			past, err := duetimes.New(b.dir).Read(time.Now())
			testkit.Must(t, err)
			last := past.Rows[len(past.Rows)-1]
			if last.Fate != duetimes.Held || !strings.Contains(last.Why, "The parcel has arrived.") {
				t.Errorf("%s: account %+v", name, last)
			}
			if !agentDecided(t, b, audit.TaskHeld, "The parcel has arrived.") {
				t.Errorf("%s: it is not in the audit log", name)
			}
			if _, err := b.Do(t.Context(), command.Snooze{ID: tidyID}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			time.Sleep(2 * time.Minute)
			if n := len(b.Snapshot().Forks); n != 2 {
				t.Errorf("%s: %d runs after it was resumed", name, n)
			}
		})
	}
}

// A routine that has ended itself is gone like one that the user cancelled, and comes back the same
// way, as it was.
func TestARunEndsItsOwnRoutineAndTheUserRestoresIt(t *testing.T) {
	file := stopping("", `{"reason": "The race is over", "end": true}`)
	running(t, func(h home) { h.write(tidyFile, file) }, func(h home, b *Bot) {
		time.Sleep(3 * time.Minute)
		s := b.Snapshot()
		if h.has(tidyFile) || len(s.Forks) != 1 || s.Forks[0].Stopped != "ended itself" {
			t.Fatalf("runs %+v", s.Forks)
		}
		if !noticed(s, "The race is over. It can be restored within a day.") || !agentDecided(t, b, audit.TaskRemoved, "The race is over") {
			t.Errorf("notices %+v", s.Notices)
		}
		out, err := b.Do(t.Context(), command.RestoreTask{ID: tidyID})
		testkit.Must(t, err)
		if !h.has(tidyFile) || out.Message == "" {
			t.Errorf("%+v", out)
		}
	})
}

// A pause of the user's is theirs, and so are tasks that they must not miss.
func TestARunDoesNotStopWhatOnlyTheUserStops(t *testing.T) {
	for extra, says := range map[string]string{"essential: true\n": "it is essential", "critical: true\n": "it is critical"} {
		running(t, func(h home) { h.write(tidyFile, stopping(extra, `{"reason": "Enough"}`)) }, func(_ home, b *Bot) {
			time.Sleep(2*time.Minute + 30*time.Second)
			s := b.Snapshot()
			if len(s.Forks) < 2 || s.Forks[0].Stopped != "" || viewOf(t, s, tidyID).Held != "" {
				t.Errorf("%s: %+v", extra, s.Forks)
			}
			if text := outputOf(b, s.Forks[0].ID); !strings.Contains(text, says) {
				t.Errorf("%s: the run says\n%s", extra, text)
			}
		})
	}
	yearly := strings.Replace(stopping("", `{"reason": "Enough"}`), "* * * * *", "0 0 1 6 *", 1)
	running(t, func(h home) { h.write(tidyFile, yearly) }, func(_ home, b *Bot) {
		_, err := b.Do(t.Context(), command.Pause{ID: tidyID, Paused: true})
		testkit.Must(t, err)
		_, err = b.Do(t.Context(), command.FireNow{ID: tidyID})
		testkit.Must(t, err)
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if v := viewOf(t, s, tidyID); v.Stopped != "" || v.Held != "paused" || !strings.Contains(outputOf(b, s.Forks[0].ID), "it is held already") {
			t.Errorf("%+v", v)
		}
	})
}

// Only a background run of a routine has a routine to stop.
func TestAReminderAndTheConversationStopNothing(t *testing.T) {
	running(t, func(h home) {
		h.reminder("11111111", time.Second, "", `call stop_routine {"reason": "Enough"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		if text := outputOf(b, b.Snapshot().Forks[0].ID); !strings.Contains(text, "only available in a background run of a routine") {
			t.Errorf("%s", text)
		}
	})
}

// agentDecided reports whether the audit log has an action of the agent with this detail.
func agentDecided(t *testing.T, b *Bot, action, detail string) bool {
	t.Helper()
	list, _, err := b.audit.Read(50)
	testkit.Must(t, err)
	for _, e := range list {
		if e.Action == action && e.Actor == audit.Agent && strings.Contains(e.Detail, detail) {
			return true
		}
	}
	return false
}

// outputOf returns the lines of a run.
func outputOf(b *Bot, run string) string {
	var text strings.Builder
	page := b.Tail(run, 0)
	for _, l := range page.Lines {
		text.WriteString(l.Text + "\n")
	}
	return text.String()
}
