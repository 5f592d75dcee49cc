package when

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestWhatIsSaidAheadIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]string{
		"a day, an hour and ten minutes before":           "1 day; 1 hour; 10 minutes",
		"10 min":                                          "10 minutes",
		"an hour and a half before, 10m":                  "!I do not understand",
		"1h 30m and 5 minutes ahead":                      "1 hour 30 minutes; 5 minutes",
		"1 hour: Leave now; 1 day: The dentist: tomorrow": "1 day: The dentist: tomorrow; 1 hour: Leave now",
		"2 days in advance":                               "2 days",
		"A WEEK BEFORE":                                   "7 days",
		"an hour and a half":                              "1 hour 30 minutes",
		"1 day, 1 hour: Get ready":                        "1 day: Get ready; 1 hour: Get ready",
		"a month before":                                  "!no fixed length",
		"0 minutes":                                       "!the moment itself",
		"400 days":                                        "!at most 366 days",
		"10 minuets before":                               "!did you mean minutes?",
		"eine Stunde":                                     "!I do not understand",
		" ; ":                                             "!there is no length",
	} {
		list, err := ReadAhead(text)
		got := AheadLine(list)
		if refused, ok := strings.CutPrefix(want, "!"); ok && (err == nil || !strings.Contains(err.Error(), refused)) || !ok && (err != nil || got != want) {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestWhatIsSaidAheadIsFoundBesideAMoment(t *testing.T) {
	for text, want := range map[string]string{
		"tomorrow 9:00, a day and an hour before": "tomorrow 9:00|1 day and 1 hour before",
		"friday 9:00 10 minutes before":           "friday 9:00|10 minutes before",
		"friday 9:00":                             "friday 9:00|",
		"call mum in an hour":                     "call mum in an hour|",
	} {
		rest, list, err := LastAhead(text)
		if got := rest + "|" + AheadWords(list); err != nil || got != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		", an hour, 10 minutes and 5 minutes before: see Ada": "1 hour, 10 minutes and 5 minutes before|see Ada",
		"see Ada an hour before":                              "|see Ada an hour before",
	} {
		list, rest, err := FirstAhead(text)
		if got := AheadWords(list) + "|" + rest; err != nil || got != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	if _, list, err := LastAhead("friday 9:00 0 minutes before"); err == nil || list != nil {
		t.Error(list, err)
	}
}

func TestWhatIsSaidAheadIsReadAsItIsPrinted(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		list := longestFirst(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Ahead {
			return Ahead{
				Days: rapid.IntRange(0, 366).Draw(t, "days"), Rest: time.Duration(rapid.IntRange(1, 3000).Draw(t, "minutes")) * time.Minute,
				Text: rapid.SampledFrom([]string{"", "Leave now", "at 9: the dentist"}).Draw(t, "text"),
			}
		}), 1, 4).Draw(t, "list"))
		line := AheadLine(list)
		if got, err := ReadAhead(line); err != nil || AheadLine(got) != line {
			t.Fatalf("%q is read as %q, %v", line, AheadLine(got), err)
		}
		if rest, got, err := LastAhead("friday 9:00, " + AheadWords(list)); err != nil || rest != "friday 9:00" || AheadWords(got) != AheadWords(list) {
			t.Fatalf("%q is read as %q %q, %v", AheadWords(list), rest, AheadWords(got), err)
		}
	})
}

// A day before keeps the time of day, also over a change of the clock.
func TestADayBeforeIsAtTheSameTime(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	at := time.Date(2026, 3, 29, 9, 0, 0, 0, berlin)
	for _, c := range []struct{ ahead, want string }{
		{"1 day", "2026-03-28T09:00:00+01:00"},
		{"24 hours", "2026-03-28T08:00:00+01:00"},
		{"1 day 30 minutes", "2026-03-28T08:30:00+01:00"},
	} {
		list, err := ReadAhead(c.ahead)
		if err != nil || list[0].Before(at).Format(time.RFC3339) != c.want {
			t.Errorf("%s: %v, %v", c.ahead, list, err)
		}
	}
	if got := (Ahead{Days: 1}).Before(time.Date(2026, 3, 30, 2, 30, 0, 0, berlin)); got.Format(time.RFC3339) != "2026-03-29T03:00:00+02:00" {
		t.Error(got)
	}
}
