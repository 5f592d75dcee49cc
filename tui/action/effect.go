package action

import (
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/money"
)

// capacityAfter is the capacity after a step: never below zero.
func capacityAfter(s core.Snapshot, step int) int { return max(0, s.Budget.State.Capacity+step) }

// refillAfter is the refill rate in minutes after a step: never below one.
func refillAfter(s core.Snapshot, step int) int { return max(1, s.Budget.State.RefillRateMinutes+step) }

// stepCapacity and stepRefill step from what is shown: the frame holds the next key
// until the core has answered this one.
func stepCapacity(step int) func(core.Snapshot) command.Value {
	return func(s core.Snapshot) command.Value { return command.SetBudget{Capacity: new(capacityAfter(s, step))} }
}

func stepRefill(step int) func(core.Snapshot) command.Value {
	return func(s core.Snapshot) command.Value {
		return command.SetBudget{RefillMinutes: new(refillAfter(s, step))}
	}
}

// lift takes the caps away for today, or puts them back.
func lift(s core.Snapshot) command.Value { return command.LiftCaps{Undo: s.Money.Lifted} }

func liftHint(s core.Snapshot) string {
	if s.Money.Lifted {
		return effectLifted
	}
	return ""
}

func noCaps(s core.Snapshot) string {
	if !s.Money.Lifted && !capped(s.Money.Today) && !capped(s.Money.Month) {
		return offCaps
	}
	return ""
}

// capped reports that a day or a month has a cap; the zero Span is none of a bot.
func capped(s money.Span) bool { return s.Capped() && s != (money.Span{}) }

func deliver(core.Snapshot) command.Value { return command.DeliverNow{} }

func capacityHint(step int) func(core.Snapshot) string {
	return func(s core.Snapshot) string {
		to := capacityAfter(s, step)
		return change(s.Budget.State.Capacity, to) + fullHint(s, to, s.Budget.State.RefillRateMinutes)
	}
}

func refillHint(step int) func(core.Snapshot) string {
	return func(s core.Snapshot) string {
		to := refillAfter(s, step)
		return change(s.Budget.State.RefillRateMinutes, to) + fullHint(s, s.Budget.State.Capacity, to)
	}
}

// fullHint is what other numbers would come to: ", full 19:05". It is empty
// where the moment says nothing: muted, or full at once.
func fullHint(s core.Snapshot, capacity, refill int) string {
	if s.At.IsZero() {
		return ""
	}
	to := s.Budget.State.At(s.At)
	to.Capacity, to.RefillRateMinutes = capacity, refill
	at := to.FullAt(s.At)
	if at.IsZero() || at.Sub(s.At) > 24*time.Hour {
		return ""
	}
	return effectFull + s.Clock(at, "15:04")
}

// change writes an effect. The arrow is the frame's to replace where only
// ASCII may be drawn.
func change(from, to int) string {
	return strconv.Itoa(from) + "→" + strconv.Itoa(to)
}

func capacityFloor(s core.Snapshot) string {
	if s.Budget.State.Capacity <= 0 {
		return offMuted
	}
	return ""
}

func refillFloor(s core.Snapshot) string {
	if s.Budget.State.RefillRateMinutes <= 1 {
		return offFastest
	}
	return ""
}

// muteHint is until when pings are muted now.
func muteHint(s core.Snapshot) string {
	if s.Budget.Muted.IsZero() {
		return ""
	}
	return effectMuted + s.Clock(s.Budget.Muted, "15:04")
}

// deliverHint is how many updates would be handed over.
func deliverHint(s core.Snapshot) string {
	if len(s.Updates) < 2 {
		return ""
	}
	return effectAll + strconv.Itoa(len(s.Updates))
}

// noSchedule knows no view and no selection: what cannot be done with what is
// selected is the pane's to say.
func noSchedule(s core.Snapshot) string {
	if len(s.Schedule.Entries)+len(s.Schedule.Day)+len(s.Schedule.Tasks) == 0 {
		return offSchedule
	}
	return ""
}

// waiting is how many tasks, and files beside them, wait for the user.
func waiting(s core.Snapshot) (n int) {
	for _, t := range s.Schedule.Tasks {
		if t.Waits != "" {
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

func nothingWaits(s core.Snapshot) string {
	if waiting(s) == 0 {
		return offWaiting
	}
	return ""
}

func waitsHint(s core.Snapshot) string {
	if n := waiting(s); n > 0 {
		return strconv.Itoa(n) + effectWaits
	}
	return ""
}

func noFiles(s core.Snapshot) string {
	if len(s.Schedule.Problems)+len(s.Day) > 0 {
		return ""
	}
	return noSchedule(s)
}

func noUpdates(s core.Snapshot) string {
	if len(s.Updates) == 0 {
		return offUpdates
	}
	return ""
}

func noDelivery(s core.Snapshot) string {
	if s.Fork != nil {
		return offInFork
	}
	return noUpdates(s)
}

func noForks(s core.Snapshot) string {
	if len(s.Forks) == 0 {
		return offForks
	}
	return ""
}

func noLogin(s core.Snapshot) string {
	if !s.Engine.LoginNeeded {
		return offLogin
	}
	return ""
}

func noLiveFork(s core.Snapshot) string {
	for _, f := range s.Forks {
		if f.Live() {
			return ""
		}
	}
	return offLive
}

// noResume knows no selection: whether the selected run can be resumed is the
// pane's to say.
func noResume(s core.Snapshot) string {
	if s.Fork != nil {
		return offForked
	}
	for _, f := range s.Forks {
		if !f.Live() {
			return ""
		}
	}
	return offEnded
}

func noApproval(s core.Snapshot) string {
	if len(s.Approvals) == 0 {
		return offApproval
	}
	return ""
}

// noAlways knows questions too, about a file or about money: they have no tool that
// could be allowed from now on.
func noAlways(s core.Snapshot) string {
	if why := noApproval(s); why != "" {
		return why
	}
	if s.Approvals[0].Tool == "" {
		return offQuestion
	}
	return ""
}

func alwaysHint(s core.Snapshot) string {
	if len(s.Approvals) == 0 {
		return ""
	}
	return s.Approvals[0].Tool
}

func noFork(s core.Snapshot) string {
	if s.Fork == nil {
		return offNoFork
	}
	return ""
}

func noSave(s core.Snapshot) string {
	if s.Fork != nil && s.Fork.Resumed {
		return offResumed
	}
	return noFork(s)
}

func noMessage(s core.Snapshot) string {
	if len(s.Chat) == 0 {
		return offMessage
	}
	return ""
}

func noButtons(s core.Snapshot) string {
	for _, e := range s.Chat {
		if e.Embed != nil && len(e.Embed.Buttons) > 0 {
			return ""
		}
	}
	return offButtons
}
