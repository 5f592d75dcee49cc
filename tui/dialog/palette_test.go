package dialog

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/chat"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// ask is a palette over a frame on which a query was written.
func ask(d *desk, query string) *Palette {
	p := OpenPalette(d.Context, d.focus, d.off, []Found{{Key: "daily_cap", Name: "daily_cap: none"}, {Key: "quiet_hours", Name: "quiet_hours: off"}}).Open.(*Palette)
	p.Update(d.Context, tea.PasteMsg{Content: query})
	return p
}

// desk is a dashboard whose focus is in a pane.
type desk struct {
	pane.Context
	focus action.Pane
}

func (d *desk) off(a action.Action) string {
	switch {
	case a.Writes && d.ReadOnly:
		return textReadOnly
	case a.Off != nil:
		return a.Off(*d.Snap)
	}
	return ""
}

const textReadOnly = "the dashboard is read-only; start it without --read-only to change things"

func newDesk(focus action.Pane) *desk {
	d := &desk{plainContext(), focus}
	d.Snap.Forks = []fork.View{{ID: "f1f1f1f1", State: fork.Running}}
	return d
}

// inside is what a dialog draws, without colours.
func inside(d *desk, p *Palette, w, h int) []string {
	lines := p.Draw(d.Context, w+Air, h)
	for i := range lines {
		lines[i] = ansi.Strip(lines[i])
	}
	return lines
}

func TestTheFocusedPaneComesFirstAmongActionsThatAreCalledTheSame(t *testing.T) {
	r := newDesk(action.Forks)
	for _, p := range []action.Pane{action.Forks, action.Chat, action.Logs} {
		r.focus = p
		if got := ask(r, "find in text").shown[0].action; got.Pane != p {
			t.Errorf("with the focus on %s it finds %q first", p, got.Name())
		}
	}
	r.focus = action.Budget
	if got := ask(r, "follow").shown[0].action; got.Pane != action.Forks {
		t.Errorf("without a row of the focused pane it finds %q first, and not the table's first", got.Name())
	}
}

func TestWhatCanBeUsedComesBeforeWhatIsOff(t *testing.T) {
	r := newDesk(action.Forks)
	if got := ask(r, "exit").shown[0].action; got.ID != action.Quit {
		t.Errorf("outside of a fork exit finds %q first", got.Name())
	}
	r = newDesk(action.Chat)
	r.Snap.Fork = &chat.Banner{}
	if got := ask(r, "exit").shown[0].action; got.ID != action.ForkExit {
		t.Errorf("in a fork exit finds %q first", got.Name())
	}
}

func TestSpellingIsForgivenOnlyWhereNothingElseIsFound(t *testing.T) {
	r := newDesk(action.Forks)
	p := ask(r, "contra")
	if n := len(p.shown); n != 1 || p.shown[0].action.ID != action.ThemeNext {
		t.Errorf("%d actions, the first is %q", n, p.shown[0].name)
	}
	if p = ask(r, "fire"); len(p.shown) == 0 || p.shown[0].action.ID != action.ScheduleFire {
		t.Error("fire does not fire")
	}
	for _, it := range p.shown {
		if strings.Contains(it.name, "file") && !strings.Contains(it.name, "ire") {
			t.Errorf("fire finds %q too", it.name)
		}
	}
}

func TestTheReasonOfTheMarkedRowIsReadInFull(t *testing.T) {
	for _, size := range [][2]int{{76, 26}, {50, 20}, {35, 12}, {34, 6}} {
		r := newDesk(action.Forks)
		p := ask(r, "report and leave")
		text := strings.Join(strings.Fields(strings.Join(inside(r, p, size[0], size[1]), " ")), " ")
		for _, want := range []string{"off: the chat is not in a fork", "fork.report", "1 of ", "off R"} {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in %q", size, want, text)
			}
		}
		r.ReadOnly = true
		text = strings.Join(strings.Fields(strings.Join(inside(r, p, size[0], size[1]), " ")), " ")
		if !strings.Contains(text, textReadOnly) {
			t.Errorf("%v: the reason is cut in %q", size, text)
		}
	}
}

func TestThePaletteFitsWhateverIsAsked(t *testing.T) {
	r := newDesk(action.Forks)
	testkit.Check(t, func(t *rapid.T) {
		r.ReadOnly = rapid.Bool().Draw(t, "read-only")
		p := ask(r, rapid.StringMatching(`[a-z+./ ]{0,8}|世|\?`).Draw(t, "query"))
		w, h := rapid.IntRange(2, 90).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"up", "down", "pgup", "pgdown", "e", "backspace"}), 0, 12).Draw(t, "keys") {
			p.Update(r.Context, press(k))
			lines := p.Draw(r.Context, w+Air, h)
			if len(lines) > h {
				t.Fatalf("%d lines of %d", len(lines), h)
			}
			seen := p.list.At >= p.top && p.list.At < p.top+p.rows
			for _, l := range lines {
				if ansi.StringWidth(l) != min(w, 90) {
					t.Fatalf("a line of %d cells, width %d", ansi.StringWidth(l), w)
				}
			}
			if !seen && len(p.shown) > 0 {
				t.Fatalf("row %d is marked, %d rows from %d are seen", p.list.At, p.rows, p.top)
			}
		}
	})
}

