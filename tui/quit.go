package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
)

// leaves decides what ctrl+c does where no answer runs: it ends the bot, but not
// when it was meant for an answer that has just ended, and not over words that
// would be lost.
func (r *root) leaves() tea.Cmd {
	now := time.Now()
	switch {
	case now.Sub(r.stopped) < lateInterrupt:
		r.say(notice.Info, textJustEnded)
		return nil
	case r.draft() != "" && now.After(r.armed):
		r.armed, r.warned = now.Add(toastTime), r.draft()
		r.say(notice.Warn, r.draftWarning())
		return nil
	}
	return r.quit(true)
}

// quit ends the dashboard, after a question while forks wait or run, and over
// words that would be lost, unless the user was warned of that.
func (r *root) quit(warned bool) tea.Cmd {
	q, ok := quitQuestion(r.snap)
	if !ok && !warned && r.draft() != "" {
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
	q, ok := quitQuestion(r.snap)
	switch {
	case ok:
		q.runs = &stops{textLeaveForks, textLeaveBare}
		q.count(r.snap.Forks)
	case r.draft() != "":
		q = newQuestion(pane.Question{Text: textLeftDraft, Yes: textLeaveDraft, No: textQuitNo})
	default:
		return r.settle(where)
	}
	q.leads = where
	r.open(q)
	return nil
}

// lateInterrupt is how long after an answer ctrl+c still means that answer.
const lateInterrupt = 2 * time.Second

// draft is what is written and has not been sent, or empty.
func (r *root) draft() string {
	for _, p := range action.Panes {
		if d, ok := r.panes[p].(interface{ Draft() string }); ok && d.Draft() != "" {
			return d.Draft()
		}
	}
	return ""
}

// draftWarning begins with what counts where it will be cut.
func (r *root) draftWarning() string {
	if r.w < layout.TabsWidth {
		return textQuitDraftShort
	}
	return textQuitDraft
}

// unarm takes the warning of ctrl+c back once it is not true any more: what was
// written has been sent, or is another text now.
func (r *root) unarm() {
	if r.warned == "" || r.draft() == r.warned {
		return
	}
	r.armed, r.warned = time.Time{}, ""
	r.speech.drop(time.Now(), textQuitDraft, textQuitDraftShort)
}
