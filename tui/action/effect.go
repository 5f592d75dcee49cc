package action

import (
	"strconv"

	"ollimbot/core"
)

// StepCapacity is the capacity after a step: never below zero.
func StepCapacity(capacity, step int) int { return max(0, capacity+step) }

// StepRefill is the refill rate in minutes after a step: never below one.
func StepRefill(minutes, step int) int { return max(1, minutes+step) }

func capacityHint(step int) func(core.Snapshot) string {
	return func(s core.Snapshot) string {
		now := s.Budget.State.Capacity
		return change(now, StepCapacity(now, step))
	}
}

func refillHint(step int) func(core.Snapshot) string {
	return func(s core.Snapshot) string {
		now := s.Budget.State.RefillRateMinutes
		return change(now, StepRefill(now, step))
	}
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

func noSchedule(s core.Snapshot) string {
	if len(s.Schedule.Entries) == 0 {
		return offSchedule
	}
	return ""
}

func noUpdates(s core.Snapshot) string {
	if len(s.Updates) == 0 {
		return offUpdates
	}
	return ""
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
