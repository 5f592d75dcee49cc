package dialog

import (
	"strconv"
	"strings"

	"ollimbot/core/budget"
	"ollimbot/core/command"
	"ollimbot/tui/pane"
)

// maxDigits keeps a number far below what an int holds.
const maxDigits = 6

// NewBudget is the form of the budget's exact numbers, with what would come of them.
func NewBudget(c pane.Context) *Form {
	state := c.Snap.Budget.State
	number := func(label, unit, wrong string, value int, check func(n *int) error) *Field {
		f := Text(label, strconv.Itoa(value), func(_ pane.Context, text string, _ bool) (string, bool) {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return wrong, false
			}
			if err := check(&n); err != nil {
				return err.Error(), false
			}
			return "", true
		})
		f.Unit, f.Most, f.Fresh = unit, maxDigits, true
		return f
	}
	capacity := number(textCapacity, textTokens, textNoCapacity, state.Capacity, func(n *int) error { return budget.Validate(n, nil) })
	refill := number(textRefill, textMinutes, textNoMinutes, state.RefillRateMinutes, func(n *int) error { return budget.Validate(nil, n) })
	numbers := func() (tokens, minutes int, ok bool) {
		tokens, wrong := strconv.Atoi(strings.TrimSpace(capacity.Text()))
		minutes, wrongToo := strconv.Atoi(strings.TrimSpace(refill.Text()))
		return tokens, minutes, wrong == nil && wrongToo == nil
	}
	return &Form{
		Name: textBudgetTitle, Fields: []*Field{capacity, refill},
		Make: func(pane.Context) command.Value {
			tokens, minutes, _ := numbers()
			return command.SetBudget{Capacity: &tokens, RefillMinutes: &minutes}
		},
		Effect: func(c pane.Context) (string, bool) {
			tokens, minutes, ok := numbers()
			if !ok || budget.Validate(&tokens, &minutes) != nil {
				return "", true // it stands beside its field
			}
			if effect := c.Snap.Budget.State.Preview(c.Snap.At, tokens, minutes); effect != "" {
				return effect, true
			}
			return textNoEffect, true
		},
	}
}
