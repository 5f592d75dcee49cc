package plain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/command"
	"ollimbot/core/tail"
)

func TestAMomentIsReadAsItIsSaid(t *testing.T) {
	now := time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC) // a Saturday
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) }
	for _, c := range []struct {
		text string
		want time.Time // zero: refused
	}{
		{"2h", at(21, 18, 20)},
		{"in 2h30m", at(21, 18, 50)},
		{"for 20 minutes", at(21, 16, 40)},
		{"1 hour 30 minutes", at(21, 17, 50)},
		{"half an hour", at(21, 16, 50)},
		{"until 18:30", at(21, 18, 30)},
		{"8:05", at(22, 8, 5)}, // has passed today
		{"this evening", at(21, 18, 0)},
		{"tomorrow", at(22, 8, 0)},
		{"until tomorrow at 9:00", at(22, 9, 0)},
		{"tomorrow evening", at(22, 18, 0)},
		{"friday", at(27, 8, 0)},
		{"sat 10:00", at(28, 10, 0)}, // today's name means a week from now
		{"2026-11-30 07:15", at(30, 7, 15)},
		{"", time.Time{}},
		{"until", time.Time{}},
		{"18", time.Time{}},
		{"25:00", time.Time{}},
		{"0s", time.Time{}},
		{"-2h", time.Time{}},
		{"2 moons", time.Time{}},
		{"tomorrow never", time.Time{}},
		{"18:30 tea", time.Time{}},
	} {
		got, ok := moment(c.text, now)
		if ok != !c.want.IsZero() || ok && !got.Equal(c.want) {
			t.Errorf("%q is %v %v, want %v", c.text, got, ok, c.want)
		}
	}
}

// A day that the clocks make longer has its times of day where they belong.
func TestATimeOfTomorrowSurvivesTheClockChange(t *testing.T) {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	got, ok := moment("tomorrow 9:00", time.Date(2026, 10, 31, 20, 0, 0, 0, zone))
	if want := time.Date(2026, 11, 1, 9, 0, 0, 0, zone); !ok || !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Wherever a moment stands, what is left is the other words as they were.
func TestAMomentIsFoundAtEitherEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		when := rapid.SampledFrom([]string{"2h", "until 18:30", "tomorrow 9:00", "2 hours", "friday", "2026-12-24 09:00"}).Draw(t, "when")
		words := rapid.SampledFrom([]string{"email", "call mum", "2", "the bins", "put out"}).Draw(t, "words")
		want, _ := moment(when, now)
		if at, rest, ok := firstMoment(when+" "+words, now); !ok || !at.Equal(want) || rest != words {
			t.Fatalf("%q: %v %q %v", when+" "+words, at, rest, ok)
		}
		if rest, at, ok := lastMoment(words+" "+when, now); !ok || !at.Equal(want) || rest != words {
			t.Fatalf("%q: %q %v %v", words+" "+when, rest, at, ok)
		}
	})
}

func TestCostsAreToldInSentences(t *testing.T) {
	got := costsText(command.Outcome{
		Message: "last 7 days: 5 runs, 51k tokens, $0.12; the runs that are known begin on Sat 2026-11-21 16:19",
		Costs: []command.TaskCost{
			{Title: "Email sweep", ID: "aaaa1111", Runs: 4, Tokens: 45_200, Dollars: 0.12, Share: 0.88},
			{Title: "Tea", Runs: 1, Tokens: 1_200_000, Share: 0.12},
		},
	})
	want := `last 7 days: 5 runs, 51 thousand tokens, 0.12 dollars; the runs that are known begin on Sat 2026-11-21 16:19
Email sweep (aaaa1111): 4 runs, 45 thousand tokens, 0.12 dollars, 0.0300 dollars a run, 88 percent of all
Tea: 1 run, 1.2 million tokens, 0.00 dollars, 0.00 dollars a run, 12 percent of all`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSignsAndColumnsBecomeWords(t *testing.T) {
	got := spoken("capacity 5 → 6 · full — soon\n/model [a|b]       show it\n**model**: a `a` `b`\nrun `init`")
	if want := "capacity 5 to 6, full, soon\n/model [a or b], show it\nmodel: a (a, b)\nrun init"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := spoken("Total cost:            $0.51\nUsage by model:"), "Total cost: $0.51\nUsage by model:"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tailText(tail.Line{Kind: tail.Text, Text: "a → b"}); got != "a → b" {
		t.Errorf("the model's words became %q", got)
	}
}
