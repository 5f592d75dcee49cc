package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	settingspage "ollimbot/tui/pane/settings"
	"ollimbot/tui/settings"
)

// off says why an action cannot be used now; empty means that it can.
func (r *root) off(a action.Action) string {
	switch {
	case a.Writes && r.o.ReadOnly:
		return textReadOnly
	case a.ID == action.Undo && len(r.undo) == 0:
		return textNoUndo
	case a.ID == action.Demo && r.o.Try:
		return textInDemo
	case a.ID == action.Demo && r.o.Demo == nil:
		return textDemoShell
	case a.ID == action.SetUp && !r.offersSetUp():
		return textSetUpShell
	case a.Off != nil:
		if why := a.Off(*r.snap); why != "" {
			return why
		}
	}
	step, moves := steps[a.ID]
	switch p, chooses := r.panes[a.Pane].(chooser); {
	case moves:
		_, why := r.stepped(step)
		return why
	case a.ID == action.Day.Go() && r.plan().Day == 0 && !r.zoom:
		return textNoDay
	case a.ID == action.ChatSend && r.chat().Draft() == "":
		return textNothingWritten
	case chooses:
		return p.Off(r.context(), a.ID)
	}
	return ""
}

// chooser is a pane in which it depends on the selection what can be done. Off
// says why not; empty means that it can.
type chooser interface {
	Off(c pane.Context, id action.ID) string
}

// act carries out an action, or says why not.
func (r *root) act(a action.Action) tea.Cmd {
	if why := r.off(a); why != "" {
		r.say(notice.Info, a.Title+": "+why)
		return nil
	}
	if a.Pane == action.Everywhere {
		return r.actEverywhere(a.ID)
	}
	r.setFocus(a.Pane)
	return r.answer(r.wants(a))
}

// wants is what an action comes to: the command that it makes, or what its pane says
// of what is selected.
func (r *root) wants(a action.Action) pane.Answer {
	if a.Make != nil {
		return pane.Answer{Do: a.Make(*r.snap)}
	}
	return r.panes[a.Pane].Do(r.context(), a.ID)
}

// press is act for a click on a word of the help line.
func (r *root) press(a action.Action) tea.Cmd {
	switch {
	case !a.Costs || r.off(a) != "":
		return r.act(a)
	case a.ID == action.Quit:
		if r.goTo(pane.Quit) != nil { // else it asks by itself
			r.open(dialog.QuitClicked(r.context()))
		}
		return nil
	}
	r.setFocus(a.Pane)
	wants := r.wants(a)
	if wants.Do == nil {
		return r.answer(wants)
	}
	r.open(dialog.Ask(pane.Question{Text: a.Title + "?", Yes: a.Short, No: textNotNow, Do: wants.Do}, wants))
	return nil
}

// toggleZoom gives a pane the screen or takes it back; a page is left.
func (r *root) toggleZoom() {
	if r.focus.Page() {
		r.leave()
		return
	}
	r.zoom = !r.zoom
}

func (r *root) actEverywhere(id action.ID) tea.Cmd {
	switch id {
	case action.GoNext:
		r.step(+1)
	case action.GoPrevious:
		r.step(-1)
	case action.Zoom:
		r.toggleZoom()
	case action.Back:
		r.back()
	case action.Help:
		r.open(dialog.Keys(r.keys, r.focus, r.theme.ASCII()))
	case action.Palette:
		return r.answer(pane.Answer{Open: dialog.NewPalette(r.context(), r.focus, r.off, settingspage.Find(r.context())), Send: command.Runs{Most: storedRuns}})
	case action.Notices:
		r.open(r.speech.page(r.snap))
	case action.Mouse:
		r.toggleMouse()
	case action.ThemeNext:
		r.nextTheme()
	case action.LayoutNext:
		r.nextLayout()
	case action.Wider, action.Narrower, action.Taller, action.Shorter:
		r.resizePane(steps[id])
	case action.Redraw:
		r.screen.Forget()
	case action.Suspend:
		r.suspend()
	case action.Undo:
		return r.undoLast()
	case action.Login:
		r.open(&dialog.Login{})
		if r.snap.Engine.LoginURL == "" { // none has begun
			return r.do(command.Login{})
		}
	case action.Deliveries:
		r.open(dialog.Deliveries(r.snap))
	case action.Engine:
		r.open(dialog.Engine(r.snap))
	case action.Interrupt:
		if r.snap.Busy && !r.o.ReadOnly {
			return r.do(command.Interrupt{})
		}
		return r.leaves()
	case action.Quit:
		return r.goTo(pane.Quit)
	case action.Welcome:
		r.welcome("")
	case action.Demo:
		return r.goTo(pane.Demo)
	case action.SetUp:
		return r.goTo(pane.SetUp)
	default:
		if p, ok := strings.CutPrefix(string(id), "go."); ok {
			if t, ok := r.panes[r.focus].(tasked); ok && id == action.Task.Go() {
				return r.answer(pane.Answer{Focus: action.Task, Item: t.Task()})
			}
			r.setFocus(action.Pane(p))
		}
	}
	return nil
}