func TestAWordThatIsSpelledOtherwiseFindsItsAction(t *testing.T) {
	r := newDesk(action.Forks)
	for query, want := range map[string]action.ID{
		"shedule": action.Schedule.Go(), "captity": action.CapacityUp, "raise captity": action.CapacityUp, "dmeo": action.Demo,
		"snze": action.ScheduleSnooze, "previw": action.SchedulePreview, "Qiut": action.Quit, "thme": action.ThemeNext,
	} {
		if p := ask(r, query); len(p.shown) == 0 || p.shown[0].action.ID != want {
			t.Errorf("%q finds %d actions and not %s first", query, len(p.shown), want)
		}
	}
}

func TestLettersOfSeveralWordsFindNothing(t *testing.T) {
	r := newDesk(action.Forks)
	// Each is found in "Mute pings until a time, or unmute them" or another title, with
	// letters of other words between its own.
	for _, query := range []string{"meto", "mpgut", "snzetsk", "selup", "zzz", "thmnxt", "xy", "qe"} {
		if p := ask(r, query); len(p.shown) != 0 {
			t.Errorf("%q marks %q", query, p.shown[0].name)
		}
	}
}

// A letter that is missing, too much or has changed places with the next one is forgiven,
// and no word stands for one that shares nothing with it.
func TestALetterThatIsWrongIsOneMistake(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		word := []rune(rapid.StringMatching(`[a-dé]{6,9}`).Draw(t, "word"))
		at := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		turned := slices.Clone(word)
		turned[at], turned[at+1] = turned[at+1], turned[at]
		for _, written := range [][]rune{turned, slices.Delete(slices.Clone(word), at, at+1), slices.Insert(slices.Clone(word), at, 'x')} {
			if !meant(string(written), string(word)) {
				t.Fatalf("%q is not %q", string(written), string(word))
			}
		}
		if other := strings.Repeat("x", len(word)); meant(other, string(word)) {
			t.Fatalf("%q is %q", other, string(word))
		}
	})
}

func TestOneSearchFindsTasksRunsUpdatesAndSettings(t *testing.T) {
	r := newDesk(action.Forks)
	r.Snap.Schedule.Tasks = []schedule.TaskView{
		{ID: "7ea00000", Title: "Tea", Path: "routines/tea.md", Kind: routines.KindRoutine},
		{ID: "7ea00001", Title: "Ask the landlord", Path: "reminders/landlord.md", Kind: routines.KindReminder, Paused: true},
	}
	r.Snap.Failures = []fork.View{{ID: "bad00001", Title: "Inbox sweep", State: fork.Failed, Ended: r.Snap.At}}
	r.Snap.Updates = []updates.Update{{Key: "k", Message: "The parcel is at the shop."}}
	for query, want := range map[string]string{
		"fire tea": "Fire Tea", "tea": "Open Tea", "pause tea": "Pause Tea", "resume landlord": "Resume Ask the landlord", "snooze landlord": "Snooze Ask the landlord",
		"inbox failed": "Inbox sweep: failed", "parcel": "Update: The parcel", "quiet hours": "quiet_hours: off", "daily cap": "daily_cap: ", "theme": "Next theme",
	} {
		p := ask(r, query)
		if len(p.shown) == 0 || !strings.HasPrefix(p.shown[0].name, want) {
			t.Errorf("%q finds %q first, want %q", query, names(p), want)
		}
	}
	a := ask(r, "fire tea").key(r.Context, tea.KeyPressMsg{Code: tea.KeyEnter})
	if a.Do != (command.FireNow{ID: "7ea00000", Stays: true}) || !a.Close {
		t.Errorf("enter gives %+v", a)
	}
	if a := ask(r, "fire landlord").key(r.Context, tea.KeyPressMsg{Code: tea.KeyEnter}); a.Do != (command.FireNow{ID: "7ea00001", Stays: true}) {
		t.Errorf("a reminder is fired beside its schedule and stays: %+v", a)
	}
	if a := ask(r, "quiet hours").key(r.Context, tea.KeyPressMsg{Code: tea.KeyEnter}); a.Focus != action.Settings || a.Item != "quiet_hours" {
		t.Errorf("enter gives %+v", a)
	}
	has := strings.Join(inside(r, ask(r, "fire tea"), 76, 20), "\n")
	if !strings.Contains(has, "enter fires it now; its schedule is unchanged") || !strings.Contains(has, "task") {
		t.Errorf("it is not said what enter does:\n%s", has)
	}
	r.ReadOnly = true
	p := ask(r, "fire tea")
	if a := p.key(r.Context, tea.KeyPressMsg{Code: tea.KeyEnter}); a.Do != nil || !strings.Contains(a.Toast, "read-only") {
		t.Errorf("read-only fires: %+v", a)
	}
}

func names(p *Palette) (out []string) {
	for _, it := range p.shown[:min(len(p.shown), 5)] {
		out = append(out, it.name)
	}
	return out
}
