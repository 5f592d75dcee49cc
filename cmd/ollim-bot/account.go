package main

import (
	"fmt"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
	"ollimbot/tui/widget/query"
)

type accountCmd struct {
	Since string `default:"7d" placeholder:"DAY" help:"The first day: today, yesterday, a weekday, 2006-01-02, or a number of days such as 30d (${default})."`
	Task  string `placeholder:"ID" complete:"task" help:"Every due time of this task."`
	ofFilter
	console.AsJSON
}

// accountAnswer is the JSON answer.
type accountAnswer struct {
	Since   time.Time     `json:"since"`
	Summary string        `json:"summary"`
	Rows    []account.Row `json:"rows"` // by due time
}

// Run shows the outcome of each due time. Without a task or a filter, it lists only those that did not run.
func (c *accountCmd) Run(p *process, at console.DataDir) error {
	from, err := account.ReadDay(c.Since, at.Now)
	if err != nil {
		return console.Usagef("--since: %v", err)
	}
	if len(c.Filter) > 0 {
		if day, err := account.ReadDay(c.Filter[0], at.Now); err == nil {
			from, c.Filter = day, c.Filter[1:]
		}
	}
	past, err := account.New(at.Dir).Read(at.Now)
	if err != nil {
		return err
	}
	report := past.Report(from, c.Task)
	for _, w := range report.Warnings() {
		console.Tell(p.Err, "warning: %s", w)
	}
	a := accountAnswer{Since: from, Summary: report.Summary(), Rows: kept(c.ofFilter, report.Rows, func(r account.Row) query.Facts {
		return query.Facts{Text: accountLine(r, at.Env.Zone), Is: []string{string(r.Fate), r.Kind}, At: r.Due.In(at.Env.Zone), Now: at.Now}
	})}
	lines := []string{fmt.Sprintf("since %s: %s", from.Format("Mon 2006-01-02"), a.Summary)}
	for _, r := range a.Rows {
		if c.Task != "" || len(c.Filter) > 0 || r.Fate != account.Ran {
			lines = append(lines, accountLine(r, at.Env.Zone))
		}
	}
	return p.Answer(c.JSON, a, lines)
}

// accountLine formats a due time and its outcome.
func accountLine(r account.Row, zone *time.Location) string {
	line := fmt.Sprintf("%s  %-11s  %s  %s", r.Due.In(zone).Format(console.MomentLayout), r.Fate, r.ID, r.Title)
	if more := r.More(func(t time.Time) string { return cron.DayClock(t.In(zone), r.Due.In(zone)) }); more != "" {
		line += ": " + more
	}
	return line
}
