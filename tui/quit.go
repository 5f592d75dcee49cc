package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
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

// quit ends the dashboard, after a question while forks wait or run that would end
// with it, and over words that would be lost, unless the user was warned of that.
func (r *root) quit(warned bool) tea.Cmd {
	if q := dialog.Leaving(r.context(), !warned && r.draft() != "", pane.Quit); q != nil {
		r.open(q)
		return nil
	}
	return tea.Quit
}

// goTo leaves the dashboard for the demo or for the set-up, after the same questions
// as quit: what runs here ends with it, and so does what is written.
func (r *root) goTo(where pane.Leave) tea.Cmd {
	if q := dialog.Leaving(r.context(), r.draft() != "", where); q != nil {
		r.open(q)
		return nil
	}
	return r.exit(where)
}

// exit leaves the dashboard, or hands the terminal over.
func (r *root) exit(where pane.Leave) tea.Cmd {
	switch where {
	case pane.SetUp:
		return r.handOver(r.o.Init, func(err error) tea.Msg { return setUpMsg{err} })
	case pane.Demo:
		r.o.Demo()
	case pane.Stay, pane.Quit:
	}
	return tea.Quit
}

// setUpMsg says that Options.Init has ended.
type setUpMsg struct{ err error }

// setUp begins the bot anew with what was written, or says that nothing was.
func (r *root) setUp(msg setUpMsg) urgency {
	r.handedBack()
	switch {
	case r.ctx.Err() != nil:
	case msg.err != nil:
		r.say(notice.Warn, setUpText(msg.err))
	default:
		r.o.Restart()
	}
	return atOnce
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
