package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	budgetpane "ollimbot/tui/pane/budget"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/pane/day"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/pane/logs"
	schedulepane "ollimbot/tui/pane/schedule"
	"ollimbot/tui/pane/updates"
	"ollimbot/tui/theme"
	"ollimbot/tui/toast"
	"ollimbot/tui/undo"
	"ollimbot/tui/widget"
)

var noon = time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)

// busyDay is a day on which everything has happened that the top line shows.
func busyDay() core.Snapshot {
	failed := fork.View{ID: "bad00001", Title: "Rent", State: fork.Failed, Started: noon.Add(-time.Hour), Ended: noon.Add(-time.Minute)}
	s := core.Snapshot{
		At: noon, Started: noon.Add(-3 * time.Hour), Zone: time.UTC,
		Engine:   core.EngineStatus{Name: "script", State: "ready", OK: true},
		Budget:   core.BudgetView{State: budget.State{Capacity: 5, Available: 3.2, RefillRateMinutes: 90, DailyUsed: 2, CriticalUsed: 1}},
		Schedule: schedule.View{Entries: []schedule.Entry{{ID: "aaaa1111", FireTime: noon.Add(28 * time.Minute), Description: "Email sweep", Kind: routines.KindRoutine}}},
		Forks: []fork.View{
			{ID: "f1f1f1f1", Title: "Email sweep", State: fork.Running, Started: noon.Add(-12 * time.Second)},
			failed,
		},
		Ended: []fork.View{failed}, Failures: []fork.View{failed},
		Approvals: []policy.Approval{{ID: "a1", Label: "Run this command? x", Tool: "Bash", Asked: noon, Until: noon.Add(time.Hour)}},
	}
	s.Engine.Today.CostUSD = 1.09
	return s
}

// screen is a screen without colours.
func screen(w, h int, snap core.Snapshot) *State {
	s := &State{
		Context: pane.Context{
			Theme: theme.New(theme.Options{Plain: true}), Snap: &snap,
			Tail: func(_ string, from tail.Cursor) tail.Page { return tail.Page{Next: from} },
		},
		W: w, H: h, Focus: action.Forks, Lower: action.Chat,
		Panes: map[action.Pane]pane.Pane{
			action.Day: &day.Pane{}, action.Budget: &budgetpane.Pane{}, action.Schedule: schedulepane.New(), action.Updates: updates.New(),
			action.Forks: forks.New(), action.Chat: chat.New(command.List(command.InSlash)), action.Logs: logs.New(),
		},
	}
	for _, p := range s.Panes {
		p.Sync(s.Context)
	}
	return s
}

// calm is a day on which nothing needs the user.
func calm() core.Snapshot {
	s := busyDay()
	s.Forks, s.Failures, s.Approvals = nil, nil, nil
	s.Surface = core.SurfaceStatus{Name: "Discord", State: "up", OK: true}
	return s
}

func TestTheTopLineSaysHowThingsAreInTheRoomThatThereIs(t *testing.T) {
	failed := func() core.Snapshot {
		s := busyDay()
		s.Approvals, s.Failures[0].Error = nil, "no skill has the name rent"
		return s
	}
	for _, c := range []struct {
		snap core.Snapshot
		w    int
		want string
	}{
		{calm(), 120, " All quiet. 3 pings today. Next: Email sweep in 28 min; 3 pings left. ● Discord 14:02 UTC "},
		{calm(), 80, " All quiet. 3 pings today. Next: Email sweep in 28 min; 3 pings left. ● 14:02 "},
		{calm(), 60, " All quiet. Next: Email sweep in 28 min; 3 pings. ● 14:02 "},
		{calm(), 68, " All quiet. Next: Email sweep in 28 min; 3 pings left. ● 14:02 "},
		{calm(), 46, " Next: Email sweep in 28 min; 3 pings. 14:02 "},
		{calm(), 30, " All quiet. Next 14:30. 14:02 "},
		{calm(), 12, " Next 14:3… "},
		{failed(), 120, " ✗ Rent failed at 14:01: no skill has the name rent. Next: Email sweep in 28 min; 3 pings left. Z opens 14:02 "},
		{failed(), 80, " ✗ Rent failed at 14:01: no skill has the name rent. Next 14:30. Z opens 14:02 "},
		{failed(), 46, " ✗ Rent failed at 14:01: no s… Z opens 14:02 "},
		{busyDay(), 120, " ⚑ The agent asks: Run this command? x. y allows n denies 1:00:00 left 14:02 "},
		{busyDay(), 60, " ⚑ The agent asks: Run this command? x. Z opens 14:02 "},
		{busyDay(), 12, " ⚑ The age… "},
	} {
		s := screen(c.w, 30, c.snap)
		line := frame{State: s}.topLine().draw(s.Theme, c.w)
		if got := strings.Join(strings.Fields(line), " "); got != strings.Join(strings.Fields(c.want), " ") || ansi.StringWidth(line) != c.w {
			t.Errorf("%d cells: %q, want %q", c.w, line, c.want)
		}
	}
}

