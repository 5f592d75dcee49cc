package tui

import (
	"context"
	"os"
	"slices"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/core"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/tui/action"
	"ollimbot/tui/keyboard"
	"ollimbot/tui/pane"
	"ollimbot/tui/settings"
)

// root is the dashboard's model. Bubble Tea calls it from one goroutine. It dispatches each message.
type root struct {
	*dashboard
	ctx      context.Context // ends with Run
	core     Core
	terminal *terminal
	sources  sources
	pacer    pacer
	presence presence
	queue    commandQueue
	reading  map[action.Pane]bool // panes with a read in progress
	err      error                // why the dashboard ended by itself
	begun    func()               // called after the first frame; nil does nothing
}

func newRoot(ctx context.Context, c Core, o Options) *root {
	env := detect(o)
	r := &root{
		dashboard: newDashboard(o, env, c.Tail), ctx: ctx, core: c, terminal: newTerminal(o),
		sources: sources{ctx: ctx, core: c, timer: time.NewTimer(time.Minute)},
		queue:   commandQueue{ctx: ctx, core: c, busy: map[command.Lane]bool{}},
		reading: map[action.Pane]bool{},
	}
	r.still = env.still || r.prefs.chosen.Get("motion") == "off"
	return r
}

// Init gets the first snapshot and paints the first frame.
func (r *root) Init() tea.Cmd {
	r.refresh()
	switch welcome := r.o.Welcome && r.prefs.chosen.Get(settings.Welcome) != "off"; {
	case welcome:
		r.greet(r.o.Notice)
		if r.o.Notice != "" {
			r.toasts.Record(time.Now(), notice.Warn, r.o.Notice)
		}
	case r.o.Notice != "":
		r.say(notice.Warn, r.o.Notice)
	}
	r.fail(r.terminal.screen.SetMouse(true))
	r.show(atOnce)
	if r.begun != nil {
		r.begun()
	}
	r.askBackground()
	return tea.Batch(r.sources.changed(), r.sources.signal(), r.sources.tick(), r.afterwards())
}

// View draws nothing: Update has painted.
func (r *root) View() tea.View { return tea.View{} }

// Update handles a message and paints. A panic ends the dashboard, not the bot.
func (r *root) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer fault.Rescue("the dashboard", func(err *fault.Error) {
		r.fail(err)
		model, cmd = r, tea.Quit
	})
	cmd, when := r.receive(msg)
	later := r.show(when)
	if r.err != nil {
		return r, tea.Quit
	}
	return r, tea.Batch(cmd, later, r.readMore(), r.afterwards())
}

// obey handles a signal and returns how soon its effect must be visible.
func (m signalMsg) obey(r *root) urgency {
	how := atOnce
	switch m.sig {
	case syscall.SIGWINCH: // resizing a window by dragging sends hundreds
		how = soon
	case syscall.SIGTSTP:
		r.suspend()
	case syscall.SIGCONT:
		r.fail(r.terminal.reopen())
	}
	r.takeBack()
	return how
}

// receive handles a message and returns how soon its effect must be visible.
func (r *root) receive(msg tea.Msg) (tea.Cmd, urgency) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if r.resize(msg.Width, msg.Height) {
			r.terminal.screen.Forget()
			return nil, soon
		}
	case signalMsg:
		how := msg.obey(r)
		return r.sources.signal(), how
	case tea.BackgroundColorMsg:
		if r.prefs.setDark(msg.IsDark()) {
			return nil, atOnce
		}
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		// A dark desktop theme does not determine this terminal's colours, so ask again.
		r.askBackground()
	case tea.BlurMsg:
		r.presence.blurred = time.Now()
	case tea.FocusMsg:
		r.presence.blurred = time.Time{}
		r.reloadKeys()
		r.askBackground()
		return nil, soon
	case changedMsg:
		if !r.queue.busy[command.LaneQuick] { // a quick command brings its own snapshot in a moment
			r.refresh()
		}
		return r.sources.after(frameGap, rearmMsg{}), soon // the pause limits the cost of a busy core
	case rearmMsg:
		return r.sources.changed(), never
	case tickMsg:
		r.reloadKeys()
		r.refresh()
		return r.sources.tick(), soon
	case paintMsg:
		// Take a new snapshot, so that recent changes need not wait for the next frame.
		r.pacer.due = false
		r.refresh()
		return nil, soon
	case doneMsg:
		return tea.Batch(r.done(msg), r.queue.ended(msg.command), r.replay()), atOnce
	case loadedMsg:
		if r.ctx.Err() != nil {
			return nil, never
		}
		return tea.Batch(msg(), r.replay()), atOnce
	case handOverMsg:
		msg()
		return nil, atOnce
	case keyboard.GarbledMsg:
		r.say(notice.Warn, textGarbled)
		return nil, soon
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg:
		return tea.Batch(r.present(), r.input(msg)), atOnce
	case tea.MouseWheelMsg:
		return r.wheel(msg.Mouse()), soon
	}
	return nil, never
}

// afterwards schedules the next tick and, if it is due, reports to the core that someone is looking.
func (r *root) afterwards() tea.Cmd {
	now, every := time.Now(), time.Minute
	if counts(r.snap) && !r.still || len(r.toasts.Showing(now)) > 0 {
		every = time.Second
	}
	r.sources.schedule(now, every)
	if !r.presence.glance(now) {
		return nil
	}
	return func() tea.Msg {
		r.core.Look(r.ctx)
		return nil
	}
}

// counts reports whether something on the screen counts seconds, or stands out for a moment.
func counts(s *core.Snapshot) bool {
	return s.Busy || len(s.Approvals) > 0 || slices.ContainsFunc(s.Forks, func(f fork.View) bool { return f.State == fork.Running }) ||
		slices.ContainsFunc(s.Budget.Pings[max(0, len(s.Budget.Pings)-1):], func(p budget.Ping) bool { return pane.Fresh(s, p.At) }) ||
		slices.ContainsFunc(s.Updates, func(u updates.Update) bool { return pane.Fresh(s, u.At) })
}

// The messages that do not come from the user.
type (
	changedMsg struct{}                // the core has something new
	rearmMsg   struct{}                // wait for the core again
	paintMsg   struct{}                // paint a frame that had to wait
	tickMsg    struct{}                // a second or a minute has passed
	signalMsg  struct{ sig os.Signal } // from the terminal
)

// sources waits for messages from the core, the terminal and the clock, until ctx ends.
type sources struct {
	ctx     context.Context
	core    interface{ Changed() <-chan struct{} }
	signals <-chan os.Signal
	timer   *time.Timer
}

// await waits for a value and makes a message of it.
func await[T any](ctx context.Context, c <-chan T, message func(T) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		select {
		case v := <-c:
			return message(v)
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *sources) changed() tea.Cmd {
	return await(s.ctx, s.core.Changed(), func(struct{}) tea.Msg { return changedMsg{} })
}

func (s *sources) signal() tea.Cmd {
	return await(s.ctx, s.signals, func(sig os.Signal) tea.Msg { return signalMsg{sig} })
}

func (s *sources) tick() tea.Cmd {
	return await(s.ctx, s.timer.C, func(time.Time) tea.Msg { return tickMsg{} })
}

// schedule sets the time of the next tick: the next full second or minute.
func (s *sources) schedule(now time.Time, every time.Duration) {
	s.timer.Reset(now.Truncate(every).Add(every).Sub(now))
}

// after sends a message after a while. Unlike tea.Tick it ends with ctx.
func (s *sources) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return await(s.ctx, time.After(d), func(time.Time) tea.Msg { return msg })
}
