package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/routines/account"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	settingspage "ollimbot/tui/pane/settings"
	"ollimbot/tui/settings"
	"ollimbot/tui/undo"
	"ollimbot/tui/view"
)

// act runs an action, or shows why it is disabled.
func (r *root) act(a action.Action) tea.Cmd {
	r.changes.Settle()
	if why := r.view().Off(a); why != "" {
		r.say(notice.Info, a.Title+": "+why)
		return nil
	}
	switch {
	case a.ID == action.ChatWrite && r.focus != a.Pane:
		r.visit(a.Pane)
	case a.Pane != action.Everywhere:
		r.setFocus(a.Pane)
	}
	switch {
	case a.Make != nil:
		return r.send(a.Make(*r.snap), nil)
	case a.ID == action.DayLeave:
		r.back()
		return nil
	case a.Pane == action.Everywhere:
		return r.actEverywhere(a.ID, false)
	}
	return r.answer(r.panes[a.Pane].Do(r.context(a.Pane), a.ID))
}

// press is act for a click on the help line. It asks before an action that has a cost.
func (r *root) press(a action.Action) tea.Cmd {
	switch {
	case !a.Costs || r.view().Off(a) != "":
		return r.act(a)
	case a.ID == action.Quit:
		if r.goTo(pane.Quit) != nil { // else it has asked already
			r.open(dialog.QuitClicked(r.context(r.focus)))
		}
		return nil
	}
	r.setFocus(a.Pane)
	var asked pane.Answer
	if a.Make != nil {
		asked.Do = a.Make(*r.snap)
	} else if asked = r.panes[a.Pane].Do(r.context(a.Pane), a.ID); asked.Do == nil || r.removal(asked.Do) != nil {
		return r.answer(asked)
	}
	r.open(dialog.Ask(pane.Question{Text: a.Title + "?", Yes: a.Short, No: "not now", Do: asked.Do}, asked))
	return nil
}

// actEverywhere runs a global action. sure means that the user has confirmed it.
func (r *root) actEverywhere(id action.ID, sure bool) tea.Cmd {
	switch id {
	case action.GoNext:
		r.setFocus(r.beside(+1))
	case action.GoPrevious:
		r.setFocus(r.beside(-1))
	case action.Zoom:
		r.setFocus(r.toggleZoom())
	case action.Back:
		r.back()
	case action.Help:
		r.open(dialog.NewHelp(r.focus))
	case action.Palette:
		c := r.context(r.focus)
		return r.answer(dialog.OpenPalette(c, r.focus, r.view().Off, settingspage.Find(c)))
	case action.OpenHeadline:
		return r.openHeadline()
	case action.Notices:
		r.open(r.notices())
	case action.Mouse:
		on := !r.terminal.screen.Mouse()
		r.fail(r.terminal.screen.SetMouse(on))
		r.say(notice.Info, fmt.Sprintf(map[bool]string{true: textMouseOn, false: textMouseOff}[on], r.names().Name(action.Mouse)))
	case action.ThemeNext:
		r.look("theme", r.prefs.next("theme"))
		r.worn()
	case action.LayoutNext:
		r.look("layout", r.prefs.next("layout"))
	case action.Wider, action.Narrower, action.Taller, action.Shorter:
		r.moveBorder(id)
	case action.Redraw:
		r.terminal.screen.Forget()
	case action.Suspend:
		r.suspend()
	case action.Undo:
		return walk{undo.Back, sure}.take(r)
	case action.Redo:
		return walk{undo.Forward, sure}.take(r)
	case action.Login:
		r.open(&dialog.Login{})
		if r.snap.Engine.LoginURL == "" { // no login has started
			return r.send(command.Login{}, nil)
		}
	case action.Deliveries, action.Servers, action.Engine:
		r.open(lists[id](r.snap))
	case action.Account:
		a, _ := dialog.OpenAccount(r.context(r.focus), account.UsualDay)
		return r.answer(a)
	case action.Interrupt:
		return r.interrupt()
	case action.Quit:
		return r.goTo(pane.Quit)
	case action.Welcome:
		r.greet("")
	case action.Demo:
		return r.goTo(pane.Demo)
	case action.SetUp:
		return r.goTo(pane.SetUp)
	default:
		return r.goToPane(id)
	}
	return nil
}

// openHeadline shows what the headline is about. What stops the bot is a word from then on.
func (r *root) openHeadline() tea.Cmd {
	shown := r.view()
	if shown.Stopped() != "" && shown.Headline().Urgent() {
		r.since = r.snap.At.Add(-view.StripTime)
	}
	return r.answer(shown.OpenHeadline())
}

// lists are the pages of rows about the bot.
var lists = map[action.ID]func(*core.Snapshot) *dialog.Page{
	action.Deliveries: dialog.Deliveries, action.Servers: dialog.Servers, action.Engine: dialog.Engine,
}

// tasked is a pane whose selection belongs to a task. Task returns its ID, or empty.
type tasked interface{ Task() string }

