package action

import (
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
)

// budgetStep makes a row one that steps from the budget that is shown, by tokens of
// capacity or by minutes of the refill rate: the frame holds the next key until the core
// has answered this one.
func budgetStep(capacity, minutes int, a Action) Action {
	a.Writes = true
	a.Hint = func(s core.Snapshot) string {
		now := s.Budget.State
		from, to := &now.Capacity, max(0, now.Capacity+capacity)
		if minutes != 0 {
			from, to = &now.RefillRateMinutes, max(1, now.RefillRateMinutes+minutes)
		}
		text := strconv.Itoa(*from) + "→" + strconv.Itoa(to) // the frame replaces the arrow where it must
		*from = to
		if full := now.FullAt(s.At); !s.At.IsZero() && !full.IsZero() && full.Sub(s.At) <= 24*time.Hour {
			text += ", full " + s.Clock(full, "15:04")
		}
		return text
	}
	a.Make = func(s core.Snapshot) command.Value {
		if minutes != 0 {
			return command.SetBudget{RefillMinutes: new(max(1, s.Budget.State.RefillRateMinutes+minutes))}
		}
		return command.SetBudget{Capacity: new(max(0, s.Budget.State.Capacity+capacity))}
	}
	return a
}

// lift takes the caps away for today, or puts them back.
func lift(s core.Snapshot) command.Value { return command.LiftCaps{Undo: s.Money.Lifted} }

func lifted(s core.Snapshot) bool { return s.Money.Lifted }

// capped reports that a day or a month has a cap; the zero Span is none of a bot.
func capped(s money.Span) bool { return s.Capped() && s != (money.Span{}) }

func deliver(core.Snapshot) command.Value { return command.DeliverNow{} }

// muteHint is until when pings are muted now.
func muteHint(s core.Snapshot) string {
	if s.Budget.Muted.IsZero() {
		return ""
	}
	return "until " + s.Clock(s.Budget.Muted, "15:04")
}

// deliverHint is how many updates would be handed over.
func deliverHint(s core.Snapshot) string {
	if len(s.Updates) < 2 {
		return ""
	}
	return "all " + strconv.Itoa(len(s.Updates))
}

// waiting is how many tasks, edits of them, and files beside them wait for the user.
func waiting(s core.Snapshot) (n int) {
	for _, t := range s.Schedule.Tasks {
		if t.Waits != "" || t.Proposed.Version != "" {
			n++
		}
	}
	for _, p := range s.Schedule.Problems {
		if p.Waits {
			n++
		}
	}
	return n
}

func waitsHint(s core.Snapshot) string {
	if n := waiting(s); n > 0 {
		return strconv.Itoa(n) + " in all"
	}
	return ""
}

func alwaysHint(s core.Snapshot) string {
	if len(s.Approvals) == 0 {
		return ""
	}
	return s.Approvals[0].Scope()
}

func nothingScheduled(s core.Snapshot) bool {
	return len(s.Schedule.Entries)+len(s.Schedule.Day)+len(s.Schedule.Tasks) == 0
}

func ended(f fork.View) bool { return !f.Live() }

func hasButtons(e transcript.Entry) bool { return e.Embed != nil && len(e.Embed.Buttons) > 0 }

// reason says why an action is off; empty means that it can be used.
type reason = func(core.Snapshot) string

// when is a reason for as long as something holds.
func when(holds func(core.Snapshot) bool, why string) reason {
	return func(s core.Snapshot) string {
		if holds(s) {
			return why
		}
		return ""
	}
}

// firstOf is the first reason that there is.
func firstOf(reasons ...reason) reason {
	return func(s core.Snapshot) string {
		for _, r := range reasons {
			if why := r(s); why != "" {
				return why
			}
		}
		return ""
	}
}