func TestTheHeadlineOpensWhatItIsAbout(t *testing.T) {
	for _, c := range []struct {
		of     func() core.Snapshot
		change func(*core.Snapshot)
		want   string
	}{
		{busyDay, func(*core.Snapshot) {}, "chat"},
		{busyDay, func(s *core.Snapshot) { s.Approvals = nil }, "forks bad00001"},
		{calm, func(s *core.Snapshot) { s.Schedule.Entries[0].Money, s.Schedule.Entries[0].Held = true, true }, "costs"},
		{calm, func(*core.Snapshot) {}, "task aaaa1111"},
		{calm, func(s *core.Snapshot) {
			s.Schedule.Problems = []routines.Problem{{File: "routines/gym.md", Severity: routines.Error, Message: "there is no cron"}}
		}, "schedule routines/gym.md"},
		{calm, func(s *core.Snapshot) {
			s.Schedule.Tasks = []schedule.TaskView{{ID: "aaaa1111", Title: "Medication", Proposed: routines.Proposal{Version: "v2", Why: "it may use Bash"}}}
		}, "schedule aaaa1111"},
		{calm, func(s *core.Snapshot) { s.Surface.OK = false }, "page Engine"},
		{calm, func(s *core.Snapshot) { s.Engine.Offline = true }, "page Connect a model or Discord"},
	} {
		snap := c.of()
		c.change(&snap)
		s := screen(120, 30, snap)
		a := s.OpenHeadline()
		got := strings.TrimSpace(string(a.Focus) + " " + a.Item)
		if a.Open != nil {
			got += "page " + a.Open.Title()
		}
		if _, ok := At(s, 4, 0).(Headline); !ok || got != c.want {
			t.Errorf("%q opens %s, want %s", s.Headline().Text(), got, c.want)
		}
	}
}

func TestTheWindowIsNamedAfterTheHostAndWhatNeedsTheUser(t *testing.T) {
	s := screen(120, 30, busyDay())
	s.Host = "attic\x1b[31m"
	if got := Title(s); !strings.HasPrefix(got, "ollim-bot@attic") || !strings.HasSuffix(got, " · The agent asks") || strings.Contains(got, "\x1b") {
		t.Errorf("the title is %q", got)
	}
}

func TestTheHelpLineFitsAndKeepsItsFirstKeysAndTheWayOut(t *testing.T) {
	fits := func(s *State, what string, mine []hint, out string, least int) {
		left, right := frame{s, s.Plan()}.hints()
		if all := append(slices.Clone(left), right...); len(left) < least || widthOf(left)+widthOf(right) > s.W || left[0].keys[0].Span != mine[0].keys[0].Span ||
			!slices.ContainsFunc(all, func(h hint) bool { return h.keys[0].Text == out }) {
			t.Errorf("%s at %d×%d, zoomed %t: %v, %v", what, s.W, s.H, s.Zoomed, left, right)
		}
	}
	for _, w := range []int{layout.StripWidth, layout.TabsWidth, 80, layout.FullWidth} {
		for _, h := range []int{10, 30} {
			for _, zoom := range []bool{false, true} {
				for _, p := range action.Panes {
					s := screen(w, h, busyDay())
					s.Focus, s.Zoomed = p, zoom
					mine, least := (frame{s, s.Plan()}).paneHints(), 1
					if w < 80 {
						least = min(2, len(mine))
					}
					fits(s, string(p), mine, "?", least)
				}
			}
		}
	}
	for _, d := range []pane.Dialog{
		dialog.NewTask(), dialog.NewBudget(pane.Context{Snap: &core.Snapshot{}}), dialog.NewPage("Keys", "x"), dialog.QuitClicked(pane.Context{}), &dialog.Login{},
		dialog.NewUntil(pane.Context{Snap: &core.Snapshot{}}, "", time.Time{}, func(until time.Time) command.Value { return command.MuteUntil{Until: until} }),
	} {
		for w := 40; w < 120; w++ {
			s := screen(w, 24, busyDay())
			s.Dialogs = []pane.Dialog{d}
			fits(s, d.Title(), (frame{s, s.Plan()}).bindingHints(d.Hint()), "esc", 1)
		}
	}
}

