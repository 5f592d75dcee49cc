package cron

import (
	"fmt"
	"strconv"
	"strings"

	"ollimbot/core/base/clean"
)

// Messages for the author of an expression. Each states the problem and what to write
// instead.

const fieldList = "minute, hour, day of month, month, day of week"

const (
	msgEmpty = "the cron expression is empty; write five fields (" + fieldList + "), for example 0 9 * * 1-5"
	msgZone  = "an expression has no time zone; it uses OLLIM_TIMEZONE. Delete %s, or write a line such as zone: Europe/Berlin"

	msgOutOfRange = "%s %s does not exist; write %s"
	msgNotAValue  = "%s is not %s; write %s"
	msgEmptyItem  = "the %s list has an empty entry; delete the extra comma"
	msgSigned     = "%s cannot have a sign before it; write a plain number, or a range such as %d-%d"
	msgOpenRange  = "the range %s has no end; write %s"
	msgTwoRanges  = "%s has two dashes; write one range, or separate ranges with a comma"

	msgTwoSteps      = "%s has two steps; write one, for example */2"
	msgNothingToStep = "a step needs something to step through; write */2, or a range such as %d-%d/2"
	msgNoStep        = "the step after / is missing; write a number, for example */2"
	msgStepNotNumber = "the step %s is not a number; write digits only, for example */2"
	msgStepZero      = "a step of 0 never moves; write 1 or more, or leave the step out"
	msgNoRange       = "the step %s has no range to step through; leave /%s out"
	msgStepTooLarge  = "the step %s is larger than its %s range, so only the first value would ever fire; " +
		"write at most %d, or that value alone"

	msgQuestionMark = "? is not supported; write * for any day"
	msgNthWeekday   = "# is not supported; write the weekday alone, and below it a line such as days: second friday"
	msgLast         = "L (last) is not supported; write *, and below it a line such as days: last day or days: last friday"
	msgNearest      = "W (nearest weekday) is not supported; write the day, or * and below it a line such as days: last weekday"
	msgStrayStar    = "* is allowed only at the start of an entry, not as in %s; write * or */2 or a range"
)

func wrongCount(n int) string {
	if n == 6 {
		return "a cron expression has five fields (" + fieldList +
			"), this has six; there are no seconds and no year, delete the extra field"
	}
	return fmt.Sprintf("a cron expression has five fields (%s), this has %s; for example 0 9 * * 1-5",
		fieldList, count(n))
}

func count(n int) string {
	words := [...]string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

func macro(text string) string {
	five := map[string]string{
		"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
		"@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
	}
	name := strings.ToLower(text)
	if instead, ok := five[name]; ok {
		return name + " is not supported; write " + instead
	}
	switch name {
	case "@reboot":
		return "@reboot is not supported: a routine fires by the clock; write five fields, for example 0 9 * * *"
	case "@every":
		return "@every is not supported; for every 30 minutes write */30 * * * *"
	}
	return quote(text) + " is not supported; write five fields, for example 0 9 * * *"
}

func (f *field) span() string {
	low, high := strconv.Itoa(f.min), strconv.Itoa(f.max)
	if f.names == nil {
		return low + " to " + high
	}
	first, last := f.names[0], f.names[len(f.names)-1]
	text := low + " to " + high + " or a name from " + strings.ToLower(first[:3]) + " to " + strings.ToLower(last[:3])
	if f.max > f.top {
		return text + " (0 and 7 are Sunday)"
	}
	return text
}

func (f *field) article() string {
	if f.name == "hour" {
		return "an " + f.name
	}
	return "a " + f.name
}

func quote(s string) string { return `"` + clean.Cut(clean.Line(s), 30) + `"` }
