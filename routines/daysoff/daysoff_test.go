package daysoff

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/recur"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func file(events ...string) string {
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
	for _, e := range events {
		text += "BEGIN:VEVENT\r\nUID:1\r\n" + strings.ReplaceAll(e, "\n", "\r\n") + "\r\nEND:VEVENT\r\n"
	}
	return text + "END:VCALENDAR\r\n"
}

// between lists the days that a calendar takes in a range.
func between(t *testing.T, data, from, to string) string {
	t.Helper()
	days, odd, err := parse(data, now)
	if err != nil || odd != nil {
		t.Fatal(odd, err)
	}
	var list []string
	for d := range days {
		if s := d.String(); s >= from && s <= to {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestTheDaysOfEventsAreTaken(t *testing.T) {
	for name, c := range map[string]struct{ event, from, to, want string }{
		"one day":          {"DTSTART;VALUE=DATE:20261224", "2026-01", "2027", "2026-12-24"},
		"several":          {"DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227", "2026-01", "2027", "2026-12-24 2026-12-25 2026-12-26"},
		"a duration":       {"DTSTART;VALUE=DATE:20261224\nDURATION:P2D", "2026-01", "2027", "2026-12-24 2026-12-25"},
		"a time":           {"DTSTART;TZID=Europe/Berlin:20261224T090000", "2026-01", "2027", ""},
		"cancelled":        {"DTSTART;VALUE=DATE:20261224\nSTATUS:CANCELLED", "2026-01", "2027", ""},
		"every year":       {"DTSTART;VALUE=DATE:19900501\nRRULE:FREQ=YEARLY", "2026-11-29", "2028-12", "2027-05-01 2028-05-01"},
		"a leap day":       {"DTSTART;VALUE=DATE:20200229\nRRULE:FREQ=YEARLY", "2026-11-29", "2031", "2028-02-29"},
		"thanksgiving":     {"DTSTART;VALUE=DATE:20201126\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "2026-11-01", "2028-12", "2026-11-26 2027-11-25 2028-11-23"},
		"a last monday":    {"DTSTART;VALUE=DATE:20200525\nRRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO", "2026-11-29", "2028-12", "2027-05-31 2028-05-29"},
		"every other week": {"DTSTART;VALUE=DATE:20261204\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "2026-12-01", "2027-01-05", "2026-12-04 2026-12-14 2026-12-18 2026-12-28 2027-01-01"},
		"the last of each": {"DTSTART;VALUE=DATE:20261130\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "2026-11", "2028", "2026-11-30 2026-12-31 2027-01-31"},
		"every third day":  {"DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=DAILY;INTERVAL=3;UNTIL=20261207", "2026-11", "2028", "2026-12-01 2026-12-04 2026-12-07"},
		"exceptions":       {"DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=DAILY;COUNT=4\nEXDATE;VALUE=DATE:20261202,20261203\nRDATE;VALUE=DATE:20261220", "2026-11", "2028", "2026-12-01 2026-12-04 2026-12-20"},
		"the 31st":         {"DTSTART;VALUE=DATE:20261231\nRRULE:FREQ=MONTHLY;COUNT=3", "2026-11", "2028", "2026-12-31 2027-01-31 2027-03-31"},
	} {
		if got := between(t, file(c.event), c.from, c.to); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestOneOccurrenceThatWasMovedIsTakenWhereItIs(t *testing.T) {
	data := file("DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=WEEKLY;COUNT=3", "RECURRENCE-ID;VALUE=DATE:20261208\nDTSTART;VALUE=DATE:20261209")
	if got := between(t, data, "2026-11", "2028"); got != "2026-12-01 2026-12-09 2026-12-15" {
		t.Error(got)
	}
}

// Files as programs write them: bare line ends, a mark, folded lines, parts within events.
func TestACalendarIsReadAsOtherProgramsWriteIt(t *testing.T) {
	data := "\ufeffBEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nBEGIN:STANDARD\nDTSTART:19701025T030000\nRRULE:FREQ=YEARLY\nEND:STANDARD\nEND:VTIMEZONE\n" +
		"BEGIN:VEVENT\nSUMMARY;LANGUAGE=\"de:x\":Tag der Deut\n schen Einheit\\, really\nDTSTART;VALUE=DATE:20271003\n" +
		"BEGIN:VALARM\nDTSTART;VALUE=DATE:20271010\nEND:VALARM\nTRANSP:TRANSPARENT\nEND:VEVENT\nEND:VCALENDAR\n"
	days, _, err := parse(data, now)
	if err != nil || len(days) != 1 || days[recur.Date{Year: 2027, Month: 10, Day: 3}] != "Tag der Deutschen Einheit, really" {
		t.Errorf("%v, %v", days, err)
	}
}

func TestACalendarThatCannotBeReadSaysWhy(t *testing.T) {
	rules := slices.Repeat([]string{"DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=YEARLY"}, mostRules+1)
	long := slices.Repeat([]string{"DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=DAILY"}, mostRules)
	for want, data := range map[string]string{
		textNoCalendar: "<html>", textCutOff: strings.TrimSuffix(file("DTSTART;VALUE=DATE:20261201"), "END:VCALENDAR\r\n") + "BEGIN:VEVENT\r\n",
		textNested:                          "BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\n", 100_000),
		"has 2001 repeated events":          file(rules...),
		fmt.Sprintf(textManyDays, mostDays): file(long...),
	} {
		if _, _, err := parse(data, now); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, rule := range []string{"FREQ=SECONDLY", "FREQ=YEARLY;BYWEEKNO=1", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;COUNT=x", "", "FREQ=MONTHLY;BYDAY=9MO", "FREQ=YEARLY;BYDAY=1MO"} {
		days, odd, err := parse(file("DTSTART;VALUE=DATE:20261201\nRRULE:"+rule), now)
		if err != nil || len(odd) != 1 || len(days) != 1 {
			t.Errorf("%q: %v %v %v", rule, days, odd, err)
		}
	}
}

// Rules that never match, and long lines, are read within their limits.
func TestNoCalendarTakesLongToRead(t *testing.T) {
	never := slices.Repeat([]string{"DTSTART;VALUE=DATE:19700101\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, 100)
	days, _, err := parse(file(append(never, "DTSTART:"+strings.Repeat("x", 1<<20), strings.Repeat("SUMMARY:x\n", 10_000))...), now)
	if err != nil || len(days) != 0 {
		t.Error(len(days), err)
	}
	counted := slices.Repeat([]string{"DTSTART;VALUE=DATE:19700101\nRRULE:FREQ=YEARLY;COUNT=900"}, mostRules)
	if _, _, err := parse(file(counted...), now); err == nil || err.Error() != textLong {
		t.Error(err)
	}
	r := testkit.Rand(t)
	text := file("DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=MONTHLY;BYDAY=-1FR,2MO;INTERVAL=2\nEXDATE:20261202")
	for range 2000 { // anything in between is read or refused
		b := []byte(text)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		_, _, _ = parse(string(b[:r.IntN(len(b))]), now)
	}
}

// A calendar is read once, and again when its file has changed.
func TestAShelfReadsACalendarAgainWhenItHasChanged(t *testing.T) {
	d := storetest.Prepared(t)
	s := NewShelf(d)
	c := s.Of("off.ics")
	soon := recur.DateOf(time.Now()).Add(10)
	day := strings.ReplaceAll(soon.String(), "-", "")
	if c.Trouble() != "off.ics "+textNoFile || s.Look() {
		t.Errorf("%q", c.Trouble())
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(d.Path("off.ics"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file("SUMMARY:Off\nDTSTART;VALUE=DATE:" + day))
	if what, off := c.Off(soon); off || what != "" {
		t.Error("the day is taken before the shelf has looked")
	}
	if what, off := c.Off(soon); !s.Look() || s.Look() || s.Of("off.ics") != c || off {
		t.Error(what, off)
	}
	if what, off := c.Off(soon); !off || what != "Off" || c.Trouble() != "" {
		t.Error(what, off, c.Trouble())
	}
	write(strings.Repeat("x", mostBytes+1))
	if s.Look(); !strings.HasPrefix(c.Trouble(), "off.ics has 4") {
		t.Errorf("%q", c.Trouble())
	}
	if _, off := c.Off(soon); off {
		t.Error("days are known of a calendar that cannot be read")
	}
}

// Google's calendars are known from a copy, which stays when Google cannot be reached.
func TestACalendarOfGoogleIsKnownFromItsLastCopy(t *testing.T) {
	d := storetest.Prepared(t)
	s := NewShelf(d)
	name := recur.OfGoogle("Holidays in Germany")
	c := s.Of(name)
	start := time.Now()
	if due := s.Due(start); !slices.Equal(due, []string{"Holidays in Germany"}) || c.Trouble() != name+" "+textNotRead {
		t.Errorf("%v, %q", due, c.Trouble())
	}
	keep := func(at time.Time, days map[string]map[string]string, failed error) {
		t.Helper()
		errs := map[string]error{}
		if failed != nil {
			errs["Holidays in Germany"] = failed
		}
		if err := s.Keep(at, days, errs); err != nil || !s.Look() {
			t.Fatal(err)
		}
	}
	gone := errors.New("Google cannot be reached")
	keep(start, nil, gone)
	if c.Trouble() != name+" Google cannot be reached" || len(s.Due(start.Add(time.Minute))) != 0 || len(s.Due(start.Add(copyRetry))) != 1 {
		t.Errorf("%q, due %v", c.Trouble(), s.Due(start.Add(copyRetry)))
	}
	christmas := recur.Date{Year: 2026, Month: 12, Day: 25}
	keep(start, map[string]map[string]string{"Holidays in Germany": {"2026-12-25": "Christmas"}, "unused": {"2026-12-26": ""}}, nil)
	for range 2 { // a failed read keeps what is known, and so does a restart
		if what, off := c.Off(christmas); !off || what != "Christmas" || c.Trouble() != "" {
			t.Error(what, off, c.Trouble())
		}
		keep(start.Add(copyAge), nil, gone)
		c = NewShelf(d).Of(name)
	}
	if !strings.HasSuffix(c.Odd(), "the days from before count: Google cannot be reached") {
		t.Errorf("%q", c.Odd())
	}
	if held := s.copies(); len(held) != 1 {
		t.Errorf("a copy that no task uses is kept: %v", held)
	}
	if len(s.Due(start.Add(copyAge+time.Minute))) != 0 || len(s.Due(start.Add(copyAge+copyRetry))) != 1 {
		t.Error("the time of the next read is wrong")
	}
}

// A file of copies that is not understood costs the copies alone.
func TestADamagedFileOfCopiesIsNoCopy(t *testing.T) {
	d := storetest.Prepared(t)
	if err := os.WriteFile(d.Path(copiesFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := NewShelf(d)
	if c := s.Of(recur.OfGoogle("Team")); c.Trouble() == "" || len(s.Due(time.Now())) != 1 {
		t.Errorf("%q", c.Trouble())
	}
	if err := s.Keep(time.Now(), map[string]map[string]string{"Team": {"2026-12-25": "Off"}}, nil); err != nil || len(s.copies()) != 1 {
		t.Error(err, s.copies())
	}
}
