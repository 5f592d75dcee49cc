package tui

import (
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/away"
	"ollimbot/tui/pane/budget"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/pane/costs"
	today "ollimbot/tui/pane/day"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/pane/logs"
	"ollimbot/tui/pane/schedule"
	"ollimbot/tui/pane/settings"
	"ollimbot/tui/pane/task"
	"ollimbot/tui/pane/updates"
)

// newPanes makes every pane and page.
func newPanes() map[action.Pane]pane.Pane {
	return map[action.Pane]pane.Pane{
		action.Day:      &today.Pane{},
		action.Budget:   &budget.Pane{},
		action.Schedule: schedule.New(),
		action.Updates:  updates.New(),
		action.Forks:    forks.New(),
		action.Chat:     chat.New(command.List(command.InSlash)),
		action.Logs:     logs.New(),
		action.Task:     &task.Page{},
		action.Costs:    costs.New(),
		action.Away:     away.New(),
		action.Settings: settings.New(),
	}
}
