package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/core/store"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/starter"
)

type demoCmd struct {
	faceFlags

	Speed float64 `default:"1" placeholder:"N" help:"Play N times as fast, 0.1 to 20."`
}

// textDemoPlain is textDemo for who hears it: words in the place of keys.
const textDemoPlain = "demo: all is real but the model; try schedule, fire 1, say hello"

// Run plays the demo: a real bot on a temporary data directory, and a director
// who does beside it what a user and the hours would do.
func (c *demoCmd) Run(p *process) (err error) {
	if !(c.Speed >= 0.1 && c.Speed <= 20) {
		return usagef("--speed takes a number from 0.1 to 20")
	}
	f, err := c.face(p)
	if err != nil {
		return err
	}
	f.demo = true
	notice := textDemo
	if f.plain {
		notice = textDemoPlain
	}
	root, err := os.MkdirTemp("", "ollim-bot-demo-")
	if err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	p.flags.DataDir = root
	at, err := p.open()
	if err != nil {
		return err
	}
	if err := furnish(at); err != nil {
		return err
	}
	ctx, stop := p.context()
	defer stop()
	return p.serve(ctx, at, serving{
		face:  f,
		model: p.offline(at, 1/c.Speed, notice),
		beside: func(ctx context.Context, bot *core.Bot, log *slog.Logger) error {
			return (&director{bot: bot, at: at, log: log, speed: c.Speed}).run(ctx)
		},
	})
}

// furnish writes the data directory of somebody who has used the bot for some
// hours today: the example files, a few routines of the hours ahead, and a
// bucket that is partly used. It refills fast, so that one can see it.
func furnish(at place) error {
	if err := at.dir.Prepare(); err != nil {
		return err
	}
	files, err := starter.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := at.dir.Write(f.Path, f.Data); err != nil {
			return err
		}
	}
	for _, r := range demoRoutines {
		if err := addDemoRoutine(at, r); err != nil {
			return err
		}
	}
	return furnishBudget(at)
}

// furnishBudget writes a bucket of 3.2 tokens after two pings, and the pings.
func furnishBudget(at place) error {
	today := at.now.Format(time.DateOnly)
	s := budget.State{
		Capacity: 5, Available: 3.2, RefillRateMinutes: 2, LastRefill: at.now,
		CriticalResetDate: today, DailyUsed: 2, DailyUsedReset: today,
	}
	if err := at.dir.Write("state/ping_budget.json", s.Encode()); err != nil {
		return err
	}
	journal := budget.NewJournal(at.dir, at.env.Zone, nil)
	for _, p := range []struct {
		ago   time.Duration
		title string
	}{{5 * time.Hour, "Medication"}, {2 * time.Hour, "Move a little"}} {
		if err := journal.Append(budget.Ping{At: at.now.Add(-p.ago), Title: p.title, Kind: "ping"}); err != nil {
			return err
		}
	}
	return nil
}

// demoRoutine is a routine that fires once a day, some time from the start on.
type demoRoutine struct {
	id, title, body  string
	from             time.Duration
	silent, speaking bool // without pings; in the foreground
}

// plants is the routine that the director edits.
const plants = "de300001"

var demoRoutines = []demoRoutine{
	{id: plants, title: "Water the plants", body: "Ping me to water the plants on the balcony.", from: 55 * time.Minute},
	{id: "de300002", title: "Tea break", body: "Nudge me to make a cup of tea and look out of the window.", from: 25 * time.Minute},
	{id: "de300003", title: "Stand-up notes", body: "Collect what I did since yesterday and report it in three lines.", from: 95 * time.Minute, silent: true},
	{id: "de300004", title: "Afternoon check-in", body: "Ask me how the afternoon goes.", from: 140 * time.Minute, speaking: true},
}

func addDemoRoutine(at place, d demoRoutine) error {
	expr := daily(at.now.Add(d.from))
	schedule, err := cron.Parse(expr)
	if err != nil {
		return err
	}
	_, err = routines.AddRoutine(at.dir, routines.Routine{
		Task: routines.Task{
			Kind: routines.KindRoutine, ID: d.id, Description: d.title, Body: d.body,
			Background: !d.speaking, Thinking: true, Mode: routines.OnPing, AllowPing: !d.silent,
		},
		Cron: expr, Schedule: schedule,
	})
	return err
}

// daily is the expression of a wall-clock minute, every day.
func daily(t time.Time) string { return fmt.Sprintf("%d %d * * *", t.Minute(), t.Hour()) }

// editRoutine changes one line of a routine's file, as an editor would that
// saves it.
func editRoutine(at place, bot *core.Bot, id, expr string) error {
	r, ok := bot.Index().Set().RoutineByID(id)
	if !ok {
		return fmt.Errorf("routine %s is gone", id)
	}
	data, err := at.dir.Read(r.Path)
	if err != nil {
		return err
	}
	data, err = store.SpliceFrontMatter(data, []store.Out{{Key: "cron", Value: expr}})
	if err != nil {
		return err
	}
	return at.dir.Write(r.Path, data)
}
