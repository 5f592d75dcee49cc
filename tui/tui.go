// Package tui is the terminal dashboard: the frame around the panes, its
// dialogs, and the one program that runs them. It shows snapshots and sends
// commands; it must not know how the bot works, and the bot never knows it.
//
// Only the root is a model of Bubble Tea, which reads the keys and keeps time
// here; what stands on the screen is painted by tui/screen.
package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/keyboard"
	"ollimbot/tui/screen"
	"ollimbot/tui/theme"
)

// Core is what a dashboard needs from the bot. All of it may be called from
// any goroutine, also after the bot has stopped.
type Core interface {
	// Snapshot is everything there is to show, now. It does not block.
	Snapshot() core.Snapshot
	// Changed holds one value as soon as a new snapshot would look different.
	Changed() <-chan struct{}
	// Tail reads lines of a run, or of the log under core.LogTail. It does not block.
	Tail(id string, from tail.Cursor) tail.Page
	// Look says that somebody looks at the dashboard: what only then is read, because it
	// lies elsewhere, is read now if it is old. It may block and respects ctx.
	Look(ctx context.Context)
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
	// Kept is where what is chosen here is remembered, for a viewer whose choices are
	// its own; empty means Config. What it has not chosen yet is as in Config.
	Kept string
	// Remote says that the terminal is somewhere else; nil for the program's own.
	Remote *Remote
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
	scr := screen.New(o.Output, o.Input)
	defer func() {
		if e := scr.Close(); e != nil && err == nil {
			err = fmt.Errorf("close the dashboard: %w", e)
		}
	}()
	if err := scr.Open(); err != nil {
		return fmt.Errorf("open the dashboard: %w", err)
	}
	r.screen = scr
	if o.Remote != nil {
		r.signals = o.Remote.Signals
	} else {
		signals, stop := scr.Watch()
		defer stop()
		r.signals = signals
	}
	r.measure()
	p := program(ctx, r, o)
	if o.Input != nil {
		r.keyboard = keyboard.New(o.Input, uv.Environ(o.Env).Getenv("TERM"), p.Send)
		if err := r.keyboard.Start(); err != nil {
			return fmt.Errorf("read the terminal: %w", err)
		}
		defer r.keyboard.Close()
	}
	return r.run(p)
}

// program is Bubble Tea without its renderer, its signals and its input: it runs
// commands. At one frame a second its ticker costs nothing. Its own reader of keys would
// end the whole process when the decoder panics, and cannot be woken at the end.
func program(ctx context.Context, r *root, o Options) *tea.Program {
	life := ctx
	if o.Remote != nil { // a program that is killed leaves a thread behind, which waits for keys
		life = context.WithoutCancel(ctx)
	}
	return tea.NewProgram(r,
		tea.WithContext(life),
		tea.WithFilter(o.Remote.filter(ctx)),
		tea.WithInput(nil),
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
	if r.o.Remote != nil {
		defer context.AfterFunc(r.ctx, p.Quit)()
	}
	_, err := p.Run()
	switch {
	case r.err != nil:
		return fmt.Errorf("run the dashboard: %w", r.err)
	case err == nil, r.ctx.Err() != nil, errors.Is(err, context.Canceled):
		return nil
	}
	return fmt.Errorf("run the dashboard: %w", err)
}

// terminal is what the environment says about where the dashboard runs.
type terminal struct {
	look  theme.Options // its background is a guess until the terminal has answered
	still bool          // NO_MOTION, REDUCE_MOTION: nothing counts seconds
	w, h  int           // where the output has no size
}

// detect reads the environment. It asks nothing of the terminal, and where that is
// somewhere else nothing of this machine either.
func detect(o Options) terminal {
	env := uv.Environ(o.Env)
	t := terminal{w: 80, h: 24}
	if o.Remote != nil {
		t.look.Profile = colorprofile.Env(env)
	} else {
		t.look.Profile = colorprofile.Detect(o.Output, env)
	}
	t.look.NoColor = o.NoColor || env.Getenv("NO_COLOR") != ""
	t.look.ASCII = o.ASCII || env.Getenv("TERM") == "linux" || !speaksUnicode(env)
	t.look.Dark = !lightGuess(env.Getenv("COLORFGBG"))
	t.still = env.Getenv("NO_MOTION") != "" || env.Getenv("REDUCE_MOTION") != ""
	for name, cells := range map[string]*int{"COLUMNS": &t.w, "LINES": &t.h} {
		if n, err := strconv.Atoi(env.Getenv(name)); err == nil && n > 0 {
			*cells = n
		}
	}
	return t
}

// speaksUnicode reads the locale. An unset one, as in containers, counts as
// Unicode; an explicit other one does not.
func speaksUnicode(env uv.Environ) bool {
	v := strings.ToLower(cmp.Or(env.Getenv("LC_ALL"), env.Getenv("LC_CTYPE"), env.Getenv("LANG"), "utf8"))
	return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
}

// lightGuess reads COLORFGBG, "foreground;background", which some terminals set.
func lightGuess(v string) bool {
	bg, err := strconv.Atoi(v[strings.LastIndexByte(v, ';')+1:])
	return err == nil && (bg == 7 || bg >= 9 && bg <= 15)
}

// FrameOptions say how one frame is drawn.
type FrameOptions struct {
	Width, Height int // in cells, at least 1
	// Theme paints the frame; nil draws plain text without any styling.
	Theme *theme.Theme
	// Focus is the focused pane; empty means the forks.
	Focus action.Pane
	// Zoom gives the focused pane the whole screen.
	Zoom bool
}

// Frame draws the dashboard as it looks when it opens: Height lines of exactly Width cells.
func Frame(c Core, o FrameOptions) []string {
	r := newRoot(context.Background(), c, Options{})
	r.zoom, r.w, r.h, r.theme = o.Zoom, max(1, o.Width), max(1, o.Height), o.Theme
	if r.theme == nil {
		r.theme = theme.New(theme.Options{Plain: true})
	}
	r.setFocus(o.Focus)
	r.refresh()
	r.frame() // how much there is room for
	r.readAll()
	// What was said before the dashboard opened is no toast of this frame.
	r.speech = speech{}
	return r.frame()
}
