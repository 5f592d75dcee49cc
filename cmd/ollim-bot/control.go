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

type liftCmd struct {
	Off  string `arg:"" optional:"" enum:"off," default:"" help:"off makes the caps active again."`
	Undo bool   `hidden:"" now:"lift off"`
	console.AsJSON
}

// Run suspends the spending caps for today.
func (c *liftCmd) Run(p *process, bot *core.Bot) error {
	return p.doing(bot, c.AsJSON, command.LiftCaps{Undo: c.Undo || c.Off != ""})
}

type settingsCmd struct {
	Key   string   `arg:"" optional:"" complete:"setting" help:"The setting; without one, all are shown."`
	Value []string `arg:"" optional:"" complete:"value" help:"What to set it to."`
	Sure  bool     `help:"Set it even if the command would first warn of the consequences."`
	console.AsJSON
}

// Run shows the settings, or sets one.
func (c *settingsCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
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
	lines := []string{text}
	if config.TakesModel(one.Key) && !c.JSON {
		ctx, cancel := p.Context()
		defer cancel()
		lines = append(lines, command.ModelLines(bot.Models(ctx))...)
	}
	return p.Answer(c.JSON, []config.Line{one}, lines)
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

// do executes a command, until the user leaves. A running bot gets its inverse.
func (p *process) do(bot *core.Bot, v command.Value) (command.Outcome, error) {
	ctx, cancel := p.Context()
	defer cancel()
	o, err := bot.Do(p.asking(ctx), v)
	if err == nil && p.Live != nil {
		p.Live.Undo = o.Undo
	}
	return o, err
}

// doing executes a command and prints the result.
func (p *process) doing(bot *core.Bot, a console.AsJSON, v command.Value) error {
	o, err := p.do(bot, v)
	if err != nil {
		return err
	}
	if o.Follows != "" {
		o.Message = o.Follows + textSure
	}
	return p.Answer(a.JSON, map[string]string{"message": plainLine(o.Message)}, strings.Split(plainLine(o.Message), "\n"))
}
