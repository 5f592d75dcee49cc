package week

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
)

// Fact is a line of a report: its subject, and a sentence without the period.
type Fact struct{ Name, Text string }

// Line returns the fact in one line.
func (f Fact) Line() string { return f.Name + ": " + f.Text }

const textNotRecorded = "none is recorded"

// Title names the week.
func (r *Report) Title() string {
	last := r.Days[r.Begun()-1].Date
	name := "This week"
	switch {
	case r.Ago == 1:
		name = "Last week"
	case r.Ago > 1:
		name = fmt.Sprintf("%d weeks ago", r.Ago)
	}
	first, layout := "Monday 2", "Monday 2 January"
	if r.From.Month() != last.Month() {
		first = layout
	}
	if r.From.Year() != last.Year() {
		first = layout + " 2006"
	}
	if r.Ago > 0 {
		layout += " 2006"
	}
	if r.Begun() == 1 {
		return name + ": " + last.Format(layout) + ", its first day"
	}
	return name + ": " + r.From.Format(first) + " to " + last.Format(layout)
}

// Facts returns the non-empty facts, most important first.
func (r *Report) Facts() (facts []Fact) {
	tell := func(name, text string) {
		if text != "" {
			facts = append(facts, Fact{name, text})
		}
	}
	if r.Empty() {
		text := "nothing has happened yet: no ping, nothing due, no cost"
		if r.Ago > 0 {
			text = "nothing is known: no ping, nothing due, no cost"
		}
		tell("week", text)
	} else {
		tell("pings", r.pingsText())
		tell("promises", r.promisesText())
		tell("due times", r.DueText)
		tell("cost", r.costText())
	}
	for _, d := range r.Days {
		if d.Hours != 24 {
			tell("clock", fmt.Sprintf("%s has %d hours, because the clocks change", d.Date.Format("Monday"), d.Hours))
		}
	}
	tell("suggestion", clean.Line(r.Suggestion))
	return facts
}

// Lines returns the whole report, one line per fact.
func (r *Report) Lines() []string {
	lines := []string{r.Title()}
	for _, f := range r.Facts() {
		lines = append(lines, f.Line())
	}
	return lines
}

func (r *Report) pingsText() string {
	p, answered := r.Pings, ""
	after := words.Minutes(time.Duration(p.Median) * time.Second)
	switch {
	case p.Sent+p.Refused+p.Quiet == 0:
		return "none was sent"
	case p.Answered > 1:
		answered = fmt.Sprintf("%d answered (half of them within %s)", p.Answered, after)
	case p.Answered == 1:
		answered = fmt.Sprintf("1 answered (after %s)", after)
	case p.Sent > 0:
		answered = "none answered"
	}
	return words.Joined(
		fmt.Sprintf("%d sent", p.Sent), answered, some(p.Useless, budget.TextUseless), some(p.Refused, "refused"),
		some(p.Quiet, "more without a sound"),
	)
}

func some(n int, word string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, word)
}

func (r *Report) promisesText() string {
	return words.Joined(some(r.Promises.Made, "made"), some(r.Promises.Kept, "kept"))
}

func (r *Report) costText() string {
	text := words.Joined(words.Dollars(r.Dollars), words.Count(r.Runs, "run"))
	if n := r.Begun(); n > 1 && r.Dollars > 0 {
		text += fmt.Sprintf(", %s a day", words.Dollars(r.Dollars/float64(n)))
	}
	if r.Dearest.Title != "" {
		text += fmt.Sprintf("; the dearest is %s, %s", strings.TrimRight(clean.Line(r.Dearest.Title), "."), words.Dollars(r.Dearest.Dollars))
	}
	return text
}
