package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/view"
)

// show paints now or schedules it.
func (r *root) show(when urgency) tea.Cmd {
	paint, later := r.pacer.decide(time.Now(), when)
	switch {
	case paint:
		r.fail(r.terminal.screen.Paint(view.Frame(r.view())))
	case later > 0:
		return r.sources.after(later, paintMsg{})
	}
	return nil
}

// fail ends the dashboard with the first error that is given to it.
func (r *root) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

// refresh takes a new snapshot.
func (r *root) refresh() { r.update(r.core.Snapshot()) }

// update shows a snapshot. It keeps the badges of the top line in the window's title, and
// rings once when something begins to wait.
func (r *root) update(s core.Snapshot) {
	ring := r.see(s)
	if r.prefs.chosen.Get("title") == "on" {
		r.fail(r.terminal.setTitle(view.Title(r.view())))
	}
	if ring != "" {
		r.fail(r.terminal.alert(r.prefs.chosen.Get("bell"), r.view().Name()+": "+ring))
	}
}

// wear changes a choice that changes how everything looks.
func (r *root) wear(name, value string) {
	r.choose(map[string]string{name: value})
	r.refresh()
	r.askBackground()
}

// askBackground asks the terminal whether it is light or dark, if that matters.
func (r *root) askBackground() {
	if r.prefs.followsBackground() {
		r.fail(r.terminal.screen.AskBackground())
	}
}

// takeBack reads the terminal's size and repaints everything after another program may
// have used the terminal.
func (r *root) takeBack() {
	if w, h, ok := r.terminal.screen.Size(); ok {
		r.w, r.h = w, h
	}
	r.terminal.screen.Forget()
	r.refresh()
}

// suspend stops the program until the shell continues it.
func (r *root) suspend() {
	stopped, err := r.terminal.suspend()
	r.fail(err)
	if !stopped {
		r.say(notice.Info, textNoShell)
	}
	r.takeBack()
}
