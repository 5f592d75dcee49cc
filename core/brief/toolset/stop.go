package toolset

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
)

// mostReason is the maximum length of a reason, in characters.
const mostReason = 160

// Stop is what a run does to its own routine: it pauses it until a moment or, if that is zero, until
// the user resumes it, or ends it.
type Stop struct {
	Reason string // one line
	Until  time.Time
	End    bool
}

func stopRoutine(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	s := Stop{Reason: clean.Cut(clean.Line(a.Text("reason")), mostReason), End: a.Flag("end")}
	if Blank(s.Reason) {
		return Refusal(fmt.Sprintf(textEmptyField, "reason"))
	}
	if until := clean.Line(a.Text("until")); until != "" {
		if s.End {
			return Refusal(textEndUntil)
		}
		at, err := c.Reminders().Times().Moment(until)
		if err != nil {
			return Refusal(fmt.Sprintf(textBadUntil, clean.Cut(until, 60), err))
		}
		s.Until = at
	}
	return c.Stop(ctx, s)
}

// Stopped is what has become of the routine.
type Stopped struct {
	Answer  string // for the agent
	Said    string // for the user, with the reason and how to take it back
	Briefly string // for lists: "paused itself until Fri 9:00"
}
