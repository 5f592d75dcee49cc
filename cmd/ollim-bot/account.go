package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/words"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
)

// accountDays is how far back --since may go.
const accountDays = 3660

type accountCmd struct {
	Since string `default:"7d" placeholder:"DAY" help:"The first day: today, yesterday, a weekday, 2006-01-02, or a number of days such as 30d (${default})."`
	Task  string `placeholder:"ID" complete:"task" help:"Every due time of this task."`
	console.AsJSON
}

// accountAnswer is the JSON answer.
type accountAnswer struct {
	Since   time.Time     `json:"since"`
	Summary string        `json:"summary"`
	Rows    []account.Row `json:"rows"` // by due time
}

// Run says what became of each due time. Without --task it lists those that did not run.
func (c *accountCmd) Run(p *process, at console.DataDir) error {
	from, err := sinceDay(c.Since, at.Now.In(at.Env.Zone))
	if err != nil {
		return err
	}
	past, err := account.New(at.Dir).Read(at.Now)
	if err != nil {
		return err
	}
	if past.Damaged > 0 {
		console.Tell(p.Err, "warning: %s of %s cannot be read", words.Count(past.Damaged, "line"), account.File)
	}
	if past.Ahead > 0 {
		console.Tell(p.Err, "warning: %s in the future left out; the clock was wrong once", words.Count(past.Ahead, "due time"))
	}
	rows := past.Since(from)
	if c.Task != "" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r account.Row) bool { return r.ID != c.Task })
	}
	a := accountAnswer{Since: from, Summary: account.Summary(rows), Rows: append([]account.Row{}, rows...)}
	lines := []string{fmt.Sprintf("since %s: %s", from.Format("Mon 2006-01-02"), a.Summary)}
	for _, r := range rows {
		if c.Task != "" || r.Fate != account.Ran {
			lines = append(lines, accountLine(r, at.Env.Zone))
		}
	}
	return p.Answer(c.JSON, a, lines)
}

// accountLine is a due time and what became of it.
func accountLine(r account.Row, zone *time.Location) string {
	line := fmt.Sprintf("%s  %-11s  %s  %s", r.Due.In(zone).Format(console.MomentLayout), r.Fate, r.ID, r.Title)
	var more []string
	if r.Late {
		more = append(more, "late")
	}
	if r.Why != "" {
		more = append(more, r.Why)
	}
	if !r.Until.IsZero() {
		more = append(more, "until "+cron.DayClock(r.Until.In(zone), r.Due.In(zone)))
	}
	if len(more) > 0 {
		line += ": " + strings.Join(more, ", ")
	}
	return line
}

// sinceDay is the beginning of a day of the past.
func sinceDay(text string, now time.Time) (time.Time, error) {
	back := func(days int) time.Time { return cron.Wall(now, -days, 0, 0, now.Location()) }
	word := strings.ToLower(strings.TrimSpace(text))
	switch word {
	case "today":
		return back(0), nil
	case "yesterday":
		return back(1), nil
	}
	for d := range time.Weekday(7) {
		if name := strings.ToLower(d.String()); word == name || word == name[:3] {
			return back((int(now.Weekday()) - int(d) + 7) % 7), nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(word, "d")); err == nil && strings.HasSuffix(word, "d") && n >= 0 && n <= accountDays {
		return back(n), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, word, now.Location()); err == nil {
		return day, nil
	}
	return time.Time{}, console.Usagef("--since takes today, yesterday, a weekday, a date such as 2026-11-23, or days such as 30d, not %q", text)
}