func TestATabIsFoundUnderItsLabel(t *testing.T) {
	for _, w := range []int{56, 80} {
		for _, p := range action.Panes {
			s := screen(w, 24, busyDay())
			b := s.Plan().Columns[0].Boxes[0]
			row := Frame(s)[b.Y-1]
			label := (frame{State: s}).goKey(p)
			x := ansi.StringWidth(row[:strings.Index(row, label)])
			if got := At(s, x, b.Y-1); got != (Heading{action.Forks, p}) {
				t.Errorf("%d wide, column %d of %q is %#v, want %s", w, x, row, got, p)
			}
		}
	}
}

// on is what a click means where a text is on the screen, and its cell.
func on(t *testing.T, s *State, text string) (means Target, x, y int) {
	t.Helper()
	for y, row := range Frame(s) {
		if before, _, found := strings.Cut(ansi.Strip(row), text); found {
			x := ansi.StringWidth(before)
			return At(s, x, y), x, y
		}
	}
	t.Fatalf("%q is not seen", text)
	return nil, 0, 0
}

func TestWhatCoversACellIsWhatAClickOnItMeans(t *testing.T) {
	s := screen(120, 40, busyDay())
	said := s.Plan().Said
	for _, c := range []struct {
		what   string
		toasts []toast.Toast
		x, y   int
		want   Target
	}{
		{"the row of toasts", []toast.Toast{{Level: "info", Text: "said"}}, 3, said, Toast{}},
		{"without a toast its row", nil, 3, said, nil},
		{"the day", nil, 7, 1, Day{7, 0, 9}},
	} {
		s.Toasts = c.toasts
		if got := At(s, c.x, c.y); got != c.want {
			t.Errorf("%s is %#v", c.what, got)
		}
	}
	if got, _, _ := on(t, s, "q quit"); got != (Action{action.Everywhere, action.Quit}) {
		t.Errorf("the help line has %#v", got)
	}
	s.Dialogs = []pane.Dialog{dialog.QuitClicked(s.Context)}
	if got := At(s, 7, 1); got != (Dialog{pane.Click{Beside: true}}) {
		t.Errorf("next to a dialog there is %#v", got)
	}
	got, x, y := on(t, s, "y quit")
	at, ok := got.(Dialog)
	if border := At(s, x-at.Click.X-1, y); !ok || at.Click.Beside || at.Click.X < 0 || border != nil {
		t.Errorf("the dialog is %#v, its border %#v", got, border)
	}
}

func TestAnActionThatIsOffSaysWhy(t *testing.T) {
	s := screen(120, 40, busyDay())
	s.Changes = &undo.History{}
	for _, step := range []struct {
		when string
		does func()
		off  map[action.ID]string
	}{
		{"first", func() {}, map[action.ID]string{
			action.Undo: textNoUndo, action.Redo: textNoRedo, action.Demo: textDemoShell, action.SetUp: textSetUpShell, action.Wider: "", action.Day.Go(): "", action.Help: "", action.CapacityUp: "",
		}},
		{"after a change", func() { s.Changes.Add(undo.Change{Name: "capacity 5 → 6"}) }, map[action.ID]string{action.Undo: "", action.Redo: textNoRedo}},
		{"in the demo", func() { s.Demo = true }, map[action.ID]string{action.Demo: textInDemo}},
		{"zoomed", func() { s.Zoomed = true }, map[action.ID]string{action.Wider: textNoSizes}},
		{"read-only", func() { s.ReadOnly = true }, map[action.ID]string{action.CapacityUp: TextReadOnly, action.Help: ""}},
		{"on a small screen", func() { s.W, s.H = 46, 12 }, map[action.ID]string{action.Day.Go(): textNoDay}},
	} {
		step.does()
		for id, want := range step.off {
			a, ok := action.Get(action.Everywhere, id)
			if !ok {
				a, _ = action.Get(action.Budget, id)
			}
			if got := s.Off(a); got != want {
				t.Errorf("%s, %s is off: %q, want %q", step.when, id, got, want)
			}
		}
	}
}

