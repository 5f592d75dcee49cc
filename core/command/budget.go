package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/safety/audit"
	"ollimbot/core/work/budget"
)

// BudgetHandlers change the ping budget.
func BudgetHandlers(bucket *budget.Bucket, zone *time.Location) []Handler {
	return []Handler{
		On(Directory, func(_ context.Context, c SetBudget) (Outcome, error) { return c.CarryOut(bucket, time.Now().In(zone)) }),
		On(Directory, func(_ context.Context, c RestoreBudget) (Outcome, error) {
			now := time.Now().In(zone)
			before, _ := bucket.State(now)
			after, err := bucket.Restore(now, budget.Settings(c))
			return Outcome{Message: budgetChange(before, after), Undo: restores(before), Decision: audit.Entry{Action: audit.BudgetChanged}}, err
		}),
	}
}

// CarryOut changes the budget.
func (c SetBudget) CarryOut(bucket *budget.Bucket, now time.Time) (Outcome, error) {
	before, after, err := bucket.Set(now, c.Capacity, c.RefillMinutes)
	out := Outcome{Message: budgetChange(before, after)}
	if before.Capacity != after.Capacity || before.RefillRateMinutes != after.RefillRateMinutes {
		out.Undo = restores(before)
		out.Decision.Action = audit.BudgetChanged
	}
	return out, err
}

func restores(s budget.State) RestoreBudget {
	return RestoreBudget{Capacity: s.Capacity, RefillMinutes: s.RefillRateMinutes, Available: s.Available}
}

// budgetChange describes the change: "capacity 5 → 6, refill 90 → 60 min".
func budgetChange(before, after budget.State) string {
	var parts []string
	if before.Capacity != after.Capacity {
		parts = append(parts, fmt.Sprintf("capacity %d → %d", before.Capacity, after.Capacity))
	}
	if before.RefillRateMinutes != after.RefillRateMinutes {
		parts = append(parts, fmt.Sprintf("refill %d → %d min", before.RefillRateMinutes, after.RefillRateMinutes))
	}
	if len(parts) == 0 {
		return "the ping budget is unchanged"
	}
	if after.Capacity == 0 {
		parts = append(parts, "pings are muted")
	}
	return strings.Join(parts, ", ")
}
