package action

import (
	"slices"
	"strings"
	"testing"
)

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

func TestAWordOfATitleFindsAnActionThatIsCalledSo(t *testing.T) {
	for _, a := range table() {
		for _, w := range splitWords(strings.ToLower(a.Title)) {
			found, _ := best(w)
			names := append(splitWords(strings.ToLower(found.Title)), strings.Fields(found.Words)...)
			if !slices.Contains(append(names, strings.ToLower(found.Short)), w) {
				t.Errorf("%q of %q finds %q", w, a.Title, found.Name())
			}
		}
	}
}

func TestATitleFindsItsAction(t *testing.T) {
	for _, a := range table() {
		for _, query := range []string{a.Title, strings.ToUpper(a.Title), " " + a.Name()} {
			if found, m := best(query); found.Title != a.Title || a.Match(query) != m {
				t.Errorf("%q finds %q", query, found.Name())
			}
		}
	}
}

func TestAnIDAndAKeyFindTheirAction(t *testing.T) {
	for _, a := range table() {
		if m := a.Match(string(a.ID)); m < identical {
			t.Errorf("%s is found with %d by its id", a.ID, m)
		}
		for _, k := range a.Keys {
			if m := a.Match(k); m < keyed {
				t.Errorf("%s is found with %d by its key %q", a.ID, m, k)
			}
			if m := a.Match(KeyName(k, false)); m < keyed {
				t.Errorf("%s is found with %d by its key %q", a.ID, m, KeyName(k, false))
			}
		}
	}
}

// Each kind of match stands above the next one, whatever tells two of a kind
// apart.
func TestWhatIsNearerStandsAbove(t *testing.T) {
	a := Action{ID: "view.paint", Title: "Draw the drawing board anew", Short: "redraw", Keys: []string{"ctrl+l"}, Pane: Logs}
	last := Match(1 << 20)
	for _, query := range []string{"view.paint", "redraw", "anew", "ctrl+l", "paint", "ane", "pain", "oar", "dwn"} {
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
		t.Errorf("words that stand together: %d, apart: %d", whole, part)
	}
}

func TestEveryOtherWordCanBeTyped(t *testing.T) {
	for _, a := range table() {
		if got := splitWords(strings.ToLower(a.Words)); !slices.Equal(got, strings.Fields(a.Words)) {
			t.Errorf("%s: %q are no words that can be typed", a.ID, a.Words)
		}
	}
}

func TestTheRowsOfAPaneStandTogetherAndAreNotCopied(t *testing.T) {
	other, _ := Keys{}.Change([]Change{{ID: Quit, Keys: []string{"ctrl+q"}}})
	for _, keys := range []Keys{{}, other} {
		rows := 0
		for _, p := range append([]Pane{Everywhere}, AllPanes...) {
			for _, a := range keys.Of(p) {
				if a.Pane != p {
					t.Errorf("%s is among the rows of %q", a.ID, p)
				}
				rows++
			}
			if n := testing.AllocsPerRun(10, func() { _ = keys.Of(p) }); n != 0 {
				t.Errorf("the rows of %q cost %v allocations", p, n)
			}
		}
		if rows != len(table()) {
			t.Errorf("%d of %d rows", rows, len(table()))
		}
	}
}