func TestTheCaptionSaysWhatHappenedLast(t *testing.T) {
	s := core.Snapshot{At: noon, Zone: time.UTC, Budget: busyDay().Budget}
	ago := func(seconds int) time.Time { return noon.Add(-time.Duration(seconds) * time.Second) }
	for _, c := range []struct {
		change func(*core.Snapshot)
		want   string
	}{
		{func(*core.Snapshot) {}, ""},
		{func(s *core.Snapshot) { s.Forks = []fork.View{{State: fork.Running, Title: "Inbox", Started: ago(9)}} }, "Inbox started"},
		{func(s *core.Snapshot) {
			s.Ended = []fork.View{{State: fork.Done, Title: "Inbox", Reports: 1, Ended: ago(8)}}
		}, "Inbox ended and left an update"},
		{func(s *core.Snapshot) { s.Budget.Pings = []budget.Ping{{Title: "Tea", At: ago(7)}} }, "Tea pinged: one token spent; 3 pings left"},
		{func(s *core.Snapshot) {
			s.Budget.Pings = append(s.Budget.Pings, budget.Ping{Title: "Tea", At: ago(6), Refused: "one ping for each run"})
		}, "Tea wanted to ping and was refused: one ping"},
		{func(s *core.Snapshot) {
			s.Ended = append(s.Ended, fork.View{State: fork.Done, Title: "Tea", Refused: 1, Ended: ago(5)})
		}, "Tea ended: ping refused"}, // poster 19: it had something to say
		{func(s *core.Snapshot) {
			s.Ended = append(s.Ended, fork.View{State: fork.Failed, Title: "Mail", Ended: ago(4)})
		}, "Mail failed"},
		{func(s *core.Snapshot) { s.At = s.At.Add(time.Minute) }, ""},
	} {
		c.change(&s)
		if got := caption(&s); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestWhatLiesOverALineLeavesTheRestInItsPlace(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	testkit.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(4, 60).Draw(t, "w")
		text := widget.Fit(rapid.StringMatching(`[a-z世界█│ ]{0,60}`).Draw(t, "line"), w)
		x := rapid.IntRange(0, w-2).Draw(t, "x")
		n := rapid.IntRange(1, w-x).Draw(t, "n")
		over := strings.Repeat("#", n)
		line := text
		if rapid.Bool().Draw(t, "coloured") {
			line = th.Paint(theme.Accent, text)
			over = th.Paint(theme.Bad, over)
		}
		screen := []string{"above", line, "below"}
		lay(screen, w, x, 1, over)
		if screen[0] != "above" || screen[2] != "below" {
			t.Fatalf("rows that are not covered have changed: %q", screen)
		}
		got := screen[1]
		if ansi.StringWidth(got) != w {
			t.Fatalf("%d cells, want %d: %q", ansi.StringWidth(got), w, got)
		}
		bare := ansi.Strip(got)
		if at := ansi.StringWidth(bare[:strings.IndexByte(bare, '#')]); at != x {
			t.Fatalf("the piece begins in cell %d, want %d: %q", at, x, bare)
		}
		// Cells that are not covered, and are no half of a wide character, stay.
		for i := range w {
			was := ansi.Cut(text, i, i+1)
			if i >= x && i < x+n || was == "" || ansi.StringWidth(was) != 1 {
				continue
			}
			if now := ansi.Cut(bare, i, i+1); now != was {
				t.Fatalf("cell %d was %q and is %q", i, was, now)
			}
		}
	})
}
