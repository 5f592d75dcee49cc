package tui

import (
	"errors"
	"os/exec"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/talk/notice"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
)

// handOverMsg asks to run a program on the terminal. Then is called with how it ended,
// unless the dashboard ends first.
type handOverMsg struct {
	argv []string
	then func(err error)
}

func handOver(argv []string, then func(err error)) tea.Cmd {
	return func() tea.Msg { return handOverMsg{argv, then} }
}

// goTo ends the dashboard, or leaves it for the demo or the setup. It asks first if runs
// would end with it, or if something written would be lost.
func (r *root) goTo(where pane.Leave) tea.Cmd {
	if q := dialog.Leaving(r.context(r.focus), r.unsaved(), where); q != nil {
		r.open(q)
		return nil
	}
	return r.exit(where)
}

// exit leaves the dashboard, or hands the terminal over.
func (r *root) exit(where pane.Leave) tea.Cmd {
	switch where {
	case pane.SetUp:
		return handOver(r.o.Init, r.setUp)
	case pane.Demo:
		r.o.Demo()
	case pane.Stay, pane.Quit:
	}
	return tea.Quit
}

// setUp restarts the bot with what Options.Init has written, or says that nothing was.
func (d *dashboard) setUp(err error) {
	switch ended := (*exec.ExitError)(nil); {
	case err == nil:
		d.o.Restart()
	case errors.As(err, &ended):
		d.say(notice.Warn, textSetUpLeft)
	default:
		d.say(notice.Warn, textSetUpFailed+err.Error())
	}
}
