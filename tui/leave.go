package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/tui/pane"
)

// leaves decides what ctrl+c does where no answer runs: it ends the bot, but not
// when it was meant for an answer that has just ended, and not over words that
// would be lost.
func (r *root) leaves() tea.Cmd {
	now := time.Now()
	switch {
	case now.Sub(r.stopped) < lateInterrupt:
		r.say(core.Info, textJustEnded)
		return nil
	case r.drafted() && now.After(r.armed):
		r.armed = now.Add(toastTime)
		r.say(core.Warn, textQuitDraft)
		return nil
	}
	return r.quit(true)
}

// quit ends the dashboard, after a question while forks wait or run, and over
// words that would be lost, unless the user was warned of that.
func (r *root) quit(warned bool) tea.Cmd {
	q, ok := quitQuestion(r.snap.Forks)
	if !ok && !warned && r.drafted() {
		q, ok = draftQuestion(), true
	}
	if !ok {
		return tea.Quit
	}
	r.open(q)
	return nil
}

// goTo leaves the dashboard for the demo or for the set-up, after the same questions
// as quit: what runs here ends with it, and so does what is written.
func (r *root) goTo(where verdict) tea.Cmd {
	q, ok := quitQuestion(r.snap.Forks)
	yes := textLeaveForks
	if !ok && r.drafted() {
		q, ok, yes = newQuestion(pane.Question{Text: textLeftDraft, No: textQuitNo}), true, textLeaveDraft
	}
	if !ok {
		return r.settle(where)
	}
	q.leads, q.ask.Yes = where, yes
	r.open(q)
	return nil
}

// lateInterrupt is how long after an answer ctrl+c still means that answer.
const lateInterrupt = 2 * time.Second

// drafted reports that something is written that has not been sent.
func (r *root) drafted() bool {
	for _, p := range r.panes {
		if d, ok := p.(interface{ Draft() string }); ok && d.Draft() != "" {
			return true
		}
	}
	return false
}
