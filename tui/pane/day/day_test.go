package day

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/money"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
	"ollimbot/tui/widget"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// aDay is a day at noon: what has happened since the night, and what comes until the next.
func aDay() *core.Snapshot {
	s, left := &core.Snapshot{At: noon, Zone: time.UTC}, 0.75
	s.Ended = []fork.View{
		{ID: "00000000", Title: "Yesterday", State: fork.Done, Ended: noon.Add(-13 * time.Hour)},
		{ID: "00000001", TaskID: "a", Title: "Medication", State: fork.Done, Started: noon.Add(-6*time.Hour - 2*time.Second), Ended: noon.Add(-6 * time.Hour)},
		{ID: "00000002", TaskID: "b", Title: "Inbox", State: fork.Done, Ended: noon.Add(-3 * time.Hour)},
		{ID: "00000003", TaskID: "c", Title: "Rent", State: fork.Failed, Error: "no network", Ended: noon.Add(-3 * time.Hour)},
	}
	s.Forks = []fork.View{{ID: "00000004", TaskID: "h", Title: "Sweep", State: fork.Running, Started: noon.Add(-time.Minute)}}
	s.Budget.State = budget.State{Capacity: 2, Available: 1.5, RefillRateMinutes: 240, LastRefill: noon}
	s.Budget.Pings = []budget.Ping{
		{At: noon.Add(-6 * time.Hour), Run: "00000001", Task: "a", Title: "Medication", Text: "Time for it", Left: &left, Capacity: 2, Refill: 240, Answered: noon.Add(-6*time.Hour + 4*time.Minute)},
		{At: noon.Add(-2 * time.Hour), Run: "00000002", Task: "b", Title: "Inbox", Refused: "no token was left"},
	}
	s.Budget.Fires = []budget.Fire{
		{At: noon.Add(3 * time.Hour), Task: "e", Title: "Tea", Rate: 1},
		{At: noon.Add(3*time.Hour + time.Minute), Task: "i", Title: "Water", Rate: 1},
		{At: noon.Add(4 * time.Hour), Task: "l", Title: "Bread", Rate: 1},
		{At: noon.Add(5 * time.Hour), Task: "j", Title: "Seldom", Rate: 0.1},
	}
	s.Budget.FiresUntil = noon.Add(24 * time.Hour)
	s.Budget.QuietSpans = [][2]time.Time{{noon.Add(-14 * time.Hour), noon.Add(-6 * time.Hour)}, {noon.Add(10 * time.Hour), noon.Add(18 * time.Hour)}}
	s.Schedule.Missed = []schedule.Entry{{ID: "d", Description: "Walk", FireTime: noon.Add(-9 * time.Hour)}}
	s.Schedule.Day = []schedule.Entry{
		{ID: "e", Description: "Tea", FireTime: noon.Add(3 * time.Hour)},
		{ID: "f", Held: true, FireTime: noon.Add(4 * time.Hour)},
		{ID: "g", Description: "Late", FireTime: noon.Add(11*time.Hour + 50*time.Minute)},
		{ID: "k", Description: "Tomorrow", FireTime: noon.Add(13 * time.Hour)},
	}
	return s
}

func plain(s *core.Snapshot) pane.Context {
	return pane.Context{Theme: theme.New(theme.Options{Plain: true}), Snap: s}
}

// at is the day of a snapshot.
func at(s *core.Snapshot) (*Pane, pane.Context) {
	p, c := &Pane{}, plain(s)
	p.Sync(c)
	return p, c
}

func rows(p *Pane, c pane.Context, w, h int, focused bool) []string {
	var out []string
	for _, r := range p.Draw(c, w, h, focused) {
		out = append(out, strings.TrimRight(r.Text, " "))
	}
	return out
}

func TestTheBandShowsTwelveHoursOnEachSideOfNow(t *testing.T) {
	p, c := at(aDay())
	goldentest.Compare(t, "day-118x7.golden", strings.Join(rows(p, c, 118, 7, false), "\n")+"\n")
	goldentest.Compare(t, "day-198x9.golden", strings.Join(rows(p, c, 198, 9, false), "\n")+"\n")
	if got, want := strings.TrimRight(p.Caption(c, 80, 2, false), " "), " ◆ sent  ◈ refused  ◇ likely  ✓ done  ✗ failed  △ missed  ◉ running  ○ to come"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	ascii := c
	ascii.Theme = theme.New(theme.Options{Plain: true, ASCII: true})
	drawn := rows(p, ascii, 118, 7, true)
	goldentest.Compare(t, "day-ascii-118x7.golden", strings.Join(drawn, "\n")+"\n")
	for _, l := range append(drawn, p.Caption(ascii, 80, 2, true)) {
		if strings.ContainsFunc(l, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("not ASCII: %q", l)
		}
	}
}

