package toolset

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/routines/when"
)

// Promise is something the user has said they will do.
type Promise struct {
	Words string // the user's words, one line
	// Due returns when to remind them, or the zero time if they named none. problem
	// describes an invalid time.
	Due func(read when.Reader) (at time.Time, problem string)
}

func propose(ctx context.Context, c Caller, a arguments) agent.ToolResult {
	p := Promise{Words: strings.Trim(strings.Join(strings.Fields(clean.Line(a.Text("words"))), " "), ` "“”„.,;:!`)}
	if p.Words == "" {
		return Refusal(fmt.Sprintf(textEmptyField, "words"))
	}
	p.Due = func(read when.Reader) (time.Time, string) {
		_, delayed := a["delay_minutes"]
		_, timed := a["run_at"]
		if !delayed && (!timed || strings.TrimSpace(a.Text("run_at")) == "") {
			return time.Time{}, ""
		}
		return reminderTime(a, read)
	}
	return c.Propose(ctx, p)
}
