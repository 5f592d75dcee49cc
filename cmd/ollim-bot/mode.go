package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/tui"
	"ollimbot/tui/plain"
	"ollimbot/tui/screen"
	dashboard "ollimbot/tui/settings"
)

// viewFlags say how a dashboard shows itself.
type viewFlags struct {
	ReadOnly bool   `name:"read-only" help:"A dashboard that shows everything and changes nothing."`
	Plain    bool   `help:"No screen control: a line for each thing that happens, commands on standard input."`
	Theme    string `placeholder:"NAME" complete:"theme" help:"auto (as the terminal), dark, light, contrast, 16; remembered."`
}

// uiFlags say how the bot shows itself; run and demo take the same.
type uiFlags struct {
	Headless bool `help:"No dashboard: log lines on standard output."`
	viewFlags
}

// uiMode is how the bot shows itself.
type uiMode struct {
	uiFlags
	fresh bool                 // nothing is set up yet
	demo  bool                 // the demo, which says what to try
	dir   string               // the data directory
	again func(args ...string) // ends all and begins anew with arguments
}

// check refuses what does not go together, and a terminal that cannot show it.
func (f uiFlags) check(p *process) error {
	switch {
	case f.Theme != "" && !slices.Contains(dashboard.Themes, f.Theme):
		return console.Usagef("there is no theme %q: --theme takes %s", f.Theme, strings.Join(dashboard.Themes, ", "))
	case f.Headless && f.Plain:
		return console.Usagef("--plain speaks on standard output: with --headless the log does")
	case f.Headless && (f.ReadOnly || f.Theme != ""):
		return console.Usagef("--read-only and --theme are for the dashboard: with --headless there is none")
	case f.Plain && f.Theme != "":
		return console.Usagef("--theme is for the dashboard: with --plain there are no colours")
	case f.Headless || f.Plain:
		return nil
	case !p.Terminal():
		return errors.New(textNoTerminal)
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

// show runs the dashboard, or what stands in its place, until its user leaves.
func (p *process) show(ctx context.Context, bot *core.Bot, f uiMode, notice string) error {
	surface := "dashboard"
	if f.Plain {
		surface = "plain mode"
	}
	ctx = audit.With(ctx, audit.User, surface)
	viewer := bot.Viewer(f.ReadOnly)
	defer viewer.Close()
	if f.Plain {
		if f.fresh {
			notice = notice + textFresh
		}
		return plain.Run(ctx, viewer, plain.Options{Input: p.In, Output: p.Out, ReadOnly: f.ReadOnly, Notice: notice, Config: dashboard.Dir(os.Environ())})
	}
	if f.demo { // the dashboard says it in the user's keys
		notice = ""
	}
	env := os.Environ()
	o := tui.Options{
		Input: p.In, Output: p.Out, Env: env, ReadOnly: f.ReadOnly, Notice: notice,
		Theme: f.Theme, Config: dashboard.Dir(env), Welcome: f.fresh, Try: f.demo,
	}
	if p.Executable != "" && f.fresh {
		o.Init = []string{p.Executable, "init", "--wait", "--data-dir", f.dir}
		o.Restart = func() { f.again(os.Args[1:]...) }
		o.Demo = func() { f.again("demo") }
	}
	defer lastWords(bot.Snapshot().Root)()
	return tui.Run(ctx, viewer, o)
}

// lastWordsFile keeps what the runtime said when the program broke.
const lastWordsFile = store.StateDir + "/crash.log"

// lastWordsScript waits for the program's end. Where the runtime has said why,
// the terminal is put back as it was before the dashboard, and the user is told.
// It outlives the program and ignores what ends that: TTOU, because by then it
// may stand in the background.
const lastWordsScript = `trap '' INT QUIT TERM HUP TTOU
words=$(head -c 200000)
test -n "$words" || exit 0
umask 077
printf '%s\n' "$words" > "$1"
stty "$2" < /dev/tty
printf '%s' "$3"
printf '\r\nollim-bot: internal fault, the program has ended. What happened is in %s\r\n' "$1"`

// lastWords keeps the terminal whole where a panic ends the program that nobody
// could catch, in a goroutine of a library: a shell waits beside the dashboard.
// On a machine without one nothing is done. dir is the data directory; forget ends
// the shell.
func lastWords(dir string) (forget func()) {
	nothing := func() {}
	mode := exec.CommandContext(context.Background(), "stty", "-g")
	mode.Stdin = os.Stdin
	before, err := mode.Output()
	if err != nil {
		return nothing
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nothing
	}
	defer func() { _, _ = r.Close(), w.Close() }() // the shell and the runtime have ends of their own
	file := filepath.Join(dir, filepath.FromSlash(lastWordsFile))
	c := exec.CommandContext(context.Background(), "sh", "-c", lastWordsScript, "sh", file, strings.TrimSpace(string(before)), screen.Restore)
	c.Stdin, c.Stdout = r, os.Stdout
	if c.Start() != nil {
		return nothing
	}
	if err := debug.SetCrashOutput(w, debug.CrashOptions{}); err != nil {
		_ = w.Close() // it sees the end and goes
		_ = c.Wait()
		return nothing
	}
	return func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{}) // closes the runtime's end
		_ = w.Close()
		_ = c.Wait()
	}
}