func TestARowOfTheBandSaysWhatItsHoursHave(t *testing.T) {
	// At any time of day there are twelve hours of future, and now is in the middle.
	night := func(s *core.Snapshot) {
		s.At = noon.Add(11*time.Hour + 30*time.Minute)
		s.Schedule.Day = []schedule.Entry{{ID: "m", Description: "Morning", FireTime: s.At.Add(11 * time.Hour)}}
	}
	// Poster 15: before anything is written, the band has the first choice of the welcome.
	empty := func(s *core.Snapshot) { *s = core.Snapshot{At: noon, Zone: time.UTC} }
	muted := func(s *core.Snapshot) { s.Budget.Muted = noon.Add(150 * time.Minute) }
	meeting := func(s *core.Snapshot) {
		s.Day = []google.Item{{Title: "Dentist", Place: "Main St", Start: noon.Add(2 * time.Hour)}, {Title: "Holiday", Start: noon, AllDay: true}}
	}
	for _, c := range []struct {
		name      string
		change    func(s *core.Snapshot)
		w, h, row int
		focused   bool
		want      string
	}{
		{"the marks", nil, 74, 2, 0, false, " ‹border ░›‹dim  quiet ›‹border ░›‹warn △›‹border ░░░░░░░░›‹ping ◆›        ‹bad ✗›  ‹warn ◈›    ‹good ◉›‹focus │›        ‹ping ◇›  ‹warn ◈›                 ‹border ░░░░░›‹accent ○›"},
		{"the hours", nil, 74, 2, 1, false, "       ‹dim 02›    ‹dim 04›    ‹dim 06›    ‹dim 08›    ‹dim 10›    ‹focus │›     ‹dim 14›    ‹dim 16›    ‹dim 18›    ‹dim 20›    ‹dim 22›"},
		{"the hours of a clock of twelve", func(s *core.Snapshot) { s.TwelveHours = true }, 74, 2, 1, false, "          ‹dim 3am›      ‹dim 6am›      ‹dim 9am›      ‹focus │›        ‹dim 3pm›      ‹dim 6pm›      ‹dim 9pm›"},
		{"the next morning at night", night, 79, 2, 0, false, "  ‹good ◉›                               ‹border ░░░░░›‹focus │›‹border ░░░░░░›‹dim  quiet ›‹border ░░░░░░░›              ‹accent ○›"},
		{"its hours", night, 79, 2, 1, false, "   ‹dim 12›    ‹dim 14›    ‹dim 16›     ‹dim 18›    ‹dim 20›    ‹dim 22›   ‹focus │› ‹dim Mon›   ‹dim 02›    ‹dim 04›     ‹dim 06›    ‹dim 08›    ‹dim 10›"},
		{"the next morning in a high band", night, 79, 7, 5, false, "‹dim  runs › ‹good ◉›                                  ‹focus │›                                ‹accent ○›"},
		{"its hours below", night, 79, 7, 6, false, "        ‹dim 12›    ‹dim 14›    ‹dim 16›    ‹dim 18›    ‹dim 20›    ‹dim 22›  ‹focus │› ‹dim Mon›   ‹dim 02›    ‹dim 04›    ‹dim 06›    ‹dim 08›    ‹dim 10›"},
		{"the first choice", empty, 118, 7, 5, false, "‹dim  runs ›                                                       ‹focus │› ‹accent ○› ‹dim tomorrow 09:00 Plan the day? 2 n›"},
		{"none beside a task", func(s *core.Snapshot) { empty(s); s.Schedule.Tasks = []schedule.TaskView{{ID: "a"}} }, 118, 7, 5, false, "‹dim  runs ›                                                       ‹focus │›"},
		{"a mute", muted, 74, 2, 0, false, " ‹border ░›‹dim  quiet ›‹border ░›‹warn △›‹border ░░░░░░░░›‹ping ◆›        ‹bad ✗›  ‹warn ◈›    ‹good ◉›‹focus │›‹border ░░░░░░›  ‹ping ◇›  ‹warn ◈›                 ‹border ░░░░░›‹accent ○›"},
		{"a mute in a high band", muted, 118, 7, 4, false, "‹dim     0 ›‹border ░░░░░░░░░░›‹dim  quiet ›‹border ░░░░░░░░░░›‹ping ◆›‹border ─────────────────›‹warn ◈›‹border ─────────›‹focus │›‹border ░›‹dim  muted ›‹border ░░›‹border ──›‹ping ▂›‹border ────›‹warn ◈›‹border ──────────────────────────›‹border ░›‹dim  quiet ›‹border ░░›‹border ─›"},
		{"an event", meeting, 118, 7, 5, false, "‹dim  runs ›             ‹warn △›             ‹good ✓›             ‹bad ▂›            ‹good ◉›‹focus │›        ‹report ▪›   ‹accent ○›                                        ‹accent ○›"},
		{"the level", nil, 118, 7, 2, false, "                                 ‹warn ▄▄▅▆▇█›‹level ██████████████████████›‹focus │›‹level ▒▒▒▒▒▒▒▒›‹dim  full 14:00 ›       ‹warn ▒▒▒▒▒›‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›"},
		{"the line of zero", nil, 118, 7, 4, false, "‹dim     0 ›‹border ░░░░░░░░░░›‹dim  quiet ›‹border ░░░░░░░░░░›‹ping ◆›‹border ─────────────────›‹warn ◈›‹border ─────────›‹focus │›‹border ────────────›‹ping ▂›‹border ────›‹warn ◈›‹border ──────────────────────────›‹border ░›‹dim  quiet ›‹border ░░›‹border ─›"},
		{"a full budget", func(s *core.Snapshot) { s.Budget.State.Available = 2 }, 118, 7, 0, false, "‹dim     2 ›                           ‹dim  empty 06:00 ›  ‹level ▁▂▂▃▄▅▆▇████›‹strong  2 ›‹level ▒▒▒▒▒▒▒▒▒▒▒›                                 ‹level ▒▒▒▒▒▒▒▒▒▒›"},
		{"no budget", func(s *core.Snapshot) { s.Budget.State.Capacity, s.Budget.State.Available = 0, 0 }, 118, 7, 3, false, "                                 ‹warn ██████›‹level █████████████████████›‹strong  0 ›‹warn ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›"},
		{"the money", nil, 198, 16, 3, false, "                                                               ‹level ▂▄▆▇████████████████›‹strong  1.5 ›‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›                                        ‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›  ‹dim $ ›‹strong Costs›  $0.00‹dim  today›"},
		{"the money of a cap", func(s *core.Snapshot) { s.Money.Today = money.Span{Cap: 2} }, 198, 16, 3, false, "                                                               ‹level ▂▄▆▇████████████████›‹strong  1.5 ›‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›                                        ‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›  ‹dim $ ›‹strong Costs›  $0.00‹dim  today›‹dim  of $2.00›"},
		// A band that is high enough says when pings are answered, in the room below the legend.
		{"the hours of answers", nil, 198, 16, 6, false, "                                                   ‹warn ▂▄›‹level ▆███████████████████████████████›‹focus │›‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›                            ‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›  ‹dim      00    06    12    18    ›"},
		{"a day without one", nil, 198, 16, 12, false, "                                             ‹warn ████████›‹level ████████████████████████████████›‹focus │›‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›‹warn ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›  ‹dim  Sat ›‹ping ························›"},
		{"an answer at six", nil, 198, 16, 13, false, "‹dim     0 ›‹border ░░░░░░░░░░░░░░░░›‹dim  quiet ›‹border ░░░░░░░░░░░░░░░░›‹ping ◆›‹border ─────────────────────────›‹warn ◈›‹border ─────────────›‹focus │›‹border ──────────────────›‹ping ▂›‹border ──────›‹warn ◈›‹border ──────────────────────────────────────›‹border ░░░›‹dim  quiet ›‹border ░░░░›‹border ─›  ‹dim  Sun ›‹ping ······▆·················›"},
		{"no room for them", nil, 198, 9, 0, false, "‹dim     2 ›                                                                              ‹level ▁▂▃▃▄▅▆▆▇████████›‹focus │›          ‹level ▒▒▒▒▒▒▒▒▒▒▒▒›                                                           ‹level ▒▒▒▒▒▒▒▒▒▒▒▒▒▒›"},
	} {
		s := aDay()
		if c.change != nil {
			c.change(s)
		}
		p, with := at(s)
		with.Theme = tuitest.Colours
		if got := tuitest.Painted(rows(p, with, c.w, c.h, c.focused)[c.row]); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestEachMarkIsWalkedToSaidAndOpened(t *testing.T) {
	s := aDay()
	s.Ended = append(s.Ended, fork.View{ID: "00000005", Title: "Cut", State: fork.Stopped, Ended: noon.Add(-5 * time.Hour)})
	ping := func(p budget.Ping, ago time.Duration) {
		p.At = noon.Add(-ago)
		s.Budget.Pings = append(s.Budget.Pings, p)
	}
	ping(budget.Ping{Task: "p", Title: "Alarm", Critical: true}, 8*time.Hour)
	ping(budget.Ping{Task: "q", Title: "Soft", Quiet: true}, 7*time.Hour)
	ping(budget.Ping{Task: "r", Title: "Read", Quiet: true, Answered: noon.Add(-7 * time.Hour)}, 7*time.Hour+30*time.Minute)
	ping(budget.Ping{Task: "s", Title: "Bad", How: budget.Useless, Text: "x"}, 4*time.Hour)
	s.Day = []google.Item{{Title: "Dentist", Place: "Main St", Start: noon.Add(2 * time.Hour)}, {Title: "Holiday", Start: noon, AllDay: true}}
	s.Budget.Fires = append(s.Budget.Fires, budget.Fire{At: noon.Add(6 * time.Hour), Task: "u", Title: "Even", Rate: 0.5})
	p, c := at(s)
	c.Theme = tuitest.Colours
	p.Do(c, action.DayFirst)
	var said []string
	for range p.marks {
		words, _, _ := strings.Cut(strings.TrimSpace(tuitest.Painted(p.Caption(c, 120, 4, true))), "   ") // the legend is at the right
		a := p.Do(c, action.DayOpen)
		if words += " → " + string(a.Focus) + " " + a.Item; a.Open != nil {
			words += "page " + a.Open.Title()
		}
		said = append(said, words)
		p.Do(c, action.DayLater)
	}
	if d := cmp.Diff([]string{
		"‹warn △ ›03:00 Walk · missed → task d",
		"‹ping ‼ ›04:00 Alarm · critical · not answered → task p",
		"‹ping ◆ ›04:30 Read · sent · answered in 30 min → task r",
		"‹ping ◆ ›05:00 Soft · sent · quiet → task q",
		"‹ping ◆ ›06:00 Medication · sent · answered in 4 min · Time for it → forks 00000001",
		"‹good ✓ ›06:00 Medication · done · took 0:02 → forks 00000001",
		"‹dim ■ ›07:00 Cut · stopped → forks 00000005",
		"‹ping ◆ ›08:00 Bad · sent · not useful · x → task s",
		"‹bad ✗ ›1 of 2 here: 09:00 Rent · failed · no network → forks 00000003",
		"‹good ✓ ›2 of 2 here: 09:00 Inbox · done → forks 00000002",
		"‹warn ◈ ›10:00 Inbox · refused · no token was left → forks 00000002",
		"‹good ◉ ›11:59 Sweep · running → forks 00000004",
		"‹report ▪ ›14:00 Dentist · date · Main St →  page Dentist",
		"‹ping ◇ ›1 of 2 here: 15:00 Tea · likely · it usually pings → task e",
		"‹accent ○ ›15:00 Tea · to come → task e",
		"‹ping ◇ ›2 of 2 here: 15:01 Water · likely · it usually pings → task i",
		"‹warn ◈ ›16:00 Bread · no token expected · its ping will be refused → task l",
		"‹warn ◈ ›18:00 Even · no token expected · its ping will be refused → task u",
		"‹accent ○ ›23:50 Late · to come → task g",
	}, said); d != "" {
		t.Error(d)
	}
	if m, _ := p.at(); p.End(c) || m.title == "Dentist" {
		t.Errorf("esc stays in the day, or the choice was %q", m.title)
	}
	if m, _ := p.at(); m.title != "Dentist" {
		t.Errorf("after leaving %q is chosen", m.title)
	}
	if got, want := tuitest.Painted(p.Caption(c, 120, 4, false)), " ‹dim 1 ›‹strong Ping budget›  ‹strong 1.5›‹dim  / ›2  ‹warn ! out by 16:00›  ‹dim 1 every 240 min›      ‹ping ◆›‹dim  sent›  ‹ping ‼›‹dim  critical›  ‹warn ◈›‹dim  refused›  ‹ping ◇›‹dim  likely›  ‹good ✓›‹dim  done›  ‹bad ✗›‹dim  failed› "; got != want {
		t.Errorf("without the focus it says %s\nwant %s", got, want)
	}
	var legend []string
	for _, row := range p.Legend(c, 60) {
		legend = append(legend, tuitest.Painted(row))
	}
	if got, want := strings.Join(legend, "\n"), " ‹ping ◆›‹dim  sent›  ‹ping ‼›‹dim  critical›  ‹warn ◈›‹dim  refused›  ‹ping ◇›‹dim  likely›  ‹good ✓›‹dim  done›  ‹bad ✗›‹dim  failed›  \n ‹warn △›‹dim  missed›  ‹good ◉›‹dim  running›  ‹dim ■›‹dim  stopped›  ‹report ▪›‹dim  date›  ‹accent ○›‹dim  to come›  ‹border ░›‹dim  quiet› \n ‹level ▒›‹dim  expected›                                                 "; got != want {
		t.Errorf("the legend is\n%s\nwant\n%s", got, want)
	}
}

func TestAClickChoosesInItsLane(t *testing.T) {
	p, c := at(aDay())
	a := axisOf(noon, 118, 4)
	x := a.left + a.cell(noon.Add(-6*time.Hour))
	for lane, want := range []kind{pings: pinged, runs: done} {
		again, ok := p.Point(c, x, a.level+lane, 118, 4)
		if m, _ := p.at(); again || !ok || m.kind != want {
			t.Errorf("lane %d: %+v", lane, m)
		}
		if again, _ := p.Point(c, x, a.level+lane, 118, 4); !again {
			t.Error("the second click is not known as such")
		}
	}
	if _, ok := p.Point(c, a.left+a.cell(noon.Add(8*time.Hour)), a.level+runs, 118, 4); ok {
		t.Error("a click on nothing chooses something")
	}
}

// What has not changed is not made again: a snapshot comes each second.
func TestTheMarksAreMadeOnlyWhenSomethingHasChanged(t *testing.T) {
	s := aDay()
	p, c := at(s)
	next := *s
	next.At = s.At.Add(time.Second)
	c.Snap = &next
	if n := testing.AllocsPerRun(10, func() { p.Sync(c); p.Draw(c, 120, 4, false) }); n > 12 {
		t.Errorf("a second costs %.0f allocations", n)
	}
	changed := next
	changed.Budget.Pings = append(slices.Clone(s.Budget.Pings), budget.Ping{At: noon, Title: "New", Task: "n"})
	c.Snap = &changed
	n := len(p.marks)
	if p.Sync(c); len(p.marks) != n+1 {
		t.Error("a new ping is not there")
	}
}

func TestTheRowsOfTheDayAreAsWideAsTheScreen(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := aDay()
		s.At = noon.Add(time.Duration(rapid.IntRange(-1440, 1440).Draw(t, "now")) * time.Minute)
		s.TwelveHours = rapid.Bool().Draw(t, "twelve")
		s.Budget.State.Capacity = rapid.SampledFrom([]int{0, 1, 2, 100, 1000}).Draw(t, "capacity")
		p, c := at(s)
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			p.Do(c, rapid.SampledFrom([]action.ID{action.DayEarlier, action.DayLater, action.DayNow}).Draw(t, "step"))
		}
		w, h := rapid.IntRange(1, 240).Draw(t, "w"), rapid.SampledFrom([]int{2, 4, 5, 7, 9}).Draw(t, "h")
		focused := rapid.Bool().Draw(t, "focused")
		lines := rows(p, c, w, h, focused)
		for i, r := range p.Draw(c, w, h, focused) {
			if widget.Cells(r.Text) != w || len(lines) != h {
				t.Fatalf("row %d: %d cells of %d: %q", i, widget.Cells(r.Text), w, r.Text)
			}
		}
		if said := p.Caption(c, w, h, focused); said != "" && widget.Cells(said) != w {
			t.Fatalf("caption: %d cells of %d: %q", widget.Cells(said), w, said)
		}
	})
}

