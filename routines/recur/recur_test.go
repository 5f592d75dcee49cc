package recur_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
	"ollimbot/routines/when"
)

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

var zones = []string{
	"Europe/Berlin", "America/Los_Angeles", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca", "America/Santiago",
	"America/Nuuk", "Asia/Beirut", "UTC",
}

// line is a cron line by its values, so that the brute force needs no parser.
type line struct {
	expr           string
	minutes, hours []int
	star           bool // the hours follow elapsed time
	week           []int
	dates, months  []int // all if empty
}

func (l line) date(d time.Time) bool {
	in := func(list []int, v int) bool { return len(list) == 0 || slices.Contains(list, v) }
	return in(l.week, int(d.Weekday())) && in(l.dates, d.Day()) && in(l.months, int(d.Month()))
}

func drawLine(t *rapid.T) line {
	var l line
	numbers := func(label string, low, high, most int) []int {
		list := rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, most, rapid.ID).Draw(t, label)
		slices.Sort(list)
		return list
	}
	text := func(list []int) string {
		if len(list) == 0 {
			return "*"
		}
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
	}
	l.minutes = numbers("minutes", 0, 59, 2)
	hours := "*"
	if l.star = rapid.IntRange(0, 3).Draw(t, "star") == 0; !l.star {
		l.hours = numbers("hours", 0, 23, 3)
		hours = text(l.hours)
	}
	switch rapid.IntRange(0, 4).Draw(t, "days") {
	case 0:
		l.week = numbers("week", 0, 6, 5)
	case 1:
		l.dates = numbers("dates", 1, 31, 4)
	}
	if rapid.IntRange(0, 5).Draw(t, "in months") == 0 {
		l.months = numbers("months", 1, 12, 6)
	}
	l.expr = strings.Join([]string{text(l.minutes), hours, text(l.dates), text(l.months), text(l.week)}, " ")
	return l
}

func drawDate(t *rapid.T, label string, first, last int) recur.Date {
	d := time.Date(rapid.IntRange(first, last).Draw(t, label), 1, 1+rapid.IntRange(0, 364).Draw(t, label+" day"), 0, 0, 0, 0, time.UTC)
	return recur.DateOf(d)
}

// draw draws a recurrence, with its cron line. ok is false if it contradicts itself.
func draw(t *rapid.T, first int) (r recur.Recurrence, l line, ok bool) {
	l = drawLine(t)
	c, err := cron.Parse(l.expr)
	if err != nil {
		t.Fatal(err)
	}
	r = recur.Of(c)
	some := func(label string) bool { return rapid.IntRange(0, 2).Draw(t, label) == 0 }
	if some("from") {
		r.From = drawDate(t, "from year", first, first+1)
	}
	if some("every") {
		r.Every = recur.Interval{N: rapid.IntRange(2, 5).Draw(t, "n"), Unit: recur.Unit(rapid.IntRange(0, 3).Draw(t, "unit"))}
		if r.From.IsZero() {
			r.From = drawDate(t, "from year", first, first+1)
		}
	}
	if some("month days") {
		r.Days = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) recur.MonthDay {
			m := recur.MonthDay{Nth: rapid.SampledFrom([]int{1, 2, 3, 4, 5, recur.Last}).Draw(t, "nth"), What: rapid.IntRange(0, 8).Draw(t, "what")}
			if m.What == recur.AnyDay {
				m.Nth = recur.Last
			}
			return m
		}), 1, 3).Draw(t, "list")
	}
	if some("until") {
		r.Until = drawDate(t, "until year", first, first+4)
	}
	if !r.From.IsZero() && some("times") {
		r.Times = rapid.IntRange(1, 30).Draw(t, "count")
	}
	if some("skip") {
		r.Skip = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) recur.Gap {
			g := recur.Gap{From: drawDate(t, "gap", first, first+2)}
			g.To = g.From.Add(rapid.SampledFrom([]int{0, 0, 1, 9, 80}).Draw(t, "long"))
			if rapid.IntRange(0, 2).Draw(t, "over new year") == 0 {
				g = recur.Gap{From: recur.Date{Year: first, Month: 12, Day: 24}, To: recur.Date{Year: first + 1, Month: 1, Day: 2}}
			}
			if rapid.Bool().Draw(t, "each year") {
				g.From.Year, g.To.Year = 0, 0
			}
			return g
		}), 1, 3).Draw(t, "gaps")
	}
	if some("calendars") {
		r.Calendars = rapid.SliceOfN(rapid.SampledFrom([]string{
			"holidays.ics", "a-b_c.ics", "2026.x.ICS", recur.OfGoogle("Holidays, all and each until march"), recur.OfGoogle("de#x@group.v.calendar.google.com"),
		}), 1, 2).Draw(t, "names")
	}
	if some("zone") {
		r.Zone = zone(t, rapid.SampledFrom(zones).Draw(t, "own zone"))
	}
	r, err = recur.Checked(r)
	return r, l, err == nil && !c.Never()
}

