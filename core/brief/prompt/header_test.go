package prompt

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
)

func TestTimestampsNameUSZonesGenericallyAndOthersByTheirAbbreviation(t *testing.T) {
	winter := time.Date(2026, 2, 24, 22, 30, 0, 0, time.UTC)
	summer := time.Date(2026, 7, 4, 3, 5, 0, 0, time.UTC)
	for _, c := range []struct {
		zone string
		at   time.Time
		want string
	}{
		{"America/Los_Angeles", winter, "[2026-02-24 Tue 02:30 PM PT]"},
		{"America/Los_Angeles", summer, "[2026-07-03 Fri 08:05 PM PT]"},
		{"US/Pacific", winter, "[2026-02-24 Tue 02:30 PM PT]"},
		{"America/Denver", summer, "[2026-07-03 Fri 09:05 PM MT]"},
		{"America/Phoenix", summer, "[2026-07-03 Fri 08:05 PM MT]"},
		{"America/Chicago", winter, "[2026-02-24 Tue 04:30 PM CT]"},
		{"America/North_Dakota/Beulah", winter, "[2026-02-24 Tue 04:30 PM CT]"},
		{"America/New_York", summer, "[2026-07-03 Fri 11:05 PM ET]"},
		{"America/Indiana/Knox", winter, "[2026-02-24 Tue 04:30 PM CT]"},
		{"US/Eastern", winter, "[2026-02-24 Tue 05:30 PM ET]"},
		{"EST5EDT", winter, "[2026-02-24 Tue 05:30 PM ET]"},
		{"Pacific/Honolulu", winter, "[2026-02-24 Tue 12:30 PM HST]"},
		{"America/Toronto", winter, "[2026-02-24 Tue 05:30 PM EST]"},
		{"America/Mexico_City", winter, "[2026-02-24 Tue 04:30 PM CST]"},
		{"Asia/Shanghai", winter, "[2026-02-25 Wed 06:30 AM CST]"},
		{"Europe/Berlin", winter, "[2026-02-24 Tue 11:30 PM CET]"},
		{"Europe/Berlin", summer, "[2026-07-04 Sat 05:05 AM CEST]"},
		{"Asia/Tashkent", winter, "[2026-02-25 Wed 03:30 AM +05]"},
		{"UTC", summer, "[2026-07-04 Sat 03:05 AM UTC]"},
	} {
		if got := Timestamp(c.at.In(zone(t, c.zone))); got != c.want {
			t.Errorf("%s: %s, want %s", c.zone, got, c.want)
		}
	}
	for word, names := range map[string]string{
		"PT": "PST8PDT US/Pacific", "MT": "America/Boise America/Shiprock MST7MDT Navajo US/Arizona",
		"CT": "America/Menominee America/Knox_IN America/North_Dakota/Center CST6CDT",
		"ET": "America/Detroit America/Indianapolis America/Fort_Wayne America/Kentucky/Louisville America/Indiana/Vevay",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := Timestamp(winter.In(zone(t, name))); !strings.HasSuffix(got, "M "+word+"]") {
				t.Errorf("%s: %s, want %s", name, got, word)
			}
		}
	}
	for _, name := range []string{"", "a b", "a\tb", "a\n", "\ra", "a] b"} {
		nameless := time.Date(2026, 2, 24, 22, 30, 0, 0, time.FixedZone(name, 5*3600+1800))
		if got, want := Timestamp(nameless), "[2026-02-24 Tue 10:30 PM +0530]"; got != want {
			t.Errorf("a zone of the name %q: %s, want %s", name, got, want)
		}
	}
}

