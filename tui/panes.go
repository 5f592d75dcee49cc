package tui

import (
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/budget"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/pane/logs"
	"ollimbot/tui/pane/schedule"
	"ollimbot/tui/pane/updates"
)

// newPanes makes the six panes, each without a past.
func newPanes() map[action.Pane]pane.Pane {
	return map[action.Pane]pane.Pane{
		action.Budget:   budget.New(),
		action.Schedule: schedule.New(),
		action.Updates:  updates.New(),
		action.Forks:    forks.New(),
		action.Chat:     chat.New(command.List(command.InSlash)),
		action.Logs:     logs.New(),
	}
}