func fires(r recur.Recurrence, from time.Time, n int) (list []time.Time) {
	for at := r.Next(from); !at.IsZero() && len(list) < n; at = r.Next(at.Add(time.Second)) {
		list = append(list, at)
	}
	return list
}

// What any place prints as a recurrence is accepted back and means the same (Z1, Z2).
func TestARecurrenceIsReadAsItIsPrinted(t *testing.T) {
	now := time.Date(2026, 11, 21, 16, 20, 0, 0, zone(t, "Europe/Berlin"))
	read, n := when.Reader{Now: now}, 0
	defer func() { t.Logf("%d recurrences were read back", n) }()
	testkit.Check(t, func(t *rapid.T) {
		r, _, ok := draw(t, rapid.SampledFrom([]int{1970, 2024, 2026, 9990}).Draw(t, "first year"))
		if !ok {
			return
		}
		n++
		got, err := read.Schedule(r.String())
		if err != nil || got.String() != r.String() {
			t.Fatalf("%q is read as %q, %v", r.String(), got.String(), err)
		}
		if got, err = read.Schedule(r.Words()); err != nil {
			t.Fatalf("%q is printed as %q: %v", r.String(), r.Words(), err)
		}
		if fmt.Sprint(got.Keys()) != fmt.Sprint(r.Keys()) {
			t.Fatalf("%q is printed as %q and read as %q", r.String(), r.Words(), got.String())
		}
		from := now.AddDate(-56, 0, 0)
		want, have := fires(r, from, 25), fires(got, from, 25)
		if fmt.Sprint(want) != fmt.Sprint(have) {
			t.Fatalf("%q is printed as %q and read as %q, which fires at\n%v\nnot\n%v", r.String(), r.Words(), got.String(), have, want)
		}
		if loud, err := read.Schedule(strings.ToUpper(r.Words())); err != nil || !strings.EqualFold(loud.String(), got.String()) { // names of files keep their letters
			t.Fatalf("%q in capitals is read as %q, %v", r.Words(), loud.String(), err)
		}
		if again, err := read.Schedule(got.Words()); err != nil || again.Words() != got.Words() {
			t.Fatalf("%q is printed again as %q, %v", got.Words(), again.Words(), err)
		}
	})
}

// Each key is read as a file has it.
func TestEachKeyIsReadAsItIsWritten(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		r, _, ok := draw(t, rapid.SampledFrom([]int{1970, 2024, 2026, 9990}).Draw(t, "first year"))
		if !ok {
			return
		}
		got := recur.Of(r.Cron)
		for _, k := range r.Keys() {
			if k.Value == "" {
				continue
			}
			if err := when.SetKey(&got, k.Name, k.Value); err != nil {
				t.Fatalf("%s: %q: %v", k.Name, k.Value, err)
			}
		}
		if got, err := recur.Checked(got); err != nil || got.String() != r.String() {
			t.Fatalf("%q is read as %q, %v", r.String(), got.String(), err)
		}
	})
}

