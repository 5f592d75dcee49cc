package dialog

import (
	"cmp"
	"strconv"
	"strings"

	"ollimbot/core/budget"
	"ollimbot/core/command"
	"ollimbot/tui/pane"
)

// NewBudget is the form of the budget's exact numbers, with what would come of them.
func NewBudget(c pane.Context) *Form {
	state := c.Snap.Budget.State
	number := func(label, wrong string, value int, validate func(n *int) error) *Field {
		f := Text(label, strconv.Itoa(value), func(_ pane.Context, text string) (string, bool) {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return wrong, false
			}
			if err := validate(&n); err != nil {
				return err.Error(), false
			}
			return "", true
		})
		f.Fresh = true
		return f
	}
	capacity := number(textCapacity, textNoCapacity, state.Capacity, func(n *int) error { return budget.Validate(n, nil) })
	refill := number(textRefill, textNoMinutes, state.RefillRateMinutes, func(n *int) error { return budget.Validate(nil, n) })
	value := func(f *Field) *int {
		n, _ := strconv.Atoi(strings.TrimSpace(f.Text()))
		return &n
	}
	return &Form{
		Name: textBudgetTitle, Fields: []*Field{capacity, refill},
		Make: func(pane.Context) command.Value {
			return command.SetBudget{Capacity: value(capacity), RefillMinutes: value(refill)}
		},
		Effect: func(c pane.Context) (string, bool) {
			_, ok := capacity.check(c, true)
			if _, too := refill.check(c, true); !ok || !too {
				return "", true // it stands beside its field
			}
			return cmp.Or(c.Snap.Budget.State.Preview(c.Snap.At, *value(capacity), *value(refill)), textNoEffect), true
		},
	}
}
