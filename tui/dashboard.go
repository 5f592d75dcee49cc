package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	stored "ollimbot/core/storage/config"
	"ollimbot/core/talk/notice"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
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
	weekpage "ollimbot/tui/pane/week"
	"ollimbot/tui/settings"
	"ollimbot/tui/toast"
	"ollimbot/tui/undo"
	"ollimbot/tui/view"
)

// dashboard is the state of the screen and of the user's interaction with it. It is independent of the terminal and
// of how commands run.
type dashboard struct {
	o    Options
	tail func(id string, from tail.Cursor) tail.Page
	snap *core.Snapshot
	place
	w, h    int
	panes   map[action.Pane]pane.Pane
	dialogs []pane.Dialog // the last one takes the keys

	prefs   *preferences
	toasts  toast.List
	calls   approvals
	changes undo.History
	stopped time.Time // when the last answer ended
	since   time.Time // when what stops the bot was seen first; zero if nothing does
	still   bool      // nothing counts seconds, and nothing stands out for a moment
}

// newDashboard reads the user's preferences.
func newDashboard(o Options, env environment, tail func(id string, from tail.Cursor) tail.Page) *dashboard {
	d := &dashboard{
		o: o, tail: tail, snap: &core.Snapshot{}, place: place{focus: action.Forks, lower: action.Chat},
		w: env.w, h: env.h, panes: newPanes(),
	}
	prefs, problems := newPreferences(o.Config, o.ReadOnly, env.look)
	d.prefs = prefs
	d.complain(problems)
	if o.Theme != "" && o.Theme != prefs.chosen["theme"] {
		d.choose(map[string]string{"theme": o.Theme})
	}
	return d
}

// context returns the data available to a pane.
func (d *dashboard) context(p action.Pane) pane.Context {
	return pane.Context{
		Theme: d.prefs.theme, Snap: d.snap, Tail: d.tail, Keys: d.prefs.keys, Chosen: d.prefs.chosen,
		Zoomed: d.whole() && p == d.focus, ReadOnly: d.o.ReadOnly, Remote: d.o.Remote != nil, Still: d.still,
	}
}

// view returns the state to draw.
func (d *dashboard) view() *view.State {
	s := &view.State{
		Context: d.context(d.focus), W: d.w, H: d.h, Panes: d.panes, Focus: d.focus, Lower: d.lower, Dialogs: d.dialogs,
		Toasts: d.toasts.Showing(time.Now()), Beneath: d.beneath(), Since: d.since, Hidden: d.calls.hidden,
		Demo: d.o.InDemo, Changes: &d.changes, Offers: d.offers(),
	}
	if d.o.Remote != nil {
		s.Host = d.o.Remote.Host
	}
	return s
}

// names returns the keys used in dialogs and toasts: those of the chat, and the global ones.
func (d *dashboard) names() action.Names { return d.context(d.focus).Names(action.Chat) }

// offers returns the programs that this dashboard can start.
func (d *dashboard) offers() dialog.Offers {
	return dialog.Offers{Demo: d.o.Demo != nil, SetUp: len(d.o.Init) > 0 && d.o.Restart != nil && !d.o.ReadOnly}
}

// see passes a snapshot to the panes, and reports news in it. It returns the reason to ring, or empty.
func (d *dashboard) see(s core.Snapshot) (ring string) {
	now := time.Now()
	if d.snap.Busy && !s.Busy {
		d.stopped = now
	}
	if d.snap.Fork != nil && s.Fork == nil { // it replaces the message about leaving the fork
		d.say(notice.Info, textForkEnded)
	}
	s.TwelveHours = d.prefs.chosen.Get("clock") == settings.Clocks[1]
	d.snap = &s
	if d.view().Stopped() == "" {
		d.since = time.Time{}
	} else if d.since.IsZero() {
		d.since = s.At
	}
	d.toasts.Hear(now, s.Notices, s.At)
	ring = d.calls.follow(&s, len(d.dialogs) == 0 && d.focus == action.Chat || d.view().Answerable(), d.names(), func(level notice.Level, text string) {
		d.toasts.Report(now, level, text)
	})
	for _, p := range action.AllPanes {
		if !p.Page() || p == d.focus { // other pages are updated when they are opened
			d.panes[p].Sync(d.context(p))
		}
	}
	return ring
}

