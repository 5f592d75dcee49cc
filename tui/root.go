package tui

import (
	"context"
	"os"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/core"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/keyboard"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/away"
	"ollimbot/tui/pane/budget"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/pane/costs"
	today "ollimbot/tui/pane/day"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/pane/logs"
	"ollimbot/tui/pane/schedule"
	settingspage "ollimbot/tui/pane/settings"
	"ollimbot/tui/pane/task"
	"ollimbot/tui/pane/updates"
	"ollimbot/tui/screen"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
)

// root is the dashboard's model. Bubble Tea calls it from one goroutine.
type root struct {
	ctx     context.Context // ends with Run; commands and timers end with it
	core    Core
	o       Options
	facts   terminal
	screen  *screen.Screen   // nil where only frames are drawn
	signals <-chan os.Signal // of the terminal
	// keyboard is nil where no input is read.
	keyboard *keyboard.Keyboard

	// chosen is what the user has chosen, keys are theirs, and stamp is the state of
	// their file when it was read.
	chosen settings.Dashboard
	keys   action.Keys
	stamp  settings.Stamp

	theme *theme.Theme
	dark  bool
	snap  *core.Snapshot
	// content is how wide the schedule would be for no title to be cut.
	content int
	w, h    int

	panes map[action.Pane]pane.Pane
	focus action.Pane
	lower action.Pane // Chat or Logs: what their common box shows
	zoom  bool
	// trail are the panes that esc goes back to from a page, the newest last.
	trail []action.Pane

	dialogs []pane.Dialog // the last one takes the keys
	speech  speech
	desk    desk
	undo    []command.Value // newest last
	queue   queue
	here    time.Time            // when the core was told that the user is here
	reading map[action.Pane]bool // panes that something is being read for
	held    []tea.Msg            // keys, pastes and clicks that wait for a change

	stopped time.Time // when the last answer ended

	// glanced is when the core was told that somebody looks, away since when the
	// terminal has not had the focus.
	glanced, away time.Time
	// painted is when the screen was written last; due, that a paint is on its way.
	painted time.Time
	due     bool
	timer   *time.Timer // wake sets it

	err error // why the dashboard ended by itself
}

// frameGap is the least time between two paints that nobody pressed a key for.
const frameGap = 33 * time.Millisecond

func newRoot(ctx context.Context, c Core, o Options) *root {
	r := &root{
		ctx: ctx, core: c, o: o, facts: detect(o),
		panes: map[action.Pane]pane.Pane{
			action.Day:      today.New(),
			action.Budget:   budget.New(),
			action.Schedule: schedule.New(),
			action.Updates:  updates.New(),
			action.Forks:    forks.New(),
			action.Chat:     chat.New(command.List(command.InSlash)),
			action.Logs:     logs.New(),
			action.Task:     task.New(),
			action.Costs:    costs.New(),
			action.Away:     away.New(),
			action.Settings: settingspage.New(),
		},
		focus: action.Forks, lower: action.Chat,
		snap: &core.Snapshot{}, queue: queue{busy: map[command.Lane]bool{}},
		timer: time.NewTimer(time.Minute), reading: map[action.Pane]bool{}, desk: desk{answered: map[string]policy.Approval{}},
	}
	r.w, r.h = r.facts.w, r.facts.h
	r.recall()
	r.setDark(r.facts.look.Dark)
	return r
}

// Init takes the first snapshot and paints the first frame.
func (r *root) Init() tea.Cmd {
	r.refresh()
	if !r.greet() && r.o.Notice != "" {
		r.say(notice.Warn, r.o.Notice)
	}
	r.fail(r.screen.SetMouse(true))
	r.paint()
	r.askBackground()
	r.wake()
	return tea.Batch(r.waitChanged(), r.waitSignal(), r.waitTimer(), r.glance())
}

// View draws nothing: Update has painted.
func (r *root) View() tea.View { return tea.View{} }

// urgency is how soon a message must be seen.
type urgency uint8

const (
	never urgency = iota // nothing to see
	soon                 // within a frame
	atOnce
)

// Update takes a message and paints. A panic ends the dashboard, not the bot.
func (r *root) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer fault.Rescue("the dashboard", func(err *fault.Error) {
		r.fail(err)
		model, cmd = r, tea.Quit
	})
	cmd, when := r.receive(msg)
	later := r.show(when)
	r.wake()
	if r.err != nil {
		return r, tea.Quit
	}
	return r, tea.Batch(cmd, later, r.readMore(), r.glance())
}

// receive is the order of house rule 8: size and colours, the core, then what
// the user does.
func (r *root) receive(msg tea.Msg) (tea.Cmd, urgency) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return nil, r.resize(msg.Width, msg.Height)
	case signalMsg:
		return r.waitSignal(), r.signalled(msg)
	case tea.BackgroundColorMsg:
		return nil, r.setDark(msg.IsDark())
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		// A desktop that turned dark says nothing of this terminal's own colours.
		r.askBackground()
		return nil, never
	case tea.BlurMsg:
		r.away = time.Now()
		return nil, never
	case tea.FocusMsg:
		r.away = time.Time{}
		r.lookKeys()
		r.askBackground()
		return nil, soon

	case changedMsg:
		if !r.queue.busy[command.LaneQuick] { // a quick command brings its own snapshot in a moment
			r.refresh()
		}
		return r.after(frameGap, lookMsg{}), soon
	case lookMsg:
		return r.waitChanged(), never
	case wakeMsg:
		r.lookKeys()
		r.refresh()
		return r.waitTimer(), soon
	case paintMsg:
		// What has come since the look that asked for this frame would else wait
		// for a frame of its own.
		r.due = false
		r.refresh()
		return nil, soon
	case doneMsg:
		return tea.Batch(r.done(msg), r.ended(msg.command)), atOnce
	case handOverMsg:
		err := r.lend(msg.argv)
		r.lookAgain()
		if r.ctx.Err() == nil {
			msg.then(err)
		}
		return nil, atOnce
	case keyboard.GarbledMsg:
		r.say(notice.Warn, textGarbled)
		return nil, soon

	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg:
		r.away = time.Time{} // not every terminal tells
		return tea.Batch(r.input(msg), r.present()), atOnce
	case tea.MouseWheelMsg:
		return r.wheel(msg.Mouse()), soon
	}
	return nil, never
}

