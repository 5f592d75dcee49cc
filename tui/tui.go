package tui

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/keyboard"
	"ollimbot/tui/pane"
	"ollimbot/tui/screen"
	"ollimbot/tui/theme"
	"ollimbot/tui/toast"
	"ollimbot/tui/view"
	"ollimbot/tui/widget/markdown"
)

// Core is what a dashboard needs from the bot. All of it may be called from
// any goroutine, also after the bot has stopped.
type Core interface {
	pane.Reader
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
	scr := screen.New(ctx, o.Output, o.Input)
	defer func() {
		cancel() // nobody waits for a terminal that no longer reads
		if e := scr.Close(); e != nil && err == nil && !errors.Is(e, screen.ErrUnread) {
			err = fmt.Errorf("close the dashboard: %w", e)
		}
	}()
	if err := scr.Open(); err != nil {
		return fmt.Errorf("open the dashboard: %w", err)
	}
	r.terminal.screen = scr
	if o.Remote != nil {
		r.sources.signals = o.Remote.Signals
	} else {
		signals, stop := scr.Watch()
		defer stop()
		r.sources.signals = signals
	}
	if w, h, ok := scr.Size(); ok {
		r.w, r.h = w, h
	}
	p := program(ctx, r)
	if o.Input != nil {
		keys := keyboard.New(o.Input, uv.Environ(o.Env).Getenv("TERM"), p.Send)
		if err := keys.Start(); err != nil {
			return fmt.Errorf("read the terminal: %w", err)
		}
		defer keys.Close()
		r.terminal.keyboard = keys
	}
	_, err = p.Run()
	switch {
	case errors.Is(r.err, screen.ErrUnread): // ctx has ended
		return nil
	case r.err != nil:
		return fmt.Errorf("run the dashboard: %w", r.err)
	case err == nil, ctx.Err() != nil, errors.Is(err, context.Canceled):
		return nil
	}
	return fmt.Errorf("run the dashboard: %w", err)
}

// program is Bubble Tea without its renderer, its signals and its input: it runs
// commands. At one frame a second its ticker costs nothing. Its own reader of keys would
// end the whole process when the decoder panics, and cannot be woken at the end.
func program(ctx context.Context, r *root) *tea.Program {
	return tea.NewProgram(r,
		tea.WithContext(ctx),
		tea.WithFilter(r.o.Remote.filter(ctx)),
		tea.WithInput(nil),
		tea.WithOutput(io.Discard),
		tea.WithEnvironment(r.o.Env),
		tea.WithoutRenderer(),
		tea.WithoutSignalHandler(),
		tea.WithFPS(1),
		tea.WithWindowSize(r.w, r.h),
		tea.WithColorProfile(colorprofile.NoTTY),
	)
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

// mostReads is how often the pane of a single frame may read.
const mostReads = 20

// Frame draws the dashboard as it looks when it opens: Height lines of exactly Width cells.
func Frame(c Core, o FrameOptions) []string {
	d := newDashboard(Options{}, detect(Options{}), c.Tail)
	d.zoom, d.w, d.h, d.prefs.theme = o.Zoom, max(1, o.Width), max(1, o.Height), o.Theme
	if d.prefs.theme == nil {
		d.prefs.theme = theme.New(theme.Options{Plain: true})
	}
	d.setFocus(o.Focus)
	d.see(c.Snapshot())
	view.Frame(d.view()) // tells the panes how much room they have
	if loader, ok := d.panes[d.focus].(pane.Loader); ok {
		at := d.context(d.focus)
		for range mostReads {
			if load := loader.Wants(at).Load; load != nil {
				load(context.Background(), c)(at)
			}
		}
	}
	d.toasts = toast.List{} // what was said before the dashboard opened is not shown
	return view.Frame(d.view())
}

// Page draws a text in markdown for a terminal outside of the dashboard, w cells
// wide, in the colours and with the signs that the dashboard would use there. Of
// the options it reads Output, Env, NoColor and ASCII.
func Page(text string, w int, o Options) string {
	t := theme.New(detect(o).look)
	return markdown.Print(text, markdown.Look{Theme: t, W: w}, t.Paint)
}
