package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
)

// The mouse. It is never needed: a click does what a key does, and nothing that
// is asked about is settled by a click that was on its way. Where things stand is
// worked out when a click comes; a frame costs nothing for it.

// click answers the left button.
func (r *root) click(m tea.Mouse) tea.Cmd {
	now := time.Now()
	plan := r.plan()
	if m.Button != tea.MouseLeft || plan.Mode == layout.TooSmall {
		return nil
	}
	if q, ok := r.top().(*dialog.Question); ok && !q.Ripe() {
		return nil
	}
	if m.Y == plan.Said && len(r.speech.toasts(now)) > 0 { // it has been read
		r.speech.hush(now)
		return nil
	}
	r.speech.read(now)
	switch {
	case m.Y == r.h-1:
		return r.helpLine().press(r.w, m.X)
	case len(r.dialogs) > 0:
		return r.clickDialog(m.X, m.Y)
	case m.Y == 0:
		return r.topLine().press(r.w, m.X)
	case m.Y <= plan.Day:
		return r.pressDay(m.X)
	case m.Y <= plan.Day+plan.Fixed:
		r.setFocus([]action.Pane{action.Budget, action.Schedule}[m.Y-plan.Day-1])
		return nil
	case m.X < plan.Strip && m.Y <= len(action.Panes):
		// A click on the focused one opens it.
		p := action.Panes[m.Y-1]
		r.zoom = p == r.focus
		r.setFocus(p)
		return nil
	}
	return r.clickPane(plan, m)
}

// clickDialog gives a click to the topmost dialog.
func (r *root) clickDialog(x, y int) tea.Cmd {
	d := r.top()
	s, ok := r.seat(d)
	if !ok {
		return nil
	}
	x, y = x-s.x, y-s.y
	switch {
	case x < 0 || x >= s.w+2 || y < 0 || y >= len(s.inside)+2:
		return r.tell(d, pane.Click{Beside: true})
	case x < 1 || x > s.w || y < 1 || y > len(s.inside):
		return nil // its border
	}
	return r.tell(d, pane.Click{X: x - 1, Y: y - 1})
}

// clickPane focuses the pane under the pointer, or the tab, and tells the pane
// which of its rows was meant.
func (r *root) clickPane(plan layout.Plan, m tea.Mouse) tea.Cmd {
	b, ok := plan.At(m.X, m.Y)
	if !ok {
		return nil
	}
	if m.Y < b.Y { // its upper border
		was := r.focus
		r.setFocus(b.Pane)
		if was.Page() || r.zoom { // that esc or z goes back stands there
			r.toggleZoom()
			return nil
		}
		return pressAt(r.tabs(b), m.X-b.X-1)
	}
	focused, p, c := r.focus == b.Pane, r.panes[b.Pane], r.context()
	row := p.Draw(c, b.W, b.H, focused)[m.Y-b.Y] // as it stands on the screen
	r.setFocus(b.Pane)
	if p.Capture() {
		return nil
	}
	if a, ok := r.keys.Get(b.Pane, p.Press(c, row.At(m.X-b.X), focused)); ok {
		return r.act(a)
	}
	return nil
}

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// wheel scrolls the pane under the pointer; the focus stays.
func (r *root) wheel(m tea.Mouse) tea.Cmd {
	up := m.Button == tea.MouseWheelUp
	if !up && m.Button != tea.MouseWheelDown {
		return nil
	}
	if r.tiny() {
		return nil
	}
	if d := r.top(); d != nil {
		return r.tell(d, pane.Wheel{Up: up})
	}
	b, ok := r.plan().At(m.X, m.Y)
	if !ok {
		return nil
	}
	verb := map[bool]string{true: "up", false: "down"}[up]
	id, n := action.ID("tail."+verb), wheelLines // lines where text scrolls
	if _, ok := r.keys.Get(b.Pane, id); !ok {
		if id = b.Pane.ID(verb); b.Pane != action.Task { // one row where rows are selected
			n = 1
		}
	}
	if _, ok := r.keys.Get(b.Pane, id); !ok {
		return nil
	}
	if b.Pane == action.Forks && r.whole() && m.Y >= b.Y { // rows are under the pointer, or a tail
		if rows := r.panes[b.Pane].Draw(r.paneContext(b.Pane), b.W, b.H, true); rows[m.Y-b.Y].Place >= 0 {
			id = action.Forks.ID(verb)
		}
	}
	var cmds []tea.Cmd
	for range n {
		cmds = append(cmds, r.answer(r.panes[b.Pane].Do(r.context(), id)))
	}
	return tea.Batch(cmds...)
}

// key gives a key to the topmost dialog, else to a pane that takes text, else
// to the action that it stands for.
func (r *root) key(msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "alt+esc" { // two quick escapes, as the terminal sends them
		msg = tea.KeyPressMsg{Code: tea.KeyEscape}
	}
	k := msg.String()
	r.lookKeys()
	if k == "ctrl+l" {
		r.screen.Forget()
		return nil
	}
	if r.tiny() {
		return r.smallKey(msg)
	}
	r.speech.read(time.Now())
	if d := r.top(); d != nil {
		return r.tell(d, msg)
	}
	p := r.panes[r.focus]
	if p.Capture() && k != "ctrl+c" {
		return r.answer(p.Type(r.context(), msg))
	}
	a, ok := r.keys.ByKey(r.focus, k, *r.snap)
	if !ok { // the message line opens from anywhere
		a, ok = r.keys.ByKey(action.Chat, k, *r.snap)
		ok = ok && a.ID == action.ChatWrite
	}
	if !ok {
		return nil
	}
	return r.act(a)
}

// paste goes where text is taken; elsewhere it is not read as keys.
func (r *root) paste(msg tea.PasteMsg) tea.Cmd {
	if r.tiny() {
		return nil
	}
	if d := r.top(); d != nil {
		return r.tell(d, msg)
	}
	if p := r.panes[r.focus]; p.Capture() {
		return r.answer(p.Type(r.context(), msg))
	}
	n := r.names()
	r.say(notice.Info, fmt.Sprintf(textNoPaste, n.Name(action.Chat.Go()), n.Name(action.ChatWrite)))
	return nil
}
