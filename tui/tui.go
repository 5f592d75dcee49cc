// Package tui is the terminal dashboard: the frame around the panes, its
// dialogs, and the one program that runs them. It shows snapshots and sends
// commands; it must not know how the bot works, and the bot never knows it.
//
// Only the root is a model of Bubble Tea, which reads the keys and keeps time
// here; the screen is painted by tui/screen.
//
// # A key
//
// Input waits while a change is in progress that its meaning depends on: tea.Cmds run in
// goroutines without an order, so ten + and ten - once ended at 6. Quick changes run one after
// the other, slow ones have a lane for each kind, and pressing fast gives what pressing slowly
// gives. A quick command returns its own snapshot, so that the change which the core announces
// meanwhile is not read twice. An error is a toast; the inverse of a change is on the undo
// stack. Clicks take the same way: the words of the help line, rows of lists and of the palette
// stand for the actions of the table.
//
// What a snapshot does not contain is read beside all that: a pane or a dialog returns a
// pane.Load, and takes what was read once it is there.
//
// A question must be visible for half a second before it can be answered, and a tool call too: a
// key or click that was already on its way decides nothing.
//
// # Own painting and input
//
// Bubble Tea provides model, commands and messages, but neither its renderer (see package
// screen) nor its reader (see package keyboard) runs. So an editor runs from Update instead of
// tea.Exec, which would wait for a reader that does not exist. Text is edited by the text input
// and text area of bubbles and drawn here: their views blink, measure differently and would
// start clipboard programs.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/time/rate"

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

// Core is what a dashboard needs from the bot. Its methods are safe for concurrent use,
// also after the bot has stopped.
type Core interface {
	pane.Reader
	// Snapshot returns the current state of everything that the dashboard shows. It does
	// not block.
	Snapshot() core.Snapshot
	// Changed receives a value when the snapshot has changed. It holds at most one value.
	Changed() <-chan struct{}
	// Tail returns lines of a run, or of the log for core.LogTail. It does not block.
	Tail(id string, from tail.Cursor) tail.Page
	// Look reports that the dashboard is being viewed. It refreshes remote data that is
	// only read while someone views the dashboard, if it is stale. It may block and
	// respects ctx.
	Look(ctx context.Context)
	// Do runs a command. It may block and respects ctx.
	Do(ctx context.Context, c command.Value) (command.Outcome, error)
}

// Options are the dashboard's terminal, appearance and features.
type Options struct {
	// Input is the source of key presses; nil means none.
	Input io.Reader
	// Output is the terminal.
	Output io.Writer
	// Env is the environment in the form of os.Environ: TERM, NO_COLOR, COLORTERM.
	Env []string
	// ReadOnly disables everything that changes the bot, and saves no choices.
	ReadOnly bool
	// ASCII draws borders and symbols in ASCII, NoColor draws without colours. The
	// environment can set both, too.
	ASCII, NoColor bool
	// Theme is one of settings.Themes. It is saved if Config is set. Empty means the
	// theme chosen last, or else one that matches the terminal's background.
	Theme string
	// Config is the directory of the user's settings (settings.Dir). If it is empty,
	// settings are neither read nor saved.
	Config string
	// Remote is set if the terminal is that of another process.
	Remote *Remote
	// Welcome means that nothing is set up yet: the dashboard opens with the welcome.
	Welcome bool
	// Notice is shown once when the dashboard opens; it may be empty.
	Notice string
	// InDemo means that this is the demo, which suggests keys to try.
	InDemo bool
	// Shown is called after the first frame; it must not block. Nil does nothing.
	Shown func()
	// Init is the command line of the setup for new users. The welcome and the palette
	// offer it and run it on the terminal. Empty disables it.
	Init []string
	// Restart is called once Init has written something. It restarts the bot and ends
	// ctx. It must be set if Init is.
	Restart func()
	// Demo is called when the user chooses the demo, which replaces this dashboard.
	// Nil disables it.
	Demo func()
}

