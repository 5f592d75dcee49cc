package command

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/cron"
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
		{"2d", at(23, 16, 20)},
		{"in 1d12h", at(23, 4, 20)},
		{"d", time.Time{}},
		{"-1d", time.Time{}},
		{"1d-30m", time.Time{}},
		{"0d", time.Time{}},
		{"99999d", time.Time{}},
		{"for 20 minutes", at(21, 16, 40)},
		{"1 hour 30 minutes", at(21, 17, 50)},
		{"half an hour", at(21, 16, 50)},
		{"until 18:30", at(21, 18, 30)},
		{"8:05", at(22, 8, 5)}, // already passed today
		{"6:30pm", at(21, 18, 30)},
		{"at 6 PM", at(21, 18, 0)},
		{"tomorrow noon", at(22, 12, 0)},
		{"friday at 9am", at(27, 9, 0)},
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
		{"friday 9", time.Time{}},
		{"13pm", time.Time{}},
		{"25:00", time.Time{}},
		{"0s", time.Time{}},
		{"-2h", time.Time{}},
		{"2 moons", time.Time{}},
		{"tomorrow never", time.Time{}},
		{"18:30 tea", time.Time{}},
	} {
		got, ok := ReadMoment(c.text, now)
		if ok != !c.want.IsZero() || ok && !got.Equal(c.want) {
			t.Errorf("%q is %v %v, want %v", c.text, got, ok, c.want)
		}
	}
}

// Times of day are correct on a day that the clocks make longer.
func TestATimeOfTomorrowSurvivesTheClockChange(t *testing.T) {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	got, ok := ReadMoment("tomorrow 9:00", time.Date(2026, 10, 31, 20, 0, 0, 0, zone))
	if want := time.Date(2026, 11, 1, 9, 0, 0, 0, zone); !ok || !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Wherever the moment is, the rest of the text is unchanged.
func TestAMomentIsFoundAtEitherEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)
	testkit.Check(t, func(t *rapid.T) {
		when := rapid.SampledFrom([]string{"2h", "until 18:30", "tomorrow 9:00", "2 hours", "friday", "2026-12-24 09:00"}).Draw(t, "when")
		words := rapid.SampledFrom([]string{"email", "call mum", "2", "the bins", "put out"}).Draw(t, "words")
		want, _ := ReadMoment(when, now)
		if at, rest, ok := FirstMoment(when+" "+words, now); !ok || !at.Equal(want) || rest != words {
			t.Fatalf("%q: %v %q %v", when+" "+words, at, rest, ok)
		}
		if rest, at, ok := LastMoment(words+" "+when, now); !ok || !at.Equal(want) || rest != words {
			t.Fatalf("%q: %q %v %v", words+" "+when, rest, at, ok)
		}
	})
}

func TestAMomentIsReadAsItIsShown(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		now := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 15, 12, 0, 0, 0, time.UTC)
		at := now.Add(time.Duration(rapid.IntRange(1, 360*24*60).Draw(t, "minutes")) * time.Minute)
		shown := cron.DayClock(at, now)
		if got, ok := ReadMoment(shown, now); !ok || !got.Equal(at) {
			t.Fatalf("%s is read as %v, %v, not %v", shown, got, ok, at)
		}
	})
}
