package main

import (
	"fmt"
	"strconv"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
	"ollimbot/tui/widget/query"
)

type accountCmd struct {
	Days string `aliases:"since" default:"7" placeholder:"N" help:"How many days back (${default}), or the first day: yesterday, a weekday, 2006-01-02."`
	Task string `placeholder:"ID" complete:"task" help:"Every due time of this task."`
	ofFilter
	console.AsJSON
}

// Run shows the outcome of each due time. Without a task or a filter, it lists only those that did not run.
func (c *accountCmd) Run(p *process, at console.DataDir) error {
	if _, err := strconv.Atoi(c.Days); err == nil {
		c.Days += "d"
	}
	from, err := account.ReadDay(c.Days, at.Now)
	if err != nil {
		return console.Usagef("--days: %v", err)
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
	summary := report.Summary() // of all rows
	report.Rows = kept(c.ofFilter, report.Rows, func(r account.Row) query.Facts {
		return query.Facts{Text: accountLine(r, at.Env.Zone), Is: []string{string(r.Fate), r.Kind}, At: r.Due.In(at.Env.Zone), Now: at.Now}
	})
	lines := []string{fmt.Sprintf("since %s: %s", from.Format("Mon 2006-01-02"), summary)}
	for _, r := range report.Rows {
		if c.Task != "" || len(c.Filter) > 0 || r.Fate != account.Ran {
			lines = append(lines, accountLine(r, at.Env.Zone))
		}
	}
	return p.Answer(c.JSON, map[string]any{"since": report.Since, "summary": summary, "rows": report.Rows}, lines)
}

// accountLine formats a due time and its outcome.
func accountLine(r account.Row, zone *time.Location) string {
	line := fmt.Sprintf("%s  %-11s  %s  %s", r.Due.In(zone).Format(console.MomentLayout), r.Fate, r.ID, r.Title)
	if more := r.More(func(t time.Time) string { return cron.DayClock(t.In(zone), r.Due.In(zone)) }); more != "" {
		line += ": " + more
	}
	return line
}