// allowed is the meaning of the keys for a date, worked out from the calendar alone.
func allowed(r recur.Recurrence, d time.Time) bool {
	date := func(d recur.Date) time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }
	if !r.From.IsZero() && d.Before(date(r.From)) || !r.Until.IsZero() && d.After(date(r.Until)) {
		return false
	}
	if n := r.Every.N; n > 1 {
		from := date(r.From)
		monday := func(d time.Time) time.Time { return d.AddDate(0, 0, -(int(d.Weekday())+6)%7) }
		days := int(d.Sub(from).Hours() / 24)
		weeks := int(monday(d).Sub(monday(from)).Hours() / 24 / 7)
		months := (d.Year()-from.Year())*12 + int(d.Month()-from.Month())
		if apart := [...]int{days, weeks, months, d.Year() - from.Year()}[r.Every.Unit]; apart%n != 0 {
			return false
		}
	}
	if len(r.Days) > 0 && !slices.ContainsFunc(r.Days, func(m recur.MonthDay) bool {
		is := func(d time.Time) bool {
			w := d.Weekday()
			return m.What == recur.AnyDay || m.What == int(w) || m.What == recur.Workday && w != time.Saturday && w != time.Sunday
		}
		if !is(d) {
			return false
		}
		step, n := -1, 1
		if m.Nth == recur.Last {
			step = 1
		}
		for o := d.AddDate(0, 0, step); o.Month() == d.Month(); o = o.AddDate(0, 0, step) {
			if is(o) {
				n++
			}
		}
		return n == max(m.Nth, 1)
	}) {
		return false
	}
	for _, g := range r.Skip {
		layout := "2006-01-02"
		if g.From.Year == 0 {
			layout = "01-02"
		}
		year := max(g.From.Year, 2024)
		from := time.Date(year, g.From.Month, g.From.Day, 0, 0, 0, 0, time.UTC).Format(layout)
		to := time.Date(max(g.To.Year, 2024), g.To.Month, g.To.Day, 0, 0, 0, 0, time.UTC).Format(layout)
		at := d.Format(layout)
		if from <= to && at >= from && at <= to || from > to && (at >= from || at <= to) {
			return false
		}
	}
	return true
}

// brute walks a stretch of time minute by minute. A fixed hour fires when the wall clock first
// reaches or passes it, judged by the date that was passed; by elapsed time it fires whenever the
// clock shows it.
func brute(r recur.Recurrence, l line, from, to time.Time) (out []int64) {
	matches := func(wall int64) bool {
		minute := int(wall / 60 % (24 * 60)) // no test is before 1970
		if !slices.Contains(l.minutes, minute%60) || !l.star && !slices.Contains(l.hours, minute/60) {
			return false
		}
		day := time.Unix(wall, 0).UTC().Truncate(24 * time.Hour)
		return l.date(day) && allowed(r, day)
	}
	last := int64(1) << 60
	if r.Times > 0 {
		n := 0
		for wall := time.Date(r.From.Year, r.From.Month, r.From.Day, 0, 0, 0, 0, time.UTC).Unix(); n < r.Times && wall < to.Unix()+100*86400; wall += 60 {
			if matches(wall) {
				if n++; n == r.Times {
					last = wall
				}
			}
		}
	}
	shown := func(sec int64) int64 {
		_, offset := time.Unix(sec, 0).In(from.Location()).Zone()
		return sec + int64(offset)
	}
	passed := shown(from.Unix() - 60)
	for back := int64(60); back < 48*3600; back += 60 {
		passed = max(passed, shown(from.Unix()-back))
	}
	for sec := from.Unix(); sec < to.Unix(); sec += 60 {
		wall := shown(sec)
		fire := l.star && wall <= last && matches(wall)
		for ; !l.star && passed < wall; passed += 60 {
			fire = fire || passed+60 <= last && matches(passed+60)
		}
		if fire {
			out = append(out, sec)
		}
	}
	return out
}

