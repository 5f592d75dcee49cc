package tui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	today "ollimbot/tui/pane/day"
	"ollimbot/tui/view"
	"ollimbot/tui/widget"
)

// input handles a key, paste or click, or holds it until a change on which its meaning depends is done.
func (r *root) input(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "ctrl+c" {
		r.queue.held = nil
	} else if r.queue.hold(msg, r.waits) {
		return nil
	}
	return r.route(msg)
}

// replay handles held input that no longer has to wait.
func (r *root) replay() tea.Cmd {
	var cmds []tea.Cmd
	for {
		msg, ok := r.queue.release(r.waits)
		if !ok {
			return tea.Batch(cmds...)
		}
		cmds = append(cmds, r.route(msg))
	}
}

// waits reports whether the meaning of input depends on a change in progress, or on a page that is loading.
func (r *root) waits(msg tea.Msg) bool {
	page, ok := r.view().Top().(*dialog.Page)
	loads := ok && page.Loads
	if !loads && !r.queue.changing() {
		return false
	}
	k, pressed := msg.(tea.KeyPressMsg)
	switch {
	case loads || len(r.dialogs) > 0:
		return !pressed || k.String() != "esc"
	case r.panes[r.focus].Capture():
		return false
	case !pressed:
		_, clicked := msg.(tea.MouseClickMsg)
		return clicked
	}
	a, ok := r.prefs.keys.ByKey(r.focus, k.String(), *r.snap)
	return ok && (a.Writes || slices.Contains([]action.ID{action.Palette, action.Undo, action.Redo}, a.ID))
}

func (r *root) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return r.key(msg)
	case tea.PasteMsg:
		return r.paste(msg)
	case tea.MouseClickMsg:
		return r.click(msg.Mouse())
	}
	return nil
}

// key passes a key to the topmost dialog, else to a pane that takes text, else runs its action.
func (r *root) key(msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "alt+esc" { // two quick escapes, as the terminal sends them
		msg = tea.KeyPressMsg{Code: tea.KeyEscape}
	}
	k := msg.String()
	r.reloadKeys()
	if k == "ctrl+l" {
		r.terminal.screen.Forget()
		return nil
	}
	shown := r.view()
	if shown.Tiny() {
		return r.tinyKey(msg)
	}
	r.toasts.Read(time.Now())
	if d := shown.Top(); d != nil {
		return r.pass(d, msg)
	}
	if p := r.panes[r.focus]; p.Capture() && k != "ctrl+c" {
		cmd := r.answer(p.Type(shown.Context, msg))
		if k == "esc" && !p.Capture() && r.leave() && r.focus.Page() {
			r.panes[r.focus].Sync(r.context(r.focus))
		}
		return cmd
	}
	a, ok := r.prefs.keys.ByKey(r.focus, k, *r.snap)
	for _, id := range []action.ID{action.ApprovalAllow, action.ApprovalDeny} {
		b, _ := r.prefs.keys.Get(action.Chat, id)
		switch {
		case !slices.Contains(b.Keys, k):
		case shown.Answerable(): // the top line shows the tool call and these keys
			a, ok = b, true
		case len(r.snap.Approvals) == 0 && time.Since(r.calls.gone) < lateAnswer: // the key was meant for it
			r.say(notice.Info, textTooLate)
			return nil
		}
	}
	if !ok {
		names := r.names()
		r.say(notice.Info, fmt.Sprintf(textNoKey, action.KeyName(k, names.ASCII), names.Name(action.Help)))
		return nil
	}
	return r.act(a)
}

// lateAnswer is how long after a tool call is no longer pending the keys that answer it have no other meaning.
const lateAnswer = 2 * time.Second

// tinyKey handles a key on a screen that is too small for the dashboard: the keys of a question, and quitting.
func (r *root) tinyKey(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	quit, _ := r.prefs.keys.Get(action.Everywhere, action.Quit)
	if q, ok := r.view().Top().(*dialog.Question); ok {
		return r.pass(q, msg)
	}
	switch {
	case k == "ctrl+c":
		return r.interrupt()
	case slices.Contains(quit.Keys, k):
		return r.goTo(pane.Quit)
	}
	return nil
}

