package routines

import (
	"strings"
	"testing"
	"time"
)

// What narrows and bounds cron is read from the file, and each mistake names its line and its cure (issue 43).
func TestTheKeysBesideCronAreReadAndEachMistakeNamesItsCure(t *testing.T) {
	for _, c := range []struct{ cron, keys, want string }{
		{"0 9 * * 2", "every: 2 weeks\nfrom: 2026-12-01", ""},
		{"0 9 * * 2", "every: 2 WEEKS\nfrom: \"1 December 2026\"", ""},
		{"0 17 * * 5", "days: last friday", ""},
		{"0 17 * * *", "days:\n  - first monday\n  - last day", ""},
		{"0 9 * * *", "until: 2027-02-28\nskip: 24 Dec to 2 Jan, 2027-02-03", ""},
		{"0 9 * * *", "from: 2026-12-01\ntimes: 10\nskip:\n  - 24 Dec to 2 Jan\n  - 2026-12-10 to 2026-12-12", ""},
		{"0 9 * * *", "zone: Europe/Berlin", ""},
		{"0 9 * * *", "missed: run\nlate: 2 hours", ""},
		{"0 9 * * 1-5", "window: 9:00-11:00\nevery: 2 weeks\nfrom: 2026-12-01", ""},

		{"0 9 * * 2", "every: 2 weeks", `r.md:4:8: every counts from 1 January 2024, because there is no from; add the first day, such as from: "2024-01-01"`},
		{"0 9 * * 2", "every: 0", `every is "0"; write days, weeks, months or years: 2 weeks`},
		{"0 9 * * 2", "every: 0 weeks", "every 0 is never"},
		{"0 9 * * 2", "every: 2 hours", "Hours belong in cron"},
		{"0 9 * * 2", "every: fortnights", "every is"},
		{"0 9 * * 2", "from: 2026-12-01\nevery: 500 weeks", "r.md:5:8: an interval is 1 to 366"},
		{"0 9 * * 1", "days: last friday", "r.md:4:7: the last Friday never falls on a day of cron (every Monday); change one of them"},
		{"0 9 * * 1", "days: last blue moon", `days is "last blue moon"; say what is last`},
		{"0 9 * * 1", "days: 15", "write which day of the month"},
		{"0 9 * * *", "until: march", "write the last day with its year"},
		{"0 9 * * *", "until: done", "write the last day with its year"},
		{"0 9 * * *", "until: 2027-02-30", "February has no 30th"},
		{"0 9 * * *", "from: tomorrow", "write the first day with its year"},
		{"0 9 * * *", "from: 1969-12-31", "more than can be counted"},
		{"0 9 * * *", "from: 2026-12-02\nuntil: 2026-12-01", "r.md:5:8: 1 December 2026 is before 2 December 2026, when it begins; choose a later day"},
		{"0 9 * * *", "times: 0", "write a whole number from 1 to 1000"},
		{"0 9 * * *", "times: often", "write a whole number from 1 to 1000"},
		{"0 9 * * *", "times: 10", `r.md:4:8: the times are counted from a day; add from: "2026-12-01"`},
		{"0 9 * * *", "from: 2026-12-01\ntimes: 5000", "a routine fires 1 to 1000 times"},
		{"0 9 * * *", "skip: 2027-01-02 to 2026-12-24", "24 December 2026 is before 2 January 2027"},
		{"0 9 * * *", "skip: 1 Jan to 31 Dec", "the exceptions leave no day"},
		{"0 9 * * *", "skip: mondays", "left out by naming the others"},
		{"0 9 * * *", "zone: Europe/Atlantis", "no such time zone is known; write its name"},
		{"0 9 * * *", "zone: Local", "no such time zone is known; write its name"},
		{"0 9 * * *", "late: 2 hours", "r.md:4:7: late has no effect without missed: run"},
		{"0 9 * * *", "missed: run\nlate: soon", "late is"},
		{"0 9 * * *", "missed: run\nlate: 40 days", "write 1 minute to 31 days"},
		{"0 9 * * *", "evry: 2 weeks", `"evry" is not a known key; did you mean every?`},
	} {
		r, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: \""+c.cron+"\"\n"+c.keys+"\n---\nGo.\n"))
		var got []string
		for _, p := range problems {
			got = append(got, p.Position()+": "+p.Message)
		}
		if text := strings.Join(got, "\n"); c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.cron, c.keys, text, c.want)
		}
		if c.want != "" {
			continue
		}
		again, problems := ParseRoutine("r.md", FormatRoutine(r))
		if len(problems) > 0 || again.Schedule.String() != r.Schedule.String() || again.Late != r.Late {
			t.Errorf("%s is written as %s, %v", c.keys, FormatRoutine(r), problems)
		}
	}
}

// The original program ignores the keys, so cron alone is what it fires at: never less often.
func TestEachTimeIsOneOfCronAlone(t *testing.T) {
	r, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: \"0 9 * * 2\"\nevery: 2 weeks\nfrom: 2026-12-01\nskip: 24 Dec to 2 Jan\n---\nGo.\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for range 50 {
		at = r.Schedule.Next(at)
		if !r.Schedule.Cron.Next(at).Equal(at) {
			t.Errorf("%v is no time of cron", at)
		}
		at = at.Add(time.Minute)
	}
}

// A key of reminders that routines have too is read as a routine's.
func TestAnUntilOfARoutineIsNoForeignKey(t *testing.T) {
	if _, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: \"0 9 * * 2\"\nuntil: 2027-12-01\n---\nGo.\n")); len(problems) > 0 {
		t.Error(problems)
	}
	_, problems := ParseReminder("r.md", []byte("---\nid: a\nrun-at: \"2026-12-01T09:00:00Z\"\nskip: 24 Dec\n---\nGo.\n"), time.UTC)
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "skip is a key of routines") {
		t.Error(problems)
	}
}