// goToPane focuses a pane; the task page shows the selected task.
func (r *root) goToPane(id action.ID) tea.Cmd {
	if t, ok := r.panes[r.focus].(tasked); ok && id == action.Task.Go() {
		return r.answer(pane.Answer{Focus: action.Task, Item: t.Task()})
	}
	r.setFocus(action.Pane(id.Verb()))
	return nil
}

// lateInterrupt is how long after an answer ctrl+c still refers to that answer.
const lateInterrupt = 2 * time.Second

// interrupt stops the answer. Without one, it quits, unless it was meant for an answer that has just ended.
func (r *root) interrupt() tea.Cmd {
	switch {
	case r.snap.Busy && !r.o.ReadOnly:
		return r.send(command.Interrupt{}, nil)
	case time.Since(r.stopped) < lateInterrupt:
		r.say(notice.Info, textJustEnded)
		return nil
	}
	return r.goTo(pane.Quit)
}

// shower is a pane that can show an item by its ID.
type shower interface {
	Show(c pane.Context, id string)
}

// answer executes a pane's answer.
func (r *root) answer(a pane.Answer) tea.Cmd { return r.answerFor(nil, a) }

// lead moves the focus to the pane of an answer, and shows what the answer names there.
func (r *root) lead(a pane.Answer) {
	r.setFocus(a.Focus)
	if p, ok := r.panes[a.Focus].(shower); ok && a.Item != "" {
		p.Show(r.context(a.Focus), a.Item)
	}
	if p, ok := r.panes[a.Focus].(interface{ Filter(text string) }); ok && a.Query != "" {
		p.Filter(a.Query)
	}
	r.zoom = r.zoom || a.Zoom
}

// answerFor executes a dialog's answer.
func (r *root) answerFor(asker pane.Dialog, a pane.Answer) tea.Cmd {
	if a.Close {
		r.dialogs = slices.DeleteFunc(r.dialogs, func(d pane.Dialog) bool { return d == asker })
	}
	if a.Leave != pane.Stay {
		return r.exit(a.Leave)
	}
	switch {
	case a.Run != nil && a.Sure:
		return r.actEverywhere(a.Run.ID, true)
	case a.Run != nil:
		return r.act(*a.Run)
	}
	if a.Toast != "" {
		r.say(notice.Info, a.Toast)
	}
	if a.Copy != "" {
		r.fail(r.terminal.screen.Copy(a.Copy))
	}
	for name, value := range a.Look {
		r.look(name, value)
		r.worn()
	}
	if a.Seen {
		r.choose(map[string]string{settings.Welcome: "off"})
	}
	r.lead(a)
	if a.Ask != nil {
		r.open(dialog.Ask(*a.Ask, pane.Answer{}))
	}
	var cmds []tea.Cmd
	if a.Edit != nil {
		cmds = append(cmds, r.edit(*a.Edit))
	}
	if a.Open != nil {
		r.open(a.Open)
		asker = a.Open
	}
	if a.Send != nil {
		cmds = append(cmds, r.send(a.Send, asker))
	}
	if a.Load != nil {
		cmds = append(cmds, r.queue.load(a.Load, func(got pane.Loaded) tea.Cmd {
			if !slices.Contains(r.dialogs, asker) { // it was closed
				return nil
			}
			return r.answerFor(asker, got(r.context(r.focus)))
		}))
	}
	switch q := r.removal(a.Do); {
	case q != nil && !a.Sure && !r.o.ReadOnly:
		r.open(dialog.Ask(*q, pane.Answer{}))
	case a.Do != nil:
		cmds = append(cmds, r.send(a.Do, nil))
	}
	return tea.Batch(cmds...)
}

// pass passes a message to a dialog, and executes its answer.
func (r *root) pass(d pane.Dialog, msg tea.Msg) tea.Cmd {
	return r.answerFor(d, d.Update(r.context(r.focus), msg))
}

// send runs a command. A read-only dashboard does not send commands that change the bot. asker is the dialog waiting
// for the outcome, or nil.
func (r *root) send(c command.Value, asker pane.Dialog) tea.Cmd {
	if r.o.ReadOnly {
		r.say(notice.Info, view.TextReadOnly)
		return nil
	}
	if a, ok := c.(command.Answer); ok {
		r.calls.answer(a)
	}
	return r.queue.add(doneMsg{command: c, asker: asker})
}

// edit opens a file of the data directory in the user's editor. Until the editor ends, the dashboard neither paints
// nor reads keys; the bot keeps running.
func (r *root) edit(e pane.Edit) tea.Cmd {
	file, err := fileIn(r.snap.Root, e.File)
	if err != nil {
		r.say(notice.Alert, err.Error())
		return nil
	}
	if r.o.ReadOnly {
		r.say(notice.Info, view.TextReadOnly)
		return nil
	}
	if r.o.Remote != nil {
		r.o.Remote.OnOpen(e.File)
	}
	argv := editorArgs(r.terminal.env, file, e)
	return r.handOver(argv, func(err error) {
		if err != nil {
			r.say(notice.Alert, editorText(filepath.Base(argv[0]), err))
		}
	})
}