const (
	// glanceEvery is how often the core is told that somebody looks: with each minute.
	glanceEvery = 50 * time.Second
	// leftAlone is how long a terminal without the focus counts as looked at. It may
	// stand on a second screen, or in a session that nobody is attached to.
	leftAlone = time.Hour
)

// glance tells the core that somebody looks, as far as can be told.
func (r *root) glance() tea.Cmd {
	now := time.Now()
	if now.Sub(r.glanced) < glanceEvery || !r.away.IsZero() && now.Sub(r.away) > leftAlone {
		return nil
	}
	r.glanced = now
	return func() tea.Msg {
		r.core.Look(r.ctx)
		return nil
	}
}

// show paints now or arranges for it. While things stream, a frame stands for
// at least frameGap; after a key it never waits.
func (r *root) show(when urgency) tea.Cmd {
	rest := frameGap - time.Since(r.painted)
	switch {
	case when == atOnce, when == soon && rest <= 0:
		r.paint()
	case when == soon && !r.due:
		r.due = true
		return r.after(rest, paintMsg{})
	}
	return nil
}

func (r *root) paint() {
	r.painted = time.Now()
	r.fail(r.screen.Paint(r.frame()))
}

// fail ends the dashboard with the first error that is given to it.
func (r *root) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

func (r *root) resize(w, h int) urgency {
	if w == r.w && h == r.h {
		return never
	}
	r.w, r.h = w, h
	if r.focus == action.Day && r.plan().Day == 0 { // it went with the room for it
		r.setFocus(action.Forks)
	}
	r.screen.Forget()
	return atOnce
}

// measure takes the terminal's size, where it has one.
func (r *root) measure() {
	if w, h, ok := r.screen.Size(); ok {
		r.w, r.h = w, h
	}
}

// setDark builds the theme for a background.
func (r *root) setDark(dark bool) urgency {
	if r.theme != nil && r.dark == dark {
		return never
	}
	r.dark = dark
	r.setTheme()
	return atOnce
}

// setTheme builds the theme that was chosen, for the background.
func (r *root) setTheme() {
	look, name := r.facts.look, r.chosen.Get("theme")
	look.Dark = name == "dark" || name != "light" && r.dark
	look.Contrast, look.Blocks = name == "contrast", r.chosen.Get("charts") == settings.Pens[1]
	if name == "16" {
		look.Profile = min(look.Profile, colorprofile.ANSI)
	}
	r.theme = theme.New(look)
}

// refresh takes a new snapshot.
func (r *root) refresh() { r.see(r.core.Snapshot()) }

// see shows a snapshot to the panes.
func (r *root) see(s core.Snapshot) {
	if r.snap != nil && r.snap.Busy && !s.Busy {
		r.stopped = time.Now()
	}
	s.TwelveHours = r.chosen.Get("clock") == settings.Clocks[1]
	r.snap, r.content = &s, wants(&s)
	r.speech.hear(s.Notices, s.At)
	r.watch()
	for _, p := range action.AllPanes {
		if !p.Page() || p == r.focus { // a page that nobody sees is brought up to date when it is opened
			r.panes[p].Sync(r.paneContext(p))
		}
	}
}

// context is what panes may look at.
func (r *root) context() pane.Context {
	return pane.Context{
		Theme: r.theme, Snap: r.snap, Tail: r.core.Tail, Keys: r.keys, Zoomed: r.whole(), Chosen: r.chosen,
		ReadOnly: r.o.ReadOnly, Remote: r.o.Remote != nil,
	}
}

// names names the keys as the dialogs and toasts speak of them: of the chat, and
// of what works everywhere.
func (r *root) names() action.Names { return r.context().Names(action.Chat) }

// plan divides the screen as it is now.
func (r *root) plan() layout.Plan { return layout.Divide(r.division()) }

// setFocus moves the focus; the common box follows it. A page remembers whence one
// came to it.
func (r *root) setFocus(p action.Pane) {
	if _, ok := r.panes[p]; !ok || p == r.focus {
		return
	}
	switch i := slices.Index(r.trail, p); {
	case !p.Page():
		r.trail = nil
	case i >= 0: // it was opened before what it has led to
		r.trail = r.trail[:i]
	default:
		r.trail = append(r.trail, r.focus)
	}
	r.focus = p
	if p.Page() && r.snap != nil {
		r.panes[p].Sync(r.paneContext(p))
	}
	if p == action.Chat || p == action.Logs {
		r.lower = p
	}
}

// whole reports that the focused pane has the whole body.
func (r *root) whole() bool { return r.zoom && r.focus != action.Day || r.focus.Page() }

// leave goes back from a page to where it was opened.
func (r *root) leave() {
	to := action.Forks
	if n := len(r.trail); n > 0 {
		to = r.trail[n-1]
	}
	r.setFocus(to)
}
