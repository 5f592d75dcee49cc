package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
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
		r.say(notice.Warn, textQuitDraft)
		return nil
	}
	return r.goTo(pane.Quit, true)
}

// goTo ends the dashboard, or leaves it for the demo or the set-up, after a question
// while runs wait or run that would end with it, and over words that would be lost,
// unless the user was warned of that.
func (r *root) goTo(where pane.Leave, warned bool) tea.Cmd {
	if q := dialog.Leaving(r.context(), !warned && r.draft() != "", where); q != nil {
		r.open(q)
		return nil
	}
	return r.exit(where)
}

// exit leaves the dashboard, or hands the terminal over.
func (r *root) exit(where pane.Leave) tea.Cmd {
	switch where {
	case pane.SetUp:
		return r.handOver(r.o.Init, r.setUp)
	case pane.Demo:
		r.o.Demo()
	case pane.Stay, pane.Quit:
	}
	return tea.Quit
}

// setUp begins the bot anew with what Options.Init has written, or says that nothing was.
func (r *root) setUp(err error) {
	if err != nil {
		r.say(notice.Warn, setUpText(err))
		return
	}
	r.o.Restart()
}

// greet opens the first words where nothing is set up, unless something else is open.
// They say the notice of the start too.
func (r *root) greet() bool {
	if !r.o.Welcome || len(r.dialogs) > 0 {
		return false
	}
	r.open(dialog.NewWelcome(r.o.Notice, r.o.Demo != nil, r.offersSetUp()))
	if r.o.Notice != "" {
		r.speech.add(time.Now(), time.Now().Add(-time.Hour), notice.Warn, r.o.Notice)
	}
	return true
}

func (r *root) offersSetUp() bool {
	return len(r.o.Init) > 0 && r.o.Restart != nil && !r.o.ReadOnly
}

// lateInterrupt is how long after an answer ctrl+c still means that answer.
const lateInterrupt = 2 * time.Second

// draft is what is written and has not been sent, or empty.
func (r *root) draft() string {
	return r.panes[action.Chat].(interface{ Draft() string }).Draft()
}

// unarm takes the warning of ctrl+c back once it is not true any more: what was
// written has been sent, or is another text now.
func (r *root) unarm() {
	if r.warned == "" || r.draft() == r.warned {
		return
	}
	r.armed, r.warned = time.Time{}, ""
	r.speech.drop(time.Now(), textQuitDraft)
}
