package habits

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// mostRanges is the maximum number of hour ranges named.
const mostRanges = 2

// Words summarises significant differences: "best hours 9–11; usually ignored 7–8, on
// Sunday". It is empty if there are none.
func (f Facts) Words() string {
	var parts []string
	if best := f.ranges(f.better); len(best) > 0 {
		parts = append(parts, "best hours "+strings.Join(best, ", "))
	}
	ignored := f.ranges(f.worse)
	for d, r := range f.Weekdays {
		if f.worse(r) {
			ignored = append(ignored, "on "+time.Weekday(d).String())
		}
	}
	if len(ignored) > 0 {
		parts = append(parts, "usually ignored "+strings.Join(ignored, ", "))
	}
	return strings.Join(parts, "; ")
}

// ranges returns the longest ranges of hours for which is returns true, by time. "9–11"
// ends at eleven.
func (f Facts) ranges(is func(Rate) bool) (list []string) {
	for from := 0; from < 24; from++ {
		to := from
		for to < 24 && is(f.Hours[to]) {
			to++
		}
		if to > from && len(list) < mostRanges {
			list = append(list, strconv.Itoa(from)+"–"+strconv.Itoa(to))
			from = to
		}
	}
	return list
}

// Question proposes the change: "You moved Medication to about 9:30 in six of eight weeks. Change
// it?"
func (m Move) Question(title string) string {
	did := "You answered " + title + " at about "
	if m.Snoozed {
		did = "You moved " + title + " to about "
	}
	return fmt.Sprintf("%s%s in %s of %s weeks. It comes at %s. Change it?", did, Clock(m.To), number(m.Weeks), number(m.Of), Clock(m.From))
}

// Clock formats minutes since midnight: "9:30".
func Clock(minute int) string { return fmt.Sprintf("%d:%02d", minute/60, minute%60) }

func number(n int) string {
	return [...]string{leastWeeks: "six", "seven", "eight"}[n]
}
