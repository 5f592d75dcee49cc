package core

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

func TestAPingKnowsWhenItWasAnsweredAndHow(t *testing.T) {
	running(t, func(h home) {
		h.reminder("aaaa0021", 10*time.Second, "", `call ping_user {"message":"Took it?"}`, `call ping_user {"message":"Really?"}`,
			`call report_updates {"message":"r"}`)
		h.reminder("aaaa0022", 20*time.Second, "", `call ping_user {"message":"Tea?"}`, `call report_updates {"message":"r"}`)
	}, func(h home, b *Bot) {
		time.Sleep(time.Minute)
		tea := pinged(t, b)
		do(t, b, command.Say{Text: "yes, with milk\n\n```script\nsay fine\n```", ReplyTo: tea.ID})
		time.Sleep(time.Minute)
		do(t, b, command.Say{Text: "/cost"})
		pings := b.Snapshot().Budget.Today()
		if len(pings) != 3 {
			t.Fatalf("the journal has %+v", pings)
		}
		first, refused, second := pings[0], pings[1], pings[2]
		if second.How != budget.Replied || second.Answered.IsZero() || second.Text != "Tea?" || second.Left == nil || *second.Left > 3.1 {
			t.Errorf("the second: %+v", second)
		}
		if !first.Answered.IsZero() || first.Task != "aaaa0021" {
			t.Errorf("a reply to one answered the other, or a command did: %+v", first)
		}
		if refused.Refused != "second of its run" || refused.Text != "Really?" {
			t.Errorf("the refused: %+v", refused)
		}
		do(t, b, command.Say{Text: "good morning\n\n```script\nsay hi\n```"})
		again := h.bot(script.New(script.Options{})).Snapshot().Budget.Pings // as after a restart
		if first = again[0]; first.How != budget.Spoke || first.Answered.Before(second.Answered) {
			t.Errorf("after words: %+v", first)
		}
	})
}

func TestATaskShowsItsPastAndWhatComes(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/often.md", routineFile("bbbb0021", "*/10 * * * *", "```script\ncall ping_user {\"message\":\"Hey\"}\ncall report_updates {\"message\":\"r\"}\n```"))
		h.write("state/ping_budget.json", `{"capacity": 3, "available": 3.0, "refill_rate_minutes": 600, "last_refill": "`+time.Now().Format(time.RFC3339)+
			`", "critical_used": 0, "critical_reset_date": "2000-01-01", "daily_used": 0, "daily_used_reset": "2000-01-01"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(10*time.Minute + 10*time.Second) // it fires at once, and once more
		do(t, b, command.Say{Text: "coming\n\n```script\nsay ok\n```"})
		past := pastOf(t, b, "bbbb0021")
		if len(past.Runs) != 2 || past.Rate.PerRun() != 1 || past.Answers.Pings != 2 || past.Answers.Answered != 1 || past.Answers.Median <= 0 {
			t.Fatalf("%+v", past)
		}
		want := []command.Verdict{command.VerdictSure, command.VerdictDry, command.VerdictDry}
		for i, n := range past.Next {
			if n.Verdict != want[i] || !n.At.After(b.now()) {
				t.Errorf("fire %d: %+v, want %q", i, n, want[i])
			}
		}
		if len(past.Next) != len(want) {
			t.Errorf("%d fires ahead", len(past.Next))
		}
		view := b.Snapshot().Budget
		now := view.Curve(view.State.Capacity, view.State.RefillRateMinutes)
		more := view.Curve(3, 10)
		if now.ExpectedDry.IsZero() || !now.ExpectedDry.Equal(now.Dry) || !more.Dry.IsZero() {
			t.Errorf("dry at %v, expected at %v; with a token each ten minutes at %v", now.Dry, now.ExpectedDry, more.Dry)
		}
		if last := now.Past[len(now.Past)-1]; !last.At.Equal(view.State.LastRefill) || last.Left != view.State.Available || more.Past[0] != now.Past[0] {
			t.Errorf("the past ends with %+v", last)
		}
		if _, err := b.Reads().Past(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), "nobody") {
			t.Errorf("a task that is not there: %v", err)
		}
	})
}

func routineFile(id, cron, body string) string {
	return string(routines.FormatRoutine(routines.Routine{Cron: cron, Task: routines.Task{
		ID: id, Background: true, Thinking: true, Mode: routines.OnPing, AllowPing: true, Body: body,
	}}))
}