// Next times are those of a brute force, minute by minute, over both nights on which clocks change (Z2).
func TestNextTimesAreThoseOfABruteForce(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		for range 6 {
			againstBruteForce(t)
		}
	})
}

// TestNextTimesOverThreeYears is that over all of three years, in each zone.
func TestNextTimesOverThreeYears(t *testing.T) {
	testkit.Campaign(t, "soak")
	n, fires := 0, 0
	testkit.Check(t, func(t *rapid.T) {
		r, l, ok := draw(t, 2026)
		if !ok {
			return
		}
		r.Zone = nil
		for _, name := range zones {
			z := zone(t, name)
			from := time.Date(2026, 1, 1, 0, 0, 0, 0, z)
			fires += compared(t, r, l, z, from, from.AddDate(3, 0, 0))
			n++
		}
	})
	t.Logf("%d times three years in %d zones, with %d fires", n, len(zones), fires)
}

func againstBruteForce(t *rapid.T) {
	r, l, ok := draw(t, 2026)
	if !ok {
		return
	}
	z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
	own := z
	if r.Zone != nil {
		own = r.Zone
	}
	// Around one change of the clocks, or any time of the year.
	begin := r.From
	if begin.IsZero() {
		begin = recur.Date{Year: 2026, Month: 1, Day: 1}
	}
	middle := time.Date(begin.Year, begin.Month, begin.Day, 0, 0, 0, 0, own).AddDate(0, 0, rapid.IntRange(0, 500).Draw(t, "day"))
	if _, end := middle.ZoneBounds(); !end.IsZero() && rapid.IntRange(0, 2).Draw(t, "night") > 0 {
		middle = end
	}
	from := middle.Truncate(time.Minute).Add(-time.Duration(rapid.IntRange(0, 20*24*60).Draw(t, "before")) * time.Minute)
	compared(t, r, l, z, from, from.AddDate(0, 0, 30))
}

// compared compares the fires between two moments with those of the brute force, and counts them.
func compared(t *rapid.T, r recur.Recurrence, l line, z *time.Location, from, to time.Time) int {
	own := z
	if r.Zone != nil {
		own = r.Zone
	}
	want := brute(r, l, from.In(own), to)
	var got []int64
	for at := r.Next(from.In(z)); !at.IsZero() && at.Before(to); at = r.Next(at.Add(time.Second)) {
		got = append(got, at.Unix())
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s in %s from %v: got %v, want %v", r.String(), own, from, moments(got, own), moments(want, own))
	}
	return len(got)
}

func moments(list []int64, z *time.Location) (out []string) {
	for _, sec := range list {
		out = append(out, time.Unix(sec, 0).In(z).Format("2006-01-02 15:04 -07"))
	}
	return out
}

func parse(t testing.TB, text string) recur.Recurrence {
	t.Helper()
	r, err := (when.Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)}).Schedule(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

// off is a calendar of two days.
type off struct{ name, trouble string }

func (o off) Name() string    { return o.name }
func (o off) Trouble() string { return o.trouble }
func (o off) Off(d recur.Date) (string, bool) {
	return "Christmas", o.trouble == "" && (d.String() == "2026-12-24" || d.String() == "2026-12-25")
}

// The days of a calendar are left out, and count as times, so that the end stays where it is.
func TestTheDaysOfACalendarAreLeftOut(t *testing.T) {
	r := parse(t, "daily at 9 from 23 dec 2026, 4 times, except holidays.ics")
	from, to := time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 20, 0, 0, 0, 0, time.UTC)
	days := func(r recur.Recurrence) (text string) {
		for _, at := range fires(r, from, 9) {
			text += at.Format("2 ")
		}
		return text
	}
	if got := days(r); got != "23 24 25 26 " {
		t.Errorf("without its calendar it fires on %s", got)
	}
	known := r.With(func(name string) recur.Calendar { return off{name: name} })
	if got := days(known); got != "23 26 " || known.Trouble() != "" {
		t.Errorf("it fires on %s", got)
	}
	if s := known.Skipped(from.AddDate(0, 0, 4), to, 9); len(s) != 2 || s[0].Why != "except holidays.ics: Christmas" {
		t.Errorf("%+v", s)
	}
	broken := r.With(func(name string) recur.Calendar { return off{name, "holidays.ics is no calendar"} })
	if got := days(broken); got != "23 24 25 26 " || broken.Trouble() != "holidays.ics is no calendar" {
		t.Errorf("it fires on %s, %s", got, broken.Trouble())
	}
	if end, _ := known.End(); end.String() != "2026-12-26" {
		t.Error(end)
	}
}

