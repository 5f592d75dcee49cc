package account

import (
	"strings"
	"testing"
	"time"
)

func TestADayIsReadInTheUsersZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 28, 12, 0, 0, 0, berlin) // a Wednesday, after the clock went back on Sunday
	for text, want := range map[string]string{
		"today": "2026-10-28", "Yesterday": "2026-10-27", "wed": "2026-10-28", "monday": "2026-10-26", "thu": "2026-10-22",
		"0d": "2026-10-28", "7d": "2026-10-21", " 30d ": "2026-09-28", "2026-02-28": "2026-02-28",
	} {
		got, err := ReadDay(text, now)
		if err != nil || got.Format(time.DateTime) != want+" 00:00:00" {
			t.Errorf("%q is %s, %v; want the beginning of %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "-1d", "9999d", "mond", "2026-02-30", "tomorrow"} {
		if got, err := ReadDay(text, now); err == nil || !strings.Contains(err.Error(), "a day is today, yesterday") {
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
