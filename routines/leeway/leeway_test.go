package leeway

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/leeway/usertest"
)

func in(t interface{ Fatal(...any) }, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func window(t testing.TB, text string) Window {
	t.Helper()
	w, err := ParseWindow(text)
	if err != nil {
		t.Fatalf("%q %v", text, err)
	}
	return w
}

// opened returns a fire at the start of its window on a day.
func opened(w Window, day time.Time) Fire {
	r := Rule{Window: w}
	start := w.Start(day)
	return Fire{ID: "5c1e9a70", Rule: r, Start: start, End: r.End(start), Now: start}
}

func TestAWindowIsReadOrItsMistakeIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"9:00-11:00": "9:00-11:00 2h0m0s", "09:00 - 11:30": "9:00-11:30 2h30m0s", "9:00–9:01": "9:00-9:01 1m0s", "0:00-23:59": "0:00-23:59 23h59m0s",
		"": errForm.Error(), "9:00": errForm.Error(), "9:00-25:00": errForm.Error(), "9:60-10:00": errForm.Error(), "-9:00-11:00": errForm.Error(),
		"9:00-9:00": errEmpty.Error(), "9:01-9:00": errMidnight.Error(),
	} {
		w, err := ParseWindow(text)
		got := w.String() + " " + w.Length().String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"10m": "10m", "10": "10m", "1h": "1h", "1h30m": "90m", " 5m ": "5m", "1": "1m", "2h": "2h", "12h": "12h",
		"": errJitter.Error(), "soon": errJitter.Error(), "-5m": errJitter.Error(), "0": errJitter.Error(),
		"59s": errRange.Error(), "721m": errRange.Error(), "90s": errRange.Error(),
	} {
		d, err := ParseJitter(text)
		got := FormatJitter(d)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if FormatJitter(0) != "" || (Window{}).String() != "" {
		t.Error("what is not there has words")
	}
}

func TestARuleSaysWhatItAllowsAndUntilWhen(t *testing.T) {
	nine := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	w := Window{9 * 60, 11 * 60}
	for _, c := range []struct {
		rule   Rule
		words  string
		length time.Duration
		fits   [2]bool // nine, and a minute later
	}{
		{Rule{}, "", 0, [2]bool{}},
		{Rule{Jitter: time.Minute}, "up to 1 min later", time.Minute, [2]bool{true, true}},
		{Rule{Window: w}, "9:00-11:00", 2 * time.Hour, [2]bool{true, false}},
		{Rule{w, 10 * time.Minute}, "9:00-11:00, up to 10 min later", 2 * time.Hour, [2]bool{true, false}},
	} {
		f := Fire{Rule: c.rule, End: c.rule.End(nine)}
		fits := [2]bool{c.rule.Fits(nine), c.rule.Fits(nine.Add(time.Minute))}
		if got := c.rule.String(); got != c.words || f.End.Sub(nine) != c.length || fits != c.fits {
			t.Errorf("%+v: %q, for %v, fits %v", c.rule, got, f.End.Sub(nine), fits)
		}
		if is := c.rule != (Rule{}); f.Open(f.End) != is || f.Open(f.End.Add(1)) {
			t.Errorf("%+v is open at its end: %v, and after it: %v", c.rule, f.Open(f.End), f.Open(f.End.Add(1)))
		}
	}
}

