package account

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func row(id string, hour int, fate Fate, why string) Row {
	due := time.Date(2026, 11, 25, hour, 0, 0, 0, time.UTC)
	return Row{Kind: "routine", ID: id, Title: "Water", Due: due, At: due.Add(time.Minute), Fate: fate, Why: why}
}

func fates(p Past) string {
	var list []string
	for _, r := range p.Rows {
		list = append(list, fmt.Sprintf("%s %d %s", r.ID, r.Due.Hour(), r.Fate))
	}
	return strings.Join(list, ", ")
}

func read(t *testing.T, a Account) Past {
	t.Helper()
	p, err := a.Read(noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func add(t *testing.T, a Account, rows ...Row) {
	t.Helper()
	if err := a.Add(rows...); err != nil {
		t.Fatal(err)
	}
}

func TestOfTheRowsOfADueTimeTheNewestCountsAndAGuessNever(t *testing.T) {
	a := New(storetest.Dir(t))
	add(t, a) // nothing
	if p := read(t, a); len(p.Rows) > 0 || p.Damaged > 0 {
		t.Errorf("a missing account is empty, not %+v", p)
	}
	broken := storetest.Dir(t)
	testkit.Must(t, broken.MakeFolder(File))
	if p, err := New(broken).Read(noon); err == nil || len(p.Rows) > 0 {
		t.Errorf("a folder in its place is read: %+v", p)
	}
	ended := row("a", 9, Ran, "")
	ended.At = ended.At.Add(time.Minute)
	late := row("a", 10, Running, "")
	add(t, a, row("a", 11, Failed, "no route"), row("a", 9, Running, ""), ended)
	add(t, a, row("a", 10, Missed, Off), late, row("a", 9, Missed, Off), row("a", 11, Unrecorded, ""))
	if got := fates(read(t, a)); got != "a 9 done, a 10 running, a 11 failed" {
		t.Error(got)
	}
}

// An import may join the accounts of two bots in any order, and with duplicate rows.
func TestTheOrderOfJoinedAccountsDoesNotMatter(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		var rows []Row
		for i := range rapid.IntRange(1, 12).Draw(rt, "rows") {
			r := row(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "id"), rapid.IntRange(8, 10).Draw(rt, "hour"),
				rapid.SampledFrom([]Fate{Running, Ran, Failed, Held}).Draw(rt, "fate"), "")
			r.At = r.At.Add(time.Duration(i) * time.Minute)
			rows = append(rows, r)
		}
		one, other := New(storetest.Dir(t)), New(storetest.Dir(t))
		add(t, one, rows...)
		add(t, other, rapid.Permutation(rows).Draw(rt, "order")...)
		add(t, other, rows...)
		if a, b := fates(read(t, one)), fates(read(t, other)); a != b {
			rt.Errorf("%s, joined %s", a, b)
		}
	})
}

func TestBadRowsAreCountedAndRowsOfTheFutureWait(t *testing.T) {
	d := storetest.Dir(t)
	a := New(d)
	reminder := row("c", 9, Ran, "")
	reminder.Kind = "reminder"
	add(t, a, row("b", 9, Ran, ""), row("a", 9, Ran, ""), reminder, row("b", 12, Ran, ""), row("a", 18, Ran, ""), row("a", 18, Ran, ""), row("", 9, Ran, ""), row("a", 8, "lunch", ""))
	if err := d.Append(File, []byte("{}"), []byte(`[1]`), []byte(`{"kind":"routine","id":"a","due":"20`)); err != nil {
		t.Fatal(err)
	}
	p := read(t, a)
	if fates(p) != "c 9 done, a 9 done, b 9 done, b 12 done" || p.Damaged != 5 || p.Ahead != 1 {
		t.Errorf("%s, %d damaged, %d ahead", fates(p), p.Damaged, p.Ahead)
	}
}

func TestTheAccountOfTenYearsKeepsItsEnd(t *testing.T) {
	d := storetest.Dir(t)
	a := New(d)
	var rows []Row
	for at := noon.AddDate(-10, 0, 0); at.Before(noon); at = at.Add(2 * time.Hour) {
		rows = append(rows, Row{Kind: "routine", ID: "aaaaaaaa", Title: "Water the plants", Due: at, At: at, Fate: Ran})
	}
	add(t, a, rows...)
	add(t, a, row("a", 9, Ran, ""))
	p := read(t, a)
	if n := len(p.Rows); n < 10_000 || n > 30_000 || p.Damaged > 0 {
		t.Errorf("%d rows of %d, %d damaged", n, len(rows), p.Damaged)
	}
	week := p.Since(noon.AddDate(0, 0, -7))
	if len(week) != 85 || !week[0].Due.Equal(noon.AddDate(0, 0, -7)) {
		t.Errorf("%d rows of a week", len(week))
	}
}