// say shows the user a message.
func (d *dashboard) say(level notice.Level, text string) { d.toasts.Reply(time.Now(), level, text) }

// complain reports problems in the user's files.
func (d *dashboard) complain(problems []routines.Problem) {
	for _, p := range problems {
		d.toasts.Report(time.Now(), notice.Warn, p.Position()+": "+p.Message)
	}
}

// open opens a dialog over the panes.
func (d *dashboard) open(over pane.Dialog) { d.dialogs = append(d.dialogs, over) }

// greet opens the welcome, with the notice of the start.
func (d *dashboard) greet(notice string) {
	d.open(dialog.NewWelcome(d.context(d.focus), notice, d.offers()))
}

// setFocus moves the focus to a pane, if it exists.
func (d *dashboard) setFocus(p action.Pane) {
	if _, ok := d.panes[p]; !ok || p == d.focus {
		return
	}
	d.move(p)
	if p.Page() {
		d.panes[p].Sync(d.context(p))
	}
}

// ender is a pane in which esc first removes something, such as a filter, before it leaves the page. End reports
// whether there was something to remove.
type ender interface{ End(c pane.Context) bool }

// back leaves the page or the zoom; without one, it is passed to the pane. The pane's message is omitted, because
// "empty" or "read-only" is not a useful response to esc.
func (d *dashboard) back() {
	d.toasts.Dismiss(time.Now())
	if p, ok := d.panes[d.focus].(ender); ok && p.End(d.context(d.focus)) {
		return
	}
	if d.passing() || d.zoom {
		d.setFocus(d.toggleZoom())
		return
	}
	if id := d.view().Hideable(); id != "" { // the call stays in its line
		d.calls.hidden = id
		return
	}
	d.panes[d.focus].Do(d.context(d.focus), action.Back)
}

// choose changes the user's choices and saves them.
func (d *dashboard) choose(values map[string]string) {
	if err := d.prefs.choose(values); err != nil {
		d.toasts.Report(time.Now(), notice.Warn, err.Error())
	}
}

// reloadKeys reloads keys.yaml if it was saved: before a key is handled, when the terminal gets the focus, and at
// each tick.
func (d *dashboard) reloadKeys() {
	if d.prefs.keysChanged() {
		d.complain(d.prefs.readKeys())
		d.toasts.Report(time.Now(), notice.Info, "keys.yaml reloaded")
	}
}

// resize reports whether the screen has a new size.
func (d *dashboard) resize(w, h int) bool {
	if w == d.w && h == d.h {
		return false
	}
	d.w, d.h = w, h
	if d.focus == action.Day && d.view().Plan().Day == 0 { // it no longer fits
		d.setFocus(d.toggleZoom())
	}
	return true
}

// moveBorder makes the focused pane larger or smaller. Each layout keeps its own sizes.
func (d *dashboard) moveBorder(id action.ID) {
	in, _ := d.view().Resized(id) // if it cannot be moved, the action is off
	a, _ := action.Get(action.Everywhere, id)
	d.restyle(fmt.Sprintf("%s %s", d.focus.Name(), a.Short), settings.Values(in.Size, in.Preset))
}

// look changes the appearance, and shows a message.
func (d *dashboard) look(name, value string) {
	text := name + " " + d.prefs.chosen.Get(name) + " → " + value
	d.restyle(text, map[string]string{name: value})
	if name == "layout" && d.view().Plan().Mode != layout.Full {
		text += textLayoutLater
	}
	d.say(notice.Info, text+fmt.Sprintf(textUndoKey, d.names().Name(action.Undo)))
}

// wheelLines is how far one notch of the wheel scrolls.
const wheelLines = 3

