package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/audit"
	"ollimbot/core/config"
	"ollimbot/routines"
	"ollimbot/tui"
	"ollimbot/tui/plain"
	dashboard "ollimbot/tui/settings"
)

// faceFlags say how the bot shows itself; run and demo take the same.
type faceFlags struct {
	Headless bool   `help:"No dashboard: log lines on standard output."`
	ReadOnly bool   `name:"read-only" help:"A dashboard that shows everything and changes nothing."`
	Plain    bool   `help:"No screen control: a line for each thing that happens, commands on standard input."`
	Theme    string `placeholder:"NAME" help:"auto (as the terminal), dark, light, contrast, 16; remembered."`
}

// face is the face that the flags ask for, once it is possible.
func (c faceFlags) face(p *process) (face, error) {
	f := face{headless: c.Headless, readOnly: c.ReadOnly, plain: c.Plain, theme: c.Theme}
	return f, f.check(p)
}

// face is how the bot shows itself.
type face struct {
	headless, readOnly, plain bool
	theme                     string
	fresh                     bool // nothing is set up yet
	demo                      bool // the demo, which says what to try
	dir                       string
	again                     func(args ...string) // ends all and begins anew with arguments
}

// check refuses what does not go together, and a terminal that cannot show it.
func (f face) check(p *process) error {
	switch {
	case f.theme != "" && !slices.Contains(dashboard.Themes, f.theme):
		return usagef("there is no theme %q: --theme takes %s", f.theme, strings.Join(dashboard.Themes, ", "))
	case f.headless && f.plain:
		return usagef("--plain speaks on standard output: with --headless the log does")
	case f.headless && (f.readOnly || f.theme != ""):
		return usagef("--read-only and --theme are for the dashboard: with --headless there is none")
	case f.plain && f.theme != "":
		return usagef("--theme is for the dashboard: with --plain there are no colours")
	case f.headless || f.plain:
		return nil
	case !p.terminal():
		return errors.New(textNoTerminal)
	case p.getenv("TERM") == "dumb":
		return errors.New(textDumb)
	}
	return nil
}

// unset reports whether nothing is set up yet: no names, no token, and no task
// that somebody has written.
func (at place) unset() bool {
	if at.env.GivenName() != "" || at.env.BotName != config.DefaultBotName || at.env.DiscordToken != "" {
		return false
	}
	return !holdsTask(at.dir.Path(routines.RoutineFolder)) && !holdsTask(at.dir.Path(routines.ReminderFolder))
}

// holdsTask looks for the first file of a task: there may be thousands, and every
// start waits for this.
func holdsTask(folder string) bool {
	f, err := os.Open(folder)
	if err != nil {
		return false // not there yet
	}
	defer func() { _ = f.Close() }() // only read
	for {
		names, err := f.Readdirnames(64)
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, ".md") }) {
			return true
		}
		if err != nil {
			return false
		}
	}
}

// show runs the dashboard, or what stands in its place, until its user leaves.
func (p *process) show(ctx context.Context, bot *core.Bot, f face, notice string) error {
	surface := "dashboard"
	if f.plain {
		surface = "plain mode"
	}
	ctx = audit.With(ctx, audit.User, surface)
	if f.plain {
		if f.fresh {
			notice += textFresh
		}
		return plain.Run(ctx, bot, plain.Options{Input: p.in, Output: p.out, ReadOnly: f.readOnly, Notice: notice})
	}
	if f.demo { // the dashboard says it in the user's keys
		notice = ""
	}
	env := os.Environ()
	o := tui.Options{
		Input: p.in, Output: p.out, Env: env, ReadOnly: f.readOnly, Notice: notice,
		Theme: f.theme, Config: dashboard.Dir(env), Welcome: f.fresh, Try: f.demo,
	}
	if exe, err := os.Executable(); err == nil && f.fresh {
		o.Init = []string{exe, "init", "--wait", "--data-dir", f.dir}
		o.Restart = func() { f.again(os.Args[1:]...) }
		o.Demo = func() { f.again("demo") }
	}
	defer lastWords(bot.Snapshot().Root)()
	return tui.Run(ctx, bot, o)
}
