package account

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/base/words"
)

// sentences describes a number of due times by their fate, singular and plural. Missed
// ones are listed by reason.
var sentences = []struct {
	fate      Fate
	why       string
	one, many string
}{
	{Missed, Asleep, "was missed while the machine slept", "were missed while the machine slept"},
	{Missed, Off, "was missed while the bot was off", "were missed while the bot was off"},
	{Missed, "", "was missed", "were missed"},
	{Failed, "", "failed", "failed"},
	{Interrupted, "", "was interrupted", "were interrupted"},
	{Held, "", "was held", "were held"},
	{Refused, "", "was refused for lack of money", "were refused for lack of money"},
	{Skipped, "", "was skipped because the run before had not ended", "were skipped because the run before had not ended"},
	{Running, "", "is running", "are running"},
	{Unrecorded, "", "has passed without a record", "have passed without a record"},
}

// Summary describes the outcome of due times in one line: "214 of 216 due times ran; 2
// were missed while the machine slept".
func Summary(rows []Row) string {
	if len(rows) == 0 {
		return "nothing was due"
	}
	ran, rest := 0, make([]int, len(sentences))
	for _, r := range rows {
		if r.Fate == Ran {
			ran++
			continue
		}
		for i, s := range sentences {
			if s.fate == r.Fate && (s.why == "" || s.why == r.Why) {
				rest[i]++
				break
			}
		}
	}
	total := words.Count(len(rows), "due time")
	if ran == len(rows) {
		return allRan(len(rows))
	}
	parts := []string{fmt.Sprintf("%d of %s ran", ran, total)}
	for i, n := range rest {
		switch {
		case n == 1:
			parts = append(parts, "1 "+sentences[i].one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, sentences[i].many))
		}
	}
	return strings.Join(parts, "; ")
}

func allRan(n int) string {
	if n == 1 {
		return "the only due time ran"
	}
	return fmt.Sprintf("all %d due times ran", n)
}

// More returns the other facts of a row: whether the run was late, the reason, and when
// the hold ends, formatted by clock.
func (r Row) More(clock func(time.Time) string) string {
	var parts []string
	if r.Late {
		parts = append(parts, "late")
	}
	if r.Why != "" {
		parts = append(parts, r.Why)
	}
	if !r.Until.IsZero() {
		parts = append(parts, "until "+clock(r.Until))
	}
	return strings.Join(parts, ", ")
}

// Warnings describes rows that could not be counted.
func (r Report) Warnings() (list []string) {
	if r.Damaged > 0 {
		list = append(list, fmt.Sprintf("%s of %s cannot be read", words.Count(r.Damaged, "line"), File))
	}
	if r.Ahead > 0 {
		list = append(list, fmt.Sprintf("%s in the future left out; the clock was wrong once", words.Count(r.Ahead, "due time")))
	}
	return list
}
