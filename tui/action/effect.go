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

// budgetStep turns a row into one that changes the displayed budget, by tokens of capacity or by minutes of the
// refill rate. The frame delays the next key until the core has answered this one.
func budgetStep(capacity, minutes int, a Action) Action {
	a.Writes = true
	a.Hint = func(s core.Snapshot) string {
		now := s.Budget.State
		from, to := &now.Capacity, max(0, now.Capacity+capacity)
		if minutes != 0 {
			from, to = &now.RefillRateMinutes, max(1, now.RefillRateMinutes+minutes)
		}
		text := strconv.Itoa(*from) + "→" + strconv.Itoa(to) // the frame replaces the arrow if necessary
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

// lift suspends the caps for today, or restores them.
func lift(s core.Snapshot) command.Value { return command.LiftCaps{Undo: s.Money.Lifted} }

func lifted(s core.Snapshot) bool { return s.Money.Lifted }

// capped reports whether a day or month has a cap; the zero Span does not belong to a bot.
func capped(s money.Span) bool { return s.Capped() && (s.Cap > 0 || !s.Ends.IsZero()) }

func deliver(core.Snapshot) command.Value { return command.DeliverNow{} }

// muteHint returns the end of the current mute.
func muteHint(s core.Snapshot) string {
	if s.Budget.Muted.IsZero() {
		return ""
	}
	return "until " + s.Clock(s.Budget.Muted, "15:04")
}

// deliverHint returns the number of updates to deliver.
func deliverHint(s core.Snapshot) string {
	if len(s.Updates) < 2 {
		return ""
	}
	return "all " + strconv.Itoa(len(s.Updates))
}

func waitsHint(s core.Snapshot) string {
	if n := s.Waiting(); n > 0 {
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

// reason returns why an action is disabled, or empty if it is not.
type reason = func(core.Snapshot) string

// when returns a reason that applies while a condition is true.
func when(holds func(core.Snapshot) bool, why string) reason {
	return func(s core.Snapshot) string {
		if holds(s) {
			return why
		}
		return ""
	}
}

// firstOf returns the first reason that applies.
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