// What a user did: on a day so long ago, at a minute of it.
func TestDaysThatAreAlikeAndRecentCountMost(t *testing.T) {
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC) // a Tuesday
	for name, c := range map[string]struct {
		active [][2]int
		others []int
		want   string
	}{
		"a Tuesday before another workday":       {[][2]int{{7, 570}, {8, 630}}, nil, "09:35 no habit is known at this time"},
		"a workday before a Sunday":              {[][2]int{{1, 570}, {2, 630}}, nil, "09:36 no habit is known at this time"},
		"two Tuesdays are a habit":               {[][2]int{{7, 570}, {14, 570}}, nil, "09:37 you are usually here then"},
		"the newer one":                          {[][2]int{{7, 630}, {63, 570}}, nil, "10:35 no habit is known at this time"},
		"a busy quarter counts once":             {[][2]int{{7, 630}, {7, 631}, {7, 644}, {8, 570}, {7, 570}}, nil, "09:35 you are usually here then"},
		"another ping twenty minutes before":     {[][2]int{{7, 570}}, []int{555}, "09:35 no habit is known at this time"},
		"another ping in that minute":            {[][2]int{{7, 570}}, []int{575}, "09:43 no habit is known at this time; apart from other pings"},
		"another ping twenty minutes after nine": {nil, []int{560}, "09:00 no habit is known at this time"},
		"another ping nineteen minutes after it": {nil, []int{559}, "09:39 no habit is known at this time; apart from other pings"},
		"another ping five minutes after nine":   {nil, []int{545}, "09:25 no habit is known at this time; apart from other pings"},
		"the nearer of two pings":                {nil, []int{545, 541}, "09:25 no habit is known at this time; apart from other pings"},
	} {
		var active, others []time.Time
		for _, a := range c.active {
			active = append(active, day.AddDate(0, 0, -a[0]).Add(time.Duration(a[1])*time.Minute))
		}
		for _, minute := range c.others {
			others = append(others, day.Add(time.Duration(minute)*time.Minute))
		}
		got := Choose(opened(window(t, "9:00-11:00"), day), Facts{Habit: NewHabit(active, day, time.UTC)}, others)
		if got := got.At.Format("15:04 ") + got.Why; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	at := day.Add(630 * time.Minute)
	for age, known := range map[time.Duration]bool{-1: false, 0: true, remembered: true, remembered + 1: false} {
		if h := NewHabit([]time.Time{at}, at.Add(age), time.UTC); (*h != Habit{}) != known {
			t.Errorf("%v later it is known: %v", age, !known)
		}
	}
}

func TestTheMinuteIsWhereTheUserUsuallyIsAndTheRowSaysWhy(t *testing.T) {
	zone := in(t, "Europe/Berlin")
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, zone) // a Tuesday
	var active []time.Time
	for back := 1; back <= 28; back++ {
		active = append(active, day.AddDate(0, 0, -back).Add(10*time.Hour+8*time.Minute))
	}
	facts := Facts{
		Habit: NewHabit(active, day, zone),
		Busy:  []Busy{{From: day.Add(9 * time.Hour), To: day.Add(10 * time.Hour), Why: "meeting"}},
	}
	w := window(t, "9:00-11:00")
	c := Choose(opened(w, day), facts, nil)
	if got := c.At.Format("15:04 ") + c.Why; got != "10:05 you are usually here then; meeting until 10:00" {
		t.Error(got)
	}
	c = Choose(opened(w, day), facts, []time.Time{day.Add(10*time.Hour + 7*time.Minute)})
	if gap := c.At.Sub(day.Add(10*time.Hour + 7*time.Minute)); gap < 5*time.Minute || !strings.Contains(c.Why, whyApart) {
		t.Error(c)
	}
	facts.Busy[0].To = day.Add(12 * time.Hour)
	if c = Choose(opened(w, day), facts, nil); !c.At.Equal(day.Add(11*time.Hour)) || c.Why != "the window ends; meeting until 12:00" {
		t.Error("the whole window is busy:", c)
	}
	if c = Choose(opened(w, day), Facts{}, nil); !c.At.Equal(day.Add(9*time.Hour)) || c.Why != whyNone {
		t.Error("nothing is known:", c)
	}
}

func TestAUserWhoAnswersAlwaysIsAskedAtOnce(t *testing.T) {
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	var always []time.Time
	for at := day.AddDate(0, 0, -28); at.Before(day); at = at.Add(quarter) {
		always = append(always, at)
	}
	c := Choose(opened(window(t, "9:00-11:00"), day), Facts{Habit: NewHabit(always, day, time.UTC)}, nil)
	if c.At.Sub(day) > 9*time.Hour+15*time.Minute || c.Why != whyHabit {
		t.Error(c)
	}
}