// In Nuuk the clock skips the last hour of a Saturday. What is due in it is judged by that day.
func TestATimeThatTheClockSkipsKeepsItsDate(t *testing.T) {
	r := parse(t, "30 23 * * *, on the last saturday of the month")
	nuuk := zone(t, "America/Nuuk")
	got := fires(r, time.Date(2027, 3, 1, 0, 0, 0, 0, nuuk), 2)
	if len(got) != 2 || got[0].Format("2006-01-02 15:04") != "2027-03-28 00:00" || got[1].Format("2006-01-02 15:04") != "2027-04-24 23:30" {
		t.Error(got)
	}
}

func TestNextTimesAtTheEdgesOfTheCalendar(t *testing.T) {
	for _, c := range []struct{ text, from, want string }{
		{"every other year on 29 february at 9 from 1 jan 2024", "2025-01-01", "2028-02-29 09:00, 2032-02-29 09:00, 2036-02-29 09:00"},
		{"every 3 years on 29 february at 9 from 1 jan 2024", "2025-01-01", "2036-02-29 09:00, 2048-02-29 09:00, 2060-02-29 09:00"},
		{"0 9 * * *, every 2 days, from 1 January 1970", "1970-01-01", "1970-01-01 09:00, 1970-01-03 09:00, 1970-01-05 09:00"},
		{"every other week on friday at 9 from 20 december 9999", "9999-12-01", "9999-12-24 09:00"},
		{"fifth friday of the month at 9", "2026-11-21", "2027-01-29 09:00, 2027-04-30 09:00, 2027-07-30 09:00"},
		{"last day of february at 9", "2027-02-01", "2027-02-28 09:00, 2028-02-29 09:00, 2029-02-28 09:00"},
		{"daily at 9 except 29 feb", "2028-02-28", "2028-02-28 09:00, 2028-03-01 09:00, 2028-03-02 09:00"},
		{"daily at 9 except 20 feb to 29 feb", "2027-02-19", "2027-02-19 09:00, 2027-03-01 09:00, 2027-03-02 09:00"},
		{"daily at 9 until 22 nov 2026", "2026-11-21", "2026-11-21 09:00, 2026-11-22 09:00"},
		{"every month on the 31st at 9, every 2 months, from 1 december 2026", "2026-12-01", "2026-12-31 09:00, 2027-08-31 09:00, 2027-10-31 09:00"},
		{"mondays at 9, 2 times", "2026-11-21", "2026-11-23 09:00, 2026-11-30 09:00"},
	} {
		from, err := time.Parse(time.DateOnly, c.from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range fires(parse(t, c.text), from, 3) {
			got = append(got, at.Format("2006-01-02 15:04"))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.text, strings.Join(got, ", "), c.want)
		}
	}
}

