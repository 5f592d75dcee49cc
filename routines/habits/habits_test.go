package habits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/leeway/usertest"
)

var begin = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) // a Monday

// lived simulates a user's answers to a daily ping at a minute: at once if they are
// active, else when they return, if that is within two hours. They overlook one in ten.
func lived(u usertest.User, task string, minute, days int) (asks []Ask) {
	for n := range days {
		day, sessions, dice := u.Day(begin, n)
		at := day.Add(time.Duration(minute)*time.Minute + 5*time.Second)
		a := Ask{Task: task, At: at}
		overlooked := dice.IntN(10) == 0
		for _, s := range sessions {
			from, to := day.Add(time.Duration(s[0])*time.Minute), day.Add(time.Duration(s[1])*time.Minute)
			if seen := latest(from, at.Add(time.Minute)); !overlooked && seen.Before(to) && seen.Sub(at) <= 2*time.Hour && a.Acted.IsZero() {
				a.Acted = seen
			}
		}
		asks = append(asks, a)
	}
	return asks
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// soon counts the pings answered within a quarter of an hour.
func soon(asks []Ask) (n int) {
	for _, a := range asks {
		if !a.Acted.IsZero() && a.Acted.Sub(a.At) <= 15*time.Minute {
			n++
		}
	}
	return n
}

// A suggestion is right if the user answers more pings within a quarter of an hour at the
// new time.
func TestWhatIsSuggestedToThreeUsersHelpsThem(t *testing.T) {
	var made, right, total int
	for _, u := range usertest.All {
		for _, minute := range []int{5 * 60, 7*60 + 30, 8 * 60, 8*60 + 30, 9 * 60, 10 * 60, 12*60 + 30, 13*60 + 30, 17 * 60, 18*60 + 30, 20 * 60, 21 * 60, 22 * 60} {
			asks := lived(u, "a", minute, 90)
			total++
			for day := 1; day <= 90; day++ {
				m, ok := FindMove(asks[:day], "a", minute, begin.AddDate(0, 0, day), time.UTC)
				if !ok {
					continue
				}
				made++
				before, after := soon(asks), soon(lived(u, "a", m.To, 90))
				verdict := "wrong"
				if after > before {
					right++
					verdict = "right"
				}
				t.Logf("%s, day %d: %q %s (%d answers at once of 90, then %d)", u.Name, day, m.Question("it"), verdict, before, after)
				break
			}
		}
	}
	t.Logf("%d routines, %d suggestions, %d right, %d wrong", total, made, right, made-right)
	if made < 5 || made != right {
		t.Errorf("%d suggestions, of which %d help", made, right)
	}
}

// everyDay returns a daily ping at a minute, answered after some minutes, or never for
// -1.
func everyDay(task string, minute, after, days int) (asks []Ask) {
	for n := range days {
		a := Ask{Task: task, At: begin.AddDate(0, 0, n).Add(time.Duration(minute) * time.Minute)}
		if after >= 0 {
			a.Acted = a.At.Add(time.Duration(after) * time.Minute)
		}
		asks = append(asks, a)
	}
	return asks
}

var end = begin.AddDate(0, 0, 56)

func TestARoutineThatIsMovedInSixOfEightWeeksIsNoticed(t *testing.T) {
	for n, want := range map[int]string{6: "six", 7: "seven", 8: "eight"} {
		if got := (Move{From: 485, To: 1439, Weeks: n, Of: n}).Question("Tea"); got != "You answered Tea at about 23:59 in "+want+" of "+want+" weeks. It comes at 8:05. Change it?" {
			t.Error(got)
		}
	}
	asks := everyDay("med", 480, 90, 56)
	for n := range 14 { // two weeks of prompt answers
		asks[n].Acted = asks[n].At.Add(time.Minute)
	}
	m, ok := FindMove(asks, "med", 480, end, time.UTC)
	if got := m.Question("Medication"); !ok || got != "You answered Medication at about 9:30 in six of eight weeks. It comes at 8:00. Change it?" {
		t.Error(ok, got)
	}
	for i := range asks {
		asks[i].Snoozed = true
	}
	m, _ = FindMove(asks, "med", 480, end, time.UTC)
	if got := m.Question("Medication"); !strings.HasPrefix(got, "You moved Medication to about 9:30 in six of eight weeks.") {
		t.Error(got)
	}
	for n := 14; n < 18; n++ { // four days of seven in a third week
		asks[n].Acted = asks[n].At.Add(time.Minute)
	}
	if m, ok = FindMove(asks, "med", 480, end, time.UTC); ok {
		t.Errorf("five weeks are enough: %+v", m)
	}
}

// Only habits are suggested: not answers in time, no answers, arbitrary times, another
// day's time, a time from an earlier file, or a few weeks.
func TestWhatIsNoHabitIsNotSuggested(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 7))
	anyTime := everyDay("med", 480, 0, 56)
	for i := range anyTime {
		anyTime[i].Acted = anyTime[i].At.Add(time.Duration(dice.IntN(360)) * time.Minute)
	}
	twoTimes := everyDay("med", 480, 60, 56)
	for i := range twoTimes {
		if i%2 == 0 {
			twoTimes[i].Acted = twoTimes[i].At.Add(4 * time.Hour)
		}
	}
	for what, asks := range map[string][]Ask{
		"answers everything at once": everyDay("med", 480, 2, 56), "answers nothing": everyDay("med", 480, -1, 56),
		"answers the next day": everyDay("med", 480, 1500, 56),
		"answers at any time":  anyTime, "answers at two times": twoTimes, "an earlier time": everyDay("med", 420, 90, 56),
		"another routine": everyDay("tea", 480, 90, 56), "the night after": everyDay("med", 1380, 90, 56), "five weeks": everyDay("med", 480, 90, 56)[21:], "nothing": nil,
	} {
		if m, ok := FindMove(asks, "med", 480, end, time.UTC); ok {
			t.Errorf("%s: %+v", what, m)
		}
	}
	if m, ok := FindMove(everyDay("med", 480, 90, 56)[14:], "med", 480, end, time.UTC); !ok || m.Weeks != 6 || m.Of != 6 {
		t.Errorf("six weeks of six: %v %+v", ok, m)
	}
}