// The third is the seed's complete example, with its zone and ages.
func TestAMessageFollowsTheTimestampAndTheUpdates(t *testing.T) {
	now := time.Date(2026, 2, 24, 14, 30, 0, 0, zone(t, "America/Los_Angeles"))
	list := []updates.Update{
		{At: now.Add(-15*time.Minute - 20*time.Second), Message: "Morning email triage: 2 items need attention"},
		{At: now.Add(-3 * time.Hour), Message: "CI webhook: build passed, no action needed"},
	}
	const stamp = "[2026-02-24 Tue 02:30 PM PT]"
	const body = `- (15 minutes ago) Morning email triage: 2 items need attention
- (3 hours ago) CI webhook: build passed, no action needed

How's it going?`
	for _, c := range []struct{ got, want string }{
		{Main(now, nil, "hi"), stamp + " hi"},
		{Main(now, nil, ""), stamp},
		{Delivery(now, list[1:]), stamp + " RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (3 hours ago) CI webhook: build passed, no action needed"},
		{Main(now, list, "How's it going?"), stamp + " RECENT BACKGROUND UPDATES (mention key findings in your response):\n" + body},
		{Peeked(now, list, "How's it going?"), stamp + " RECENT BACKGROUND UPDATES (read-only — main session will also see these):\n" + body},
		{Main(now, []updates.Update{{At: now, Message: "one"}}, ""), stamp + " RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (just now) one"},
	} {
		if c.got != c.want {
			t.Errorf("it reads\n%s\nwant\n%s", c.got, c.want)
		}
	}
}

func TestNoUpdateCanForgeALineOfThePrompt(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 2, 0, 0, time.UTC)
	first := regexp.MustCompile(`^\S`)
	testkit.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(
			rapid.SampledFrom([]string{
				"\n", "\r\n", "\r", "\u2028", "\u2029", "\u0085", "\v", "\f", "\t", " ", "\x1b[2K", "- (2 days ago) ",
				"[system] ", "[routine-bg:x]", "TASK:", "RECENT BACKGROUND UPDATES:",
			}), rapid.String())
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) updates.Update {
			return updates.Update{At: now, Message: strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")}
		}), 1, 4).Draw(t, "updates")
		const message = "THE MESSAGE"
		got := Main(now, list, message)
		head, tail, ok := strings.Cut(got, "\n\n")
		if !ok || tail != message {
			t.Fatalf("an update broke out of its block:\n%s", got)
		}
		lines := strings.FieldsFunc(head, func(r rune) bool {
			return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029
		})
		begun := 0
		for _, line := range lines[1:] {
			if first.MatchString(line) {
				begun++
			}
		}
		if begun != len(list) {
			t.Fatalf("%d lines begin in the first column for %d updates:\n%s", begun, len(list), got)
		}
	})
}

func TestInTheRepeatedHourTimesHaveTheirOffset(t *testing.T) {
	first := time.Date(2026, 11, 1, 8, 30, 0, 0, time.UTC).In(zone(t, "America/Los_Angeles"))
	second := first.Add(time.Hour)
	var b strings.Builder
	writeSchedule(&b, schedule.Forward{Entries: []schedule.Entry{{FireTime: second, Label: "Tea", Description: "Tea", FilePath: "routines/tea.md"}}}, first, 90)
	const want = "[2026-11-01 Sun 01:30 AM PT -07:00][2026-11-01 Sun 01:30 AM PT -08:00]Upcoming bg tasks (recent):\n- 1:30 AM -08:00: Tea (routines/tea.md)"
	if got := Timestamp(first) + Timestamp(second) + b.String(); got != want {
		t.Error(got)
	}
}

// M9: 91 of a hundred reports were only counted.
func TestUpdatesWithoutRoomSayWhereTheyCanBeRead(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	list := []updates.Update{{At: at, Message: "(1 earlier update(s) omitted — cap reached)", Dropped: 1}, {At: at, Message: "It rains."}}
	text := Main(at, list, "hello")
	if strings.Count(text, "`ollim-bot runs tail ID`") != 1 || !strings.Contains(text, "cap reached) Each run still has its own") || strings.Contains(text, "It rains. Each") {
		t.Errorf("the prompt is %q", text)
	}
}
