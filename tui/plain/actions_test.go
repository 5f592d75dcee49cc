package plain

import (
	"strings"
	"testing"

	"ollimbot/core/command"
	"ollimbot/tui/action"
)

// doneBy is the line of plain mode that does what an action of the dashboard does. An action
// that is not here and has no reason in without is forgotten.
var doneBy = map[action.ID]string{
	action.CapacityUp: "capacity +1", action.CapacityDown: "capacity -1", action.RefillDown5: "refill -5", action.RefillUp5: "refill +5",
	action.RefillDown1: "refill -1", action.RefillUp1: "refill +1", action.Exact: "capacity 6", action.Mute: "mute 2h",

	action.DayOpen: "tail email", action.ScheduleAllow: "allow email", action.ScheduleDetails: "task email", action.ScheduleFire: "fire email",
	action.ScheduleNew: "add", action.SchedulePreview: "preview email", action.ScheduleView: "list", action.ScheduleSnooze: "snooze email 2h",
	action.SchedulePause: "pause email", action.ScheduleEdit: "edit email", action.ScheduleDelete: "cancel email", action.ScheduleOpen: "file email",

	action.UpdatesRead: "updates 1", action.UpdatesDiscard: "discard 1", action.UpdatesDeliver: "deliver",
	action.UpdatesYes: "answer yes", action.UpdatesOther: "answer tomorrow", action.UpdatesNo: "answer no",

	action.ForksTail: "tail email", action.ForksStop: "stop email", action.ForksResume: "continue email", action.ForksAgain: "again email",
	action.ForksSeen: "seen", action.ForksState: "runs is:failed",

	action.ApprovalAllow: "allow", action.ApprovalDeny: "deny", action.ApprovalAlways: "always", action.ApprovalRead: "approvals 1",
	action.ForkSave: "exit save", action.ForkReport: "exit report", action.ForkExit: "exit",
	action.ChatWrite: "say hello", action.ChatSend: "say hello", action.ChatReply: "reply hello", action.ChatButtons: "press 1",

	action.TaskRun: "tail email", action.TaskOlder: "runs email", action.TaskNewer: "runs email", action.TaskFire: "fire email", action.TaskEdit: "edit email",
	action.TaskDelete: "cancel email", action.TaskRestore: "restore", action.TaskOpen: "file email", action.TaskPause: "resume email",

	action.CostsOpen: "task email", action.CostsLift: "lift", action.AwayOpen: "audit 1", action.AwayHalf: "audit",
	action.WeekEarlier: "week last", action.WeekLater: "week", action.WeekOpen: "runs yesterday",
	action.SettingsEdit: "settings daily limit 5", action.SettingsNext: "settings clock 12", action.SettingsPrevious: "settings clock 24",

	action.TailFollow: "follow log", action.TailFilter: "log is:error", action.TailFind: "chat dentist", action.TailLevel: "log is:warn", action.TailTime: "prefix off",

	action.Help: "help", action.Undo: "undo", action.Redo: "redo", action.Login: "login", action.Quit: "quit", action.Notices: "notices",
	action.Deliveries: "webhooks", action.Servers: "servers", action.Account: "account", action.Engine: "engine", action.Interrupt: "interrupt", action.Welcome: "starters", action.OpenHeadline: "status",
	action.ThemeNext: "settings theme dark", action.LayoutNext: "settings layout chat",

	action.Budget.Go(): "budget", action.Schedule.Go(): "schedule", action.Updates.Go(): "updates", action.Forks.Go(): "runs", action.Chat.Go(): "chat",
	action.Logs.Go(): "log", action.Task.Go(): "task email", action.Costs.Go(): "costs", action.Away.Go(): "away", action.Week.Go(): "week", action.Settings.Go(): "settings", action.Day.Go(): "day",
}

// without are the reasons why an action has no command, by what it is about.
var without = map[string][]action.ID{
	"a screen has a focus, a size, a selection and a place where one reads; lines have none": {
		action.GoNext, action.GoPrevious, action.Zoom, action.Back, action.Redraw, action.Mouse, action.Wider, action.Narrower, action.Taller, action.Shorter,
		action.DayEarlier, action.DayLater, action.DayFirst, action.DayLast, action.DayNow, action.DayLeave, action.ForksUp, action.ForksDown, action.TaskPrevious, action.TaskNext,
		action.TailUp, action.TailDown, action.TailPageUp, action.TailPageDown, action.TailHome, action.TailLeft, action.TailRight, action.TailNext, action.TailPrevious,
		action.TailWrap,
	},
	"the list of commands is help":                                     {action.Palette},
	"lists have one order, and a filter":                               {action.ForksSort, action.ForksTurn, action.CostsMark},
	"the terminal copies what it shows, and suspends what it runs":     {action.TailCopyLine, action.TailCopyAll, action.Suspend},
	"it starts another program in the place of this one: demo or init": {action.Demo, action.SetUp},
}

// moves are the verbs by which one moves about in any list, sorts it or filters it: a filter
// follows the name of a list.
var moves = []string{"find", "up", "down", "pgup", "pgdn", "top", "bottom", "sort", "turn"}

func TestWhatTheDashboardDoesPlainModeDoes(t *testing.T) {
	reasons := map[action.ID]string{}
	for why, ids := range without {
		for _, id := range ids {
			reasons[id] = why
		}
	}
	for _, p := range append([]action.Pane{action.Everywhere}, action.AllPanes...) {
		for _, a := range (action.Keys{}).Of(p) {
			line, done := doneBy[a.ID]
			why := reasons[a.ID]
			for _, verb := range moves {
				if a.ID == p.ID(verb) {
					why = verb
				}
			}
			switch {
			case !done && why == "":
				t.Errorf("%s (%s) has no command in plain mode, and no reason", a.ID, a.Title)
			case done && why != "":
				t.Errorf("%s has a command, and a reason why not", a.ID)
			case a.Writes && !done && a.ID != action.SetUp:
				t.Errorf("%s changes the bot and has no command", a.ID)
			}
			if done {
				if _, _, ok := command.Lead(command.InPlain, strings.Fields(line)); !ok {
					t.Errorf("%s: there is no command %s", a.ID, line)
				}
			}
		}
	}
}
