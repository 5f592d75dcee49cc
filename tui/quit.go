package tui

import (
	"errors"
	"os/exec"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/settings"
)

// leaves is what ctrl+c does where no answer runs: it quits, but not when it was
// meant for an answer that has just ended.
func (r *root) leaves() tea.Cmd {
	if time.Since(r.stopped) < lateInterrupt {
		r.say(notice.Info, textJustEnded)
		return nil
	}
	return r.goTo(pane.Quit)
}

// goTo ends the dashboard, or leaves it for the demo or the set-up, after a question
// while runs wait or run that would end with it, and over words that would be lost.
func (r *root) goTo(where pane.Leave) tea.Cmd {
	unsaved := r.chat().Draft() != "" || slices.ContainsFunc(r.dialogs, func(d pane.Dialog) bool {
		form, ok := d.(interface{ Unsaved() bool })
		return ok && form.Unsaved()
	})
	if q := dialog.Leaving(r.context(), unsaved, where); q != nil {
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
	switch ended := (*exec.ExitError)(nil); {
	case err == nil:
		r.o.Restart()
	case errors.As(err, &ended):
		r.say(notice.Warn, textSetUpLeft)
	default:
		r.say(notice.Warn, textSetUpFailed+err.Error())
	}
}

// greet opens the welcome until setup is complete or it was dismissed, unless something
// else is open. It says the notice of the start too.
func (r *root) greet() bool {
	if !r.o.Welcome || len(r.dialogs) > 0 || r.chosen.Get(settings.Welcome) == "off" {
		return false
	}
	r.welcome(r.o.Notice)
	if r.o.Notice != "" {
		r.speech.add(saying{at: time.Now(), over: true, level: notice.Warn, text: r.o.Notice})
	}
	return true
}

func (r *root) welcome(notice string) {
	r.open(dialog.NewWelcome(r.context(), notice, dialog.Offers{Demo: r.o.Demo != nil, SetUp: r.offersSetUp()}))
}

func (r *root) offersSetUp() bool {
	return len(r.o.Init) > 0 && r.o.Restart != nil && !r.o.ReadOnly
}

// lateInterrupt is how long after an answer ctrl+c still means that answer.
const lateInterrupt = 2 * time.Second

// chat is the conversation, in which the user may have begun to write.
func (r *root) chat() *chat.Pane { return r.panes[action.Chat].(*chat.Pane) }
