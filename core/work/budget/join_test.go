package budget

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// lineAt is a line of a journal: a ping, or with answers the answer to one.
func lineAt(at time.Time, id, answers string) string {
	if answers != "" {
		return fmt.Sprintf(`{"at":%q,"answers":%q,"how":"reply"}`, at.Format(time.RFC3339), answers)
	}
	return fmt.Sprintf(`{"at":%q,"id":%q,"task":"a","kind":"ping","text":"as %s","later":{"x":1}}`, at.Format(time.RFC3339), id, id)
}

// Two journals that have parts in common become one: nothing is lost, nothing is there twice, by
// their times, and joining again changes nothing.
func TestPropertyJoinedJournalsHaveEachLineOnce(t *testing.T) {
	begin := time.Date(2016, 1, 1, 8, 0, 0, 0, time.UTC)
	testkit.Check(t, func(rt *rapid.T) {
		var a, b, all []string
		for n := range rapid.IntRange(0, 30).Draw(rt, "pings") {
			at, id := begin.Add(time.Duration(n)*7*time.Hour), fmt.Sprintf("%08x-1", n)
			lines := []string{lineAt(at, id, "")}
			if rapid.Bool().Draw(rt, "answered") {
				lines = append(lines, lineAt(at.Add(time.Duration(rapid.IntRange(-60, 900).Draw(rt, "minutes"))*time.Minute), "", id))
			}
			all = append(all, lines...)
			in := rapid.IntRange(1, 3).Draw(rt, "in")
			if in&1 != 0 {
				a = append(a, lines...)
			}
			if in&2 != 0 {
				b = append(b, lines...)
			}
		}
		text := func(list []string, end string) []byte { return []byte(strings.Join(list, "\n") + end) }
		// The first ends without a line break, as if it was cut off by hand; the second is torn.
		joined := Join(text(a, ""), text(b, "\n"+`{"at":"2026-`), time.UTC)
		got := strings.Split(strings.TrimSuffix(string(joined), "\n"), "\n")
		if len(all) == 0 {
			got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
		}
		slices.Sort(all)
		if have := slices.Sorted(slices.Values(got)); !slices.Equal(have, all) {
			rt.Fatalf("%d lines, want %d:\n%s", len(have), len(all), joined)
		}
		var last time.Time
		seen := map[string]bool{"": true}
		for _, l := range got {
			p, id, _ := readLine([]byte(l), time.UTC)
			if seen[id] = true; !seen[answered([]byte(l))] {
				rt.Fatalf("an answer before its ping:\n%s", joined)
			}
			if !p.answer && p.at.Before(last) {
				rt.Fatalf("not by time:\n%s", joined)
			} else if !p.answer {
				last = p.at
			}
		}
		if again := Join(joined, text(b, "\n"), time.UTC); string(again) != string(joined) {
			rt.Fatalf("joined again it is\n%s", again)
		}
	})
}

// The same line in other words is the same: a time in another zone, fields in another order. Lines of
// earlier versions have no ID. A damaged line is dropped.
func TestTheSamePingInOtherWordsIsOne(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	a := `{"at":"2026-11-01T10:00:00","id":"00000001-1","task":"a","kind":"ping"}
{"at":"2026-11-01T10:05:00","answers":"00000001-1","how":"reply"}
{"at":"2026-11-01T09:00:00","task":"old","kind":"ping"}
not json
{"at":"never","id":"00000002-1"}
`
	b := `{"id":"00000001-1","at":"2026-11-01T08:00:00+00:00","kind":"ping","task":"a"}
{"at":"2026-11-01T08:05:00Z","how":"reply","answers":"00000001-1"}
{"at":"2026-11-01T08:09:00Z","how":"useless","answers":"00000001-1"}
{"at":"2026-11-01T09:00:00","task":"old","kind":"ping"}
`
	d := storetest.At(t, t.TempDir())
	storetest.Put(t, d, journalFile, string(Join([]byte(a), []byte(b), zone)))
	list, err := NewJournal(d, zone, nil).All()
	if err != nil || len(list) != 2 || list[0].Task != "old" || list[1].How != Useless || list[1].Answered.Sub(list[1].At) != 5*time.Minute {
		t.Errorf("%v\n%+v", err, list)
	}
}

// The journal of ten years, joined with that of a bot that ran beside it for the last two, is
// bounded by its next ping, as always.
func BenchmarkJoinTenYears(b *testing.B) {
	dice := rand.New(rand.NewPCG(1, 1))
	var lines []string
	for n := range 3652 * 4 {
		lines = append(lines, lineAt(time.Date(2016, 1, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n)*6*time.Hour), fmt.Sprintf("%08x-1", dice.Uint32()), ""))
	}
	a, c := []byte(strings.Join(lines, "\n")), []byte(strings.Join(lines[len(lines)*8/10:], "\n"))
	for b.Loop() {
		Join(a, c, time.UTC)
	}
}
