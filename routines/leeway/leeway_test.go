package leeway

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
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
		"9:00-11:00": "9:00-11:00", "09:00 - 11:00": "9:00-11:00", "9:00–11:00": "9:00-11:00", "0:00-23:59": "0:00-23:59",
		"": "not a window", "9:00": "not a window", "9:00-25:00": "not a window", "9:60-10:00": "not a window",
		"9:00-9:00": "empty", "22:00-01:00": "passes midnight", "-9:00-11:00": "not a window",
	} {
		w, err := ParseWindow(text)
		if got := w.String(); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"10m": "10m", "10": "10m", "1h": "1h", "1h30m": "90m", " 5m ": "5m",
		"": "not a jitter", "soon": "not a jitter", "-5m": "not a jitter", "0": "not a jitter", "30s": "out of range", "13h": "out of range",
		"90s": "out of range",
	} {
		d, err := ParseJitter(text)
		if got := FormatJitter(d); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
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

func TestAnOldAFutureAndAHoledJournalSayWhatTheyCan(t *testing.T) {
	zone := in(t, "America/New_York")
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, zone)
	w := window(t, "9:00-11:00")
	var old, future, holed []time.Time
	for n := 100; n < 3650; n++ {
		old = append(old, day.AddDate(0, 0, -n).Add(10*time.Hour))
	}
	for n := range 100 {
		future = append(future, day.AddDate(0, 0, n).Add(10*time.Hour))
		if n%9 == 0 {
			holed = append(holed, day.AddDate(0, 0, -n-1).Add(10*time.Hour+20*time.Minute))
		}
	}
	for name, c := range map[string]struct {
		active []time.Time
		want   string
	}{"ten years": {old, "09:00"}, "future": {future, "09:00"}, "holes": {holed, "10:22"}} {
		got := Choose(opened(w, day), Facts{Habit: NewHabit(c.active, day, zone)}, nil)
		if got.At.Format("15:04") != c.want {
			t.Errorf("%s: %v", name, got)
		}
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
