package when

import (
	_ "embed"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

//go:embed testdata/sentences.txt
var sentences string

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestEverySentenceMeansWhatPeopleMean(t *testing.T) {
	r := Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, zone(t, "Europe/Berlin"))}
	for line := range strings.Lines(sentences) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(strings.TrimSpace(line), "|", 3)
		kind, want := strings.TrimSpace(parts[0]), strings.TrimSpace(parts[2])
		for text := range strings.SplitSeq(strings.TrimSpace(parts[1]), " ; ") {
			t.Run(map[byte]string{'m': "moment", 's': "span", 'r': "schedule"}[kind[0]]+" "+text, func(t *testing.T) {
				got, err := means(r, kind[:1], text)
				if err != nil {
					got = err.Error()
					if strings.Contains(got, "\n") || strings.Contains(strings.TrimRight(got, "?"), "? ") {
						t.Errorf("the refusal is not one sentence: %s", got)
					}
				}
				if strings.HasSuffix(kind, "!") != (err != nil) || got != want {
					t.Errorf("%s is %q, want %q", kind, got, want)
				}
			})
		}
	}
}

// means is the meaning of a text in the notation of the table.
func means(r Reader, kind, text string) (string, error) {
	switch kind {
	case "m":
		at, err := r.Moment(text)
		return at.Format("2006-01-02 15:04"), err
	case "s":
		d, err := Span(text)
		return d.String(), err
	}
	s, err := r.Schedule(text)
	return s.String(), err
}

// What a refusal offers is itself understood.
func TestWhatARefusalOffersIsUnderstood(t *testing.T) {
	r := Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)}
	for _, text := range []string{"18:30", "tomorrow 9:00", "in 2 hours", "24 dec 9am", "in 1 minute", "18 minutes", "tomorrow 14:00", "24 dec 2027"} {
		if _, err := r.Moment(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"weekdays at 9", "every morning", "every 2 hours", "0 9 * * 1-5", "every monday at 9", "every day at 9", "every 15 minutes from 9 to 17",
		"every 2 days from the 1st to the 31st of every month at 9", "on the 1st of January, March and May at 9", "the first of the month", "the 28th",
		"on the 13th of every month, and also every friday", "at 8:00 and 20:00",
	} {
		if _, err := r.Schedule(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

var someZones = []string{
	"Europe/Berlin", "America/Los_Angeles", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca", "America/Santiago",
	"Pacific/Apia", "Asia/Kathmandu", "UTC",
}

// Every layout in which the program prints a moment is read as that moment.
func TestAMomentIsReadAsItIsPrinted(t *testing.T) {
	layouts := []string{
		"2 Jan 2006 15:04", "Monday 2 January 2006 15:04", "2006-01-02 15:04", "Mon 2006-01-02 15:04", "2006-01-02 03:04 PM", "2006-01-02T15:04:05Z07:00",
		"3:04 PM on Mon 2006-01-02", "2 Jan 2006 3:04pm", "Mon 2 January 2006 3:04pm", "2006-01-02T15:04",
	}
	near := []string{"Mon 2 Jan 15:04", "Monday 2 January at 15:04", "Mon 2 Jan 3:04pm", "2 Jan 15:04"}
	testkit.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(someZones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, zone).Add(time.Duration(rapid.IntRange(0, 3*365*24*60).Draw(t, "now")) * time.Minute)
		at := now.Add(time.Duration(rapid.IntRange(1, 360*24*60).Draw(t, "ahead")) * time.Minute)
		r := Reader{Now: now}
		texts := []string{cron.DayClock(at, now), cron.ClockOn(at, now)}
		for _, l := range layouts {
			if !strings.Contains(l, "T15") || cron.Offset(at) == "" { // files write the offset themselves
				texts = append(texts, cron.Format(at, l))
			}
		}
		if at.YearDay() != now.YearDay() {
			for _, l := range near {
				texts = append(texts, cron.Format(at, l))
			}
		}
		if ahead := at.Sub(now); ahead < 6*24*time.Hour && at.Weekday() != now.Weekday() {
			texts = append(texts, cron.Format(at, "Mon 15:04"), cron.Format(at, "Monday 3:04pm"))
		}
		for _, text := range texts {
			got, err := r.Moment(text)
			if err != nil || !got.Equal(at) {
				t.Fatalf("now %s: %q is %v, %v, want %v", now, text, got, err, at)
			}
		}
	})
}

// A time that a clock change skips is the end of the gap, as in schedules; one that is
// repeated is its first occurrence, or the one with the offset.
func TestMomentsOnTheNightsOfClockChanges(t *testing.T) {
	for _, c := range []struct{ zone, now, text, want string }{
		{"Europe/Berlin", "2026-03-28 20:00", "tomorrow 2:30", "2026-03-29T03:00:00+02:00"},
		{"Europe/Berlin", "2026-10-24 20:00", "tomorrow 2:30", "2026-10-25T02:30:00+02:00"},
		{"Europe/Berlin", "2026-10-24 20:00", "25 oct 2:30 +01:00", "2026-10-25T02:30:00+01:00"},
		{"Europe/Berlin", "2026-03-28 20:00", "in 1 day", "2026-03-29T20:00:00+02:00"},
		{"Europe/Berlin", "2026-03-28 20:00", "in 24 hours", "2026-03-29T21:00:00+02:00"},
		{"America/Los_Angeles", "2026-10-31 20:00", "tomorrow 9:00", "2026-11-01T09:00:00-08:00"},
		{"Australia/Lord_Howe", "2026-10-03 20:00", "tomorrow 2:15", "2026-10-04T02:30:00+11:00"},
		{"America/Santiago", "2026-09-05 20:00", "tomorrow 0:30", "2026-09-06T01:00:00-03:00"},
	} {
		now, err := time.ParseInLocation("2006-01-02 15:04", c.now, zone(t, c.zone))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := (Reader{Now: now}).Moment(c.text); err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("%s in %s: %s, %v, want %s", c.text, c.zone, got.Format(time.RFC3339), err, c.want)
		}
	}
}

