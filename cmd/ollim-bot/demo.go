package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/core/budget"
	"ollimbot/core/command"
	"ollimbot/core/store"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/starter"
)

type demoCmd struct {
	uiFlags

	Speed float64 `default:"1" placeholder:"N" help:"Play N times as fast, 0.1 to 20."`
}

// textDemoPlain is textDemo for who hears it: words in the place of keys.
const textDemoPlain = "demo: all is real but the model; try schedule, fire 1, say hello"

// Run plays the demo: a real bot on a temporary data directory, and a driver
// that does beside it what a user and the hours would do.
func (c *demoCmd) Run(p *process) (err error) {
	if !(c.Speed >= 0.1 && c.Speed <= 20) {
		return usagef("--speed takes a number from 0.1 to 20")
	}
	f, err := c.mode(p)
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
		uiMode: f,
		// What its tokens would cost is shown: there is nobody to pay.
		model: p.offline(at, script.Options{Pace: 1 / c.Speed, Priced: true}, notice),
		beside: func(ctx context.Context, bot *core.Bot, log *slog.Logger) error {
			return (&demoDriver{bot: bot, at: at, log: log, speed: c.Speed}).run(ctx)
		},
	})
}

// furnish writes the data directory of somebody who has used the bot for some
// hours today: the example files, a few routines of the hours ahead, and a
// bucket that is partly used. It refills fast, so that one can see it.
func furnish(at dataDir) error {
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
	pings, err := furnishPast(at)
	if err != nil {
		return err
	}
	return furnishBudget(at, pings)
}

// furnishBudget writes a bucket of 3.2 tokens after the pings of today.
func furnishBudget(at dataDir, pings int) error {
	today := at.now.Format(time.DateOnly)
	s := budget.State{
		Capacity: 5, Available: 3.2, RefillRateMinutes: 2, LastRefill: at.now,
		CriticalResetDate: today, DailyUsed: pings, DailyUsedReset: today,
	}
	return at.dir.Write("state/ping_budget.json", s.Encode())
}

// demoRoutine is a routine that fires once a day, some time from the start on.
type demoRoutine struct {
	id, title, body  string
	from             time.Duration
	silent, speaking bool // without pings; in the foreground
}

// plants is the routine that the driver edits.
const plants = "de300001"

var demoRoutines = []demoRoutine{
	{id: plants, title: "Water the plants", body: "Ping me to water the plants on the balcony.", from: 55 * time.Minute},
	{id: "de300002", title: "Tea break", body: "Nudge me to make a cup of tea and look out of the window.", from: 25 * time.Minute},
	{id: "de300003", title: "Stand-up notes", body: "Collect what I did since yesterday and report it in three lines.", from: 95 * time.Minute, silent: true},
	{id: "de300004", title: "Afternoon check-in", body: "Ask me how the afternoon goes.", from: 140 * time.Minute, speaking: true},
}

func addDemoRoutine(at dataDir, d demoRoutine) error {
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
func editRoutine(at dataDir, bot *core.Bot, id, expr string) error {
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

// demoDriver stands beside the demo's bot and does what a user and the hours
// would do: it saves files and gives commands. It never touches what the
// dashboard shows.
type demoDriver struct {
	bot   *core.Bot
	at    dataDir
	log   *slog.Logger
	speed float64
}

// action is what a step does.
type action func(ctx context.Context, d *demoDriver) error

// step is one thing that happens, some seconds after the one before it.
type step struct {
	after time.Duration
	title string
	do    action
}

// run plays the opening once and then the everyday steps for as long as
// somebody watches. A step that fails is told in the log and passed over: the
// user may have removed what it needs.
func (d *demoDriver) run(ctx context.Context) error {
	for _, s := range opening {
		if !d.playAfter(ctx, s) {
			return nil
		}
	}
	for i := 0; ; i++ {
		if !d.playAfter(ctx, everyday[i%len(everyday)]) {
			return nil
		}
	}
}

func (d *demoDriver) playAfter(ctx context.Context, s step) bool {
	timer := time.NewTimer(time.Duration(float64(s.after) / d.speed))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	if err := s.do(ctx, d); err != nil && ctx.Err() == nil {
		d.log.Warn("demo step passed over", "step", s.title, "error", err)
	}
	return ctx.Err() == nil
}

// demoRun is a background run that the demoDriver brings about with a reminder file.
type demoRun struct {
	title, words, script string
	mode                 routines.Mode
	silent, isolated     bool
	chain                int
}

// start writes reminders that fire a moment later.
func start(runs ...demoRun) action {
	return func(_ context.Context, d *demoDriver) error {
		for _, r := range runs {
			if err := d.remind(r); err != nil {
				return err
			}
		}
		return nil
	}
}

func (d *demoDriver) remind(r demoRun) error {
	mode := r.mode
	if mode == "" {
		mode = routines.OnPing
	}
	// Files hold whole seconds: the next but one is surely ahead.
	soon := time.Now().In(d.at.env.Zone).Truncate(time.Second).Add(2 * time.Second)
	_, err := routines.AddReminder(d.at.dir, routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, Description: r.title, Body: r.words + "\n\n```script\n" + r.script + "\n```",
			Background: true, Thinking: true, Isolated: r.isolated, Mode: mode, AllowPing: !r.silent,
		},
		RunAt: soon, MaxChain: r.chain,
	})
	return err
}

// edit moves a routine to another minute of the day.
func edit(id string, from time.Duration) action {
	return func(_ context.Context, d *demoDriver) error {
		return editRoutine(d.at, d.bot, id, daily(time.Now().In(d.at.env.Zone).Add(from)))
	}
}

// slip saves a routine with a mistake in it; the last good version stays in force.
func slip(id, expr string) action {
	return func(_ context.Context, d *demoDriver) error { return editRoutine(d.at, d.bot, id, expr) }
}

// say sends the user's words.
func say(text string) action {
	return func(ctx context.Context, d *demoDriver) error { return d.do(ctx, command.Say{Text: text}) }
}

// fire runs a routine now.
func fire(id string) action {
	return func(ctx context.Context, d *demoDriver) error { return d.do(ctx, command.FireNow{ID: id}) }
}

// both plays two things at once.
func both(a, b action) action {
	return func(ctx context.Context, d *demoDriver) error {
		if err := a(ctx, d); err != nil {
			return err
		}
		return b(ctx, d)
	}
}

func (d *demoDriver) do(ctx context.Context, c command.Value) error {
	if _, err := d.bot.Do(ctx, c); err != nil {
		return fmt.Errorf("command %T: %w", c, err)
	}
	return nil
}
