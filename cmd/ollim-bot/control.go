package main

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/budget"
	"ollimbot/routines/when"
)

// These commands do for scripts what keys do in the dashboard. The running bot executes
// them (handOver); without one, they change the files.

// doneAnswer is the JSON answer of a command that changes something.
type doneAnswer struct {
	Message string `json:"message"`
}

// ofTask is the argument that names a task.
type ofTask struct {
	ID string `arg:"" complete:"task" help:"The id of a routine or reminder."`
	console.AsJSON
}

type fireCmd struct{ ofTask }

// Run runs a task now, independently of its schedule.
func (c *fireCmd) Run(p *process, bot *core.Bot) error {
	return p.doing(bot, c.AsJSON, command.FireNow{ID: c.ID})
}

type pauseCmd struct{ ofTask }

// Run stops a task from firing.
func (c *pauseCmd) Run(p *process, bot *core.Bot) error {
	return p.doing(bot, c.AsJSON, command.Pause{ID: c.ID, Paused: true})
}

type resumeCmd struct{ ofTask }

// Run resumes a task.
func (c *resumeCmd) Run(p *process, bot *core.Bot) error {
	return p.doing(bot, c.AsJSON, command.Snooze{ID: c.ID})
}

type snoozeCmd struct {
	ofTask
	When []string `arg:"" help:"Until when: 2h, 18:30, tonight, next monday 9am, 24 dec."`
}

// Run stops a task from firing until a time.
func (c *snoozeCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	until, err := p.readWhen(strings.Join(c.When, " "), at.Times())
	if err != nil {
		return err
	}
	return p.doing(bot, c.AsJSON, command.Snooze{ID: c.ID, Until: until})
}

type muteCmd struct {
	When []string `arg:"" help:"Until when: 2h, 18:30, tonight, tomorrow 9:00; off ends the mute."`
	console.AsJSON
}

// Run refuses pings until a time.
func (c *muteCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if len(c.When) == 1 && c.When[0] == "off" {
		return p.doing(bot, c.AsJSON, command.MuteUntil{})
	}
	until, err := p.readWhen(strings.Join(c.When, " "), at.Times())
	if err != nil {
		return err
	}
	return p.doing(bot, c.AsJSON, command.MuteUntil{Until: until})
}

type liftCmd struct {
	Undo bool `help:"Make the caps active again."`
	console.AsJSON
}

// Run suspends the spending caps for today.
func (c *liftCmd) Run(p *process, bot *core.Bot) error {
	return p.doing(bot, c.AsJSON, command.LiftCaps{Undo: c.Undo})
}

type configCmd struct {
	Key   string   `arg:"" optional:"" complete:"setting" help:"The setting; without one, all are shown."`
	Value []string `arg:"" optional:"" complete:"value" help:"What to set it to."`
	Sure  bool     `help:"Set it even if the command would first warn of the consequences."`
	console.AsJSON
}

// Run shows the settings, or sets one.
func (c *configCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	state, _ := budget.NewBucket(at.Dir, at.Env.Zone, p.Log()).State(at.Now)
	value, trial := strings.Join(c.Value, " "), bot.Runtime()
	if _, ok := state.Setting(c.Key); ok && len(c.Value) > 0 {
		return console.Usagef(textBudgetSets, c.Key)
	}
	if len(c.Value) > 0 {
		if err := config.Try(&trial, c.Key, value); err != nil {
			return console.Usagef("%v", err)
		}
		return p.doing(bot, c.AsJSON, command.SetConfig{Key: c.Key, Value: value, Sure: c.Sure})
	}
	if c.Key == "" {
		all := append(config.Show(bot.Runtime()), state.Settings()...)
		return p.Answer(c.JSON, all, strings.Split(config.Overview(bot.Runtime(), state.Settings()...), "\n"))
	}
	one, err := config.ShowOne(bot.Runtime(), c.Key)
	if number, ok := state.Setting(c.Key); ok {
		one, err = number, nil
	}
	if err != nil {
		return console.Usagef("%v", err)
	}
	text := fmt.Sprintf("%s: %s", one.Key, one.Value)
	if one.Default && !strings.HasPrefix(one.Value, "(") {
		text += " (default)"
	}
	if len(one.Offers) > 0 {
		text += "; it takes " + strings.Join(one.Offers, ", ")
	}
	return p.Answer(c.JSON, []config.Line{one}, []string{text})
}

// plainLine is a line without Discord's markup.
func plainLine(text string) string { return strings.NewReplacer("**", "", "`", "").Replace(text) }

// readWhen reads a time in the future. A note about its day goes to standard error.
func (p *process) readWhen(text string, read when.Reader) (time.Time, error) {
	at, err := read.Moment(text)
	if err != nil {
		return at, console.Usagef("%v", err)
	}
	if note := read.Note(text); note != "" {
		console.Tell(p.Err, "%s", note)
	}
	return at, nil
}

// doing executes a command and prints the result.
func (p *process) doing(bot *core.Bot, a console.AsJSON, v command.Value) error {
	ctx, cancel := p.Context()
	defer cancel()
	o, err := bot.Do(p.asking(ctx), v)
	if err != nil {
		return err
	}
	if o.Follows != "" {
		o.Message = o.Follows + textSure
	}
	return p.Answer(a.JSON, doneAnswer{plainLine(o.Message)}, strings.Split(plainLine(o.Message), "\n"))
}
