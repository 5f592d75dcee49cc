package core

import (
	"context"
	"slices"
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

// decisions returns the entries of the audit log in short form.
func (w *world) decisions() (lines []string) {
	w.Helper()
	list, damaged, err := w.audit.Read(1000)
	w.needs(err == nil && damaged == 0, "the audit log", damaged, err)
	for _, e := range list {
		asked := slices.Contains([]string{audit.ApprovalAsked, audit.ApprovalAnswered, audit.ToolAlways}, e.Action)
		w.holds(asked == (e.Digest != ""), "the digest", e)
		lines = append(lines, strings.Join([]string{e.Actor, e.From, e.Action, e.Subject, e.Detail}, "|"))
	}
	return lines
}

// decided wants one entry that contains all words.
func (w *world) decided(words ...string) {
	w.Helper()
	n, all := 0, w.decisions()
	for _, line := range all {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			n++
		}
	}
	w.holds(n == 1, "entries with "+strings.Join(words, ", "), n, all)
}

func TestEveryApprovalLeavesItsQuestionAndItsAnswer(t *testing.T) {
	story(t, nil, func(w *world) {
		phone := audit.With(w.Context(), audit.User, "phone")
		from := func(c command.Value) {
			w.Helper()
			_, err := w.Do(phone, c)
			testkit.Must(w, err)
		}
		w.do(command.Slash{Line: "/permissions default"})
		ask := func(line string) (id string) {
			from(command.Say{Text: please(`ask Bash {"command":"`+line+`"}`, `say after it`)})
			w.sleep(5 * time.Second)
			asked := w.Snapshot().Approvals
			w.needs(len(asked) == 1 && asked[0].Tool == "Bash", "asked", asked)
			return asked[0].ID
		}
		first := ask("rm one")
		w.decided("agent|", audit.ApprovalAsked, "|Bash|", "rm one")
		from(command.Answer{ID: first, Verdict: policy.Deny})
		w.refuses("", command.Answer{ID: first, Verdict: policy.Allow})
		w.sleep(time.Minute)
		ask("rm two")
		w.sleep(2 * policy.Patience)
		w.is("open after its time", len(w.Snapshot().Approvals), 0)
		from(command.Answer{ID: ask("rm three"), Verdict: policy.Always})
		w.sleep(time.Minute)
		w.do(command.Slash{Line: "/clear"}) // permanently allowed tools need approval again
		ask("rm four")
		from(command.Say{Text: "yes"})
		w.sleep(time.Minute)
		w.decided("user|phone|approval.answered|Bash|allowed: ", "rm four")
		w.decided("user||mode.changed", "dontAsk → default")
		w.decided("user|phone|approval.answered|Bash|denied: ", "rm one")
		w.decided("bot||approval.answered|Bash|expired: ", "rm two")
		w.decided("user|phone|approval.answered|Bash|always allowed: ", "rm three")
		w.decided("user|phone|tool.always|Bash")
		w.is("answers", strings.Count(strings.Join(w.decisions(), "\n"), "|"+audit.ApprovalAnswered+"|"), 4)
		ask("rm five")
		w.do(command.Interrupt{})
		w.sleep(time.Second)
		w.is("open after an interruption", len(w.Snapshot().Approvals), 0)
	})
}

func TestChangesOfSettingsAndTasksAreDecisionsAndFailedOnesAreNot(t *testing.T) {
	story(t, []file{remind("aaaa0001", time.Hour, "")}, func(w *world) {
		w.do(command.SetBudget{Capacity: new(6)})
		w.refuses("", command.SetBudget{RefillMinutes: new(0)})
		w.do(command.Slash{Line: "/ping-budget 7"})
		w.do(command.Slash{Line: "/config model_main opus"})
		w.do(command.MuteUntil{Until: w.now().Add(time.Hour)})
		w.do(command.Pause{ID: "aaaa0001", Paused: true})
		w.do(command.Pause{ID: "aaaa0001"})
		w.do(w.do(command.AddTask{At: w.now().Add(time.Hour), Message: "Tea."}).Undo)
		w.say(please(`call add_reminder {"prompt":"Look again.","delay_minutes":30}`))
		ran := w.auditor.audited(func(context.Context, *policy.Session, []string) agent.CommandResult {
			return agent.CommandResult{Stdout: "done"}
		})
		w.is("the agent's command answers", ran(w.Context(), w.pen().s, []string{"task", "list"}).Stdout, "done")
		w.holds(w.auditor.audited(nil) == nil, "there are no commands to record")
		for _, want := range []string{
			"user||budget.changed||capacity 5 → 6", "user||budget.changed||capacity 6 → 7", "user||config.changed|model_main|",
			"user||mute.changed||", "user||task.held|aaaa0001|", "user||task.released|aaaa0001|",
			"user||task.added|", "user||task.removed|", "agent|main session|task.added|", "|" + audit.CommandRun + "||task list",
		} {
			w.decided(want)
		}
		w.is("decisions", len(w.decisions()), 10)
	})
}

// What the controls of a phone's cards do, one after the other.
func TestTheControlsOfCardsActOnceAndShowWhatIs(t *testing.T) {
	r := &recorder{Engine: offline()}
	setting{engine: r, files: []file{routine(tidyID, "0 0 1 6 *", "", "wait 10m")}}.tell(t, func(w *world) {
		testkit.Must(w, w.journal.Append(budget.Ping{At: w.now(), ID: "p-1", Task: tidyID, Title: "Tidy", Text: "Tidy up?", Kind: "ping"}))
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
			{post.CardRun, "", command.Click{Value: "missing"}, "missing", false, true},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: "4", Refill: "30"}}, "4", true, false},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: "4", Refill: "half"}}, `write a whole number, not "half"`, false, true},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: long, Refill: "30"}}, `"` + clean.Cut(long, 40) + `"`, false, true},
			{post.BudgetTo, "", command.Click{Fields: command.Fields{Capacity: "4", Refill: "0"}}, "", false, true},
			{post.ConfigAll, "", command.Click{}, "", true, false},
			{post.ConfigGroup, "", command.Click{Value: "missing"}, textUnknownCard, false, true},
			{post.ConfigKey, "", command.Click{Value: "model_main"}, "", true, false},
			{post.ConfigKey, "", command.Click{Value: "missing"}, textUnknownCard, false, true},
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
			{post.SetupTo, "k1", command.Click{Fields: command.Fields{Quiet: "nonsense"}}, "", false, true},
			{post.SetupTo, "k1", command.Click{Fields: command.Fields{User: "Ada"}}, textSetupNames, false, true},
			{post.SetupTo, "k1", command.Click{Fields: command.Fields{Quiet: "23:00-06:00", User: "Ada", Bot: "Hal"}, Words: "I like tea"}, textSetupBegun, false, false},
			{post.SetupTo, "k1", command.Click{}, textSetupTwice, false, true},
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
		w.shows("the walk of /setup begins with", r.lastSent(), "23:00-06:00", "Ada", "Hal", "I like tea")
		w.is("in the end: muted, capacity, refill, runs, reminders, cap", []any{
			s.Budget.Muted.IsZero(), s.Budget.State.Capacity, s.Budget.State.RefillRateMinutes,
			len(s.Forks), len(w.index.Set().Reminders), s.Config.DailyCap,
		}, []any{true, 4, 30, 1, 2, 3})
	})
}
