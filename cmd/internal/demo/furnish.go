package demo

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/starter"
)

// Home is the data directory of a demo, and the time at which it starts, in its user's
// zone.
type Home struct {
	Dir *store.Dir
	Now time.Time
}

// Furnish fills an empty data directory: the example files, a month of history, a few
// routines for the next hours, and a partly used ping budget, which refills fast enough to
// watch.
func Furnish(h Home) error {
	if err := h.Dir.Prepare(); err != nil {
		return err
	}
	files, err := starter.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := h.Dir.Write(f.Path, []byte(withScript(string(f.Data), starterScripts[f.Path]))); err != nil {
			return err
		}
	}
	for _, r := range dayAhead {
		if err := addRoutine(h, r); err != nil {
			return err
		}
	}
	pings, err := furnishPast(h)
	if err != nil {
		return err
	}
	return furnishBudget(h, pings)
}

// furnishBudget writes a budget of 3.2 tokens after today's pings.
func furnishBudget(h Home, pings int) error {
	today := h.Now.Format(time.DateOnly)
	s := budget.State{
		Capacity: 5, Available: 3.2, RefillRateMinutes: 2, LastRefill: h.Now,
		CriticalResetDate: today, DailyUsed: pings, DailyUsedReset: today,
	}
	return h.Dir.Write("state/ping_budget.json", s.Encode())
}

// routine is a routine that fires daily, for the first time some time after the start.
type routine struct {
	id, title, body  string
	script           string // empty: the offline engine reads the body
	from             time.Duration
	silent, speaking bool // sends no pings; runs in the foreground
}

// plants is the routine that the driver edits.
const plants = "de300001"

var dayAhead = []routine{
	{id: plants, title: "Water the plants", body: "Ping me to water the plants on the balcony.", from: 55 * time.Minute},
	{id: "de300002", title: "Tea break", body: "Nudge me to make a cup of tea and look out of the window.", from: 25 * time.Minute},
	{
		id: "de300003", title: "Stand-up notes", body: "Collect what I did since yesterday and report it in three lines.",
		from: 95 * time.Minute, silent: true, script: standUp,
	},
	{
		id: "de300004", title: "Afternoon check-in", body: "Ask me how the afternoon goes.",
		from: 140 * time.Minute, speaking: true, script: "say How is your afternoon going?",
	},
}

func addRoutine(h Home, d routine) error {
	expr := daily(h.Now.Add(d.from))
	schedule, err := cron.Parse(expr)
	if err != nil {
		return err
	}
	_, err = routines.AddRoutine(h.Dir, routines.Routine{
		Task: routines.Task{
			Kind: routines.KindRoutine, ID: d.id, Description: d.title, Body: withScript(d.body, d.script),
			Background: !d.speaking, Thinking: true, Mode: routines.OnPing, AllowPing: !d.silent,
		},
		Cron: expr, Schedule: schedule,
	})
	return err
}

// withScript appends a script for the offline engine to the text of a task.
func withScript(text, script string) string {
	if script == "" {
		return text
	}
	return strings.TrimRight(text, "\n") + "\n\n```script\n" + script + "\n```\n"
}

// daily is the cron expression for a time of day, every day.
func daily(t time.Time) string { return fmt.Sprintf("%d %d * * *", t.Minute(), t.Hour()) }
