package cron_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/cron"
	"ollimbot/routines/when"
)

// randomField is a field of an expression with values from low to high.
func randomField(t *rapid.T, name string, low, high int) string {
	value := rapid.IntRange(low, high)
	item := rapid.Custom(func(t *rapid.T) string {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return fmt.Sprintf("%d-%d", a, b)
		case 1:
			if a > b {
				a, b = b, a
			}
			if b-a < 2 {
				return fmt.Sprint(a)
			}
			return fmt.Sprintf("%d-%d/%d", a, b, rapid.IntRange(2, b-a).Draw(t, "step"))
		}
		return fmt.Sprint(a)
	})
	star := fmt.Sprintf("*/%d", rapid.IntRange(1, high-low).Draw(t, "every"))
	switch rapid.IntRange(0, 6).Draw(t, name) {
	case 0, 1:
		return "*"
	case 2:
		return star
	case 3:
		return star + "," + item.Draw(t, "more")
	case 4:
		return strings.Join(rapid.SliceOfN(item, 1, 4).Draw(t, "list"), ",")
	}
	return item.Draw(t, "item")
}

// A schedule printed in words is read as the same schedule.
func TestAScheduleIsReadAsItIsPrinted(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		expr := strings.Join([]string{
			randomField(t, "minute", 0, 59), randomField(t, "hour", 0, 23), randomField(t, "day", 1, 31), randomField(t, "month", 1, 12), randomField(t, "week", 0, 6),
		}, " ")
		s, err := cron.Parse(expr)
		if err != nil || s.Never() {
			return
		}
		got, err := when.Reader{}.Schedule(s.Words())
		if err != nil {
			t.Fatalf("%s is printed as %q: %v", expr, s.Words(), err)
		}
		if cron.MeaningOf(got.Cron) != cron.MeaningOf(s) {
			t.Fatalf("%s is printed as %q and read as %s (%s)", expr, s.Words(), got.String(), got.Words())
		}
	})
}
