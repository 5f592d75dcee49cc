package action

import "testing"

// best is the row that a query names best; of several the first.
func best(query string) (found Action, m Match) {
	for _, a := range table() {
		if n := a.Match(query); n > m {
			found, m = a, n
		}
	}
	return found, m
}

func TestWhatAPersonTypesFindsWhatTheyMean(t *testing.T) {
	for query, want := range map[string]ID{
		"theme": ThemeNext, "dark": ThemeNext, "light": ThemeNext, "settings": Settings.Go(), "colors": ThemeNext,
		"edit": ScheduleEdit, "editor": ScheduleOpen, "open": ScheduleOpen, "new": ScheduleNew, "reminder": ScheduleNew,
		"help": Help, "Keys": Help, "cost": Costs.Go(), "costs": Costs.Go(), "money": Costs.Go(), "restart": ForksAgain,
		"pause": SchedulePause, "snooze": ScheduleSnooze, "mute": Mute, "stop": ForksStop, "kill": ForksStop, "quit": Quit,
		"login": Login, "log in": Login, "undo": Undo, "zoom": Zoom, "engine": Engine, "tokens": Engine, "resume": ForksResume,
		"schedule": Schedule.Go(), "forks": Forks.Go(), "updates": Updates.Go(), "chat": Chat.Go(), "logs": Logs.Go(), "budget": Budget.Go(),
		"raise cap": CapacityUp, "next theme": ThemeNext, "copy all": TailCopyAll, "wrap": TailWrap,
		"capac": CapacityUp, "ebhook": Deliveries, "ctrl+l": Redraw, "Ctrl+P": Palette, "view.zoom": Zoom, "view.zo": Zoom, "logs/tail.level": TailLevel,
		"demo": Demo, "init": SetUp, "setup": SetUp, "set up": SetUp, "Set the bot up": SetUp,
		"?": Help, "pagedown": "schedule.pgdn", "shift+↑": TailUp, "tail.copy": TailCopyLine,
	} {
		if a, _ := best(query); a.ID != want {
			t.Errorf("%q finds %s (%s), want %s", query, a.ID, a.Name(), want)
		}
	}
}

// Each kind of match is above the next one, however two of a kind differ.
func TestWhatIsNearerIsAbove(t *testing.T) {
	a := Action{ID: "view.paint", Title: "Draw the drawing board newly", Short: "redraw", Keys: []string{"ctrl+l"}, Pane: Logs}
	for query, want := range map[string]Match{
		"view.paint": 800, "redraw": 700, "draw": 666, "newly": 646, "drawing": 646, "drawing board": 646, "board drawing": 606, "ctrl+l": 500, "Ctrl+L": 500, "view.pa": 500,
		"paint": 404, "new": 343, "pain": 202, "oar": 141, "drawing oar": 103, "+l": 101, "dwn": 0, " ": 0, "view.x": 0, "x draw": 0,
	} {
		if m := a.Match(query); m != want || m.Exact() != (want >= 700) {
			t.Errorf("%q is a match of %d, want %d", query, m, want)
		}
	}
}