// After the time was changed, nothing is left to suggest, whatever the old pings are.
func TestAChangeIsTheEndOfItsSuggestion(t *testing.T) {
	asks := everyDay("med", 480, 90, 56)
	m, _ := FindMove(asks, "med", 480, end, time.UTC)
	if again, ok := FindMove(asks, "med", m.To, end, time.UTC); ok {
		t.Errorf("then %+v", again)
	}
}

func TestAMoveIsFoundWithinItsBoundsAndNotBeyond(t *testing.T) {
	for c, to := range map[[3]int]int{ // minutes: the file's time, how late the ping is and when it is answered; what is suggested, 0 for nothing
		{480, -1, 90}: 0, {480, 0, 90}: 570, {480, 10, 90}: 580, {480, 11, 90}: 0, {480, 0, 19}: 0, {480, 0, 20}: 500, {480, 0, 360}: 840,
		{480, 0, 361}: 0, {480, 0, 92}: 570, {480, 0, 93}: 575, {1320, 0, 117}: 1435, {1320, 0, 118}: 0, {1320, 0, 120}: 0,
	} {
		if m, ok := FindMove(everyDay("med", c[0]+c[1], c[2], 56), "med", c[0], end, time.UTC); ok != (to > 0) || ok && m.To != to {
			t.Errorf("%v: %v %+v, want %d", c, ok, m, to)
		}
	}
	for name, c := range map[string]struct {
		weeks [][]int // when the user answers the pings of a week, the last one first; the other weeks have the last one's
		found bool
	}{
		"half of a week's pings": {[][]int{{90, 90, 90, 0, 0, 0}}, true}, "fewer than half": {[][]int{{90, 90, 90, 0, 0, 0, 0}}, false},
		"one ping a week": {[][]int{{90}}, true}, "two weeks without a ping": {[][]int{{}, {}, {90}}, true}, "three": {[][]int{{}, {}, {}, {90}}, false},
		"one of six weeks 20 minutes later": {[][]int{{0}, {0}, {110}, {90, 90}}, true}, "21 minutes later": {[][]int{{0}, {0}, {111}, {90, 90}}, false},
		"20 minutes earlier": {[][]int{{0}, {0}, {70}, {90, 90}}, true}, "21 minutes earlier": {[][]int{{0}, {0}, {69}, {90, 90}}, false},
		"one of three pings half an hour later": {[][]int{{90, 90, 120, 120}}, true}, "a third further away": {[][]int{{90, 90, 121}}, true},
		"more than a third": {[][]int{{90, 90, 90, 121, 121}}, false},
	} {
		var asks []Ask
		for n := range 8 {
			for i, after := range c.weeks[min(n, len(c.weeks)-1)] {
				at := end.AddDate(0, 0, -7*n-1-i).Add(8 * time.Hour)
				asks = append(asks, Ask{Task: "med", At: at, Acted: at.Add(time.Duration(after) * time.Minute)})
			}
		}
		if m, ok := FindMove(asks, "med", 480, end, time.UTC); ok != c.found {
			t.Errorf("%s: %v %+v", name, ok, m)
		}
	}
}

