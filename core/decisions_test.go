package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
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
		phone := audit.With(t.Context(), audit.User, "phone")
		from := func(c command.Value) {
			w.Helper()
			_, err := w.Do(phone, c)
			testkit.Must(t, err)
		}
		w.do(command.Slash{Line: "/permissions default"})
		ask := func(line string) (id string) {
			from(command.Say{Text: please(`ask Bash {"command":"`+line+`"}`, `say after it`)})
			w.sleep(5 * time.Second)
			return w.Snapshot().Approvals[0].ID
		}
		first := ask("rm one")
		w.decided("agent|", audit.ApprovalAsked, "|Bash|", "rm one")
		from(command.Answer{ID: first, Verdict: policy.Deny})
		w.refuses("", command.Answer{ID: first, Verdict: policy.Allow})
		w.sleep(time.Minute)
		ask("rm two")
		w.sleep(2 * policy.Patience)
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
		w.asks(`call add_reminder {"prompt":"Look again.","delay_minutes":30}`)
		for _, want := range []string{
			"user||budget.changed||capacity 5 → 6", "user||budget.changed||capacity 6 → 7", "user||config.changed|model_main|",
			"user||mute.changed||", "user||task.held|aaaa0001|", "user||task.released|aaaa0001|",
			"user||task.added|", "user||task.removed|", "agent|main session|task.added|",
		} {
			w.decided(want)
		}
		w.is("decisions", len(w.decisions()), 9)
	})
}
