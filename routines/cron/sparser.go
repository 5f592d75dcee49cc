package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// PerDay returns how many times it fires on each of its days, barring clock changes.
func (s Schedule) PerDay() int { return s.minute.count() * s.hour.count() }

// Sparser returns a schedule that fires about half as often, in even steps: every 2 hours
// instead of every hour. It returns false if the schedule does not fire in even steps
// within a day or cannot be halved.
func (s Schedule) Sparser() (Schedule, bool) {
	fields := strings.Fields(s.expr)
	if s.Never() || len(fields) != 5 {
		return Schedule{}, false
	}
	at, cycle := 0, 60
	if s.minute.count() == 1 {
		at, cycle = 1, 24
	}
	text, ok := doubled(fields[at], cycle)
	if !ok {
		return Schedule{}, false
	}
	fields[at] = text
	half, err := Parse(strings.Join(fields, " "))
	return half, err == nil
}

// doubled doubles the step of a field with the given cycle: of *, of */n if the new step
// divides the cycle, or of a plain range.
func doubled(field string, cycle int) (text string, ok bool) {
	if from, to, is := strings.Cut(field, "-"); is && isNumber(from) && isNumber(to) {
		return field + "/2", true
	}
	step := starStep(field)
	if field == "*" {
		step = 1
	}
	switch step *= 2; {
	case step == 0 || cycle%step != 0:
		return "", false
	case step == cycle:
		return "0", true
	}
	return fmt.Sprintf("*/%d", step), true
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}