func TestClocksThatChangeKeepAWindowOnItsDay(t *testing.T) {
	zone := in(t, "America/New_York")
	spring, autumn := time.Date(2026, 3, 8, 0, 0, 0, 0, zone), time.Date(2026, 11, 1, 0, 0, 0, 0, zone)
	for _, c := range []struct {
		day         time.Time
		window      string
		first, last string
	}{
		{spring, "1:30-3:30", "01:30 EST", "03:30 EDT"},
		{spring, "2:15-2:45", "03:00 EDT", "03:00 EDT"}, // skipped entirely
		{spring, "2:30-4:00", "03:00 EDT", "04:00 EDT"},
		{autumn, "0:30-1:30", "00:30 EDT", "01:30 EDT"}, // the first of the two
		{autumn, "1:30-2:30", "01:30 EDT", "02:30 EST"},
	} {
		f := opened(window(t, c.window), c.day)
		if got := f.Start.Format("15:04 MST"); got != c.first {
			t.Errorf("%s starts at %s, want %s", c.window, got, c.first)
		}
		if got := f.End.Format("15:04 MST"); got != c.last {
			t.Errorf("%s ends at %s, want %s", c.window, got, c.last)
		}
		if got := Choose(f, Facts{}, nil); !got.At.Equal(f.Start) {
			t.Errorf("%s fires at %v", c.window, got.At)
		}
	}
}

var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia"}

// drawn draws a fire and facts, usually around a clock change.
func drawn(t *rapid.T) (Fire, Facts, []time.Time) {
	zone := in(t, rapid.SampledFrom(zones).Draw(t, "zone"))
	days := []time.Time{
		time.Date(2026, 3, 8, 0, 0, 0, 0, zone), time.Date(2026, 3, 29, 0, 0, 0, 0, zone), time.Date(2026, 10, 25, 0, 0, 0, 0, zone),
		time.Date(2026, 11, 1, 0, 0, 0, 0, zone), time.Date(2018, 11, 4, 1, 0, 0, 0, zone), time.Date(2011, 12, 31, 0, 0, 0, 0, zone),
	}
	day := rapid.SampledFrom(days).Draw(t, "day").AddDate(0, 0, rapid.IntRange(-1, 1).Draw(t, "days on"))
	from := rapid.IntRange(0, 24*60-2).Draw(t, "from")
	w := Window{from, rapid.IntRange(from+1, 24*60-1).Draw(t, "to")}
	r := Rule{Window: w}
	if rapid.Bool().Draw(t, "jitters") {
		r.Jitter = time.Duration(rapid.IntRange(1, w.To-w.From).Draw(t, "jitter")) * time.Minute
	}
	f := opened(w, day)
	f.Rule = r
	near := func(label string) time.Time {
		return f.Start.Add(time.Duration(rapid.IntRange(-200, 1600).Draw(t, label)) * time.Minute)
	}
	var facts Facts
	for range rapid.IntRange(0, 4).Draw(t, "busy") {
		at := near("busy from")
		facts.Busy = append(facts.Busy, Busy{From: at, To: at.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "for")) * time.Minute), Why: "meeting"})
	}
	var active, others []time.Time
	for range rapid.IntRange(0, 40).Draw(t, "actions") {
		active = append(active, near("active").AddDate(0, 0, -rapid.IntRange(0, 4000).Draw(t, "days ago")))
	}
	for range rapid.IntRange(0, 3).Draw(t, "others") {
		others = append(others, near("other"))
	}
	facts.Habit = NewHabit(active, f.Start, zone)
	return f, facts, others
}

func TestAChoiceIsInsideItsWindowTheSameTwiceAndOnlyMovesLater(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		f, facts, others := drawn(t)
		c := Choose(f, facts, others)
		if c.At.Before(f.Start) || c.At.After(f.End) || c.Why == "" {
			t.Fatalf("%v is not in %v to %v", c, f.Start, f.End)
		}
		if again := Choose(f, facts, others); again != c {
			t.Fatalf("%v, and then %v", c, again)
		}
		if facts.BusyAt(c.At) && !c.At.Equal(f.End) {
			t.Fatalf("%v is busy", c)
		}
		later := f
		later.Now = f.Start.Add(time.Duration(rapid.Int64Range(0, int64(f.End.Sub(f.Start))).Draw(t, "passed")))
		moved := Choose(later, facts, others)
		if moved.At.Before(c.At) || moved.At.Before(later.Now) || moved.At.After(f.End) {
			t.Fatalf("%v at %v becomes %v", c, later.Now, moved)
		}
		if !c.At.Before(later.Now) && !moved.At.Equal(c.At) {
			t.Fatalf("%v is left for %v", c, moved)
		}
	})
}