func TestTheUsersOwnTimesOfDayCount(t *testing.T) {
	r := Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC), Day: Day{Morning: 390, Noon: 750, Afternoon: 840, Evening: 1170, Night: 1320}}
	for text, want := range map[string]string{
		"tomorrow": "22 06:30", "24 nov": "24 06:30", "noon": "22 12:30", "this evening": "21 19:30", "tonight": "21 22:00", "tomorrow afternoon": "22 14:00",
	} {
		if at, err := r.Moment(text); err != nil || at.Format("02 15:04") != want {
			t.Errorf("%q is %v, %v", text, at, err)
		}
	}
	if s, err := r.Schedule("every morning"); err != nil || s.String() != "30 6 * * *" {
		t.Errorf("every morning is %v, %v", s, err)
	}
}

func TestAQuestionMayBeAboutThePast(t *testing.T) {
	r := Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC), Past: true}
	for text, want := range map[string]string{
		"8:05": "2026-11-21 08:05", "today 14:00": "2026-11-21 14:00", "2026-11-20": "2026-11-20 00:00", "2026-11-20 9:00": "2026-11-20 09:00",
		"yesterday 9:00": "2026-11-20 09:00", "tomorrow": "2026-11-22 08:00", "18:00": "2026-11-21 18:00",
	} {
		if at, err := r.Moment(text); err != nil || at.Format("2006-01-02 15:04") != want {
			t.Errorf("%q is %v, %v, want %s", text, at, err, want)
		}
	}
}

func TestAfterMidnightTheDayOfTomorrowIsNamed(t *testing.T) {
	night := Reader{Now: time.Date(2026, 11, 22, 0, 40, 0, 0, time.UTC)}
	if got := night.Note("tomorrow 9:00"); got != "it is after midnight, so tomorrow is Monday 23 November; say today for Sunday" {
		t.Errorf("got %q", got)
	}
	if got := night.Note("9:00"); got != "" {
		t.Errorf("got %q", got)
	}
	if got := (Reader{Now: night.Now.Add(4 * time.Hour)}).Note("tomorrow"); got != "" {
		t.Errorf("got %q", got)
	}
}

// Wherever the moment is, the rest of the text is unchanged.
func TestAMomentIsFoundAtEitherEnd(t *testing.T) {
	r := Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)}
	testkit.Check(t, func(t *rapid.T) {
		when := rapid.SampledFrom([]string{
			"2h", "until 18:30", "tomorrow 9:00", "2 hours", "friday", "2026-12-24 09:00", "in 2 days at 9", "24 dec 9am",
		}).Draw(t, "when")
		words := rapid.SampledFrom([]string{"email", "call mum", "the bins", "put out"}).Draw(t, "words")
		want, _ := r.Moment(when)
		if at, rest, err := r.First(when + " " + words); err != nil || !at.Equal(want) || rest != words {
			t.Fatalf("%q: %v %q %v", when+" "+words, at, rest, err)
		}
		if rest, at, err := r.Last(words + " " + when); err != nil || !at.Equal(want) || rest != words {
			t.Fatalf("%q: %q %v %v", words+" "+when, rest, at, err)
		}
	})
}

func TestAScheduleIsFoundBeforeItsMessage(t *testing.T) {
	r := Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)}
	for text, want := range map[string]string{
		"every weekday at 9 Water the plants": "0 9 * * 1-5|Water the plants",
		"0 9 * * 1-5 Water the plants":        "0 9 * * 1-5|Water the plants",
		"every 2 hours drink\nsome water":     "0 */2 * * *|drink\nsome water",
		"mondays and fridays at noon Swim":    "0 12 * * 1,5|Swim",
	} {
		s, rest, err := r.FirstSchedule(text)
		if got := s.String() + "|" + rest; err != nil || got != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	if _, _, err := r.FirstSchedule("every wekday at 9 Water"); err == nil || !strings.Contains(err.Error(), "did you mean weekday") {
		t.Errorf("%v", err)
	}
}

// A mistyped word in a key of a file is named with the nearest one.
func TestAMistypedKeyIsOfferedTheNearestWord(t *testing.T) {
	for text, want := range map[string]string{
		"every: 2 wekks": "did you mean weeks?", "days: last firday": "did you mean friday?", "skip: agust": "did you mean august?",
		"zone: Europe/Atlantis": "no such time zone", "every: 0": "write days", "times: 0": "1 to 1000", "every: zwei Wochen": "write days",
	} {
		key, value, _ := strings.Cut(text, ": ")
		var r recur.Recurrence
		if err := SetKey(&r, key, value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzNoTextBreaksTheReader(f *testing.F) {
	for line := range strings.Lines(sentences) {
		f.Add(line)
	}
	r := Reader{Now: time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := r.Moment(text); err == nil && !at.After(r.Now) {
			t.Errorf("%q is %v, which has passed", text, at)
		}
		if s, err := r.Schedule(text); err == nil && !isCron(text) && s.Never() {
			t.Errorf("%q never fires: %s", text, s.Words())
		}
		_, _ = Span(text)
		_, _ = Clock(text)
		_ = r.Note(text)
	})
}