func TestAGapEndsWithItsLastDayWhicheverDayIsAskedFor(t *testing.T) {
	for text, days := range map[string]struct{ first, last, next string }{
		"daily at 9 except 23 dec to 26 dec":         {"2026-12-23", "2026-12-26", "2026-12-27 09:00"},
		"daily at 9 except 30 dec to 2 jan":          {"2026-12-30", "2027-01-02", "2027-01-03 09:00"},
		"daily at 9 except 1 dec 2026 to 3 dec 2026": {"2026-12-01", "2026-12-03", "2026-12-04 09:00"},
		"daily at 9 except 26 feb to 29 feb":         {"2028-02-26", "2028-02-29", "2028-03-01 09:00"},
		"daily at 9 except 24 dec":                   {"2026-12-24", "2026-12-24", "2026-12-25 09:00"},
	} {
		r := parse(t, text)
		at, _ := time.Parse(time.DateOnly, days.first)
		for last, _ := time.Parse(time.DateOnly, days.last); !at.After(last); at = at.AddDate(0, 0, 1) {
			if got := r.Next(at).Format("2006-01-02 15:04"); got != days.next {
				t.Errorf("%s: from %s it fires at %s, want %s", text, at.Format(time.DateOnly), got, days.next)
			}
		}
	}
}

