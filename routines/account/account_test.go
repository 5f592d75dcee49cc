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
	if p := read(t, a); len(p.Rows) > 0 || p.Damaged > 0 {
		t.Errorf("a missing account is empty, not %+v", p)
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
	add(t, a, row("a", 9, Ran, ""), row("a", 18, Ran, ""), row("a", 18, Ran, ""), row("", 9, Ran, ""), row("a", 8, "lunch", ""))
	if err := d.Append(File, []byte("{}"), []byte(`[1]`), []byte(`{"kind":"routine","id":"a","due":"20`)); err != nil {
		t.Fatal(err)
	}
	p := read(t, a)
	if fates(p) != "a 9 done" || p.Damaged != 5 || p.Ahead != 1 {
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
	for want, rows := range map[string][]Row{
		"nothing was due":               nil,
		"the only due time ran":         many(1, Ran, ""),
		"all 214 due times ran":         many(214, Ran, ""),
		"0 of 1 due time ran; 1 failed": many(1, Failed, "no route"),
		"214 of 216 due times ran; 2 were missed while the machine slept": append(many(214, Ran, ""), many(2, Missed, Asleep)...),
		"1 of 4 due times ran; 1 was missed while the bot was off; 1 was missed; 1 was held": {
			row("a", 9, Ran, ""), row("a", 9, Missed, Off), row("a", 9, Missed, Adrift), row("a", 9, Held, "paused"),
		},
	} {
		if got := Summary(rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
