package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/view"
)

// frameGap is the minimum time between two frames not caused by keys.
const frameGap = 33 * time.Millisecond

// urgency is how soon a change must be visible.
type urgency uint8

const (
	never urgency = iota // no visible change
	soon                 // within a frame
	atOnce
)

// pacer decides when to paint. During streaming, each frame stays for at least frameGap; after a key, the dashboard
// paints at once.
type pacer struct {
	painted time.Time // when the last frame was painted
	due     bool      // the next one is scheduled
}

// decide reports whether to paint now, or the delay after which to paint; 0 means neither.
func (p *pacer) decide(now time.Time, when urgency) (paint bool, later time.Duration) {
	rest := frameGap - now.Sub(p.painted)
	switch {
	case when == atOnce, when == soon && rest <= 0:
		p.painted = now
		return true, 0
	case when == soon && !p.due:
		p.due = true
		return false, rest
	}
	return false, 0
}

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

// fail ends the dashboard with its first error.
func (r *root) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

// refresh takes a new snapshot.
func (r *root) refresh() { r.update(r.core.Snapshot()) }

// update shows a snapshot. It copies the badges of the top line to the window's title, and rings once when something
// new needs the user.
func (r *root) update(s core.Snapshot) {
	ring := r.see(s)
	if r.prefs.chosen.Get("title") == "on" {
		r.fail(r.terminal.setTitle(view.Title(r.view())))
	}
	if ring != "" {
		r.fail(r.terminal.alert(r.prefs.chosen.Get("bell"), r.view().Name()+": "+ring))
	}
}

// worn redraws everything with other choices.
func (r *root) worn() {
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
	if r.terminal.screen == nil {
		return
	}
	if w, h, ok := r.terminal.screen.Size(); ok {
		r.w, r.h = w, h
	}
	r.terminal.screen.Forget()
	r.refresh()
}

// suspend stops the program until the shell continues it.
func (r *root) suspend() {
	stopped, err := r.terminal.suspend(r.ctx)
	r.fail(err)
	if !stopped {
		r.say(notice.Info, textNoShell)
	}
	r.takeBack()
}
