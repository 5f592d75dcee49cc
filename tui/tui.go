// Package tui is the terminal dashboard: the frame around the panes, its
// dialogs, and the one program that runs them. It shows snapshots and sends
// commands; it must not know how the bot works, and the bot never knows it.
//
// Only the root is a model of Bubble Tea, which reads the keys and keeps time
// here; what stands on the screen is painted by tui/screen.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/tail"
	"ollimbot/tui/screen"
)

// Core is what a dashboard needs from the bot. All of it may be called from
// any goroutine, also after the bot has stopped.
type Core interface {
	// Snapshot is everything there is to show, now. It does not block.
	Snapshot() core.Snapshot
	// Changed holds one value as soon as a new snapshot would look different.
	Changed() <-chan struct{}
	// Tail reads lines of a run, or of the log under pane.LogTail. It does not block.
	Tail(id string, from tail.Cursor) tail.Page
	// Do carries out a command. It may block and respects ctx.
	Do(ctx context.Context, c command.Value) (command.Outcome, error)
}

// Options say where the dashboard runs and how it looks.
type Options struct {
	// Input is where keys come from; nil reads none.
	Input io.Reader
	// Output is the terminal.
	Output io.Writer
	// Env is the environment as os.Environ gives it: TERM, NO_COLOR, COLORTERM.
	Env []string
	// ReadOnly switches off everything that changes the bot.
	ReadOnly bool
	// ASCII draws borders and symbols in ASCII, NoColor draws without colours.
	// Both are also taken from the environment.
	ASCII, NoColor bool
	// Theme is one of settings.Themes, and is remembered where there is a Config;
	// empty means the one that was chosen last, else as the terminal's background.
	Theme string
	// Config is the directory of the user's settings (settings.Dir); empty reads
	// and remembers none.
	Config string
	// Welcome says that nothing is set up yet: the dashboard opens with the first
	// words.
	Welcome bool
	// Notice is said once when the dashboard opens; it may be empty.
	Notice string
	// Try says that this is the demo: which keys to try is said when it opens.
	Try bool
	// Init is the program, and its arguments, that asks a new user what is needed
	// and writes it down: the welcome and the palette run it on the terminal. Empty
	// offers none.
	Init []string
	// Restart is called once Init has written something: the bot begins anew, and
	// ctx ends. It must be set where Init is.
	Restart func()
	// Demo is called when the user wants to see the demo in the place of this
	// dashboard, which ends then. Nil offers none.
	Demo func()
}

// Run shows the dashboard until the user quits or ctx ends, both without an
// error. The terminal is given back before Run returns, whatever happened.
func Run(ctx context.Context, c Core, o Options) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newRoot(ctx, c, o)
	scr := screen.New(screen.Options{Output: o.Output, Input: o.Input, Title: r.windowTitle()})
	defer func() {
		if e := scr.Close(); e != nil && err == nil {
			err = fmt.Errorf("close the dashboard: %w", e)
		}
	}()
	if err := scr.Open(); err != nil {
		return fmt.Errorf("open the dashboard: %w", err)
	}
	signals, stop := scr.Watch()
	defer stop()

	r.screen, r.signals = scr, signals
	if w, h, ok := scr.Size(); ok {
		r.w, r.h = w, h
	}
	return r.run(program(ctx, r, o))
}

// program is Bubble Tea without its renderer and its signals: it reads input
// and runs commands. At one frame a second its ticker costs nothing.
func program(ctx context.Context, r *root, o Options) *tea.Program {
	return tea.NewProgram(r,
		tea.WithContext(ctx),
		tea.WithInput(o.Input),
		tea.WithOutput(io.Discard),
		tea.WithEnvironment(o.Env),
		tea.WithoutRenderer(),
		tea.WithoutSignalHandler(),
		tea.WithFPS(1),
		tea.WithWindowSize(r.w, r.h),
		tea.WithColorProfile(colorprofile.NoTTY),
	)
}

// run gives the end of the program its meaning.
func (r *root) run(p *tea.Program) error {
	_, err := p.Run()
	switch {
	case r.err != nil:
		return fmt.Errorf("run the dashboard: %w", r.err)
	case err == nil, r.ctx.Err() != nil, errors.Is(err, context.Canceled):
		return nil
	}
	return fmt.Errorf("run the dashboard: %w", err)
}
