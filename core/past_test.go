package core

import (
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

func TestAPingKnowsWhenItWasAnsweredAndHow(t *testing.T) {
	const report = `call report_updates {"message":"r"}`
	story(t, []file{
		remind("aaaa0021", 10*time.Second, "", `call ping_user {"message":"Took it?"}`, `call ping_user {"message":"Really?"}`, report),
		remind("aaaa0022", 20*time.Second, "", `call ping_user {"message":"Tea?"}`, report),
	}, func(w *world) {
		w.sleep(time.Minute)
		w.do(command.Say{Text: "yes, with milk\n\n" + plays("say fine"), ReplyTo: w.pinged().ID})
		w.sleep(time.Minute)
		w.do(command.Say{Text: "/cost"})
		pings := w.Snapshot().Budget.Today()
		w.needs(len(pings) == 3, "the journal", pings)
		first, refused, second := pings[0], pings[1], pings[2]
		w.holds(second.How == budget.Replied && !second.Answered.IsZero() && second.Text == "Tea?" && second.Left != nil && *second.Left <= 3.1, "the second", second)
		w.holds(first.Answered.IsZero() && first.Task == "aaaa0021", "a reply to one answered the other, or a command did", first)
		w.holds(refused.Refused == "second of its run" && refused.Text == "Really?", "the refused", refused)
		w.do(command.Say{Text: "good morning\n\n" + plays("say hi")})
		again := w.bot(script.New(script.Options{})).Snapshot().Budget.Pings // as after a restart
		w.holds(again[0].How == budget.Spoke && !again[0].Answered.Before(second.Answered), "after words", again[0])
	})
}

func TestATaskShowsItsPastAndWhatComes(t *testing.T) {
	often := routines.Routine{Cron: "*/10 * * * *", Task: routines.Task{
		ID: "bbbb0021", Background: true, Thinking: true, Mode: routines.OnPing, AllowPing: true,
		Body: plays(`call ping_user {"message":"Hey"}`, `call report_updates {"message":"r"}`),
	}}
	story(t, []file{
		{"routines/often.md", string(routines.FormatRoutine(often))},
		{"state/ping_budget.json", `{"capacity": 3, "available": 3.0, "refill_rate_minutes": 600, "last_refill": "2000-01-01T00:00:00Z", ` +
			`"critical_used": 0, "critical_reset_date": "2000-01-01", "daily_used": 0, "daily_used_reset": "2000-01-01"}`},
	}, func(w *world) {
		w.sleep(10*time.Minute + 10*time.Second) // it fires at once, and once more
		w.do(command.Say{Text: "coming\n\n" + plays("say ok")})
		past := w.past("bbbb0021")
		w.needs(len(past.Runs) == 2 && past.Rate.PerRun() == 1 && past.Answers.Pings == 2 && past.Answers.Answered == 1 && past.Answers.Median > 0, "the past", past)
		var verdicts []command.Verdict
		for _, n := range past.Next {
			verdicts = append(verdicts, n.Verdict)
			w.holds(n.At.After(w.now()), "ahead is", n)
		}
		w.is("verdicts ahead", verdicts, []command.Verdict{command.VerdictSure, command.VerdictDry, command.VerdictDry})
		view := w.Snapshot().Budget
		now, more := view.Curve(view.State.Capacity, view.State.RefillRateMinutes), view.Curve(3, 10)
		w.holds(!now.ExpectedDry.IsZero() && now.ExpectedDry.Equal(now.Dry) && more.Dry.IsZero(),
			"dry, expected, and with a token each ten minutes", now.Dry, now.ExpectedDry, more.Dry)
		last := now.Past[len(now.Past)-1]
		w.holds(last.At.Equal(view.State.LastRefill) && last.Left == view.State.Available && more.Past[0] == now.Past[0], "the past ends with", last)
		_, err := w.Reads().Past(t.Context(), "nobody")
		fails(t, "a task that is not there", err, "nobody")
	})
}