// Callers join pings and snoozes, whatever the zone of their times.
func TestAMovedRoutineIsFoundByTheUsersClock(t *testing.T) {
	denver := time.FixedZone("Denver", -7*3600)
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, denver)
	for _, written := range []*time.Location{denver, time.UTC, time.FixedZone("Tokyo", 9*3600)} {
		var asks []Ask
		for day := 1; day <= 56; day++ {
			at := now.AddDate(0, 0, -day).Add(8 * time.Hour)
			asks = append(asks, Ask{Task: "med", At: at.In(written), Acted: at.Add(90 * time.Minute).In(written)})
		}
		if m, ok := FindMove(asks, "med", 8*60, now, denver); !ok || m.To != 9*60+30 {
			t.Errorf("pings written in %v: found %v, %+v; want a move from 8:00 to 9:30", written, ok, m)
		}
	}
}

func TestAnHourDiffersOnlyWithEnoughPingsAndByEnough(t *testing.T) {
	const best, ignored = "best hours 9–10", "usually ignored 9–10"
	for c, want := range map[[2]Rate]string{
		{{30, 15}, {8, 8}}: best, {{29, 15}, {8, 8}}: "", {{30, 15}, {7, 7}}: "", {{30, 15}, {8, 7}}: "",
		{{30, 15}, {8, 0}}: ignored, {{30, 15}, {8, 1}}: "", {{1000, 100}, {200, 100}}: best, {{1000, 100}, {200, 99}}: "",
		{{1000, 900}, {200, 50}}: ignored, {{1000, 900}, {200, 51}}: "",
	} {
		f := Facts{All: c[0]}
		f.Hours[9] = c[1]
		if got := f.Words(); got != want {
			t.Errorf("%+v of %+v: %q, want %q", c[1], c[0], got, want)
		}
	}
	var asks []Ask
	for _, age := range []time.Duration{0, Memory, Memory + 1} {
		for _, after := range []time.Duration{time.Hour, time.Hour + 1} {
			asks = append(asks, Ask{Task: fmt.Sprint(age, after), At: end.Add(-age), Acted: end.Add(after - age)})
		}
	}
	if f := Learn(asks, end, time.UTC); f.All != (Rate{4, 1}) {
		t.Errorf("of an hour's answers: %+v", f.All)
	}
}

