package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ollimbot/core/base/fault"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/intake"
	"ollimbot/core/talk/post"
)

// Do carries out a command. It may block on a file; commands that start a run return once
// it is queued. Errors are full sentences for the user; ignore the outcome if there is
// one.
func (b *Bot) Do(ctx context.Context, c command.Value) (command.Outcome, error) {
	defer b.viewers.notify()
	return guarded(b, fmt.Sprintf("%T", c), func() (out command.Outcome, err error) {
		h, ok := b.handlers.Of(c)
		switch {
		case !ok:
			return out, fmt.Errorf("nothing carries out %T", c)
		case !b.meets(h.Needs):
			return out, errors.New(textNotRunning)
		}
		if out, err = h.Do(ctx, c); err == nil {
			b.auditor.command(ctx, out)
		}
		return out, err
	})
}

// guarded runs an operation for a surface. It turns a panic into an error, logs it, and
// removes secrets from the error's text.
func guarded[T any](b *Bot, what string, do func() (T, error)) (out T, err error) {
	defer func() {
		if fault.Stack(err) != "" {
			b.log.Error("a command broke", "error", err)
		}
	}()
	defer fault.Catch(what, &err)
	if out, err = do(); err != nil {
		err = b.redacted(err)
	}
	return out, err
}

// meets reports whether the requirements of a command are met now.
func (b *Bot) meets(n command.Needs) bool {
	if n == command.Directory || b.started.Load() != nil {
		return true
	}
	_, other := b.dir.Running()
	return n == command.Unowned && !other
}

// redactedError is an error with the secrets removed from its text.
type redactedError struct {
	error
	text string
}

func (e redactedError) Error() string { return e.text }

// Unwrap returns the original error.
func (e redactedError) Unwrap() error { return e.error }

// redacted removes the known secrets from an error's text.
func (b *Bot) redacted(err error) error {
	if text := b.o.Book.Redact(err.Error()); text != err.Error() {
		return redactedError{err, text}
	}
	return err
}

// addHandlers maps each command to its handler.
func (b *Bot) addHandlers() {
	b.handlers = command.Handlers{}
	desk := intake.New(intake.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Chat: b.chat, Forks: b.chat, Runs: b.forks.Views, Journal: b.journal, Present: b.present,
		Book: b.book, Times: b.times, Slash: b.slashHost, Remind: b.tasks.Answer, Review: b.review.Pressed,
		Press: b.asks.Before(pocket{
			now: b.now, snapshot: b.Snapshot, do: b.handlers.Do, journal: b.journal, book: b.book, writes: b.tasks.Book, google: b.google,
			making: new(sync.Mutex), config: b.settings.Load, model: func() *post.Embed { return b.slashHost().ModelCard() }, models: b.Models,
			why:  func(id string) (string, error) { return lastFailure(b, id) },
			kept: func(at time.Time, task string) { kept(b, at, task) },
			setup: &setup{
				dir: b.dir, user: b.o.Env.UserName, bot: b.o.Env.BotName, do: b.handlers.Do,
				follow: func(ctx context.Context, filled string) error { return b.slashHost().BeginSetup(ctx, filled) },
			},
		}.press),
	})
	b.handlers.Add(desk.Handlers()...)
	b.handlers.Add(b.tasks.Handlers()...)
	b.handlers.Add(b.review.Handlers()...)
	b.handlers.Add(b.asks.Handlers()...)
	b.handlers.Add(b.money.Handlers()...)
	b.handlers.Add(b.dispatch.Handlers()...)
	b.handlers.Add(command.BudgetHandlers(b.budget, b.zone)...)
	b.handlers.Add(command.UpdateHandlers(b.updates)...)
	b.handlers.Add(
		command.On(command.Running, func(_ context.Context, c command.MarkSeen) (command.Outcome, error) {
			return command.Outcome{}, b.forks.MarkSeen(c.Runs...)
		}),
		command.On(command.Running, func(ctx context.Context, c command.Answer) (command.Outcome, error) {
			return command.Outcome{Message: string(c.Verdict)}, b.guard.Approvals().Answer(ctx, c.ID, c.Verdict)
		}),
		command.On(command.Running, func(ctx context.Context, c command.Line) (command.Outcome, error) {
			if b.o.UserCommands == nil {
				return command.Outcome{}, &command.NoLineError{Why: textNoShell}
			}
			s := b.Snapshot()
			return c.CarryOut(ctx, b.o.UserCommands, command.Reading{Times: s.Times(), Find: s.Find})
		}),
		command.On(command.Running, account{b.o.Engine, b.surface.small}.login),
		command.On(command.Running, lookChanged),
	)
}

// lookChanged is the outcome of a change of appearance, which the dashboard has already
// made.
func lookChanged(_ context.Context, c command.SetLook) (command.Outcome, error) {
	return command.Outcome{
		Message:  fmt.Sprintf("%s: %s → %s", c.Name, c.Was, c.Value),
		Undo:     command.SetLook{Name: c.Name, Value: c.Was, Was: c.Value},
		Decision: audit.Entry{Action: audit.ConfigChanged, Subject: "dashboard " + c.Name, Detail: c.Was + " → " + c.Value},
	}, nil
}

// slashHost is the bot as seen by slash commands.
func (b *Bot) slashHost() command.Host {
	recorded := func(ctx context.Context, c command.Value) (command.Outcome, error) {
		out, err := b.handlers.Do(ctx, c)
		if err == nil {
			b.auditor.command(ctx, out)
		}
		return out, err
	}
	record := func(ctx context.Context, e audit.Entry) { b.audit.RecordBy(ctx, b.now(), e) }
	known := func() string {
		s := b.Snapshot()
		return s.ServersText()
	}
	return command.Host{
		Tally: b.tally,
		Chat:  b.chat, Engine: b.o.Engine, Budget: b.budget, Sessions: b.sessions, Dir: b.dir, Version: b.o.Version, Program: b.o.Program, Now: b.now,
		Config: b.settings.Load, SetConfig: b.settings.Set, Follows: b.money.Follows, Costs: b.money.Costs,
		Record:    record,
		Add:       func(ctx context.Context, c command.AddTask) (command.Outcome, error) { return recorded(ctx, c) },
		ZoneFixed: b.o.Env.ZoneFixed,
		Restart:   b.o.Restart, Google: b.google.Connect, CheckModel: b.checkModel, Models: b.Models,
		Status: func() []string {
			s := b.Snapshot()
			return s.Status()
		},
		Week: func(_ context.Context, ago int) ([]string, error) {
			w, err := readWeek(b, ago)
			if err != nil {
				return nil, err
			}
			return w.Lines(), nil
		},
		Servers: serverDesk{b.servers, record, known}.do,
		Card: func() *post.Embed {
			s := b.Snapshot()
			return s.Card()
		},
		Line: func(ctx context.Context, l command.Line) (command.Outcome, error) { return recorded(ctx, l) },
		Lift: func(ctx context.Context, undo bool) (string, error) {
			out, err := recorded(ctx, command.LiftCaps{Undo: undo})
			return out.Message, err
		},
		Follow: func(ctx context.Context, s skill.Skill, filled string) error {
			body := b.prompts.Skills.Expand(ctx, []skill.Skill{s})[0].Body
			if filled != "" { // after the skill's commands have run, because these words are none
				body += fmt.Sprintf(textSetupForm, filled)
			}
			return b.chat.Ask(prompt.Instruction(body))
		},
	}
}
