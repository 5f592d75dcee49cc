package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/core/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// off says why an action cannot be used now; empty means that it can.
func (r *root) off(a action.Action) string {
	switch {
	case a.Writes && r.o.ReadOnly:
		return textReadOnly
	case a.ID == action.Undo && len(r.undo) == 0:
		return textNoUndo
	case a.ID == action.Demo && !r.offersDemo():
		return r.noDemo()
	case a.ID == action.SetUp && !r.offersSetUp():
		return r.noSetUp()
	case a.Off != nil:
		if why := a.Off(*r.snap); why != "" {
			return why
		}
	}
	if why := r.offHere(a); why != "" {
		return why
	}
	if p, ok := r.panes[a.Pane].(chooser); ok {
		return p.Off(r.context(), a.ID)
	}
	return ""
}

// offHere is what the frame knows itself: whether a border could move, and
// whether something is written.
func (r *root) offHere(a action.Action) string {
	switch step, moves := steps[a.ID]; {
	case moves:
		_, why := r.stepped(step)
		return why
	case a.ID == action.ChatSend && r.draft() == "":
		return textNothingWritten
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
	if a.ID == action.Exact {
		r.open(newEntry(r.snap.Budget.State))
		return nil
	}
	if a.Pane != r.focus {
		r.setFocus(a.Pane)
	}
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
		if cmd := r.quit(false); cmd == nil {
			return nil // it asks by itself
		}
		r.open(quits(pane.Question{Text: textQuitClicked, Yes: textQuitBare, No: textQuitNo}))
		return nil
	}
	r.setFocus(a.Pane)
	wants := r.wants(a)
	if wants.Do == nil {
		return r.answer(wants)
	}
	q := newQuestion(pane.Question{Text: a.Title + "?", Yes: a.Short, No: textNotNow, Do: wants.Do})
	q.leads.answer = wants
	r.open(q)
	return nil
}

func (r *root) actEverywhere(id action.ID) tea.Cmd {
	switch id {
	case action.GoNext:
		r.step(+1)
	case action.GoPrevious:
		r.step(-1)
	case action.Zoom:
		r.zoom = !r.zoom
	case action.Back:
		r.back()
	case action.Help:
		r.open(helpPage(r.keys, r.focus, r.theme.ASCII()))
	case action.Palette:
		r.open(newPalette(r))
	case action.Notices:
		r.open(r.speech.page(r.snap.Zone))
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
		return r.login()
	case action.Deliveries:
		r.open(deliveriesPage(r.snap))
	case action.Engine:
		r.open(enginePage(r.snap))
	case action.Interrupt:
		if r.snap.Busy && !r.o.ReadOnly {
			return r.do(command.Interrupt{})
		}
		return r.leaves()
	case action.Quit:
		return r.quit(false)
	case action.Demo:
		return r.goTo(verdict{demo: true})
	case action.SetUp:
		return r.goTo(verdict{setUp: true})
	default:
		if i := slices.Index(goIDs, id); i >= 0 {
			r.setFocus(action.Panes[i])
		}
	}
	return nil
}

// goIDs stand in the order of action.Panes.
var goIDs = []action.ID{
	action.GoBudget, action.GoSchedule, action.GoUpdates, action.GoForks, action.GoChat, action.GoLogs,
}

func (r *root) step(by int) {
	n := len(action.Panes)
	r.setFocus(action.Panes[(slices.Index(action.Panes, r.focus)+by+n)%n])
}

// back leaves the zoom; without one it is the pane's. What a pane would say is left
// out: that it is empty, or read-only, is no answer to esc.
func (r *root) back() {
	r.speech.hush(time.Now())
	if r.zoom {
		r.zoom = false
		return
	}
	if r.putAway() {
		return
	}
	r.panes[r.focus].Do(r.context(), action.Back)
}

func (r *root) toggleMouse() {
	on := !r.screen.Mouse()
	r.fail(r.screen.SetMouse(on))
	if on {
		r.say(notice.Info, textMouseOn(r.names()))
		return
	}
	r.say(notice.Info, textMouseOff(r.names()))
}
