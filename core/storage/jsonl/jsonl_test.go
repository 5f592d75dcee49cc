package jsonl

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func newLog(t *testing.T) Log[int] {
	t.Helper()
	return Log[int]{Dir: storetest.Dir(t), Rel: "log.jsonl", Limit: 1 << 30, Keep: 1 << 20}
}

// pages reads a whole log from its end, some values at a time.
func pages(t *testing.T, l Log[int], n int) (all []int, damaged int) {
	t.Helper()
	var p Cursor
	for !p.AtBeginning() {
		var page []int
		next, bad, err := l.Before(p, func(v int) bool {
			page = append(page, v)
			return len(page) < n
		})
		testkit.Must(t, err)
		all, damaged, p = append(all, page...), damaged+bad, next
	}
	return all, damaged
}

func TestALogIsReadFromItsEndAPageAtATime(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		l := newLog(t)
		var text strings.Builder
		var want []int
		bad := 0
		for i := range rapid.IntRange(0, 60).Draw(rt, "lines") {
			switch pad := rapid.SampledFrom([]int{0, 10, 3000, 200_000}).Draw(rt, "pad"); rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				fmt.Fprintf(&text, "torn %s\n", strings.Repeat("x", pad))
				bad++
			case 1:
				text.WriteString("\n")
			default:
				fmt.Fprintf(&text, "%s%d\n", strings.Repeat(" ", pad), i)
				want = append(want, i)
			}
		}
		if err := l.Dir.Write(l.Rel, []byte(strings.TrimSuffix(text.String(), "\n"))); err != nil {
			rt.Fatal(err)
		}
		slices.Reverse(want)
		got, damaged := pages(t, l, rapid.IntRange(1, 7).Draw(rt, "page"))
		if !slices.Equal(got, want) || damaged != bad {
			rt.Fatalf("%v with %d damaged lines, want %v with %d", got, damaged, want, bad)
		}
	})
}

func TestAMissingLogIsReadAtOnce(t *testing.T) {
	if got, _ := pages(t, newLog(t), 1); len(got) > 0 {
		t.Error(got)
	}
}

func TestALogThatWasShortenedIsReadFromItsEndAgain(t *testing.T) {
	l := newLog(t)
	for i := range 10 {
		testkit.Must(t, l.Append(i))
	}
	p, _, err := l.Before(Cursor{}, func(v int) bool { return v > 7 })
	testkit.Must(t, err)
	testkit.Must(t, l.Dir.Write(l.Rel, []byte("8\n9\n")))
	var got []int
	if _, _, err := l.Before(p, func(v int) bool { got = append(got, v); return true }); err != nil || !slices.Equal(got, []int{9, 8}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestALogKeepsItsEndAndCountsWhatIsDamaged(t *testing.T) {
	d := storetest.Dir(t)
	type value struct{ N int }
	l := Log[value]{Dir: d, Rel: "state/x.jsonl", Limit: 1000, Keep: 500}
	if list, damaged, err := l.Newest(1000); len(list) != 0 || damaged != 0 || err != nil {
		t.Errorf("a missing file gives %v, %d, %v", list, damaged, err)
	}
	for i := range 500 {
		testkit.Must(t, l.Append(value{i}))
	}
	testkit.Must(t, d.Append("state/x.jsonl", []byte(`{"N": `)))
	list, damaged, err := l.Newest(1000)
	if err != nil || damaged != 1 || len(list) < 40 || list[len(list)-1].N != 499 || list[0].N != 500-len(list) {
		t.Errorf("%v, %d, %v", list, damaged, err)
	}
	if info, err := os.Stat(d.Path("state/x.jsonl")); err != nil || info.Size() > 1000 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

func TestOfALogBeyondItsLimitTheWholeLinesOfItsEndAreRead(t *testing.T) {
	l := newLog(t)
	l.Limit = 10
	testkit.Must(t, l.Dir.Write(l.Rel, []byte("1111\n2222\n3333\n4444\n")))
	all, _ := pages(t, l, 1)
	if !slices.Equal(all, []int{4444}) {
		t.Errorf("backwards: %v", all)
	}
	var lines []string
	testkit.Must(t, l.Each(func(line []byte) bool {
		lines = append(lines, string(line))
		return true
	}))
	if !slices.Equal(lines, []string{"4444\n"}) {
		t.Errorf("forwards: %q", lines)
	}
}
