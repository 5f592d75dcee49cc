package budget

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ollimbot/core/base/words"

	"ollimbot/routines/cron"
)

// All texts of this package for the user or the agent.
const (
	textEmpty       = "the ping budget has no token left"
	textMuted       = "0/0 available (muted: capacity is 0)"
	textRate        = "every %d min"
	textFull        = "%d/%d available (refills 1 %s)"
	textBelow       = "%d/%d available (refills 1 %s, next in %d min)"
	textUsed        = "%d used today"
	textCritical    = "%d critical"
	textEssential   = "%d essential"
	textQuietOf     = "quiet %d of %d"
	textQuietUsed   = "the %d quiet messages of today are used up"
	textBadCapacity = "capacity %d is out of range: choose 0 to %d tokens (0 mutes all but critical pings)"
	textBadRefill   = "refill %d is out of range: choose %d to %d minutes for one token " +
		"(the bucket must refill; to stop pings set the capacity to 0)"
	textBadTokens = "%v tokens cannot be restored: choose 0 or more"

	textNotObject   = "the budget file is not a JSON object (%v); using defaults"
	textMissing     = "%s is missing; using %s"
	textNotInt      = "%s is %s, not a whole number of at least %d; using %d"
	textNotNumber   = "%s is %s, not a number of at least 0; using %s"
	textNotTime     = "%s is %s, not a time such as 2026-11-23T08:30:00-08:00; using now"
	textNotDate     = "%s is %s, not a date such as 2026-11-23; using today"
	previewMutes    = "mutes all but critical pings"
	previewLoses    = "%s tokens are lost"
	previewLosesOne = "1 token is lost"
	previewFullNow  = "full now"
	previewFullAt   = "full at %s"
	previewInstead  = "full at %s instead of %s"
	previewNowFull  = "full at %s instead of now"
	previewSooner   = "full now instead of at %s"
	previewRefill   = "a used token is back in %d min instead of %d"
)

// Left describes how many pings are left, such as "3 of 5 pings left".
func (s State) Left() string {
	return fmt.Sprintf("%d of %s left", s.Whole(), words.Some(s.Capacity, "ping", ""))
}

// Rate describes how often a token comes back, such as "every 90 min".
func (s State) Rate() string { return fmt.Sprintf(textRate, s.RefillRateMinutes) }

// Status describes the bucket at now, such as "3/5 available (refills 1 every 90 min,
// next in 45 min)".
func (s State) Status(now time.Time) string {
	s = s.At(now)
	if s.Capacity == 0 {
		return textMuted
	}
	if s.full() {
		return fmt.Sprintf(textFull, s.Whole(), s.Capacity, s.Rate())
	}
	next := s.timeFor(float64(s.Whole()+1) - s.Available)
	minutes := int(math.Ceil(next.Minutes()))
	return fmt.Sprintf(textBelow, s.Whole(), s.Capacity, s.Rate(), minutes)
}

// FullStatus is Status with the day's non-zero counters.
func (s State) FullStatus(now time.Time) string {
	s = s.At(now)
	parts := []string{s.Status(now)}
	if s.DailyUsed > 0 {
		parts = append(parts, fmt.Sprintf(textUsed, s.DailyUsed))
	}
	if s.CriticalUsed > 0 {
		parts = append(parts, fmt.Sprintf(textCritical, s.CriticalUsed))
	}
	return strings.Join(parts, ", ")
}

// Preview describes the effect of other settings at now, such as "full at 19:05 instead
// of 19:40". It is empty if they would change nothing.
func (s State) Preview(now time.Time, capacity, refill int) string {
	s = s.At(now)
	if capacity == s.Capacity && refill == s.RefillRateMinutes {
		return ""
	}
	if capacity == 0 {
		if s.Capacity == 0 {
			return ""
		}
		return previewMutes
	}
	after := s
	after.set(&capacity, &refill)
	var parts []string
	if lost := s.Available - after.Available; lost > tolerance {
		parts = append(parts, lostTokens(lost))
	}
	if what := fullness(s, after, now); what != "" {
		parts = append(parts, what)
	} else if refill != s.RefillRateMinutes {
		parts = append(parts, fmt.Sprintf(previewRefill, refill, s.RefillRateMinutes))
	}
	return strings.Join(parts, ", ")
}

func lostTokens(lost float64) string {
	amount := strings.TrimSuffix(fmt.Sprintf("%.1f", lost), ".0")
	switch amount {
	case "1":
		return previewLosesOne
	case "0":
		amount = "0.1" // not nothing
	}
	return fmt.Sprintf(previewLoses, amount)
}

// fullness compares when the bucket is full; empty if that does not change.
func fullness(before, after State, now time.Time) string {
	was, will := before.FullAt(now), after.FullAt(now)
	switch {
	case before.Capacity == 0 && will.IsZero():
		return previewFullNow
	case before.Capacity == 0:
		return fmt.Sprintf(previewFullAt, moment(will, now))
	case was.IsZero() && will.IsZero():
		return ""
	case was.IsZero():
		return fmt.Sprintf(previewNowFull, moment(will, now))
	case will.IsZero():
		return fmt.Sprintf(previewSooner, moment(was, now))
	}
	from, to := moment(was, now), moment(will, now)
	if from == to {
		return ""
	}
	return fmt.Sprintf(previewInstead, to, from)
}

// moment formats a time as 19:05 if it is today, "Tue 19:05" within a week, or else with
// its date. It is rounded up to the minute, like a countdown.
func moment(t, now time.Time) string {
	t = t.In(now.Location())
	if whole := t.Truncate(time.Minute); whole.Before(t) {
		t = whole.Add(time.Minute)
	}
	return cron.Layouts{Today: "15:04", Week: "Mon 15:04", Else: "2 Jan 2006 15:04"}.Format(t, now)
}

// Validate checks new settings; nil is not checked. The error gives the accepted range
// and the reason.
func Validate(capacity, refill *int) error {
	if capacity != nil && (*capacity < 0 || *capacity > maxCapacity) {
		return fmt.Errorf(textBadCapacity, *capacity, maxCapacity)
	}
	if refill != nil && (*refill < minRefill || *refill > MaxRefill) {
		return fmt.Errorf(textBadRefill, *refill, minRefill, MaxRefill)
	}
	return nil
}