func TestAJitterStaysShortAndDiffersFromDayToDay(t *testing.T) {
	r := Rule{Jitter: 10 * time.Minute}
	seen := map[time.Duration]int{}
	for n := range 365 {
		start := time.Date(2026, 1, 1+n, 8, 30, 0, 0, time.UTC)
		c := Choose(Fire{ID: "5c1e9a70", Rule: r, Start: start, End: r.End(start), Now: start}, Facts{}, nil)
		seen[c.At.Sub(start)]++
		if n < 4 && c != (Choice{At: start.Add([]time.Duration{1, 2, 10, 6}[n] * time.Minute), Why: whyJitter}) { // also after an update of the program
			t.Errorf("on day %d it is %v", n, c)
		}
	}
	if len(seen) != 11 {
		t.Errorf("delays: %v", seen)
	}
	for d, n := range seen {
		if d < 0 || d > r.Jitter || n < 10 || n > 70 {
			t.Errorf("a delay of %v on %d of 365 days", d, n)
		}
	}
}

func TestTheReasonNamesTheLastOfSeveralMeetings(t *testing.T) {
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	w := Window{From: 9 * 60, To: 12 * 60}
	f := Fire{ID: "a", Rule: Rule{Window: w}, Start: w.Start(day), End: w.on(day, w.To), Now: w.Start(day)}
	busy := []Busy{
		{From: day.Add(9 * time.Hour), To: day.Add(10 * time.Hour), Why: "meeting"},
		{From: day.Add(10 * time.Hour), To: day.Add(10*time.Hour + 30*time.Minute), Why: "conversation"},
		{From: day.Add(11 * time.Hour), To: day.Add(12 * time.Hour), Why: "meeting"}, // after the ping
	}
	for range 2 { // in either order
		c := Choose(f, Facts{Busy: busy}, nil)
		if got := c.At.Format("15:04 ") + c.Why; got != "10:30 no habit is known at this time; conversation until 10:30" {
			t.Error(got)
		}
		busy[0], busy[1] = busy[1], busy[0]
	}
}

// answerWithin is how soon a ping must be seen to be answered.
const answerWithin = 15 * time.Minute

// live simulates 90 days with a ping each, and returns the number of answers. The bot
// learns from the answers, and from the user's messages in one of three sessions.
func live(u usertest.User, windows bool) (answered int) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	w := Window{From: 9 * 60, To: 12 * 60}
	var active []time.Time
	for n := range 90 {
		day, sessions, r := u.Day(begin, n) // the same days, whatever was answered
		ping := w.Start(day)
		if windows {
			f := Fire{ID: "a", Rule: Rule{Window: w}, Start: ping, End: w.on(day, w.To), Now: ping}
			ping = Choose(f, Facts{Habit: NewHabit(active, ping, time.UTC)}, nil).At
		}
		for _, s := range sessions {
			from, to := day.Add(time.Duration(s[0])*time.Minute), day.Add(time.Duration(s[1])*time.Minute)
			if writes := r.IntN(3) == 0; writes {
				active = append(active, from)
			}
			seen := ping
			if from.After(seen) {
				seen = from
			}
			if seen.Before(to) && seen.Sub(ping) <= answerWithin {
				answered++
				active = append(active, seen)
				break
			}
		}
	}
	return answered
}

func TestAWindowIsAnsweredMoreOftenThanAFixedTime(t *testing.T) {
	var fixed, chosen int
	for _, u := range usertest.All {
		f, c := live(u, false), live(u, true)
		t.Logf("%s: %d of 90 pings answered at 9:00, %d within 9:00-12:00", u.Name, f, c)
		fixed, chosen = fixed+f, chosen+c
		if c < f {
			t.Errorf("%s answers less often: %d at a fixed time, %d in a window", u.Name, f, c)
		}
	}
	if chosen <= fixed {
		t.Errorf("%d answers in windows, %d at fixed times", chosen, fixed)
	}
}
