package leeway

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"ollimbot/routines/cron"
	"ollimbot/routines/when"
)

// Rule is how far a task's time may vary. The zero Rule fixes it.
type Rule struct {
	Window Window
	Jitter time.Duration // whole minutes
}

// String formats the rule for display after a time: "9:00-11:00, up to 10 min later".
func (r Rule) String() string {
	var parts []string
	if !r.Window.IsZero() {
		parts = append(parts, r.Window.String())
	}
	if r.Jitter > 0 {
		parts = append(parts, fmt.Sprintf("up to %d min later", int(r.Jitter/time.Minute)))
	}
	return strings.Join(parts, ", ")
}

// End returns the latest moment for a fire whose own time is start, in start's zone. It
// is never before start: if a clock change swallows the window, the fire happens right
// after the gap.
func (r Rule) End(start time.Time) time.Time {
	if r.Window.IsZero() {
		return start.Add(r.Jitter)
	}
	if end := r.Window.on(start, r.Window.To); end.After(start) {
		return end
	}
	return start
}

// Fits reports whether the rule applies to a fire at that time: a window applies only to
// fires at its start.
func (r Rule) Fits(at time.Time) bool {
	return r != Rule{} && (r.Window.IsZero() || r.Window.on(at, r.Window.From).Equal(at))
}

// delay returns the jitter of a fire: deterministic, but different every day.
func (r Rule) delay(id string, start time.Time) time.Duration {
	if r.Jitter < time.Minute {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id + start.Format("\x002006-01-02T15:04")))
	// The low bits of this hash barely change between days that differ in one digit.
	sum := h.Sum64()
	sum ^= sum >> 29
	sum *= 0xbf58476d1ce4e5b9
	sum ^= sum >> 32
	return time.Duration(sum%uint64(r.Jitter/time.Minute+1)) * time.Minute
}

// Window is a part of a day, in minutes since midnight. The zero Window is none.
type Window struct{ From, To int }

// IsZero reports whether there is no window.
func (w Window) IsZero() bool { return w == Window{} }

// String is the window as files have it: "9:00-11:00".
func (w Window) String() string {
	if w.IsZero() {
		return ""
	}
	return clock(w.From) + "-" + clock(w.To)
}

func clock(minute int) string { return fmt.Sprintf("%d:%02d", minute/60, minute%60) }

// Length is how long a window lasts on a day without a change of the clocks.
func (w Window) Length() time.Duration { return time.Duration(w.To-w.From) * time.Minute }

// Start is when the window opens on the day of a time.
func (w Window) Start(day time.Time) time.Time { return w.on(day, w.From) }

// on returns the given minute of the day of a time.
func (w Window) on(day time.Time, minute int) time.Time {
	return cron.Instant(time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, time.UTC), day.Location())
}

// Reasons why a text is not a window or jitter. The messages follow the quoted text.
var (
	errForm     = errors.New("is not a window; write its start and end, for example 9:00-11:00")
	errEmpty    = errors.New("is empty; write an end that is later than its start")
	errMidnight = errors.New("passes midnight; a window lies within one day, so end it by 23:59 or let it start after midnight")
	errJitter   = errors.New("is not a jitter; write minutes or hours, for example 10m or 1h")
	errRange    = fmt.Errorf("is out of range; write from 1m to %dh", int(MaxJitter.Hours()))
)

// ParseWindow reads a window: "9:00-11:00", "9am to 11am".
func ParseWindow(text string) (Window, error) {
	first, last, found := strings.Cut(strings.NewReplacer("–", "-", " to ", "-").Replace(text), "-")
	from, ok := when.Clock(first)
	to, also := when.Clock(last)
	switch {
	case !found || !ok || !also:
		return Window{}, errForm
	case from == to:
		return Window{}, errEmpty
	case from > to:
		return Window{}, errMidnight
	}
	return Window{from, to}, nil
}

// MaxJitter is the longest jitter.
const MaxJitter = 12 * time.Hour

// ParseJitter parses "10m", "1 hour" or "1h30m". A bare number is minutes.
func ParseJitter(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if _, err := strconv.ParseUint(text, 10, 32); err == nil {
		text += "m"
	}
	d, err := when.Span(text)
	switch {
	case err != nil:
		return 0, errJitter
	case d < time.Minute || d > MaxJitter || d%time.Minute != 0:
		return 0, errRange
	}
	return d, nil
}

// FormatJitter formats a jitter for a file; empty for none.
func FormatJitter(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