// Run shows the dashboard until the user quits or ctx ends; neither is an error. It
// always restores the terminal before it returns.
func Run(ctx context.Context, c Core, o Options) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newRoot(ctx, c, o)
	scr := screen.New(ctx, o.Output, o.Input)
	defer func() {
		cancel() // do not wait for a terminal that no longer reads
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
	r.begun = func() {
		if o.Shown != nil {
			o.Shown()
		}
		_ = p.ReleaseTerminal() // there is none: it stops the ticker
	}
	if o.Input != nil {
		keys := keyboard.New(o.Input, p.Send)
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

// program is Bubble Tea without its renderer, signal handler and input: it only runs
// commands. Its ticker would wake the process for nothing and is stopped after the first
// frame. Its input ends at once: without one, stopping the ticker would wait for a reader
// that does not exist, and with ours the process would end if its decoder panics.
func program(ctx context.Context, r *root) *tea.Program {
	return tea.NewProgram(r,
		tea.WithContext(ctx),
		tea.WithFilter(r.o.Remote.filter(ctx)),
		tea.WithInput(strings.NewReader("")),
		tea.WithOutput(io.Discard),
		tea.WithEnvironment(r.o.Env),
		tea.WithoutRenderer(),
		tea.WithoutSignalHandler(),
		tea.WithFPS(1),
		tea.WithWindowSize(r.w, r.h),
		tea.WithColorProfile(colorprofile.NoTTY),
	)
}

// FrameOptions are the options of a single frame.
type FrameOptions struct {
	Width, Height int // in cells, at least 1
	// Theme paints the frame; nil draws plain text without any styling.
	Theme *theme.Theme
	// Env is the environment, whose locale may have no Unicode.
	Env []string
	// Focus is the focused pane; empty means the forks.
	Focus action.Pane
	// Zoom gives the focused pane the whole screen.
	Zoom bool
}

// mostReads is how many reads the focused pane of a single frame may make.
const mostReads = 20

// Frame draws the dashboard as it looks when it opens: Height lines of exactly Width cells.
func Frame(c Core, o FrameOptions) []string {
	env := detect(Options{Env: o.Env})
	d := newDashboard(Options{}, env, c.Tail)
	d.zoom, d.w, d.h, d.prefs.theme = o.Zoom, max(1, o.Width), max(1, o.Height), o.Theme
	if d.prefs.theme == nil {
		d.prefs.theme = theme.New(theme.Options{Plain: true, ASCII: env.look.ASCII})
	}
	d.setFocus(o.Focus)
	d.see(c.Snapshot())
	view.Frame(d.view())                                        // lets the panes know their size
	for _, p := range []action.Pane{d.focus, action.Schedule} { // which has a box of its own for what is selected
		loader, ok := d.panes[p].(pane.Loader)
		if !ok {
			continue
		}
		at := d.context(p)
		for range mostReads {
			if load := loader.Wants(at).Load; load != nil {
				load(context.Background(), c)(at)
			}
		}
	}
	d.toasts = toast.List{} // notices from before the dashboard opened are not shown
	return view.Frame(d.view())
}

// Page renders markdown for a terminal outside of the dashboard, w cells wide, with the
// colours and symbols that the dashboard would use there. It reads the options Output,
// Env, NoColor and ASCII.
func Page(text string, w int, o Options) string {
	t := theme.New(detect(o).look)
	return markdown.Print(text, markdown.Look{Theme: t, W: w}, t.Paint)
}

// Remote describes a dashboard on the terminal of another process, the viewer's, which has passed it. Options.Env is
// that process's environment. When the viewer quits, the bot keeps running.
type Remote struct {
	// Host is the bot's host for the top line; empty if the viewer is on the same machine.
	Host string
	// Signals receives the viewer's SIGWINCH, SIGTSTP and SIGCONT.
	Signals <-chan os.Signal
	// Run runs a program in the viewer's process, which has the terminal as its controlling one. It returns
	// when the program has ended, with an ExitError or exec.ErrNotFound if it has failed, or when ctx ends.
	Run func(ctx context.Context, argv []string) error
	// Suspend stops the viewer's process until its shell continues it. Nil if no shell could do that.
	Suspend func(ctx context.Context) error
	// OnOpen is called for each file that is opened in the editor.
	OnOpen func(file string)
}

// The rate limit of a viewer: pace is events a second, burst is events at once. Each event
// costs a frame. A faster viewer slows down only itself.
const (
	pace  = 60
	burst = 300
)

// filter applies the rate limit to input events. A nil Remote has no limit.
func (o *Remote) filter(ctx context.Context) func(tea.Model, tea.Msg) tea.Msg {
	limit := rate.NewLimiter(pace, burst)
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.KeyMsg, tea.MouseMsg, tea.PasteMsg, tea.FocusMsg, tea.BlurMsg, tea.BackgroundColorMsg, signalMsg:
			if o == nil {
				break
			}
			_ = limit.Wait(ctx) // it fails only if ctx ends
		}
		return msg
	}
}