func TestTheBestHoursAreThoseThatDiffer(t *testing.T) {
	asks := slices.Concat(everyDay("a", 9*60, 5, 56), everyDay("a", 10*60, 5, 56), everyDay("b", 7*60, -1, 56), everyDay("c", 14*60, 30, 56))
	for i := range 28 {
		asks[3*56+2*i].Acted = time.Time{} // every second one
	}
	f := Learn(asks, end, time.UTC)
	if got := f.Words(); got != "best hours 9–11; usually ignored 7–8" {
		t.Error(got)
	}
	if a := f.Tasks["a"]; a.Sent != 112 || a.Share() != 1 || a.Median != 5*time.Minute {
		t.Errorf("%+v", a)
	}
	if c := f.Tasks["c"]; c.Share() != 0.5 || c.Median != 30*time.Minute {
		t.Errorf("%+v", c)
	}
	sundays := everyDay("a", 9*60, 5, 70)
	for i := range sundays {
		if sundays[i].At.Weekday() == time.Sunday {
			sundays[i].Acted = time.Time{}
		}
	}
	if got := Learn(sundays, begin.AddDate(0, 0, 70), time.UTC).Words(); got != "usually ignored on Sunday" {
		t.Error(got)
	}
	tokyo := time.FixedZone("", 9*3600)
	if got := Learn(asks, end, tokyo).Words(); got != "best hours 18–20; usually ignored 16–17" {
		t.Error(got)
	}
}

func TestWhoAnswersEverythingOrNothingHasNoBestHours(t *testing.T) {
	for _, after := range []int{1, -1, 200} {
		var asks []Ask
		for hour := range 24 {
			asks = append(asks, everyDay("a", hour*60, after, 56)...)
		}
		if got := Learn(asks, end, time.UTC).Words(); got != "" {
			t.Errorf("answered after %d min: %q", after, got)
		}
	}
}

// The agent reads these words before each ping, so they stay below 40 tokens, about 120
// characters.
func TestTheWordsAreShort(t *testing.T) {
	f := Facts{All: Rate{2000, 1000}}
	for h := range f.Hours {
		f.Hours[h] = [...]Rate{{99, 99}, {99, 0}, {99, 50}}[h%3]
	}
	for d := range 3 {
		f.Weekdays[d] = Rate{99, 0}
	}
	late := Facts{All: Rate{2000, 1000}}
	late.Hours[0], late.Hours[22], late.Hours[23] = Rate{99, 99}, Rate{99, 99}, Rate{99, 99}
	if got := late.Words(); got != "best hours 0–1, 22–24" {
		t.Error(got)
	}
	if got := f.Words(); got != "best hours 0–1, 3–4; usually ignored 1–2, 4–5, on Sunday, on Monday, on Tuesday" || len(got) > 120 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// Chance is not taken for a habit: of 200 users who answer at random, few appear to have
// one.
func TestACoinHasFewHabits(t *testing.T) {
	wrong := 0
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		var asks []Ask
		for hour := 7; hour < 22; hour += 2 {
			asks = append(asks, everyDay("a", hour*60, -1, 56)...)
		}
		for i := range asks {
			if dice.IntN(2) == 0 {
				asks[i].Acted = asks[i].At.Add(time.Duration(dice.IntN(50)) * time.Minute)
			}
		}
		if Learn(asks, end, time.UTC).Words() != "" {
			wrong++
		}
	}
	t.Logf("%d of 200", wrong)
	if wrong > 10 {
		t.Errorf("%d of 200 coins have habits", wrong)
	}
}

// Joined journals contain duplicate pings in any order. A wrong clock leaves pings in the
// future, and answers before their pings.
func TestPropertyOrderDoublesAndTheFutureChangeNothing(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		asks := append(lived(usertest.All[0], "a", 480, 60), lived(usertest.All[1], "b", 1320, 60)...)
		want, wantMove := Learn(asks, end, time.UTC), found(asks)
		noise := slices.Clone(asks[:rapid.IntRange(0, len(asks)).Draw(rt, "twice")])
		for i := range noise {
			noise[i].Acted = time.Time{}
		}
		for range rapid.IntRange(0, 20).Draw(rt, "future") {
			noise = append(noise, Ask{Task: "a", At: end.Add(time.Duration(1+rapid.IntRange(0, 90_000).Draw(rt, "hours")) * time.Hour)})
		}
		mixed := rapid.Permutation(append(noise, asks...)).Draw(rt, "order")
		if got := Learn(mixed, end, time.UTC); fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Errorf("%+v, want %+v", got, want)
		}
		if got := found(mixed); got != wantMove {
			rt.Errorf("%s, want %s", got, wantMove)
		}
	})
	odd := []Ask{{Task: "a", At: end.Add(-time.Hour), Acted: end.Add(-2 * time.Hour)}, {Task: "a", At: end.Add(-time.Hour / 2), Acted: end.Add(time.Hour)}}
	if f := Learn(odd, end, time.UTC); f.All != (Rate{Sent: 2}) {
		t.Errorf("answers before their pings or in the future count: %+v", f.All)
	}
}

