package tui

import (
	"testing"

	"pgregory.net/rapid"

	"ollimbot/tui/action"
)

func TestAWordThatIsSpelledOtherwiseFindsItsAction(t *testing.T) {
	r := plainRoot(t, fullDay())
	for query, want := range map[string]action.ID{
		"shedule": action.GoSchedule, "captity": action.CapacityUp, "raise captity": action.CapacityUp, "dmeo": action.Demo,
		"snze": action.ScheduleSnooze, "previw": action.SchedulePreview, "Qiut": action.Quit, "thme": action.ThemeNext,
	} {
		if p := ask(r, query); len(p.shown) == 0 || p.shown[0].action.ID != want {
			t.Errorf("%q finds %d actions and not %s first", query, len(p.shown), want)
		}
	}
}

func TestLettersOfSeveralWordsFindNothing(t *testing.T) {
	r := plainRoot(t, fullDay())
	// Each is found in "Mute pings until a time, or end that" or another title, with
	// letters of other words between its own.
	for _, query := range []string{"meto", "mpgut", "snzetsk", "selup", "zzz", "thmnxt", "xy", "qe"} {
		if p := ask(r, query); len(p.shown) != 0 {
			t.Errorf("%q marks %q", query, p.shown[0].name)
		}
	}
	play(t, setup{}, func(s *stage) {
		s.press("1", "ctrl+p")
		s.types("meto")
		s.sees("no action has that name")
		s.press("enter")
		s.sees("no action has that name") // nothing was run
	})
}

// The distance is one: it is zero for the same alone, the same both ways, and no
// longer way round over a third word is shorter than adjacent edits allow.
func TestALetterThatIsWrongIsOneMistake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := []rune(rapid.StringMatching(`[a-dé]{1,8}`).Draw(t, "a"))
		b := []rune(rapid.StringMatching(`[a-dé]{0,8}`).Draw(t, "b"))
		n := distance(a, b)
		if n != distance(b, a) || n == 0 != (string(a) == string(b)) || n > max(len(a), len(b)) || n < max(len(a)-len(b), len(b)-len(a)) {
			t.Fatalf("%q and %q: %d, back %d", string(a), string(b), n, distance(b, a))
		}
		at := rapid.IntRange(0, len(a)-1).Draw(t, "at")
		without := append(append([]rune{}, a[:at]...), a[at+1:]...)
		if got := distance(a, without); got != 1 {
			t.Fatalf("%q without letter %d: %d", string(a), at, got)
		}
		if at > 0 && a[at] != a[at-1] {
			turned := append([]rune{}, a...)
			turned[at], turned[at-1] = turned[at-1], turned[at]
			if got := distance(a, turned); got != 1 {
				t.Fatalf("%q and %q: %d", string(a), string(turned), got)
			}
		}
	})
}
