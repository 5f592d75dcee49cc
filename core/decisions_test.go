package core

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
)

// decisions returns the entries of the audit log in short form.
func decisions(t *testing.T, b *Bot) []string {
	t.Helper()
	list, damaged, err := b.audit.Read(1000)
	if err != nil || damaged > 0 {
		t.Fatalf("%d damaged, %v", damaged, err)
	}
	var out []string
	for _, e := range list {
		if asked := slices.Contains([]string{audit.ApprovalAsked, audit.ApprovalAnswered, audit.ToolAlways}, e.Action); asked == (e.Digest == "") {
			t.Errorf("the digest of %s is %q", e.Action, e.Digest)
		}
		out = append(out, strings.Join([]string{e.Actor, e.From, e.Action, e.Subject, e.Detail}, "|"))
	}
	return out
}

// decided counts the entries that contain all words.
func decided(t *testing.T, b *Bot, words ...string) (n int) {
	t.Helper()
next:
	for _, line := range decisions(t, b) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		n++
	}
	return n
}

func TestEveryApprovalLeavesItsQuestionAndItsAnswer(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		phone := audit.With(context.Background(), audit.User, "phone")
		do(t, b, command.Slash{Line: "/permissions default"})
		ask := func(line string) policy.Approval {
			if _, err := b.Do(phone, command.Say{Text: script_(`ask Bash {"command":"`+line+`"}`, `say after it`)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			return b.Snapshot().Approvals[0]
		}
		first := ask("rm one")
		if decided(t, b, "agent|", audit.ApprovalAsked, "|Bash|", "rm one") != 1 {
			t.Errorf("the question is missing: %q", decisions(t, b))
		}
		if _, err := b.Do(phone, command.Answer{ID: first.ID, Verdict: policy.Deny}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Do(context.Background(), command.Answer{ID: first.ID, Verdict: policy.Allow}); err == nil {
			t.Error("a late answer was taken")
		}
		time.Sleep(time.Minute)
		ask("rm two")
		time.Sleep(2 * policy.Patience)
		third := ask("rm three")
		if _, err := b.Do(phone, command.Answer{ID: third.ID, Verdict: policy.Always}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		do(t, b, command.Slash{Line: "/clear"}) // permanently allowed tools need approval again
		ask("rm four")
		if _, err := b.Do(phone, command.Say{Text: "yes"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for _, want := range [][]string{
			{"user|phone|approval.answered|Bash|allowed: ", "rm four"},
			{"user||mode.changed", "dontAsk → default"},
			{"user|phone|approval.answered|Bash|denied: ", "rm one"},
			{"bot||approval.answered|Bash|expired: ", "rm two"},
			{"user|phone|approval.answered|Bash|always allowed: ", "rm three"},
			{"user|phone|tool.always|Bash"},
		} {
			if decided(t, b, want...) != 1 {
				t.Errorf("%q is there %d times in %q", want, decided(t, b, want...), decisions(t, b))
			}
		}
		if n := decided(t, b, audit.ApprovalAnswered); n != 4 {
			t.Errorf("%d answers are noted, want 4", n)
		}
	})
}

func TestChangesOfSettingsAndTasksAreDecisionsAndFailedOnesAreNot(t *testing.T) {
	running(t, func(h home) { h.reminder("aaaa0001", time.Hour, "") }, func(_ home, b *Bot) {
		six, zero := 6, 0
		do(t, b, command.SetBudget{Capacity: &six})
		if _, err := b.Do(context.Background(), command.SetBudget{RefillMinutes: &zero}); err == nil {
			t.Fatal("a rate of 0 was taken")
		}
		do(t, b, command.Slash{Line: "/ping-budget 7"})
		do(t, b, command.Slash{Line: "/config model_main opus"})
		do(t, b, command.MuteUntil{Until: b.now().Add(time.Hour)})
		do(t, b, command.Pause{ID: "aaaa0001", Paused: true})
		do(t, b, command.Pause{ID: "aaaa0001"})
		made := do(t, b, command.AddTask{At: b.now().Add(time.Hour), Message: "Tea."})
		do(t, b, made.Undo)
		do(t, b, command.Say{Text: script_(`call add_reminder {"prompt":"Look again.","delay_minutes":30}`)})
		time.Sleep(time.Minute)
		for _, want := range []string{
			"user||budget.changed||capacity 5 → 6", "user||budget.changed||capacity 6 → 7", "user||config.changed|model_main|",
			"user||mute.changed||", "user||task.held|aaaa0001|", "user||task.released|aaaa0001|",
			"user||task.added|", "user||task.removed|", "agent|main session|task.added|",
		} {
			if decided(t, b, want) != 1 {
				t.Errorf("%q is there %d times in %q", want, decided(t, b, want), decisions(t, b))
			}
		}
		if n := len(decisions(t, b)); n != 9 {
			t.Errorf("%d decisions: %q", n, decisions(t, b))
		}
	})
}
