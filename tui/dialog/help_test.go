package dialog

import (
	"slices"
	"strings"
	"testing"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// drawn is the help as text, after some keys.
func drawn(t *testing.T, focus action.Pane, w, h int, keys ...string) []string {
	t.Helper()
	p, c := NewHelp(focus), plainContext()
	p.Draw(c, w, h)
	for _, k := range keys {
		if a := p.Update(c, press(k)); a.Close {
			t.Fatalf("%s closes it", k)
		}
		for y, line := range p.Draw(c, w, h) {
			if n := widget.Cells(line); n != min(w, max(w-Air, 0), pageWidth) && n != w {
				t.Fatalf("%d cells: line %d has %d", w, y, n)
			}
		}
	}
	return p.Draw(c, w, h)
}

func TestTheKeysStandInTwoColumnsTheFocusedPaneFirst(t *testing.T) {
	lines := drawn(t, action.Schedule, 78, 20)
	if got := strings.Fields(lines[1]); !slices.Equal(got, []string{"Schedule", "(2)", "Everywhere"}) {
		t.Errorf("the groups begin with %q", got)
	}
	if !strings.Contains(strings.Join(lines, "\n"), "f            Fire task now") {
		t.Errorf("no fire in\n%s", strings.Join(lines, "\n"))
	}
	narrow := drawn(t, action.Schedule, 40, 200)
	at := func(word string) int {
		return slices.IndexFunc(narrow, func(l string) bool { return strings.HasPrefix(l, " "+word) })
	}
	if s, e, b := at("Schedule"), at("Everywhere"), at("Ping budget"); s != 1 || e < s || b < e {
		t.Errorf("in one column the groups are at %d, %d, %d", s, e, b)
	}
}

func TestEveryKeyIsReadWholeAtEightyCells(t *testing.T) {
	all := strings.Join(drawn(t, action.Forks, 78, 400), "\n")
	for _, p := range append([]action.Pane{action.Everywhere}, action.AllPanes...) {
		for _, a := range (action.Keys{}).Of(p) {
			if len(a.Keys) > 0 && (!strings.Contains(all, a.Title) || !strings.Contains(all, a.KeyNames(false))) {
				t.Errorf("%s (%s) is not there", a.Title, a.KeyNames(false))
			}
		}
	}
}

// S15: the welcome has no key, so the words say how it is found again.
func TestTheHelpSaysWhereTheWelcomeIs(t *testing.T) {
	if all := strings.Join(drawn(t, action.Forks, 78, 400), "\n"); !strings.Contains(all, "welcome      What to do first. The palette opens it again") {
		t.Errorf("no welcome in\n%s", all)
	}
}

func TestTheHelpIsFiltered(t *testing.T) {
	lines := drawn(t, action.Forks, 78, 20, "/", "s", "n", "o", "o", "z", "e")
	text := strings.Join(lines, "\n")
	if !strings.Contains(text, "Snooze or wake task") || strings.Contains(text, "Fire task now") || !strings.Contains(lines[0], "1 action") {
		t.Errorf("snooze finds\n%s", text)
	}
	p, c := NewHelp(action.Forks), plainContext()
	for _, k := range []string{"/", "x", "esc"} {
		if a := p.Update(c, press(k)); a.Close {
			t.Errorf("%s closes it while a filter is written", k)
		}
	}
	if a := p.Update(c, press("esc")); !a.Close {
		t.Error("esc leads nowhere")
	}
}

func TestTheHelpScrollsToItsEndAndBack(t *testing.T) {
	end := strings.Join(drawn(t, action.Forks, 78, 20, "end"), "\n")
	if !strings.Contains(end, "Scroll what is under the pointer") {
		t.Errorf("it ends with\n%s", end)
	}
	if d := drawn(t, action.Forks, 78, 20, "end", "j", "j", "home"); !strings.Contains(d[1], "Runs (4)") {
		t.Errorf("it begins with %q", d[1])
	}
}

func TestTheHelpHasTheKeysOfTheUser(t *testing.T) {
	p, c := NewHelp(action.Forks), plainContext()
	c.Keys, _ = c.Keys.Change([]action.Change{{ID: action.ForksStop, Keys: []string{"f9"}}})
	if text := strings.Join(p.Draw(c, 78, 20), "\n"); !strings.Contains(text, "f9           Stop selected run") {
		t.Errorf("no f9 in\n%s", text)
	}
	c.Theme = theme.New(theme.Options{ASCII: true})
	for _, line := range p.Draw(c, 78, 20) {
		if strings.Contains(line, "↑") {
			t.Errorf("an arrow in ASCII: %q", line)
		}
	}
}
