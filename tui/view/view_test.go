package view

import (
	"fmt"
	"regexp"
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
	talk "ollimbot/core/talk/chat"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/proposals"
	work "ollimbot/core/work/updates"
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
	"ollimbot/tui/tuitest"
	"ollimbot/tui/undo"
	"ollimbot/tui/widget"
)

var noon = time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)

// busyDay is a day on which everything has happened that the top line shows.
func busyDay() core.Snapshot {
	rent := fork.View{ID: "bad00001", Title: "Rent", State: fork.Failed, Started: noon.Add(-time.Hour), Ended: noon.Add(-time.Minute)}
	s := core.Snapshot{
		At: noon, Started: noon.Add(-3 * time.Hour), Zone: time.UTC,
		Engine:   core.EngineStatus{Name: "script", State: "ready", OK: true},
		Budget:   core.BudgetView{State: budget.State{Capacity: 5, Available: 3.2, RefillRateMinutes: 90, DailyUsed: 2, CriticalUsed: 1}},
		Schedule: schedule.View{Entries: []schedule.Entry{{ID: "aaaa1111", FireTime: noon.Add(28 * time.Minute), Description: "Email sweep", Kind: routines.KindRoutine}}},
		Forks: []fork.View{
			{ID: "f1f1f1f1", Title: "Email sweep", State: fork.Running, Started: noon.Add(-12 * time.Second)},
			rent,
		},
		Ended: []fork.View{rent}, Failures: []fork.View{rent},
		Approvals: []policy.Approval{{ID: "a1", Label: "Run this command? x", Tool: "Bash", Asked: noon, Until: noon.Add(time.Hour)}},
	}
	s.Engine.Today.CostUSD = 1.09
	return s
}

