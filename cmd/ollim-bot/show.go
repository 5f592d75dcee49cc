package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/config"
	"ollimbot/tui"
	"ollimbot/tui/plain"
	dashboard "ollimbot/tui/settings"
)

// viewFlags are the flags for a dashboard's appearance.
type viewFlags struct {
	ReadOnly bool   `name:"read-only" help:"A dashboard that shows everything and changes nothing."`
	Plain    bool   `help:"No screen control: a line for each thing that happens, commands on standard input."`
	Theme    string `placeholder:"NAME" complete:"theme" help:"auto (as the terminal), dark, light, contrast, 16; remembered."`
}

// uiFlags are how the bot appears; run and demo take the same ones.
type uiFlags struct {
	Headless bool `help:"No dashboard: log lines on standard output."`
	viewFlags
}

// uiMode is how the bot appears.
type uiMode struct {
	uiFlags
	fresh bool                 // setup is not complete
	demo  bool                 // the demo, which suggests what to try
	dir   string               // the data directory
	again func(args ...string) // restarts the program with these arguments
	shown func()               // called after the first frame; may be nil
}

// check refuses flags that exclude each other, and a terminal that cannot show the dashboard.
func (f uiFlags) check(p *process) error {
	switch {
	case f.Headless && f.Plain:
		return console.Usagef("--plain speaks on standard output: with --headless the log does")
	case f.Headless && (f.ReadOnly || f.Theme != ""):
		return console.Usagef("--read-only and --theme are for the dashboard: with --headless there is none")
	case f.Headless:
		return nil
	}
	return f.viewFlags.check(p, textOrHeadless)
}

// check is that of uiFlags. instead follows "use --plain for lines" where there is no terminal.
func (f viewFlags) check(p *process, instead string) error {
	switch {
	case f.Theme != "" && !slices.Contains(dashboard.Themes, f.Theme):
		return console.Usagef("there is no theme %q: --theme takes %s", f.Theme, strings.Join(dashboard.Themes, ", "))
	case f.Plain && f.Theme != "":
		return console.Usagef("--theme is for the dashboard: with --plain there are no colours")
	case f.Plain:
		return nil
	case !p.Terminal():
		return fmt.Errorf(textNoTerminal, instead)
	case p.Getenv("TERM") == "dumb":
		return errors.New(textDumb)
	}
	return nil
}

// unset reports whether setup is not complete: no names and no token. Tasks alone, such as
// one of `routine add`, do not complete it.
func unset(at console.DataDir) bool {
	return at.Env.GivenName() == "" && at.Env.BotName == config.DefaultBotName && at.Env.DiscordToken == ""
}

// show runs the dashboard or plain mode until its user leaves.
func (p *process) show(ctx context.Context, bot *core.Bot, s serving) error {
	f, notice, at := s.uiMode, s.model.notice, s.at
	surface := "dashboard"
	if f.Plain {
		surface = "plain mode"
	}
	ctx = audit.With(ctx, audit.User, surface)
	viewer := bot.Viewer(f.ReadOnly)
	defer viewer.Close()
	if f.Plain {
		if f.fresh {
			connect := textConnectDiscord
			if bot.Snapshot().Engine.Offline {
				connect = textConnectModel
			}
			notice += textFresh + connect
		}
		return plain.Run(ctx, viewer, plain.Options{
			Input: p.In, Output: p.Out, Typed: p.Typed(), ReadOnly: f.ReadOnly, Notice: notice, Config: dashboard.Dir(os.Environ()),
		})
	}
	if f.demo { // the dashboard shows its own, with the user's keys
		notice = ""
	}
	env := os.Environ()
	o := tui.Options{
		Input: p.In, Output: p.Out, Env: env, ReadOnly: f.ReadOnly, Notice: notice,
		Theme: f.Theme, Config: dashboard.Dir(env), Welcome: f.fresh, InDemo: f.demo,
	}
	if p.Executable != "" && f.fresh {
		o.Init = []string{p.Executable, "init", "--wait", "--data-dir", f.dir}
		o.Restart = func() { f.again(os.Args[1:]...) }
		o.Demo = func() { f.again("demo") }
	}
	watch, forget := watchForCrash(at.Dir.Root())
	defer forget()
	o.Shown = func() {
		if f.shown != nil {
			f.shown()
		}
		watch()
	}
	return tui.Run(ctx, viewer, o)
}