// wheelAction returns the action of a notch of the wheel in a box, and how often to run it: several lines for text,
// one row for lists.
func (d *dashboard) wheelAction(b layout.Box, m tea.Mouse, verb string) (id action.ID, times int) {
	text, rows := action.ID("tail."+verb), b.Pane.ID(verb)
	_, scrolls := d.prefs.keys.Get(b.Pane, text)
	switch {
	case b.Pane == action.Task:
		return rows, wheelLines
	case !scrolls:
		return rows, 1
	case b.Pane == action.Forks && d.whole(): // the runs, above a tail
		if row, ok := view.At(d.view(), m.X, m.Y).(view.Row); ok && row.Place >= 0 {
			return rows, wheelLines
		}
	}
	return text, wheelLines
}

// chat returns the chat pane, which may contain a draft.
func (d *dashboard) chat() *chat.Pane { return d.panes[action.Chat].(*chat.Pane) }

// failed handles a command that has failed.
func (d *dashboard) failed(msg doneMsg) {
	if msg.change != nil { // it can be tried again
		d.changes.Put(msg.way, *msg.change)
	}
	d.say(notice.Alert, clean.Line(msg.err.Error()))
	switch c := msg.command.(type) {
	case command.Say:
		d.chat().Return(c.Text)
	case command.Answer:
		d.calls.answerDone(c, "")
	}
}

// succeeded shows the effect of a command, and records how to undo it.
func (d *dashboard) succeeded(msg doneMsg) {
	if c, is := msg.command.(command.SetConfig); is {
		if about, ok := stored.About(c.Key); ok { // as on the page of settings
			msg.outcome.Message = strings.Replace(msg.outcome.Message, c.Key, about.Name, 1)
		}
	}
	text := d.outcome(msg.command, msg.outcome.Message)
	name, _, _ := strings.Cut(msg.outcome.Message, "\n")
	name, _, _ = strings.Cut(name, "; ") // what else follows from it
	switch made := (undo.Change{Name: name, Step: msg.outcome.Undo}); {
	case msg.change != nil:
		d.walked(msg.way, *msg.change, made)
		return
	case made.Step != nil:
		d.changes.Add(made)
		text += fmt.Sprintf(textUndoKey, d.names().Name(action.Undo))
	}
	if text != "" {
		d.say(notice.Info, text)
	}
}

// walked shows what was undone or redone, and records the opposite change.
func (d *dashboard) walked(way undo.Way, was, made undo.Change) {
	text, other := "undone: ", fmt.Sprintf(textRedoKey, d.names().Name(action.Redo))
	if way == undo.Forward {
		text, other = "redone: ", fmt.Sprintf(textUndoKey, d.names().Name(action.Undo))
	}
	if text += was.Name; made.Step != nil || made.Look != nil {
		made.Name = was.Name
		d.changes.Put(!way, made)
		text += other
	}
	d.say(notice.Info, text)
}

// restyle changes the appearance in a way that can be undone.
func (d *dashboard) restyle(name string, values map[string]string) {
	d.changes.Add(undo.Change{Name: name, Look: d.chosen(values)})
	d.choose(values)
}

// chosen returns the current values of choices.
func (d *dashboard) chosen(names map[string]string) map[string]string {
	was := map[string]string{}
	for name := range names {
		was[name] = d.prefs.chosen[name]
	}
	return was
}

// outcome returns the message for a successful command.
func (d *dashboard) outcome(c command.Value, message string) string {
	switch c := c.(type) {
	case command.Interrupt:
		return cmp.Or(message, textInterrupted)
	case command.Answer:
		return d.calls.answerDone(c, message)
	case command.Say:
		if d.focus == action.Chat {
			return "" // the reply is in the conversation
		}
		message, _, _ = strings.Cut(message, "\n")
	}
	return message
}