// A contradiction is refused with its key and a cure.
func TestAContradictionNamesItsKey(t *testing.T) {
	daily := parse(t, "daily at 9").Cron
	mondays := parse(t, "mondays at 9").Cron
	leap := parse(t, "on the 29th of february at 9").Cron
	from, day := recur.Date{Year: 2026, Month: 12, Day: 1}, recur.Date{Year: 2026, Month: 12, Day: 2}
	year := recur.Gap{From: recur.Date{Month: 1, Day: 1}, To: recur.Date{Month: 12, Day: 31}}
	for _, c := range []struct {
		r    recur.Recurrence
		says string
	}{
		{recur.Recurrence{Cron: daily, From: day, Until: from}, "until: 1 December 2026 is before 2 December 2026, when it begins; choose a later day"},
		{recur.Recurrence{Cron: daily, Times: 3}, `times: the times are counted from a day; add from: "2026-12-01"`},
		{recur.Recurrence{Cron: daily, From: from, Times: recur.MaxTimes + 1}, "times: a routine fires 1 to 1000 times; leave the number out if there is no end"},
		{recur.Recurrence{Cron: daily, Every: recur.Interval{N: recur.MaxEvery + 1}}, "every: an interval is 1 to 366 days, weeks, months or years; say every 2 weeks"},
		{recur.Recurrence{Cron: mondays, Days: []recur.MonthDay{{Nth: recur.Last, What: 5}}}, "days: the last Friday never falls on a day of cron (every Monday); change one of them"},
		{recur.Recurrence{Cron: leap, From: day, Every: recur.Interval{N: 4, Unit: recur.Year}}, "every: with every 4 years none of the days of cron (on the 29th of February) is left; change one of them"},
		{recur.Recurrence{Cron: mondays, From: day, Until: day}, "until: between 2 December 2026 and 2 December 2026 nothing is left to fire; choose a later end, or fewer exceptions"},
		{recur.Recurrence{Cron: daily, Skip: []recur.Gap{year}}, "skip: the exceptions leave no day; leave some out"},
		{recur.Recurrence{Cron: daily, Skip: []recur.Gap{{From: day, To: from}}}, "skip: 1 December 2026 is before 2 December 2026; write the earlier day first"},
	} {
		_, err := recur.Checked(c.r)
		bad, ok := err.(*recur.Error) //nolint:errorlint // Checked returns it as it is
		if !ok || bad.Key+": "+bad.Error() != c.says {
			t.Errorf("%s: %v, want %s", c.r.String(), err, c.says)
		}
	}
	for name, r := range map[string]recur.Recurrence{
		"the most times": {Cron: daily, From: from, Times: recur.MaxTimes}, "the longest interval": {Cron: daily, From: from, Every: recur.Interval{N: recur.MaxEvery}},
		"a day that is the last, too": {Cron: daily, From: from, Until: from}, "an interval of one": {Cron: daily, Every: recur.Interval{N: 1}},
		"all days but one": {Cron: daily, Skip: []recur.Gap{{From: recur.Date{Month: 1, Day: 2}, To: recur.Date{Month: 12, Day: 31}}}},
	} {
		if checked, err := recur.Checked(r); err != nil || checked.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() || checked.Every.N == 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARecurrenceAtAnotherTimeKeepsItsDays(t *testing.T) {
	r := parse(t, "every 2 weeks on monday at 9 in tokyo time")
	moved, err := r.AtTime(7, 30)
	if err != nil || moved.Words() != "at 7:30, every 2 weeks on Monday, from 23 November 2026, in Asia/Tokyo time" || moved.Equal(r) || !moved.Equal(moved) {
		t.Errorf("%s, %v", moved.Words(), err)
	}
	if plain := parse(t, "daily at 9"); plain.Ours() != "" || r.Ours() != "the original program ignores zone and fires at these times of the bot's own zone" {
		t.Errorf("%q and %q", plain.Ours(), r.Ours())
	}
	var names []string
	for _, k := range r.Keys() {
		names = append(names, k.Name)
	}
	if !slices.Equal(names, recur.Names()) {
		t.Errorf("the keys %q are named %q", names, recur.Names())
	}
	for day, want := range map[string]bool{"2026-11-23": true, "2026-11-29": true, "2026-11-30": false, "2026-12-06": false, "2026-12-07": true, "2026-11-22": false, "2026-11-09": true} {
		at, _ := time.Parse(time.DateOnly, day)
		if d := recur.DateOf(at); r.Every.Allows(r.From, d) != want || !d.Time().Equal(at) {
			t.Errorf("%s is in a week that counts: %v, want %v", day, !want, want)
		}
	}
}

// A recurrence that has ended says when, and fires again if the clock is set back.
func TestARecurrenceEnds(t *testing.T) {
	r := parse(t, "daily at 9 from 1 dec 2026, 3 times")
	if d, ok := r.End(); !ok || d.String() != "2026-12-03" {
		t.Error(d, ok)
	}
	before, after := time.Date(2026, 12, 3, 9, 0, 0, 0, time.UTC), time.Date(2026, 12, 3, 9, 0, 1, 0, time.UTC)
	if r.Ended(before) || r.EndWords(before) != "" || !r.Ended(after) || r.EndWords(after) != "ended on 3 December 2026" {
		t.Error(r.EndWords(before), r.EndWords(after))
	}
	if r = parse(t, "daily at 9"); r.Ended(after.AddDate(1000, 0, 0)) {
		t.Error("without an end it has ended")
	}
	if d, ok := r.End(); ok || !d.IsZero() {
		t.Errorf("without an end its last day is %s", d)
	}
}

// Why a candidate does not fire is said for each of them.
func TestASkippedCandidateSaysWhy(t *testing.T) {
	r := parse(t, "every 2 days at 9 from 20 dec 2026, 5 times, except 24 dec to 26 dec")
	var got []string
	for _, s := range r.Skipped(time.Date(2026, 12, 19, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC), 100) {
		got = append(got, s.At.Format("2 Jan: ")+s.Why)
	}
	want := []string{
		"19 Dec: it begins on 20 December 2026",
		"21 Dec: it is every 2 days, counted from 20 December 2026", "23 Dec: it is every 2 days, counted from 20 December 2026",
		"24 Dec: except 24 December to 26 December", "25 Dec: except 24 December to 26 December", "26 Dec: except 24 December to 26 December",
		"27 Dec: it is every 2 days, counted from 20 December 2026", "29 Dec: it is every 2 days, counted from 20 December 2026",
		"31 Dec: it is every 2 days, counted from 20 December 2026",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	r = parse(t, "0 17 * * 5, on the last friday")
	november := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	if s := r.Skipped(november, november.AddDate(0, 0, 29), 9); fmt.Sprint(s) != fmt.Sprint([]recur.Skipped{
		{At: november.AddDate(0, 0, 5).Add(17 * time.Hour), Why: "it is not the last Friday of the month"},
		{At: november.AddDate(0, 0, 12).Add(17 * time.Hour), Why: "it is not the last Friday of the month"},
		{At: november.AddDate(0, 0, 19).Add(17 * time.Hour), Why: "it is not the last Friday of the month"},
	}) {
		t.Error(s)
	}
}
