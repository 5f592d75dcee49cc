package routines

import (
	"strings"
	"testing"
	"time"
)

func TestAWindowAndAJitterAreReadAndEachMistakeNamesItsCure(t *testing.T) {
	for _, c := range []struct{ cron, keys, want string }{
		{"0 9 * * 1-5", "window: 9:00-11:00", ""},
		{"0 9 * * 1-5", `window: "09:00-11:00"`, ""},
		{"0 9 * * 1-5", "window: 9:00-11:00\njitter: 10m", ""},
		{"*/30 9-17 * * *", "jitter: 10m", ""},
		{"30 8 1 * *", "window: 9:00-11:00", `r.md:4:9: cron does not fire at 9:00, where the window starts; write cron: "0 9 1 * *"`},
		{"0 9,12 * * *", "window: 9:00-11:00", `write cron: "0 9 * * *"`},
		{"0 9 * * *", "window: 9-25", `r.md:4:9: window "9-25" is not a window; write its start and end, for example 9:00-11:00`},
		{"0 9 * * *", "window: 9:00-9:00", "is empty; write an end"},
		{"0 22 * * *", "window: 22:00-1:00", "passes midnight; a window lies within one day"},
		{"0 9 * * *", "window: [9:00]", "window must be a single value"},
		{"0 9 * * *", "window: 9:00-9:05\njitter: 10m", "r.md:5:9: the window 9:00-9:05 is shorter than the jitter of 10m; write a longer window, or a jitter of at most 5m"},
		{"0 9 * * *", "jitter: soon", `jitter "soon" is not a jitter; write minutes or hours`},
		{"0 9 * * *", "jitter: 13h", "is out of range"},
		{"*/10 * * * *", "jitter: 10m", "cron fires every 10m, which is not longer than the jitter of 10m; write a jitter below 10m"},
	} {
		_, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: \""+c.cron+"\"\n"+c.keys+"\n---\nGo.\n"))
		var got []string
		for _, p := range problems {
			got = append(got, p.Position()+": "+p.Message)
		}
		if text := strings.Join(got, "\n"); c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.cron, c.keys, text, c.want)
		}
	}
}

func TestAReminderHasTheWindowOfItsDate(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	parse := func(keys string) (Reminder, []Problem) {
		return ParseReminder("r.md", []byte("---\nid: a\n"+keys+"\n---\nGo.\n"), zone)
	}
	r, problems := parse(`run-at: "2026-11-24T09:00:00+01:00"` + "\nwindow: 9:00-11:00")
	if len(problems) > 0 || r.LeewayAt(r.RunAt) != r.Leeway || r.Leeway.End(r.RunAt).Format("15:04") != "11:00" {
		t.Errorf("%+v, %v", r, problems)
	}
	if r.LeewayAt(r.RunAt.Add(time.Hour)).String() != "" {
		t.Error("a snoozed reminder has a window")
	}
	again, problems := ParseReminder("r.md", FormatReminder(r), zone)
	if len(problems) > 0 || again.Leeway != r.Leeway {
		t.Errorf("%+v, %v", again, problems)
	}
	r, problems = parse(`run-at: "2026-11-24T10:00:00+01:00"` + "\nwindow: 9:00-11:00")
	if HasErrors(problems) || len(problems) != 1 || !strings.Contains(problems[0].Message, `write run-at: "2026-11-24T09:00:00+01:00"`) {
		t.Errorf("%v", problems)
	}
	if r.LeewayAt(r.RunAt).String() != "" {
		t.Error("it does not fire at its time")
	}
	if _, problems = parse(`run-at: "2026-11-24T10:00:00+01:00"` + "\nwindow: 9:00-11:00\nuntil: done\nfirst-at: \"2026-11-24T09:00:00+01:00\""); len(problems) > 0 {
		t.Errorf("one that has come back: %v", problems)
	}
}
