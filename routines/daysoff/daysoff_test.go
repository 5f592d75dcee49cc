package daysoff

import (
	"errors"
	"fmt"
	"maps"
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
		"a week":           {"DTSTART;VALUE=DATE:20261224\nDURATION:+p1w", "2026-01", "2027", "2026-12-24 2026-12-25 2026-12-26 2026-12-27 2026-12-28 2026-12-29 2026-12-30"},
		"hours":            {"DTSTART;VALUE=DATE:20261224\nDURATION:PT48H", "2026-01", "2027", "2026-12-24"},
		"no number":        {"DTSTART;VALUE=DATE:20261224\nDURATION:2D", "2026-01", "2027", "2026-12-24"},
		"an end before it": {"DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261220", "2026-01", "2027", "2026-12-24"},
		"a year and more":  {"DTSTART;VALUE=DATE:20261224\nDURATION:P367D", "2026-01", "2028", "2026-12-24"},
		"a year":           {"DTSTART;VALUE=DATE:20261224\nDURATION:P366D", "2027-12-23", "2028", "2027-12-23 2027-12-24"},
		"ten years":        {"DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20361224", "2027-12-23", "2028", "2027-12-23 2027-12-24"},
		"a year ago":       {"DTSTART;VALUE=DATE:20251127\nDURATION:P4D", "2020", "2028", "2025-11-29 2025-11-30"},
		"in five years":    {"DTSTART;VALUE=DATE:20311202\nDURATION:P4D", "2020", "2040", "2031-12-02 2031-12-03"},
		"since 1970":       {"DTSTART;VALUE=DATE:19700101\nRRULE:FREQ=YEARLY", "2026-11", "2027-12", "2027-01-01"},
		"since before":     {"DTSTART;VALUE=DATE:19691231\nRRULE:FREQ=YEARLY", "2026-11", "2027-12", ""},
		"periods":          {"DTSTART;VALUE=DATE:20261224\nRDATE;VALUE=period:20261226/P1D", "2026-01", "2027", "2026-12-24"},
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
	for rule, want := range map[string]string{
		"FREQ=SECONDLY": "FREQ=SECONDLY", "FREQ=YEARLY;BYWEEKNO=1": "BYWEEKNO=1", "FREQ=DAILY;INTERVAL=0": "INTERVAL=0", "freq=daily;interval=10001": "INTERVAL=10001",
		"FREQ=DAILY;COUNT=x": "COUNT=x", "FREQ=DAILY;COUNT=0": "COUNT=0", "FREQ=DAILY;COUNT=1000001": "COUNT=1000001", "FREQ=DAILY;UNTIL=2026": "UNTIL=2026", "": "",
		"COUNT=3": "COUNT=3", "FREQ=MONTHLY;BYDAY=9MO": "BYDAY=9MO", "FREQ=MONTHLY;BYDAY=6MO": "BYDAY=6MO", "FREQ=MONTHLY;BYDAY=-6MO": "BYDAY=-6MO", "FREQ=MONTHLY;BYDAY=0MO": "BYDAY=0MO",
		"FREQ=MONTHLY;BYDAY=M": "BYDAY=M", "FREQ=MONTHLY;BYDAY=MX": "BYDAY=MX", "FREQ=MONTHLY;BYMONTHDAY=32": "BYMONTHDAY=32", "FREQ=MONTHLY;BYMONTHDAY=-32": "BYMONTHDAY=-32",
		"FREQ=MONTHLY;BYMONTHDAY=0": "BYMONTHDAY=0", "FREQ=YEARLY;BYMONTH=13": "BYMONTH=13", "FREQ=YEARLY;BYMONTH=-1": "BYMONTH=-1", "FREQ=YEARLY;BYDAY=1MO": "FREQ=YEARLY;BYDAY=1MO",
		"FREQ=WEEKLY;INTERVAL=2;WKST=SU": "WKST=SU",
	} {
		days, odd, err := parse(file("DTSTART;VALUE=DATE:20261201\nRRULE:"+rule), now)
		if want = strings.ToUpper(want); err != nil || len(odd) != 1 || strings.ToUpper(odd[0]) != want || len(days) != 1 {
			t.Errorf("%q: %v %q %v, want %q", rule, days, odd, err, want)
		}
	}
	for _, rule := range []string{
		"FREQ=DAILY;INTERVAL=10000", "FREQ=DAILY;COUNT=1", "FREQ=DAILY;COUNT=1000000;UNTIL=20261201", "FREQ=MONTHLY;BYDAY=5MO,-5MO;COUNT=1", "FREQ=MONTHLY;BYMONTHDAY=31,-31;COUNT=1",
		"FREQ=YEARLY;BYMONTH=1,12;COUNT=1", "FREQ=DAILY;INTERVAL=2;WKST=SU;COUNT=1", "FREQ=WEEKLY;WKST=SU;COUNT=1", "FREQ=YEARLY;BYMONTH=12;BYDAY=1TU;COUNT=1;", " FREQ=DAILY ; COUNT=1",
	} {
		if days, odd, err := parse(file("DTSTART;VALUE=DATE:20261201\nRRULE:"+rule), now); err != nil || len(odd) != 0 || len(days) != 1 {
			t.Errorf("%q: %v %q %v", rule, days, odd, err)
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
	if s.Look(); c.Trouble() != "off.ics "+fmt.Sprintf(textLarge, "4.0 MB", "4.0 MB") || s.Calendar("off.ics").Name() != "off.ics" {
		t.Errorf("%q", c.Trouble())
	}
	write(strings.Repeat("x", mostBytes))
	if s.Look(); c.Trouble() != "off.ics "+textNoCalendar {
		t.Errorf("%q", c.Trouble())
	}
	write(file("DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=X", "DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=Y"))
	if s.Look(); c.Odd() != fmt.Sprintf(textOdd, "off.ics", "2 rules", "FREQ=X") {
		t.Errorf("%q", c.Odd())
	}
	testkit.Must(t, os.Remove(d.Path("off.ics")))
	testkit.Must(t, os.Mkdir(d.Path("off.ics"), 0o700))
	if s.Look(); c.Trouble() != "off.ics "+textNoCalendar {
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

func TestGoogleIsAskedOnceADayAndAfterAFailureEveryTenMinutes(t *testing.T) {
	for what, c := range map[string]struct {
		failed error
		after  time.Duration
	}{"after it has answered": {nil, 24 * time.Hour}, "after it has failed": {errors.New("no network"), 10 * time.Minute}} {
		s, now := NewShelf(storetest.Prepared(t)), time.Now()
		s.Of(recur.OfGoogle("Team"))
		days, failed := map[string]map[string]string{"Team": {}}, map[string]error{}
		if c.failed != nil {
			days, failed = nil, map[string]error{"Team": c.failed}
		}
		testkit.Must(t, s.Keep(now, days, failed))
		if early := s.Due(now.Add(c.after - time.Second)); len(early) > 0 {
			t.Errorf("%s, it is asked before %v have passed", what, c.after)
		}
		if due := s.Due(now.Add(c.after)); len(due) != 1 {
			t.Errorf("%s, it is not asked after %v", what, c.after)
		}
	}
}

// The examples of RFC 5545, section 3.8.5.3, as whole days. Those of WKST=SU with an interval, BYSETPOS, BYWEEKNO, BYYEARDAY and
// days counted in a year are not read, and only their first day counts.
func TestTheExamplesOfTheStandardForRepeatedEvents(t *testing.T) {
	for _, c := range []struct{ start, rule, want string }{
		{"19970902", "FREQ=DAILY;COUNT=10", "1997: 9/2 9/3 9/4 9/5 9/6 9/7 9/8 9/9 9/10 9/11"},
		{"19970902", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997: 9/2 9/12 9/22 10/2 10/12"},
		{"19970902", "FREQ=WEEKLY;COUNT=10", "1997: 9/2 9/9 9/16 9/23 9/30 10/7 10/14 10/21 10/28 11/4"},
		{"19970902", "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", "1997: 9/2 9/4 9/9 9/11 9/16 9/18 9/23 9/25 9/30 10/2"},
		{"19970902", "FREQ=WEEKLY;UNTIL=19971007;WKST=SU;BYDAY=TU,TH", "1997: 9/2 9/4 9/9 9/11 9/16 9/18 9/23 9/25 9/30 10/2 10/7"},
		{"19970905", "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", "1997: 9/5 10/3 11/7 12/5 1998: 1/2 2/6 3/6 4/3 5/1 6/5"},
		{"19970905", "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", "1997: 9/5 10/3 11/7 12/5"},
		{"19970907", "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", "1997: 9/7 9/28 11/2 11/30 1998: 1/4 1/25 3/1 3/29 5/3 5/31"},
		{"19970922", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997: 9/22 10/20 11/17 12/22 1998: 1/19 2/16"},
		{"19970928", "FREQ=MONTHLY;UNTIL=19980301;BYMONTHDAY=-3", "1997: 9/28 10/29 11/28 12/29 1998: 1/29 2/26"},
		{"19970902", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", "1997: 9/2 9/15 10/2 10/15 11/2 11/15 12/2 12/15 1998: 1/2 1/15"},
		{"19970930", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", "1997: 9/30 10/1 10/31 11/1 11/30 12/1 12/31 1998: 1/1 1/31 2/1"},
		{"19970910", "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", "1997: 9/10 9/11 9/12 9/13 9/14 9/15 1999: 3/10 3/11 3/12 3/13"},
		{"19970902", "FREQ=MONTHLY;INTERVAL=2;UNTIL=19980131;BYDAY=TU", "1997: 9/2 9/9 9/16 9/23 9/30 11/4 11/11 11/18 11/25 1998: 1/6 1/13 1/20 1/27"},
		{"19970610", "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", "1997: 6/10 7/10 1998: 6/10 7/10 1999: 6/10 7/10 2000: 6/10 7/10 2001: 6/10 7/10"},
		{"19970310", "FREQ=YEARLY;INTERVAL=2;COUNT=7;BYMONTH=1,2,3", "1997: 3/10 1999: 1/10 2/10 3/10 2001: 1/10 2/10 3/10"},
		{"19970313", "FREQ=YEARLY;UNTIL=19990401;BYMONTH=3;BYDAY=TH", "1997: 3/13 3/20 3/27 1998: 3/5 3/12 3/19 3/26 1999: 3/4 3/11 3/18 3/25"},
		{"19970605", "FREQ=YEARLY;UNTIL=19970901;BYDAY=TH;BYMONTH=6,7,8", "1997: 6/5 6/12 6/19 6/26 7/3 7/10 7/17 7/24 7/31 8/7 8/14 8/21 8/28"},
		{"19970902", "FREQ=MONTHLY;UNTIL=20001031;BYDAY=FR;BYMONTHDAY=13\nEXDATE;VALUE=DATE:19970902", "1998: 2/13 3/13 11/13 1999: 8/13 2000: 10/13"},
		{"19970913", "FREQ=MONTHLY;COUNT=10;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", "1997: 9/13 10/11 11/8 12/13 1998: 1/10 2/7 3/7 4/11 5/9 6/13"},
		{"19961105", "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "1996: 11/5 2000: 11/7"},
		{"19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997: 8/5 8/10 8/19 8/24"},
		{"20070115", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007: 1/15 1/30 2/15 3/15 3/30"},
		{"19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997: 8/5"},
		{"19970929", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "1997: 9/29"},
		{"19970101", "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "1997: 1/1"},
		{"19970519", "FREQ=YEARLY;BYDAY=20MO", "1997: 5/19"},
		{"19970512", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997: 5/12"},
	} {
		start, _ := dateOf(c.start)
		days, _, err := parse(file("DTSTART;VALUE=DATE:"+c.start+"\nRRULE:"+c.rule), start.Time())
		got, year := "", 0
		for _, d := range slices.SortedFunc(maps.Keys(days), func(a, b recur.Date) int { return a.Time().Compare(b.Time()) }) {
			if d.Year != year {
				year = d.Year
				got += fmt.Sprintf(" %d:", year)
			}
			got += fmt.Sprintf(" %d/%d", d.Month, d.Day)
		}
		if got = strings.TrimSpace(got); err != nil || got != c.want {
			t.Errorf("%s from %s: %s, %v; want %s", c.rule, c.start, got, err, c.want)
		}
	}
}