// unsaved reports whether written text would be lost.
func (d *dashboard) unsaved() bool {
	return d.chat().Draft() != "" || slices.ContainsFunc(d.dialogs, func(over pane.Dialog) bool {
		form, ok := over.(interface{ Unsaved() bool })
		return ok && form.Unsaved()
	})
}

// noticeColumn is the column at which the text of a notice starts, after its time and level.
const noticeColumn = 18

// notices returns the page of all messages, newest first.
func (d *dashboard) notices() *dialog.Page {
	var rows []dialog.Row
	for _, t := range slices.Backward(d.toasts.All()) {
		rows = append(rows, dialog.Row{Head: d.snap.Clock(t.At, "15:04:05") + "  " + string(t.Level), Text: t.Text})
	}
	if len(rows) == 0 {
		return dialog.NewPage(textNotices, textNoNotices)
	}
	return dialog.NewTable(textNotices, noticeColumn, rows)
}

// newPanes makes every pane and page.
func newPanes() map[action.Pane]pane.Pane {
	return map[action.Pane]pane.Pane{
		action.Day:      &today.Pane{},
		action.Budget:   &budget.Pane{},
		action.Schedule: schedule.New(),
		action.Updates:  updates.New(),
		action.Forks:    forks.New(),
		action.Chat:     chat.New(command.List(command.InSlash)),
		action.Logs:     logs.New(),
		action.Task:     &task.Page{},
		action.Costs:    costs.New(),
		action.Away:     away.New(),
		action.Week:     &weekpage.Page{},
		action.Settings: settingspage.New(),
	}
}

// place is where the user is: the focused pane, and the way back from a page.
type place struct {
	focus  action.Pane
	lower  action.Pane // Chat or Logs: the pane shown in their shared box
	zoom   bool
	trail  []action.Pane // the panes to which esc returns from a page or the day, the newest last
	before *place        // where esc leads from a message started elsewhere; nil if there is none
}

// passing reports whether esc leaves the focused pane: a page, or the day.
func (p *place) passing() bool { return p.focus.Page() || p.focus == action.Day }

// beneath returns the pane that stays visible while the day has the focus, or empty.
func (p *place) beneath() action.Pane {
	if n := len(p.trail); p.focus == action.Day && n > 0 && !p.trail[n-1].Page() {
		return p.trail[n-1]
	}
	return action.Everywhere
}

// move moves the focus. A page and the day remember where they were opened.
func (p *place) move(to action.Pane) {
	switch i := slices.Index(p.trail, to); {
	case to == p.focus:
		return
	case !to.Page() && to != action.Day:
		p.trail = nil
	case i >= 0: // it was opened before the pages after it
		p.trail = p.trail[:i]
	default:
		p.trail = append(p.trail, p.focus)
	}
	p.focus, p.before = to, nil
	if to == action.Chat || to == action.Logs {
		p.lower = to
	}
}

// visit moves the focus while something is written there; leave returns.
func (p *place) visit(to action.Pane) {
	was := *p
	was.trail = slices.Clone(p.trail)
	p.move(to)
	p.before = &was
}

// leave returns to where a visit started, and reports whether there was one.
func (p *place) leave() bool {
	if p.before == nil {
		return false
	}
	*p = *p.before
	return true
}

// whole reports whether the focused pane has the whole body.
func (p *place) whole() bool { return p.zoom && p.focus != action.Day || p.focus.Page() }

// beside returns the pane that many steps away; from a page or the day, it counts from the pane where the first page
// was opened.
func (p *place) beside(steps int) action.Pane {
	at, n := p.focus, len(action.Panes)
	if len(p.trail) > 0 {
		at = p.trail[0]
	}
	return action.Panes[(slices.Index(action.Panes, at)+steps+n)%n]
}

// toggleZoom zooms the focused pane or restores it. It returns the next focus, because a page and the day are left.
func (p *place) toggleZoom() (focus action.Pane) {
	if !p.passing() {
		p.zoom = !p.zoom
		return p.focus
	}
	if n := len(p.trail); n > 0 {
		return p.trail[n-1]
	}
	return action.Forks
}
