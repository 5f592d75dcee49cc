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
	last := Match(1 << 20)
	for _, query := range []string{"view.paint", "redraw", "newly", "ctrl+l", "paint", "new", "pain", "oar", "dwn"} {
		m := a.Match(query)
		if m/rung >= last/rung {
			t.Errorf("%q is a match of %d, no less than the one before", query, m)
		}
		last = m
	}
	if last != 0 {
		t.Errorf("scattered letters are a match of %d", last)
	}
	if whole, part := a.Match("drawing board"), a.Match("board drawing"); whole <= part || part < titled {
		t.Errorf("words that are together: %d, apart: %d", whole, part)
	}
}