// tasked is a pane whose selection belongs to a task: its id, or empty.
type tasked interface{ Task() string }

// step goes to another pane; from a page, to one beside the pane that it was opened from.
func (r *root) step(by int) {
	at, n := r.focus, len(action.Panes)
	if len(r.trail) > 0 {
		at = r.trail[0]
	}
	r.setFocus(action.Panes[(slices.Index(action.Panes, at)+by+n)%n])
}

// back leaves the page or the zoom; without one it is the pane's. What a pane would say is left
// out: that it is empty, or read-only, is no answer to esc.
func (r *root) back() {
	r.speech.hush(time.Now())
	if p, ok := r.panes[r.focus].(ender); ok && p.End(r.context()) {
		return
	}
	if r.focus.Page() || r.zoom {
		r.toggleZoom()
		return
	}
	if !r.putAway() {
		r.panes[r.focus].Do(r.context(), action.Back)
	}
}

func (r *root) toggleMouse() {
	on := !r.screen.Mouse()
	r.fail(r.screen.SetMouse(on))
	text := textMouseOff
	if on {
		text = textMouseOn
	}
	r.say(notice.Info, fmt.Sprintf(text, r.names().Name(action.Mouse)))
}

// storedRuns is how many of the stored runs the palette finds.
const storedRuns = 20_000

// undoDepth is how many changes can be undone, newest first.
const undoDepth = 50

// answer carries out what a pane wants, or a dialog.
func (r *root) answer(a pane.Answer) tea.Cmd { return r.answerTo(nil, a) }

func (r *root) answerTo(asker pane.Dialog, a pane.Answer) tea.Cmd {
	if a.Toast != "" {
		r.say(notice.Info, a.Toast)
	}
	if a.Copy != "" {
		r.fail(r.screen.Copy(a.Copy))
	}
	if a.Seen {
		r.choose(map[string]string{settings.Welcome: "off"})
	}
	r.setFocus(a.Focus)
	if p, ok := r.panes[a.Focus].(shower); ok && a.Item != "" {
		p.Show(r.context(), a.Item)
	}
	r.zoom = r.zoom || a.Zoom
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
		cmds = append(cmds, r.doFor(a.Send, asker))
	}
	if a.Do != nil {
		cmds = append(cmds, r.do(a.Do))
	}
	return tea.Batch(cmds...)
}

// ender is a pane in which esc takes something away, such as a filter, before it
// leaves the page. End reports whether there was something.
type ender interface{ End(c pane.Context) bool }

// shower is a pane that can show what has an id.
type shower interface {
	Show(c pane.Context, id string)
}

// do runs a command. With --read-only nothing that changes the bot passes,
// whoever asks.
func (r *root) do(c command.Value) tea.Cmd { return r.doFor(c, nil) }

// doFor is do for a dialog that waits for what comes of it; nil for none.
func (r *root) doFor(c command.Value, d pane.Dialog) tea.Cmd {
	if r.o.ReadOnly && !command.Reads(c) {
		r.say(notice.Info, textReadOnly)
		return nil
	}
	if a, ok := c.(command.Answer); ok {
		r.answering(a)
	}
	return r.command(doneMsg{command: c, asker: d})
}
