package toolset

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
)

// Promise is something the user has said they will do.
type Promise struct {
	Words string // the user's words, one line
	// Due returns when to remind them, or the zero time if they named none. problem
	// describes an invalid time.
	Due func(now time.Time) (at time.Time, problem string)
}

func propose(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	p := Promise{Words: strings.Trim(strings.Join(strings.Fields(clean.Line(a.Text("words"))), " "), ` "“”„.,;:!`)}
	if p.Words == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "words"))
	}
	p.Due = func(now time.Time) (time.Time, string) {
		_, delayed := a["delay_minutes"]
		_, timed := a["run_at"]
		if !delayed && (!timed || strings.TrimSpace(a.Text("run_at")) == "") {
			return time.Time{}, ""
		}
		return reminderTime(a, now)
	}
	return c.Propose(ctx, p)
}