// screen is a screen with the colours of tests.
func screen(w, h int, snap core.Snapshot) *State {
	s := &State{
		Context: pane.Context{
			Theme: tuitest.Colours, Snap: &snap,
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

// failed is a day with a run that has failed.
func failed() core.Snapshot {
	s := busyDay()
	s.Approvals, s.Failures[0].Error = nil, "no skill has the name rent"
	return s
}

// calm is a day on which nothing needs the user.
func calm() core.Snapshot {
	s := busyDay()
	s.Forks, s.Failures, s.Approvals = nil, nil, nil
	s.Surface = core.SurfaceStatus{Name: "Discord", State: "up", OK: true}
	return s
}

// squeezed are runs of blanks and of border of which a row keeps two.
var squeezed = regexp.MustCompile(`( {2}|──) *─*`)

// row is a row of the frame, counted from the bottom if it is negative, with its roles.
func row(t *testing.T, s *State, y int) string {
	t.Helper()
	rows := Frame(s)
	line := rows[(y+len(rows))%len(rows)]
	if len(rows) != s.H || ansi.StringWidth(line) != s.W {
		t.Errorf("the frame has %d rows, and %q has %d cells", len(rows), line, ansi.StringWidth(line))
	}
	return squeezed.ReplaceAllString(tuitest.Painted(line), "$1")
}

func TestTheTopLineSaysHowThingsAreInTheRoomThatThereIs(t *testing.T) {
	for _, c := range []struct {
		w      int
		of     func() core.Snapshot
		change func(*State)
		want   string
	}{
		{120, calm, nil, " All quiet. 3 pings today. Next: Email sweep in 28 min; 3 pings left.  ‹good ● ›‹dim Discord  ›14:02 ‹dim UTC ›"},
		{110, calm, nil, " All quiet. 3 pings today. Next: Email sweep in 28 min; 3 pings left.  ‹good ● ›‹dim Discord  ›14:02 ‹dim UTC ›"},
		{109, calm, nil, " All quiet. 3 pings today. Next: Email sweep in 28 min; 3 pings left.  ‹good ● ›14:02 "},
		{80, calm, func(s *State) { s.Snap.Surface.OK = false; s.Host = "attic\x1b[31m" + strings.Repeat("x", 30) }, "‹bad  ✗ Discord is not connected: up.›‹key  Z›‹dim  opens›  ‹dim @atticxxxxxxxxxxxxxxxxxx…  ›‹bad ✗ ›14:02 "},
		{60, calm, func(s *State) { s.Host, s.ReadOnly = "attic", true }, " Next: Email sweep in 28 min; 3 pings.  ‹warn ⊘ ›‹dim @attic  ›‹good ● ›14:02 "},
		{59, calm, func(s *State) { s.Host, s.ReadOnly = "attic", true }, " All quiet. Next: Email sweep in 28 min; 3 pings.  ‹warn ⊘ ›14:02 "},
		{68, calm, nil, " All quiet. Next: Email sweep in 28 min; 3 pings left.  ‹good ● ›14:02 "},
		{46, calm, nil, " Next: Email sweep in 28 min; 3 pings.  14:02 "},
		{45, calm, func(s *State) { s.ReadOnly = true }, " Next: Email sweep in 28 min.  ‹warn ⊘ ›14:02 "},
		{120, failed, nil, "‹bad  ✗ Rent failed at 14:01: no skill has the name rent. Next: Email sweep in 28 min; 3 pings left.›‹key  Z›‹dim  opens›  14:02 "},
		{120, failed, func(s *State) { s.ReadOnly, s.Host = true, "attic" }, "‹bad  ✗ Rent failed at 14:01: no skill has the name rent. Next: Email sweep in 28 min.›‹key  Z›‹dim  opens›  ‹warn ⊘ read-only  ›‹dim @attic  ›14:02 "},
		{120, failed, func(s *State) { s.Dialogs = []pane.Dialog{dialog.NewTask()} }, "‹bad  ✗ Rent failed at 14:01: no skill has the name rent. Next: Email sweep in 28 min; 3 pings left.›  14:02 "},
		{80, failed, nil, "‹bad  ✗ Rent failed at 14:01: no skill has the name rent. Next 14:30.›‹key  Z›‹dim  opens› 14:02 "},
		{46, failed, nil, "‹bad  ✗ Rent failed at 14:01: no s…›‹key  Z›‹dim  opens› 14:02 "},
		{45, failed, nil, "‹bad  ✗ Rent failed at 14:01: no …›‹key  Z›‹dim  opens› 14:02 "},
		{120, busyDay, nil, "‹warn  ⚑ The agent asks: Run this command? x.›‹key  y›‹dim  allows›‹key  n›‹dim  denies›‹warn  1:00:00 left›  14:02 "},
		{60, busyDay, nil, "‹warn  ⚑ The agent asks: Run this command? x.›‹key  Z›‹dim  opens›  14:02 "},
		{120, busyDay, func(s *State) { s.ReadOnly = true }, "‹warn  ⚑ The agent asks: Run this command? x.›‹key  Z›‹dim  opens›  ‹warn ⊘ read-only  ›14:02 "},
		{120, busyDay, func(s *State) { s.Snap.Approvals[0].Label = "Run this command? x ⏎ y" }, "‹warn  ⚑ The agent asks: Run this command? x ⏎ y.›‹key  y›‹dim  allows›‹key  n›‹dim  denies›‹warn  1:00:00 left›  14:02 "},
		{76, busyDay, nil, "‹warn  ⚑ The agent asks: Run this command? x.›‹key  Z›‹dim  opens›  14:02 "},
		{75, busyDay, nil, "‹warn  ⚑ The agent asks: Run this command? x.›‹key  Z›‹dim  opens›  14:02 "},
		{110, calm, func(s *State) { s.Snap.Budget.Muted = noon.Add(time.Hour) }, "‹match  All quiet. Next: Email sweep in 28 min; muted until 15:02.›‹match  1 m›‹match  lets pings through›  ‹good ● ›‹dim Discord  ›14:02 ‹dim UTC ›"},
		{110, calm, func(s *State) { s.Snap.Budget.State.Capacity = 0 }, "‹match  All quiet. Next: Email sweep in 28 min; critical pings only.›‹match  1 +›‹match  lets pings through›  ‹good ● ›‹dim Discord  ›14:02 ‹dim UTC ›"},
		{110, calm, func(s *State) { s.Snap.Budget.State.Capacity, s.Since = 0, noon.Add(time.Second-StripTime) }, "‹match  All quiet. Next: Email sweep in 28 min; critical pings only.›‹match  1 +›‹match  lets pings through›  ‹good ● ›‹dim Discord  ›14:02 ‹dim UTC ›"},
		{110, calm, func(s *State) { s.Snap.Budget.State.Capacity, s.Since = 0, noon.Add(-StripTime) }, " ‹match  muted › Next: Email sweep in 28 min; critical pings only.  ‹good ● ›‹dim Discord  ›14:02 ‹dim UTC ›"},
		{110, calm, func(s *State) { s.Snap.Schedule.Entries[0].Money, s.Snap.Schedule.Entries[0].Held = true, true }, "‹match  ! Email sweep is held for money: $0.00 of the daily cap of $0.00 is spent. Nothing is due.›‹match  Z›‹match  opens›  ‹good ● ›14:02 "},
		{110, calm, func(s *State) {
			s.Snap.Schedule.Entries[0].Money, s.Snap.Schedule.Entries[0].Held, s.Since = true, true, noon.Add(-StripTime)
		}, " ‹match  held › Nothing is due within a day; 3 pings left.  ‹good ● ›‹dim Discord  ›14:02 ‹dim UTC ›"},
		{110, calm, func(s *State) { s.Snap.Engine.Offline = true }, "‹match  ! No model is connected: scripted replies answer. Next: Email sweep in 28 min; 3 pings.›‹match  Z›‹match  opens›  ‹good ● ›14:02 "},
		{60, calm, func(s *State) { s.Snap.Engine.Offline, s.Since = true, noon.Add(-StripTime) }, " ‹match  no model › Next: Email sweep in 28 min; 3 pings.  ‹good ● ›14:02 "},
		{110, calm, func(s *State) { s.Snap.Engine.Offline, s.Snap.At = true, time.Time{} }, "‹match  ! No model is connected: scripted replies answer. Next: Email sweep in 999 days; 3 pings left.›‹match  Z›‹match  opens›  ‹good ● ›"},
	} {
		s := screen(c.w, 30, c.of())
		if c.change != nil {
			c.change(s)
		}
		if got := row(t, s, 0); got != c.want {
			t.Errorf("%d cells: %s\nwant %s", c.w, got, c.want)
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
	calmly := screen(120, 30, calm())
	if Title(calmly) != "ollim-bot" || calmly.Name() != "ollim-bot" {
		t.Errorf("on a calm day it is %q of %q", Title(calmly), calmly.Name())
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

// targets are what clicks on a row mean, from the left, each with the text that it is on.
func targets(s *State, y int) string {
	var all []string
	line := ansi.Strip(Frame(s)[y])
	for from, x := 0, 1; x <= s.W; x++ {
		at := At(s, from, y)
		if x < s.W && sameTarget(at, At(s, x, y)) {
			continue
		}
		if at != nil {
			text := strings.TrimSpace(squeezed.ReplaceAllString(ansi.Cut(line, from, x), "$1"))
			all = append(all, strings.ReplaceAll(fmt.Sprintf("%T%v %s", at, at, text), "view.", ""))
		}
		from = x
	}
	return strings.Join(all, " | ")
}

// sameTarget reports whether two cells mean the same, wherever on it they are.
func sameTarget(a, b Target) bool {
	if at, ok := a.(Day); ok {
		next, ok := b.(Day)
		return ok && next.X > at.X
	}
	if at, ok := a.(Dialog); ok && !at.Click.Beside {
		next, ok := b.(Dialog)
		return ok && next.Click.X > at.Click.X
	}
	return a == b
}

func TestEachRowOfTheFrameIsDrawnAndMeansToAClickWhatItShows(t *testing.T) {
	undone := &undo.History{}
	undone.Add(undo.Change{Name: "capacity 5 → 6"})
	redone := &undo.History{}
	redone.Add(undo.Change{Name: "capacity 5 → 6"})
	redone.Take(undo.Back)
	redone.Put(undo.Forward, undo.Change{Name: "capacity 6 → 5"})
	writing := func(s *State) {
		s.Focus = action.Chat
		s.Panes[action.Chat].Do(s.Context, action.ChatWrite)
	}
	zoomed := func(s *State) { s.Zoomed = true }
	dialogs := func(d ...pane.Dialog) func(*State) { return func(s *State) { s.Dialogs = d } }
	toasts := func(all ...toast.Toast) func(*State) { return func(s *State) { s.Toasts = all } }
	focused := func(p action.Pane) func(*State) { return func(s *State) { s.Focus = p } }
	long := strings.Repeat("word ", 30)
	for _, c := range []struct {
		what         string
		w, h         int
		change       func(*State)
		y            int
		want, clicks string
	}{
		{"the help line", 120, 30, nil, -1, " ‹key enter› ‹dim tail›  ‹key x› ‹dim stop›  ‹key m› ‹dim seen›  ‹key v› ‹dim state›  ‹key ↑/›‹key ↓› ‹dim select›  ‹key /› ‹dim filter›  ‹key &› ‹dim find›  ‹key End› ‹dim last›  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ‹key q› ‹dim quit›  ", "Action{forks forks.tail} enter tail | Action{forks forks.stop} x stop | Action{forks forks.seen} m seen | Action{forks forks.state} v state | Action{forks forks.up} ↑/ | Action{forks forks.down} ↓ | Action{forks forks.up} select | Action{forks tail.filter} / filter | Action{forks tail.find} & find | Action{forks tail.follow} End last | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q quit"},
		{"of another machine", 120, 30, func(s *State) { s.Remote = true }, -1, " ‹key enter› ‹dim tail›  ‹key x› ‹dim stop›  ‹key m› ‹dim seen›  ‹key v› ‹dim state›  ‹key ↑/›‹key ↓› ‹dim select›  ‹key /› ‹dim filter›  ‹key &› ‹dim find›  ‹key End› ‹dim last›  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ‹key q› ‹dim detach›  ", "Action{forks forks.tail} enter tail | Action{forks forks.stop} x stop | Action{forks forks.seen} m seen | Action{forks forks.state} v state | Action{forks forks.up} ↑/ | Action{forks forks.down} ↓ | Action{forks forks.up} select | Action{forks tail.filter} / filter | Action{forks tail.find} & find | Action{forks tail.follow} End last | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q detach"},
		{"with a fresh change", 120, 30, func(s *State) { s.Changes, s.Focus = undone, action.Day }, -1, " ‹key enter› ‹dim open›  ‹key esc› ‹dim back›  ‹key ←/›‹key →› ‹dim walk›  ‹key .› ‹dim now›  ‹key u› ‹dim undo› capacity 5→6  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ‹key q› ‹dim quit›  ", "Action{day day.open} enter open | Action{ back} esc back | Action{day day.earlier} ←/ | Action{day day.later} → | Action{day day.earlier} walk | Action{day day.now} . now | Action{ app.undo} u undo capacity 5→6 | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q quit"},
		{"of the budget", 120, 30, focused(action.Budget), -1, " ‹key +/›‹key -› ‹dim capacity› 5→6, full 18:14  ‹key [/›‹key ]› ‹dim refill› 90→85, full 16:35  ‹key e› ‹dim exact›  ‹key m› ‹dim mute›  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ‹key q› ‹dim quit›  ", "Action{budget budget.capacity-up} +/ | Action{budget budget.capacity-down} - | Action{budget budget.capacity-up} capacity 5→6, full 18:14 | Action{budget budget.refill-down5} [/ | Action{budget budget.refill-up5} ] | Action{budget budget.refill-down5} refill 90→85, full 16:35 | Action{budget budget.exact} e exact | Action{budget budget.mute} m mute | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q quit"},
		{"of the day", 120, 30, focused(action.Day), -1, " ‹key enter› ‹dim open›  ‹key esc› ‹dim back›  ‹key ←/›‹key →› ‹dim walk›  ‹key .› ‹dim now›  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ‹key q› ‹dim quit›  ", "Action{day day.open} enter open | Action{ back} esc back | Action{day day.earlier} ←/ | Action{day day.later} → | Action{day day.earlier} walk | Action{day day.now} . now | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q quit"},
		{"of the schedule", 79, 30, focused(action.Schedule), -1, " ‹key enter› ‹dim details›  ‹key f› ‹dim fire›  ‹key n› ‹dim new›  ‹key p› ‹dim prompt›  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ‹key q› ‹dim quit›  ", "Action{schedule schedule.details} enter details | Action{schedule schedule.fire} f fire | Action{schedule schedule.new} n new | Action{schedule schedule.preview} p prompt | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q quit"},
		{"on a strip", 46, 24, nil, -1, " ‹key enter› ‹dim tail›  ‹key z› ‹dim zoom›  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ", "Action{forks forks.tail} enter tail | Action{ zoom} z zoom | Action{ help} ? keys | Action{ palette} : command"},
		{"without room for a box", 46, 12, nil, -1, " ‹key enter› ‹dim tail›  ‹key z› ‹dim zoom›  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ", "Action{forks forks.tail} enter tail | Action{ zoom} z zoom | Action{ help} ? keys | Action{ palette} : command"},
		{"of a dialog", 60, 24, dialogs(dialog.NewTask()), -1, " ‹key enter› ‹dim create›  ‹key tab› ‹dim next field›  ‹key esc› ‹dim cancel›  ", "Key{enter} enter create | Key{tab} tab next field | Key{esc} esc cancel"},
		{"with what can be done again", 120, 30, func(s *State) { s.Changes, s.Focus = redone, action.Day }, -1, " ‹key enter› ‹dim open›  ‹key esc› ‹dim back›  ‹key ←/›‹key →› ‹dim walk›  ‹key .› ‹dim now›  ‹key ctrl+r› ‹dim redo› capacity 6→5  ‹key ?› ‹dim keys›  ‹key :› ‹dim command›  ‹key q› ‹dim quit›  ", "Action{day day.open} enter open | Action{ back} esc back | Action{day day.earlier} ←/ | Action{day day.later} → | Action{day day.earlier} walk | Action{day day.now} . now | Action{ app.redo} ctrl+r redo capacity 6→5 | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q quit"},
		{"while a message is written", 120, 30, writing, -1, " ‹key enter› ‹dim send›  ‹key alt+enter› ‹dim new line›  ‹key ↑› ‹dim sent before›  ‹key ctrl+c› ‹dim quit›  ‹key esc› ‹dim keep for later›  ", "Key{enter} enter send | Key{alt+enter} alt+enter new line | Key{↑} ↑ sent before | Key{ctrl+c} ctrl+c quit | Key{esc} esc keep for later"},
		{"of an ASCII terminal", 120, 30, func(s *State) { s.Theme, s.Focus = theme.New(theme.Options{ASCII: true, Plain: true}), action.Day }, -1, " enter open  esc back  left/right walk  . now  ? keys  : command  q quit  ", "Action{day day.open} enter open | Action{ back} esc back | Action{day day.earlier} left/ | Action{day day.later} right | Action{day day.earlier} walk | Action{day day.now} . now | Action{ help} ? keys | Action{ palette} : command | Action{ app.quit} q quit"},
		{"of a dialog on an ASCII terminal", 120, 30, func(s *State) {
			s.Theme = theme.New(theme.Options{ASCII: true, Plain: true})
			dialogs(dialog.NewUntil(s.Context, "", time.Time{}, func(time.Time) command.Value { return nil }))(s)
		}, -1, " enter set  up/down next  HH:MM type  esc cancel  ", "Key{enter} enter set | Key{↑} up/ | Key{↓} down | Key{↑} next | Key{HH:MM} HH:MM type | Key{esc} esc cancel"},
		{"the box of what is selected", 120, 40, focused(action.Schedule), 10, "‹border ╭›‹focus ▸›‹here  2 Schedule ›‹border ──›‹border ─╮›‹border ╭›‹border ─› ‹strong Email sweep› ‹border ──›‹border ─╮›", "Heading{schedule schedule} ╭▸ 2 Schedule ──╮ | Action{schedule schedule.details} ╭─ Email sweep ──╮"},
		{"a row of it", 120, 40, focused(action.Schedule), 12, "‹border │›  14:01 ‹good ◉› Email sweep  ‹good running 0:12  ›‹border │›‹border │›  ‹border │›", "Row{schedule 0} │  14:01 ◉ Email sweep  running 0:12  │ | Action{schedule schedule.details} │  │"},
		{"beside a strip", 96, 12, nil, 2, " ‹dim 2 › ‹strong Schedule ›‹dim 14:30 in 28m ›Email sweep  ‹border │›‹select ‹accent ▸ ›‹select ‹good ◉›‹select  ‹dim 14:01  ›‹select  ‹strong Email sweep›‹select ‹dim  running  ›‹select  ‹dim  ·›‹select  0:12›‹border │›", "Line{schedule true} 2  Schedule 14:30 in 28m Email sweep | Row{forks 0} │▸ ◉ 14:01  Email sweep  running  ·  0:12│"},
		{"below the lines of a strip", 96, 12, nil, 9, "  ‹border │›  ‹border │›", "Row{forks -3} │  │"},
		{"a state that just fits", 78, 24, zoomed, 1, "‹border ╭›‹focus ▸›‹here  4 Runs ›‹border ──› ‹dim the newest 2 runs · 1 running · 1 failed · zoomed, z goes back› ‹border ─╮›", "Heading{forks forks} ╭▸ 4 Runs ──the newest 2 runs · 1 running · 1 failed · zoomed, z goes back ─╮"},
		{"a state that just does not fit", 77, 24, zoomed, 1, "‹border ╭›‹focus ▸›‹here  4 Runs ›‹border ──› ‹dim zoomed, z goes back› ‹border ─╮›", "Heading{forks forks} ╭▸ 4 Runs ── zoomed, z goes back ─╮"},
		{"a dialog on an odd screen", 80, 23, dialogs(dialog.QuitClicked(pane.Context{})), 8, "‹border │› No outp‹border ›‹focus │›  ‹focus │›‹border ›  ‹border │›", "Dialog{{0 0 true}} │ No outp | Dialog{{0 0 false}}  | Dialog{{0 0 true}} │"},
		{"a dialog in no room", 40, 10, dialogs(dialog.NewPage("Keys", "x")), 4, "‹dim ›‹strong ›‹dim ›‹focus │› x  ‹focus │›‹dim ›‹strong ›‹dim ›", "Dialog{{0 0 false}} x"},
		{"borders with titles", 120, 40, nil, 10, "‹border ╭›‹border ─›‹dim  2 ›‹accent Schedule ›‹border ──›‹border ─╮›‹border ╭›‹focus ▸›‹here  4 Runs ›‹border ──› ‹dim 1 running · 1 failed› ‹border ─╮›", "Heading{schedule schedule} ╭─ 2 Schedule ──╮ | Heading{forks forks} ╭▸ 4 Runs ── 1 running · 1 failed ─╮"},
		{"a border between", 120, 40, nil, 24, "‹border │›  ‹border │›‹border ├›‹border ─›‹tool [5 Chat]›‹dim  6 Logs ›‹border ──› ‹dim 1 approval› ‹border ─┤›", "Row{schedule -1} │  │ | Heading{chat chat} ├─[5 Chat] | Heading{chat logs} 6 Logs | Heading{chat chat} ── 1 approval ─┤"},
		{"a separator", 120, 40, nil, 11, "‹border ├›‹border ─› ‹dim today› ‹border ──›‹border ┤›‹border │›‹select ‹accent ▸ ›‹select ‹good ◉›‹select  ‹dim 14:01  ›‹select  ‹strong Email sweep›‹select ‹dim  running  ›‹select  ‹dim  ·›‹select  0:12›‹border │›", "Row{schedule -2} ├─ today ──┤ | Row{forks 0} │▸ ◉ 14:01  Email sweep  running  ·  0:12│"},
		{"the list's box", 120, 40, focused(action.Updates), 10, "‹border ╭›‹border ─›‹dim  2 ›‹accent Schedule ›‹border ──›‹border ─╮›‹border ╭›‹border ─›‹dim  4 ›‹good Runs ›‹border ──› ‹dim 1 running · 1 failed› ‹border ─╮›", "Heading{schedule schedule} ╭─ 2 Schedule ──╮ | Heading{forks forks} ╭─ 4 Runs ── 1 running · 1 failed ─╮"},
		{"the selected row", 80, 24, nil, 7, "‹border │›‹select ‹accent ▸ ›‹select ‹good ◉›‹select  ‹dim 14:01  ›‹select  ‹strong Email sweep›‹select ‹dim  running  ›‹select  ‹dim  ·›‹select  0:12›‹border │›", "Row{forks 0} │▸ ◉ 14:01  Email sweep  running  ·  0:12│"},
		{"tabs", 80, 24, nil, 6, "‹border ╭›‹border ─›‹dim  1 Ping budget ›‹dim  2 Schedule ›‹dim  3 Updates ›‹here ▸4 Runs ›‹dim  5 Chat (1) ›‹dim  6 Logs ›‹border ──›‹border ─╮›", "Heading{forks forks} ╭─ | Heading{forks budget} 1 Ping budget | Heading{forks schedule} 2 Schedule | Heading{forks updates} 3 Updates | Heading{forks forks} ▸4 Runs | Heading{forks chat} 5 Chat (1) | Heading{forks logs} 6 Logs | Heading{forks forks} ──╮"},
		{"tabs without names", 56, 24, focused(action.Logs), 6, "‹border ╭›‹border ─›‹dim  1 ›‹dim  2 ›‹dim  3 ›‹dim  4 (1) ›‹dim  5 (1) ›‹here ▸6 Logs ›‹border ──› ‹dim following› ‹border ─╮›", "Heading{logs logs} ╭─ | Heading{logs budget} 1 | Heading{logs schedule} 2 | Heading{logs updates} 3 | Heading{logs forks} 4 (1) | Heading{logs chat} 5 (1) | Heading{logs logs} ▸6 Logs ── following ─╮"},
		{"an open tab without the focus", 80, 24, func(s *State) { s.Focus, s.Beneath = action.Day, action.Forks }, 6, "‹border ╭›‹border ─›‹dim  1 Ping budget ›‹dim  2 Schedule ›‹dim  3 Updates ›‹good [4 Runs]›‹dim  5 Chat (1) ›‹dim  6 Logs ›‹border ──›‹border ─╮›", "Heading{forks forks} ╭─ | Heading{forks budget} 1 Ping budget | Heading{forks schedule} 2 Schedule | Heading{forks updates} 3 Updates | Heading{forks forks} [4 Runs] | Heading{forks chat} 5 Chat (1) | Heading{forks logs} 6 Logs | Heading{forks forks} ──╮"},
		{"tabs with counts", 80, 24, func(s *State) {
			s.Focus, s.Snap.Updates, s.Snap.Proposals = action.Budget, make([]work.Update, 2), make([]proposals.Proposal, 1)
			s.Snap.Forks[1].State = fork.Waiting
		}, 6, "‹border ╭›‹border ─›‹here ▸1 Ping budget ›‹dim  2 Schedule ›‹dim  3 Updates (3) ›‹dim  4 Runs (2) ›‹dim  5 Chat (1) ›‹dim  6 Logs ›‹border ──›‹border ─╮›", "Heading{budget budget} ╭─▸1 Ping budget | Heading{budget schedule} 2 Schedule | Heading{budget updates} 3 Updates (3) | Heading{budget forks} 4 Runs (2) | Heading{budget chat} 5 Chat (1) | Heading{budget logs} 6 Logs | Heading{budget budget} ──╮"},
		{"a remapped key", 80, 24, func(s *State) {
			s.Keys, _ = action.Keys{}.Change([]action.Change{{ID: action.Forks.Go(), Keys: []string{"f5"}}, {ID: action.Chat.Go(), Keys: []string{"alt+c"}}})
		}, 6, "‹border ╭›‹border ─›‹dim  1 Ping budget ›‹dim  2 Schedule ›‹dim  3 Updates ›‹here ▸f5 Runs ›‹dim  Chat (1) ›‹dim  6 Logs ›‹border ──›‹border ─╮›", "Heading{forks forks} ╭─ | Heading{forks budget} 1 Ping budget | Heading{forks schedule} 2 Schedule | Heading{forks updates} 3 Updates | Heading{forks forks} ▸f5 Runs | Heading{forks chat} Chat (1) | Heading{forks logs} 6 Logs | Heading{forks forks} ──╮"},
		{"a zoomed pane", 80, 24, zoomed, 1, "‹border ╭›‹focus ▸›‹here  4 Runs ›‹border ──› ‹dim the newest 2 runs · 1 running · 1 failed · zoomed, z goes back› ‹border ─╮›", "Heading{forks forks} ╭▸ 4 Runs ── the newest 2 runs · 1 running · 1 failed · zoomed, z goes back ─╮"},
		{"a zoomed pane with little room", 46, 24, zoomed, 1, "‹border ╭›‹focus ▸›‹here  4 Runs ›‹border ──› ‹dim zoomed, z goes back› ‹border ─╮›", "Heading{forks forks} ╭▸ 4 Runs ── zoomed, z goes back ─╮"},
		{"the gauge", 56, 16, nil, 1, " ‹strong Budget  ›‹good █████▏›‹border ░░›  ‹strong 3.2›‹dim  / ›5  ‹good ✓ enough›  ", "Line{budget false} Budget  █████▏░░  3.2 / 5  ✓ enough"},
		{"the day", 46, 24, nil, 2, "  ‹dim 03›  ‹dim 06›  ‹dim 09›  ‹dim 12› ‹focus │› ‹dim 15›  ‹dim 18›  ‹dim 21›  ‹dim Wed› ", "Day{0 1 2} 03  06  09  12 │ 15  18  21  Wed"},
		{"a pane in a line", 46, 24, nil, 5, " ‹dim 3 › ‹strong Updates  ›‹dim none›  ", "Line{updates true} 3  Updates  none"},
		{"the focused pane in a line", 46, 24, nil, 6, "‹focus ▸›‹focus 4 › ‹strong Runs  ›‹good ◉ ›Email sweep  ‹dim 1 running · 1 fai…›", "Line{forks true} ▸4  Runs  ◉ Email sweep  1 running · 1 fai…"},
		{"the top line below a dialog", 80, 24, dialogs(dialog.QuitClicked(pane.Context{})), 0, "‹warn  ⚑ The agent asks: Run this command? x.›  14:02 ", "Dialog{{0 0 true}} ⚑ The agent asks: Run this command? x.  14:02"},
		{"a dialog's title", 80, 24, dialogs(dialog.QuitClicked(pane.Context{})), 8, "‹border │›  ‹bad ✗› ‹dim 13:0›‹strong ›‹dim ›‹dim ›‹border ›‹focus ╭─ ›‹strong Sure?›‹focus  ╮›‹border ›‹bad ›‹dim ›‹strong ›‹dim ›‹dim ›  59:00‹border │›", "Dialog{{0 0 true}} │  ✗ 13:0 | Dialog{{0 0 true}} 59:00│"},
		{"a row of a dialog", 80, 24, dialogs(dialog.QuitClicked(pane.Context{})), 13, "‹border │›  ‹border ›‹focus │›  ‹key y›‹dim  quit›  ‹focus │›‹border ›  ‹border │›", "Dialog{{0 0 true}} │ | Dialog{{0 4 false}} y quit | Dialog{{0 0 true}} │"},
		{"a dialog's end", 80, 24, dialogs(dialog.QuitClicked(pane.Context{})), 14, "‹border │›  ‹border ›‹focus ╰──╯›‹border ›  ‹border │›", "Dialog{{0 0 true}} │ | Dialog{{0 0 true}} │"},
		{"a toast", 80, 24, toasts(toast.Toast{Level: notice.Warn, Text: "said"}), -2, "‹select ‹warn  ! ›‹select said  ›", "Toast{} ! said"},
		{"a long toast", 80, 24, toasts(toast.Toast{Level: notice.Alert, Text: long}), -2, "‹select ‹bad  ✗ ›‹select word word word word word word word word word word word word w… (! shows all) ›", "Toast{} ✗ word word word word word word word word word word word word w… (! shows all)"},
		{"a toast that just fits", 80, 24, toasts(toast.Toast{Level: notice.Info, Text: long[:76]}), -2, "‹select ‹accent  → ›‹select word word word word word word word word word word word word word word word w ›", "Toast{} → word word word word word word word word word word word word word word word w"},
		{"a toast that just does not fit", 80, 24, toasts(toast.Toast{Level: notice.Info, Text: long[:77]}), -2, "‹select ‹accent  → ›‹select word word word word word word word word word word word word w… (! shows all) ›", "Toast{} → word word word word word word word word word word word word w… (! shows all)"},
		{"two toasts", 80, 24, toasts(toast.Toast{Level: notice.Alert, Text: long}, toast.Toast{Level: notice.Info, Text: "said"}), -2, "‹select ‹accent  → ›‹select said (1 more: ! lists them)  ›", "Toast{} → said (1 more: ! lists them)"},
		{"a long toast with just room for the key", 58, 24, toasts(toast.Toast{Level: notice.Info, Text: long}), -2, "‹select ‹accent  → ›‹select word word word word word word word word… (! shows all) ›", "Toast{} → word word word word word word word word… (! shows all)"},
		{"a long toast in little room", 57, 24, toasts(toast.Toast{Level: notice.Info, Text: long}), -2, "‹select ‹accent  → ›‹select word word word word word word word word word word wo… ›", "Toast{} → word word word word word word word word word word wo…"},
		{"a toast over a dialog", 80, 24, func(s *State) {
			dialogs(dialog.NewTask())(s)
			toasts(toast.Toast{Level: notice.Info, Text: long})(s)
		}, -2, "‹select ‹accent  → ›‹select word word word word word word word word word word word word word word word … ›", "Toast{} → word word word word word word word word word word word word word word word …"},
		{"the day about itself", 80, 24, nil, -2, " ‹bad ✗›‹dim  failed›  ‹good ◉›‹dim  running›  ▅‹dim  several›  ‹level ▒›‹dim  expected›  ", ""},
		{"the demo's caption", 120, 30, func(s *State) { s.Demo, s.Snap.Started = true, noon.Add(-tryTime) }, -2, "‹accent  demo: ›‹dim Run this command? x waits for your answer: nothing happens without it›  ", ""},
		{"the demo's first keys", 120, 30, func(s *State) { s.Demo, s.Snap.Started = true, noon.Add(time.Nanosecond-tryTime) }, -2, "‹accent  demo: ›‹dim try 1 then + · 2 then f · 5 then i; everything is real except the model›  ", ""},
		{"the demo's keys", 120, 30, func(s *State) {
			s.Demo, s.Snap.Approvals, s.Snap.Forks, s.Snap.Started = true, nil, nil, noon.Add(time.Nanosecond-triesTime)
		}, -2, "‹accent  demo: ›‹dim try 1 then + · 2 then f · 5 then i; everything is real except the model›  ", ""},
		{"the demo's keys no more", 120, 30, func(s *State) {
			s.Demo, s.Snap.Approvals, s.Snap.Forks, s.Snap.Started = true, nil, nil, noon.Add(-triesTime)
		}, -2, " ‹dim 1 ›‹strong Ping budget›  ‹strong 3.2›‹dim  / ›5  ‹good ✓ enough›  ‹dim 1 every 90 min›  ‹bad ✗›‹dim  failed›  ‹good ◉›‹dim  running›  ▅‹dim  several›  ‹level ▒›‹dim  expected› ", ""},
		{"the demo without a day", 46, 12, func(s *State) {
			s.Demo, s.Snap.Approvals, s.Snap.Forks, s.Snap.Started = true, nil, nil, noon.Add(-time.Hour)
		}, -2, "‹border ╰──╯›", ""},
		{"the day in the demo", 120, 30, func(s *State) { s.Demo, s.Focus = true, action.Day }, -2, " ‹good ◉ ›2 of 2 here: 14:01 Email sweep · running  ‹bad ✗›‹dim  failed›  ‹good ◉›‹dim  running›  ‹level ▒›‹dim  expected› ", ""},
		{"a question on a small screen", 30, 8, dialogs(dialog.QuitClicked(pane.Context{})), 2, "  its dashboard.  ", ""},
		{"too small", 39, 10, nil, 0, "‹strong 40×10 needed, 39×10 here›  ", ""},
		{"too low", 80, 9, nil, 1, "‹dim the bot keeps running · q quits it›  ", ""},
		{"too small for words", 12, 3, nil, 0, "‹strong 40×10 needed›", ""},
		{"too low for words", 20, 1, nil, 0, "‹strong 40×10 q quits›  ", ""},
	} {
		s := screen(c.w, c.h, busyDay())
		if c.change != nil {
			c.change(s)
		}
		if got := row(t, s, c.y); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.what, got, c.want)
		}
		if got := targets(s, (c.y+c.h)%c.h); got != c.clicks {
			t.Errorf("clicks on %s: %s\nwant %s", c.what, got, c.clicks)
		}
	}
}

func TestACallThatCoversAStripCanBeHidden(t *testing.T) {
	for _, c := range []struct {
		what   string
		w, h   int
		change func(*State)
		hides  string
	}{
		{"on a strip", 46, 24, func(*State) {}, "a1"},
		{"without the focus", 46, 24, func(s *State) { s.Focus = action.Logs }, ""},
		{"hidden already", 46, 24, func(s *State) { s.Hidden = "a1" }, ""},
		{"another one was hidden", 46, 24, func(s *State) { s.Hidden = "a0" }, "a1"},
		{"without a call", 46, 24, func(s *State) { s.Snap.Approvals = nil }, ""},
		{"on a larger screen", 56, 24, func(*State) {}, ""},
	} {
		s := screen(c.w, c.h, busyDay())
		s.Focus = action.Chat
		if c.change(s); s.Hideable() != c.hides {
			t.Errorf("%s: %q can be hidden, want %q", c.what, s.Hideable(), c.hides)
		}
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
			action.Undo: textNoUndo, action.Redo: textNoRedo, action.Demo: textDemoShell, action.SetUp: textSetUpShell, action.Wider: "", action.Day.Go(): "", action.Help: "", action.CapacityUp: "", action.ChatSend: textEmptyMessage,
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
				a, _ = action.Get(map[bool]action.Pane{true: action.Chat, false: action.Budget}[id == action.ChatSend], id)
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
	ended := func(f fork.View, seconds int) {
		f.Ended = ago(seconds)
		s.Ended = append(s.Ended, f)
	}
	pinged := func(p budget.Ping, seconds int) {
		p.At = ago(seconds)
		s.Budget.Pings = append(s.Budget.Pings, p)
	}
	for _, c := range []struct {
		happens func()
		want    string
	}{
		{func() {}, ""},
		{func() { s.Forks = []fork.View{{State: fork.Running, Title: "Inbox", Started: ago(15)}} }, ""},
		{func() { s.Forks[0].Started = ago(14) }, "Inbox started: a run works in the background, next to the conversation"},
		{func() { s.Forks[0].State = fork.Waiting }, ""},
		{func() { ended(fork.View{State: fork.Done, Title: strings.Repeat("Inbox", 5)}, 13) }, "InboxInboxInboxInboxInb… ended: it had nothing to say, so it cost no ping"},
		{func() { ended(fork.View{State: fork.Done, Title: "Inbox", Reports: 1, Pings: 1}, 12) }, "Inbox ended and left an update: the conversation gets it with your next message"},
		{func() { ended(fork.View{State: fork.Done, Title: "Tea", Refused: 1}, 11) }, "Tea ended: ping refused"}, // poster 19: it had something to say
		{func() { ended(fork.View{State: fork.Done, Title: "Tea", Pings: 1}, 10) }, "Tea ended: 1 ping"},
		{func() { ended(fork.View{State: fork.Done, Title: "Tea", Quiet: 1}, 9) }, "Tea ended: 1 quiet message"},
		{func() { ended(fork.View{State: fork.Failed, Title: "Mail", Reports: 1}, 8) }, "Mail failed: it stays in the top line until you have looked"},
		{func() { pinged(budget.Ping{Title: "Tea"}, 7) }, "Tea pinged: one token spent; 3 pings left"},
		{func() { pinged(budget.Ping{Title: "Tea", Quiet: true}, 6) }, "Tea left a message without a sound, which costs no token"},
		{func() { pinged(budget.Ping{Title: "Tea", Quiet: true, Essential: true}, 5) }, "Tea pinged, and it is essential: such a ping costs no token"},
		{func() { pinged(budget.Ping{Title: "Tea", Essential: true, Critical: true}, 4) }, "Tea pinged, and it was critical: such a ping costs no token"},
		{func() { pinged(budget.Ping{Title: "Tea", Critical: true, Refused: "one ping for each run"}, 3) }, "Tea wanted to ping and was refused: one ping for each run"},
		{func() { s.Approvals = []policy.Approval{{Label: "Run this? x ⏎ y", Asked: noon}} }, "Run this? x… waits for your answer: nothing happens without it"},
		{func() { s.Approvals[0].Asked = ago(-1) }, "Tea wanted to ping and was refused: one ping for each run"},
		{func() { s.Approvals[0].Asked, s.Fork = noon, &talk.Banner{} }, "Tea wanted to ping and was refused: one ping for each run"},
		{func() { s.At = s.At.Add(time.Minute) }, ""},
	} {
		c.happens()
		if got := caption(&s); got != c.want {
			t.Errorf("%s, want %q", got, c.want)
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