// Whatever the width, what was is before now and what comes is behind it, in order.
func TestMomentsKeepTheirOrder(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		now := noon.Add(time.Duration(rapid.Int64Range(0, 86400).Draw(t, "now")) * time.Second)
		a := axisOf(now, rapid.IntRange(20, 240).Draw(t, "w"), rapid.SampledFrom([]int{2, 4}).Draw(t, "h"))
		last := 0
		for away := -reach; away <= reach; away += 7 * time.Minute {
			i := a.cell(now.Add(away))
			if i < last || i >= a.n || (i < a.half) != (away <= 0) || i == a.half {
				t.Fatalf("%s away is cell %d behind %d of %d, now is %d", away, i, last, a.n, a.half)
			}
			last = i
		}
	})
}

// The mark of a fire whose minute is not chosen says between which times it comes, else why.
func TestTheMarkOfAWindowIsARange(t *testing.T) {
	for want, e := range map[string]schedule.Entry{
		"between 13:00–14:00":       {Until: noon.Add(2 * time.Hour)},
		"you are usually here then": {Reason: "you are usually here then"},
	} {
		e.ID, e.FireTime = "w", noon.Add(time.Hour)
		if m := marksOf(&core.Snapshot{At: noon, Zone: time.UTC, Schedule: schedule.View{Day: []schedule.Entry{e}}}, budget.Curve{}); len(m) != 1 || m[0].note != want {
			t.Errorf("%+v, want %s", m, want)
		}
	}
}