// paste passes a paste to a text field; elsewhere it is ignored instead of being read as keys.
func (r *root) paste(msg tea.PasteMsg) tea.Cmd {
	shown := r.view()
	if shown.Tiny() {
		return nil
	}
	if d := shown.Top(); d != nil {
		return r.pass(d, msg)
	}
	if p := r.panes[r.focus]; p.Capture() {
		return r.answer(p.Type(shown.Context, msg))
	}
	n := r.names()
	r.say(notice.Info, fmt.Sprintf(textNoPaste, n.Name(action.Chat.Go()), n.Name(action.ChatWrite)))
	return nil
}

// click handles the left button. The mouse is optional: every click has an equivalent key. A click just after a
// question opened does not answer it.
func (r *root) click(m tea.Mouse) tea.Cmd {
	shown := r.view()
	if q, ok := shown.Top().(*dialog.Question); m.Button != tea.MouseLeft || shown.Tiny() || ok && !q.Ripe() {
		return nil
	}
	now, target := time.Now(), view.At(shown, m.X, m.Y)
	if target == (view.Toast{}) { // a click on a toast dismisses it
		r.toasts.Dismiss(now)
		return nil
	}
	r.toasts.Read(now)
	switch to := target.(type) {
	case view.Action:
		if a, ok := r.prefs.keys.Get(to.Pane, to.ID); ok {
			return r.press(a)
		}
	case view.Key:
		if msg, ok := widget.Key(to.Name); ok {
			return r.key(msg)
		}
	case view.Headline:
		return r.openHeadline()
	case view.Dialog:
		return r.pass(shown.Top(), to.Click)
	case view.Day:
		return r.clickDay(to)
	case view.Line:
		if to.Opens {
			r.zoom = to.Pane == r.focus
		}
		r.setFocus(to.Pane)
	case view.Heading:
		page := r.focus.Page()
		r.setFocus(to.Pane)
		if page || r.zoom { // the hint to go back with esc or z is there
			r.setFocus(r.toggleZoom())
			return nil
		}
		r.setFocus(to.Tab)
	case view.Row:
		return r.clickRow(to)
	}
	return nil
}

// clickDay selects the mark at a cell of the day, and opens it if it was already selected.
func (r *root) clickDay(at view.Day) tea.Cmd {
	p, focused := r.panes[action.Day].(*today.Pane), r.focus == action.Day
	if today.Beside(at.X, r.w, at.Rows) {
		r.setFocus(action.Budget)
		return nil
	}
	r.setFocus(action.Day)
	if again, ok := p.Point(r.context(action.Day), at.X, at.Y, r.w, at.Rows); ok && again && focused {
		return r.answer(p.Do(r.context(action.Day), action.DayOpen))
	}
	return nil
}

// clickRow focuses the pane and passes it the row that was clicked.
func (r *root) clickRow(row view.Row) tea.Cmd {
	focused, p := r.focus == row.Pane, r.panes[row.Pane]
	r.setFocus(row.Pane)
	if p.Capture() {
		return nil
	}
	if a, ok := r.prefs.keys.Get(row.Pane, p.Press(r.context(row.Pane), row.Place, focused)); ok {
		return r.act(a)
	}
	return nil
}

// wheel scrolls the pane under the pointer; the focus stays.
func (r *root) wheel(m tea.Mouse) tea.Cmd {
	verb, ok := map[tea.MouseButton]string{tea.MouseWheelUp: "up", tea.MouseWheelDown: "down"}[m.Button]
	shown := r.view()
	if !ok || shown.Tiny() {
		return nil
	}
	if d := shown.Top(); d != nil {
		return r.pass(d, pane.Wheel{Up: verb == "up"})
	}
	b, ok := shown.Plan().At(m.X, m.Y)
	if !ok {
		return nil
	}
	id, n := r.wheelAction(b, m, verb)
	if _, ok := r.prefs.keys.Get(b.Pane, id); !ok {
		return nil
	}
	var cmds []tea.Cmd
	for range n {
		cmds = append(cmds, r.answer(r.panes[b.Pane].Do(r.context(b.Pane), id)))
	}
	return tea.Batch(cmds...)
}
