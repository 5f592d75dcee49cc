package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines"
)

// director stands beside the demo's bot and does what a user and the hours
// would do: it saves files and gives commands. It never touches what the
// dashboard shows.
type director struct {
	bot   *core.Bot
	at    place
	log   *slog.Logger
	speed float64
}

// act is what the director does in a scene.
type act func(ctx context.Context, d *director) error

// scene is one thing that happens, some seconds after the one before it.
type scene struct {
	after time.Duration
	title string
	play  act
}

// run plays the opening once and then the everyday scenes for as long as
// somebody watches. A scene that fails is told in the log and passed over: the
// user may have removed what it needs.
func (d *director) run(ctx context.Context) error {
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

func (d *director) playAfter(ctx context.Context, s scene) bool {
	timer := time.NewTimer(time.Duration(float64(s.after) / d.speed))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	if err := s.play(ctx, d); err != nil && ctx.Err() == nil {
		d.log.Warn("demo scene passed over", "scene", s.title, "error", err)
	}
	return ctx.Err() == nil
}

// part is a background run that the director brings about with a reminder file.
type part struct {
	title, words, script string
	mode                 routines.Mode
	silent, isolated     bool
	chain                int
}

// stage writes a reminder that fires a moment later.
func stage(parts ...part) act {
	return func(_ context.Context, d *director) error {
		for _, p := range parts {
			if err := d.remind(p); err != nil {
				return err
			}
		}
		return nil
	}
}

func (d *director) remind(p part) error {
	mode := p.mode
	if mode == "" {
		mode = routines.OnPing
	}
	// Files hold whole seconds: the next but one is surely ahead.
	soon := time.Now().In(d.at.env.Zone).Truncate(time.Second).Add(2 * time.Second)
	_, err := routines.AddReminder(d.at.dir, routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, Description: p.title, Body: p.words + "\n\n```script\n" + p.script + "\n```",
			Background: true, Thinking: true, Isolated: p.isolated, Mode: mode, AllowPing: !p.silent,
		},
		RunAt: soon, MaxChain: p.chain,
	})
	return err
}

// edit moves a routine to another minute of the day.
func edit(id string, from time.Duration) act {
	return func(_ context.Context, d *director) error {
		return editRoutine(d.at, d.bot, id, daily(time.Now().In(d.at.env.Zone).Add(from)))
	}
}

// slip saves a routine with a mistake in it; the last good version stays in force.
func slip(id, expr string) act {
	return func(_ context.Context, d *director) error { return editRoutine(d.at, d.bot, id, expr) }
}

// say sends the user's words.
func say(text string) act {
	return func(ctx context.Context, d *director) error { return d.do(ctx, command.Say{Text: text}) }
}

// fire runs a routine now.
func fire(id string) act {
	return func(ctx context.Context, d *director) error { return d.do(ctx, command.FireNow{ID: id}) }
}

// both plays two things at once.
func both(a, b act) act {
	return func(ctx context.Context, d *director) error {
		if err := a(ctx, d); err != nil {
			return err
		}
		return b(ctx, d)
	}
}

func (d *director) do(ctx context.Context, c command.Value) error {
	if _, err := d.bot.Do(ctx, c); err != nil {
		return fmt.Errorf("command %T: %w", c, err)
	}
	return nil
}