// The snoozes of a task are behind its pings, whatever their times: the newest of both count, and
// what is too old to say anything takes no place of theirs.
func TestTheNewestCountWhereverTheyAre(t *testing.T) {
	pings := everyDay("med", 480, 2, 56)
	var snoozes, old []Ask
	for i, p := range pings { // the user moved it on all days but those of the first two weeks
		if i >= 14 {
			pings[i].At = p.At.Add(90 * time.Minute) // when it came in the end
			snoozes = append(snoozes, Ask{Task: "med", At: p.At, Acted: p.At.Add(90 * time.Minute), Snoozed: true})
		}
	}
	for n := range 2 * most {
		at := begin.AddDate(-1, 0, 0).Add(time.Duration(n) * time.Hour / 8)
		old = append(old, Ask{Task: "med", At: at, Acted: at.Add(time.Hour), Snoozed: true})
	}
	for what, asks := range map[string][]Ask{
		"nothing old": slices.Concat(pings, snoozes), "old snoozes behind": slices.Concat(pings, snoozes, old),
		"old snoozes between": slices.Concat(pings, old, snoozes), "old snoozes first": slices.Concat(old, pings, snoozes),
	} {
		if m, ok := FindMove(asks, "med", 480, end, time.UTC); !ok || m.To != 570 || m.Weeks != 6 || !m.Snoozed {
			t.Errorf("%s: %v %+v", what, ok, m)
		}
		if f := Learn(asks, end, time.UTC); f.All.Sent != 56 || f.Tasks["med"].Snoozed != 42 {
			t.Errorf("%s: %+v, %d snoozed", what, f.All, f.Tasks["med"].Snoozed)
		}
	}
	// More than the newest are not looked at: which ones those are does not depend on the order.
	var many []Ask
	for n := range 3 * most {
		a := Ask{Task: "tea", At: end.Add(-time.Duration(n+1) * 10 * time.Minute)}
		if n < most {
			a.Acted = a.At.Add(time.Minute)
		}
		many = append(many, a)
	}
	want := Learn(many, end, time.UTC)
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(many), func(i, j int) { many[i], many[j] = many[j], many[i] })
	if got := Learn(many, end, time.UTC); fmt.Sprint(got) != fmt.Sprint(want) || got.All != (Rate{most, most}) {
		t.Errorf("in another order %+v, want %+v", got.All, want.All)
	}
}

// A ping and a snooze of the same second are one: that which the user acted on first counts.
func TestWhatIsTwiceCountsOnceInAnyOrder(t *testing.T) {
	at := end.Add(-24 * time.Hour)
	same := []Ask{{Task: "a", At: at, Acted: at.Add(30 * time.Minute)}, {Task: "a", At: at}, {Task: "a", At: at, Acted: at.Add(5 * time.Minute)}}
	dice := testkit.Rand(t)
	for range 20 {
		dice.Shuffle(len(same), func(i, j int) { same[i], same[j] = same[j], same[i] })
		if f := Learn(same, end, time.UTC); f.All != (Rate{1, 1}) || f.Tasks["a"].Median != 5*time.Minute {
			t.Fatalf("%+v %+v", f.All, f.Tasks["a"])
		}
	}
}

func found(asks []Ask) string {
	m, ok := FindMove(asks, "a", 480, end, time.UTC)
	return fmt.Sprint(m, ok)
}
