package demo

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
)

// Drive acts as the user of a furnished bot until ctx ends: it saves files and sends
// commands. A speed of 2 plays twice as fast.
func Drive(ctx context.Context, bot *core.Bot, h Home, log *slog.Logger, speed float64) error {
	return (&driver{h, bot, log, speed}).run(ctx)
}

type driver struct {
	Home

	bot   *core.Bot
	log   *slog.Logger
	speed float64
}

// action executes a step.
type action func(ctx context.Context, d *driver) error

// step is an action, some time after the previous one.
type step struct {
	after time.Duration
	title string
	do    action
}

// run plays the opening once, then repeats the everyday steps until ctx ends. A step that
// fails is logged and skipped: the user may have removed what it needs.
func (d *driver) run(ctx context.Context) error {
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

func (d *driver) playAfter(ctx context.Context, s step) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Duration(float64(s.after) / d.speed)):
	}
	if err := s.do(ctx, d); err != nil && ctx.Err() == nil {
		d.log.Warn("demo step skipped", "step", s.title, "error", err)
	}
	return ctx.Err() == nil
}

// run is a background run, which the driver triggers with a reminder file.
type run struct {
	title, words, script string
	mode                 routines.Mode
	silent, isolated     bool
	untilDone            bool // it repeats until a button of its ping is pressed
	chain                int
}

// start writes reminders that fire a moment later.
func start(runs ...run) action {
	return func(_ context.Context, d *driver) error {
		for _, r := range runs {
			if err := d.remind(r); err != nil {
				return err
			}
		}
		return nil
	}
}

func (d *driver) remind(r run) error {
	mode := r.mode
	if mode == "" {
		mode = routines.OnPing
	}
	// Files have whole seconds: after truncation, two seconds are still in the future.
	soon := time.Now().In(d.Now.Location()).Truncate(time.Second).Add(2 * time.Second)
	_, err := routines.AddReminder(d.Dir, routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, Description: r.title, Body: withScript(r.words, r.script),
			Background: true, Thinking: true, Isolated: r.isolated, Mode: mode, AllowPing: !r.silent,
		},
		RunAt: soon, MaxChain: r.chain, UntilDone: r.untilDone,
	})
	return err
}

// edit reschedules a routine to some time from now.
func edit(id string, from time.Duration) action {
	return func(_ context.Context, d *driver) error {
		return d.editRoutine(id, daily(time.Now().In(d.Now.Location()).Add(from)))
	}
}

// mistype saves a routine with an error in its cron line. The last valid version stays in
// force.
func mistype(id, expr string) action {
	return func(_ context.Context, d *driver) error { return d.editRoutine(id, expr) }
}

// editRoutine changes the cron line of a routine's file and saves it, as an editor would.
func (d *driver) editRoutine(id, expr string) error {
	r, ok := d.bot.Index().Set().RoutineByID(id)
	if !ok {
		return fmt.Errorf("routine %s no longer exists", id)
	}
	data, err := d.Dir.Read(r.Path)
	if err != nil {
		return err
	}
	data, err = frontmatter.Splice(data, []frontmatter.Entry{{Key: "cron", Value: expr}})
	if err != nil {
		return err
	}
	return d.Dir.Write(r.Path, data)
}

// say sends a message from the user.
func say(text string) action {
	return func(ctx context.Context, d *driver) error { return d.do(ctx, command.Say{Text: text}) }
}

// fire runs a routine now.
func fire(id string) action {
	return func(ctx context.Context, d *driver) error { return d.do(ctx, command.FireNow{ID: id}) }
}

func (d *driver) do(ctx context.Context, c command.Value) error {
	if _, err := d.bot.Do(ctx, c); err != nil {
		return fmt.Errorf("command %T: %w", c, err)
	}
	return nil
}
