package core

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
)

// What the controls of a phone's cards do, one after the other.
func TestTheControlsOfCardsActOnceAndShowWhatIs(t *testing.T) {
	story(t, []file{routine(tidyID, "0 0 1 6 *", "", "wait 10m")}, func(w *world) {
		testkit.Must(t, w.journal.Append(budget.Ping{At: w.now(), ID: "p-1", Task: tidyID, Title: "Tidy", Text: "Tidy up?", Kind: "ping"}))
		long := strings.Repeat("o", 41)
		for _, c := range []struct {
			action, data string
			with         command.Click
			says         string // in the answer or the error
			card, fails  bool
		}{
			{post.CardPicture, post.PictureDay, command.Click{}, "scripted replies answer", false, false},
			{post.CardPicture, "moon", command.Click{}, textUnknownCard, false, true},
			{post.CardMute, post.MuteHour, command.Click{}, "02:00", true, false},
			{post.CardMute, post.MuteHour, command.Click{}, "02:00", true, false},
			{post.CardMute, post.MuteOff, command.Click{}, "", true, false},
			{post.CardMute, "x", command.Click{}, textUnknownCard, false, true},
			{post.CardCapacity, "6", command.Click{}, "6", true, false},
			{post.CardCapacity, "6", command.Click{}, "the capacity is already 6", true, false},
			{post.CardCapacity, "8", command.Click{}, "the capacity has changed to 6 since", false, true},
			{post.CardCapacity, "x", command.Click{}, textUnknownCard, false, true},
			{post.CardRun, "", command.Click{Value: tidyID}, "Task cccc0001 starts now", true, false},
			{post.CardRun, "", command.Click{Value: tidyID}, "Task cccc0001 already runs", true, false},
			{post.CardRun, "", command.Click{Value: "nobody"}, "nobody", false, true},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: "4", Refill: "30"}}, "4", true, false},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: "4", Refill: "half"}}, `write a whole number, not "half"`, false, true},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: long, Refill: "30"}}, `"` + clean.Cut(long, 40) + `"`, false, true},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: "4", Refill: "0"}}, "", false, true},
			{post.ConfigAll, "", command.Click{}, "", true, false},
			{post.ConfigGroup, "", command.Click{Value: "nobody"}, textUnknownCard, false, true},
			{post.ConfigKey, "", command.Click{Value: "model_main"}, "", true, false},
			{post.ConfigKey, "", command.Click{Value: "nobody"}, textUnknownCard, false, true},
			{post.ConfigTo, "quiet_hours", command.Click{Value: "22:00-07:00"}, "22:00", true, false},
			{post.ConfigTo, "quiet_hours", command.Click{Value: "nonsense"}, "", false, true},
			{post.ConfigTo, "daily_cap", command.Click{Value: "2"}, "", true, false},
			{post.ConfigSure, "daily_cap 3", command.Click{}, "", true, false},
			{post.PingUseless, "p-1", command.Click{}, textNotUseful, false, false},
			{post.PingUseless, "p-2", command.Click{}, textNoPing, false, true},
			{post.PingLater, "p-2", command.Click{}, textNoPing, false, true},
			{post.PingLater, "p-1", command.Click{Value: "never"}, "never", false, true},
			{post.PingLater, "p-1", command.Click{Value: "in 2 hours"}, "03:00", false, false},
			{post.PingLater, "p-1", command.Click{Value: "in 3 hours"}, "03:00", false, false}, // a form may be sent twice
			{post.RemindAbout, post.Own + "1", command.Click{Words: " \n"}, textNoWords, false, true},
			{post.RemindAbout, post.Own + "1", command.Click{Words: "Call Ada"}, "02:00", false, false},
			{post.ModelTo, "", command.Click{Value: "opus"}, "switched to opus", true, false},
		} {
			name := c.action + ":" + c.data + " " + c.with.Value
			c.with.ID = "act:" + c.action + ":" + c.data
			out, err := w.Do(w.Context(), c.with)
			w.sleep(time.Second)
			w.holds((err != nil) == c.fails && (out.Card != nil) == c.card, name+" gives", out, err)
			text := out.Message
			if err != nil {
				text = err.Error()
			}
			w.shows(name, text, c.says)
		}
		s := w.Snapshot()
		w.is("in the end: muted, capacity, refill, runs, reminders, cap", []any{
			s.Budget.Muted.IsZero(), s.Budget.State.Capacity, s.Budget.State.RefillRateMinutes,
			len(s.Forks), len(w.index.Set().Reminders), s.Config.DailyCap,
		}, []any{true, 4, 30, 1, 2, 3})
	})
}

func TestCommandsOfTheAgentAreInTheAuditLog(t *testing.T) {
	story(t, nil, func(w *world) {
		a := auditor{audit: w.audit, zone: w.home.zone}
		holds(t, a.audited(nil) == nil, "there are no commands to record")
		run := a.audited(func(context.Context, *policy.Session, []string) agent.CommandResult {
			return agent.CommandResult{Stdout: "done"}
		})
		w.is("it answers", run(w.Context(), w.pen().s, []string{"task", "list"}).Stdout, "done")
		w.decided("agent|", audit.CommandRun, "|task list")
	})
}