// Poster 4: several marks of one cell are a bar, so that a refusal hides no ping; a chosen one is seen as itself.
func TestSeveralMarksOfACellAreABarThatGrowsWithThem(t *testing.T) {
	s := aDay()
	at, left := noon.Add(-4*time.Hour), 1.0
	s.Budget.Pings = []budget.Ping{{At: at, Title: "Tea", Left: &left}, {At: at.Add(time.Second), Title: "Water", Refused: "no token"}}
	lane := func(theme *theme.Theme, focused bool) string {
		p, c := &Pane{}, plain(s)
		c.Theme = theme
		p.Sync(c)
		p.chosen = slices.IndexFunc(p.marks, func(m mark) bool { return m.kind == pinged })
		past, _, _ := strings.Cut(rows(p, c, 118, 7, focused)[4], c.Theme.Box().Left)
		return past
	}
	bare, ascii := plain(s).Theme, theme.New(theme.Options{Plain: true, ASCII: true})
	for n, want := range map[int]string{2: "▂", 3: "▅", 4: "█", 9: "█"} {
		for len(s.Budget.Pings) < n {
			s.Budget.Pings = append(s.Budget.Pings, budget.Ping{At: at, Title: "More", Left: &left})
		}
		s.Budget.Pings = s.Budget.Pings[:n]
		if got := lane(bare, false); !strings.Contains(got, "─"+want+"─") || strings.ContainsAny(got, "◆◈") {
			t.Errorf("%d pings: %q", n, got)
		}
		if got := lane(ascii, false); !strings.Contains(got, strconv.Itoa(n)) {
			t.Errorf("%d pings in ASCII: %q", n, got)
		}
	}
	if got := lane(bare, true); !strings.Contains(got, "◆") && !strings.Contains(got, "◈") {
		t.Errorf("the chosen mark is not seen: %q", got)
	}
}

// Deliverable 4: a token is seen to be spent, for a moment, unless nothing may move.
func TestTheNumberAtNowIsInverseForAMomentAfterAPing(t *testing.T) {
	left := 1.0
	s := aDay()
	s.Budget.Pings = []budget.Ping{{At: noon, Title: "Tea", Left: &left}}
	for _, c := range []struct {
		after time.Duration
		still bool
		seen  bool
	}{{0, false, true}, {2 * time.Second, false, true}, {3 * time.Second, false, false}, {0, true, false}} {
		later := *s
		later.At = noon.Add(c.after)
		p, at := &Pane{}, plain(&later)
		at.Theme, at.Still = theme.New(theme.Options{NoColor: true}), c.still
		p.Sync(at)
		if got := strings.Contains(strings.Join(rows(p, at, 118, 7, false), ""), at.Theme.Paint(theme.Here, " 1.5 ")); got != c.seen {
			t.Errorf("after %s, still %t: inverse %t", c.after, c.still, got)
		}
	}
}