func TestTheSummaryNamesWhatDidNotRun(t *testing.T) {
	many := func(n int, fate Fate, why string) []Row {
		var list []Row
		for range n {
			list = append(list, row("a", 9, fate, why))
		}
		return list
	}
	bad := []Row{row("a", 9, Missed, Asleep), row("a", 9, Missed, Off), row("a", 9, Missed, Adrift)}
	for _, fate := range []Fate{Failed, Interrupted, Held, Refused, Skipped, Running, Unrecorded} {
		bad = append(bad, row("a", 9, fate, "paused"))
	}
	for want, rows := range map[string][]Row{
		"nothing was due":               nil,
		"the only due time ran":         many(1, Ran, ""),
		"all 214 due times ran":         many(214, Ran, ""),
		"0 of 1 due time ran; 1 failed": many(1, Failed, "no route"),
		"214 of 216 due times ran; 2 were missed while the machine slept": append(many(214, Ran, ""), many(2, Missed, Asleep)...),
		"1 of 11 due times ran; 1 was missed while the machine slept; 1 was missed while the bot was off; 1 was missed; 1 failed; 1 was interrupted; 1 was held; " +
			"1 was refused for lack of money; 1 was skipped because the run before had not ended; 1 is running; 1 has passed without a record": append(many(1, Ran, ""), bad...),
		"0 of 20 due times ran; 2 were missed while the machine slept; 2 were missed while the bot was off; 2 were missed; 2 failed; 2 were interrupted; 2 were held; " +
			"2 were refused for lack of money; 2 were skipped because the run before had not ended; 2 are running; 2 have passed without a record": append(bad, bad...),
	} {
		if got := Summary(rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestADayIsReadInTheUsersZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 28, 12, 0, 0, 0, berlin) // a Wednesday, after the clock went back on Sunday
	for text, want := range map[string]string{
		"today": "2026-10-28", "Yesterday": "2026-10-27", "wed": "2026-10-28", "monday": "2026-10-26", "thu": "2026-10-22",
		"0d": "2026-10-28", "7d": "2026-10-21", " 30d ": "2026-09-28", "3660d": "2016-10-20", "2026-02-28": "2026-02-28",
	} {
		got, err := ReadDay(text, now)
		if err != nil || got.Format(time.DateTime) != want+" 00:00:00" {
			t.Errorf("%q is %s, %v; want the beginning of %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "-1d", "3661d", "7w", "mond", "2026-02-30", "tomorrow"} {
		if got, err := ReadDay(text, now); err == nil || err.Error() != fmt.Sprintf("a day is today, yesterday, a weekday, a date such as 2026-11-23, or days such as 30d, not %q", text) {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
}

func TestAReportIsOfATimeAndATaskAndSaysWhatIsMissing(t *testing.T) {
	late := row("b", 11, Ran, "")
	late.Late, late.Until = true, noon
	p := Past{Rows: []Row{row("a", 8, Ran, ""), row("a", 9, Missed, Off), late}, Damaged: 1, Ahead: 2}
	r := p.Report(noon.Add(-3*time.Hour), "")
	if got := r.Summary(); len(r.Rows) != 2 || got != Summary(r.Rows) || got != "1 of 2 due times ran; 1 was missed while the bot was off" {
		t.Errorf("%d rows: %s", len(r.Rows), got)
	}
	if got := p.Report(time.Time{}, "a"); len(got.Rows) != 2 || got.Rows[1].ID != "a" {
		t.Errorf("the rows of a task: %+v", got.Rows)
	}
	if len(p.Rows) != 3 || p.Rows[2].ID != "b" {
		t.Error("a report changes what was read")
	}
	want := "1 line of state/due_times.jsonl cannot be read\n2 due times in the future left out; the clock was wrong once"
	if got := strings.Join(r.Warnings(), "\n"); got != want {
		t.Errorf("warns %q", got)
	}
	clock := func(t time.Time) string { return t.Format("15:04") }
	for want, row := range map[string]Row{"": p.Rows[0], Off: p.Rows[1], "late, until 12:00": late} {
		if got := row.More(clock); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
