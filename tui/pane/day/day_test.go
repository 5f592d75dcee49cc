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
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
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

// A row of the band holds a text, at its end where $ is behind it; one with ! in front it does not.
func TestARowOfTheBandSaysWhatItsHoursHave(t *testing.T) {
	// At any time of day there are twelve hours of future, and now is in the middle.
	night := func(s *core.Snapshot) {
		s.At = noon.Add(11*time.Hour + 30*time.Minute)
		s.Schedule.Day = []schedule.Entry{{ID: "m", Description: "Morning", FireTime: s.At.Add(11 * time.Hour)}}
	}
	// Poster 15: before anything is written, the band has the first choice of the welcome.
	empty := func(s *core.Snapshot) { *s = core.Snapshot{At: noon, Zone: time.UTC} }
	for _, c := range []struct {
		name      string
		change    func(s *core.Snapshot)
		w, h, row int
		want      string
	}{
		{"the marks", nil, 74, 2, 0, " ░ quiet ░△░░░░░░░░◆        ✗  ◈    ◉│        ◇  ◈                 ░░░░░○"},
		{"the hours", nil, 74, 2, 1, "       02    04    06    08    10    │     14    16    18    20    22"},
		{"the hours of a clock of twelve", func(s *core.Snapshot) { s.TwelveHours = true }, 74, 2, 1, "          3am      6am      9am      │        3pm      6pm      9pm"},
		{"the next morning at night", night, 79, 2, 0, "│░░░░░░ quiet ░░░░░░░              ○"},
		{"its hours", night, 79, 2, 1, "│ Mon   02    04     06    08    10"},
		{"the next morning in a high band", night, 79, 7, 5, "○"},
		{"its hours below", night, 79, 7, 6, "│ Mon   02    04    06    08    10"},
		{"the first choice", empty, 118, 7, 5, "○ tomorrow 09:00 Plan the day? 2 n"},
		{"none beside a task", func(s *core.Snapshot) { empty(s); s.Schedule.Tasks = []schedule.TaskView{{ID: "a"}} }, 118, 7, 5, "!Plan the day"},
		// A band that is high enough says when pings are answered, in the room below the legend.
		{"the hours of answers", nil, 198, 16, 6, "       00    06    12    18$"},
		{"a day without one", nil, 198, 16, 12, " Sat ························$"},
		{"an answer at six", nil, 198, 16, 13, " Sun ······▆·················$"},
		{"no room for them", nil, 198, 9, 0, "!" + textHeat},
	} {
		s := aDay()
		if c.change != nil {
			c.change(s)
		}
		p, with := at(s)
		got := rows(p, with, c.w, c.h, false)
		text := got[c.row]
		want, absent := strings.CutPrefix(c.want, "!")
		if absent {
			text = strings.Join(got, "\n")
		}
		if want, ends := strings.CutSuffix(want, "$"); strings.Contains(text, want) == absent || ends && !strings.HasSuffix(text, want) {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}

func TestEachMarkIsWalkedToSaidAndOpened(t *testing.T) {
	p, c := at(aDay())
	p.Do(c, action.DayFirst)
	var said, opened []string
	for range p.marks {
		words, _, _ := strings.Cut(strings.TrimSpace(p.Caption(c, 120, 4, true)), "   ") // the legend is at the right
		said = append(said, words)
		a := p.Do(c, action.DayOpen)
		opened = append(opened, string(a.Focus)+" "+a.Item)
		p.Do(c, action.DayLater)
	}
	if d := cmp.Diff([]string{
		"△ 03:00 Walk · missed",
		"◆ 06:00 Medication · sent · answered in 4 min · Time for it",
		"✓ 06:00 Medication · done · took 0:02",
		"✗ 1 of 2 here: 09:00 Rent · failed · no network",
		"✓ 2 of 2 here: 09:00 Inbox · done",
		"◈ 10:00 Inbox · refused · no token was left",
		"◉ 11:59 Sweep · running",
		"◇ 1 of 2 here: 15:00 Tea · likely · it usually pings",
		"○ 15:00 Tea · to come",
		"◇ 2 of 2 here: 15:01 Water · likely · it usually pings",
		"◈ 16:00 Bread · no token expected · its ping will be refused",
		"○ 23:50 Late · to come",
	}, said); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"task d", "forks 00000001", "forks 00000001", "forks 00000003", "forks 00000002", "forks 00000002",
		"forks 00000004", "task e", "task e", "task i", "task l", "task g",
	}, opened); d != "" {
		t.Error(d)
	}
	if m, _ := p.at(); p.End(c) || m.title == "Tea" {
		t.Errorf("esc stays in the day, or the choice was %q", m.title)
	}
	if m, _ := p.at(); m.title != "Tea" {
		t.Errorf("after leaving %q is chosen", m.title)
	}
	if got := p.Caption(c, 120, 4, false); !strings.HasPrefix(got, " 1 Ping budget  1.5 / 2  ! out by 16:00  1 every 240 min   ") || !strings.Contains(got, "◆ sent") {
		t.Errorf("without the focus it says %q", got)
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
