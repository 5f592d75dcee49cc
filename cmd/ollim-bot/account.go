package main

import (
	"fmt"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
)

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

// Run shows the outcome of each due time. Without --task, it lists only those that did not run.
func (c *accountCmd) Run(p *process, at console.DataDir) error {
	from, err := account.ReadDay(c.Since, at.Now.In(at.Env.Zone))
	if err != nil {
		return console.Usagef("--since: %v", err)
	}
	past, err := account.New(at.Dir).Read(at.Now)
	if err != nil {
		return err
	}
	report := past.Report(from, c.Task)
	for _, w := range report.Warnings() {
		console.Tell(p.Err, "warning: %s", w)
	}
	a := accountAnswer{Since: from, Summary: report.Summary(), Rows: append([]account.Row{}, report.Rows...)}
	lines := []string{fmt.Sprintf("since %s: %s", from.Format("Mon 2006-01-02"), a.Summary)}
	for _, r := range report.Rows {
		if c.Task != "" || r.Fate != account.Ran {
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
